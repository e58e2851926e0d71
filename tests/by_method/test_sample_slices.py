"""Any slice, any number of threads and any output of `sample` hold the same values. Evidence: equality with one whole fill."""

import numpy as np

import stairnoise as sn
from tests.examples import each_mechanism_of_numbers

SIZE = 2**18 + 77


@each_mechanism_of_numbers
def test_any_slice_and_any_number_of_threads_draw_the_same(mechanism):
    whole = mechanism.sample(SIZE, rng=sn.SeededRng(9), threads=1)
    for threads in (2, 3):
        assert np.array_equal(mechanism.sample(SIZE, rng=sn.SeededRng(9), threads=threads), whole)
    for start, count in ((0, 1), (1, 700), (2, 9), (511, 2), (262_143, 5), (SIZE - 5, 5)):
        assert np.array_equal(mechanism.sample(count, rng=sn.SeededRng(9).at(start)), whole[start : start + count])
    assert [mechanism.sample(rng=sn.SeededRng(9).at(i)) for i in range(5)] == whole[:5].tolist()


@each_mechanism_of_numbers
def test_an_output_is_filled_with_the_same_values(mechanism):
    whole = mechanism.sample(60, rng=sn.SeededRng(9))
    out = np.empty((30, 2), whole.dtype)
    assert mechanism.sample(out=out, rng=sn.SeededRng(9)) is out
    assert np.array_equal(out.ravel(), whole)
