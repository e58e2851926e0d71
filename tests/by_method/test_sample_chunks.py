"""``sample_chunks`` draws one fill in parts: the values of `sample`, one fill number, errors at the call.

Evidence: equality with one whole fill of the same generator, or of a view if the operating system seeded the generator.
"""

import inspect
import itertools
import os
import sys
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise._output import CHUNK
from tests.combinations import in_full
from tests.examples import each_mechanism, each_mechanism_and_array, one_mechanism_of_each_and_array

N = 41


def rows(mechanism, n=N):
    """Return a size of `n` rows to which the mechanism's parameters broadcast."""
    return (n, *mechanism._parameter_shape) if mechanism._parameter_shape else n


def joined(chunks):
    return np.concatenate(list(chunks))


@each_mechanism_and_array
def test_the_chunks_of_every_mechanism_are_one_fill(mechanism):
    after = sn.SeededRng(9)
    whole, following = (mechanism.sample(rows(mechanism), rng=after) for _ in range(2))
    for length in (1, 2, 7, 40, 41, 42, None):
        rng = sn.SeededRng(9)
        chunks = list(mechanism.sample_chunks(rows(mechanism), length, rng=rng))
        step = length or N
        assert [len(chunk) for chunk in chunks] == [min(step, N - first) for first in range(0, N, step)]
        assert np.array_equal(np.concatenate(chunks), whole), length
        assert {chunk.dtype for chunk in chunks} == {whole.dtype}
        assert rng._stream.fill_count == 1
        assert np.array_equal(mechanism.sample(rows(mechanism), rng=rng), following), length


@one_mechanism_of_each_and_array
@settings(
    max_examples=in_full(10, 20), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_size_any_chunk_any_start_any_generator(mechanism, data):
    n = data.draw(st.integers(0, 300), label="n")
    length = data.draw(st.integers(1, 320), label="chunk_size")
    start = data.draw(st.integers(0, 1000), label="start")
    shape = data.draw(st.sampled_from([(), (2,), (1, 3)]), label="more axes")
    size = (n, *shape, *mechanism._parameter_shape)
    for make in (lambda: sn.SeededRng(3), lambda: sn.SecureRng.from_key(bytes(range(32)))):
        whole = mechanism.sample(size, rng=make().at(start))
        chunks = list(mechanism.sample_chunks(size, length, rng=make().at(start)))
        assert np.array_equal(np.concatenate([whole[:0], *chunks]), whole)
    secure = sn.SecureRng()
    view = secure.at(0)
    whole = mechanism.sample(size, rng=view)
    assert np.array_equal(np.concatenate([whole[:0], *mechanism.sample_chunks(size, length, rng=secure)]), whole)
    assert secure._stream.fill_count == view._stream.fill_count == 1


@each_mechanism
def test_dtypes_and_threads(mechanism):
    for dtype in mechanism._dtypes:
        whole = mechanism.sample(N, dtype=dtype, rng=sn.SeededRng(9))
        chunks = joined(mechanism.sample_chunks(N, 9, dtype=np.dtype(dtype), threads=2, rng=sn.SeededRng(9)))
        assert chunks.dtype == dtype
        assert np.array_equal(chunks, whole)


def test_chunks_that_several_threads_fill():
    n = 2**19 + 5
    whole = sn.Laplace(1.0).sample(n, rng=sn.SeededRng(9), threads=1)
    for threads in (1, 3, None):
        chunks = sn.Laplace(1.0).sample_chunks(n, 2**18, rng=sn.SeededRng(9), threads=threads)
        assert np.array_equal(joined(chunks), whole)


def test_parameters_along_the_rows():
    """Parameters with the output's first axis are cut like the output."""
    eps, sensitivity = np.linspace(0.1, 4, N)[:, None], np.linspace(1, 2, 3)
    for mechanism in (sn.Staircase(eps, sensitivity), sn.Staircase(1.0, 2.0, np.linspace(0.1, 1, N)[:, None])):
        whole = mechanism.sample((N, 3), rng=sn.SeededRng(9))
        assert np.array_equal(joined(mechanism.sample_chunks((N, 3), 4, rng=sn.SeededRng(9))), whole)
    alone = sn.Laplace(eps[:, 0])
    assert np.array_equal(joined(alone.sample_chunks(N, 4, rng=sn.SeededRng(9))), alone.sample(rng=sn.SeededRng(9)))


def test_every_chunk_is_a_new_array():
    chunks = list(sn.Laplace(1.0).sample_chunks(10, 5))
    assert not np.shares_memory(*chunks)
    assert all(chunk.flags.owndata and chunk.flags.writeable for chunk in chunks)


def test_the_usual_length_of_a_chunk():
    assert CHUNK == 2**20
    assert len(next(sn.Laplace(1.0).sample_chunks(10**12))) == CHUNK
    assert next(sn.Laplace(1.0).sample_chunks((10**6, 1000))).shape == (CHUNK // 1000, 1000)
    assert next(sn.MultivariateStaircase(2.0, dim=3).sample_chunks(10**9)).shape == (CHUNK // 3, 3)
    assert next(sn.Laplace(1.0).sample_chunks((2, 3 * CHUNK))).shape == (1, 3 * CHUNK)


@pytest.mark.parametrize("size", [0, (0, 3)])
def test_no_rows_no_chunks(size):
    rng = sn.SeededRng(9)
    assert list(sn.Laplace(1.0).sample_chunks(size, 5, rng=rng)) == []
    assert rng._stream.fill_count == 1


def test_rows_without_values():
    for length in (2, None):
        assert joined(sn.Laplace(1.0).sample_chunks((5, 0), length)).shape == (5, 0)


def test_the_largest_chunk_that_can_be_indexed_is_not_refused():
    """A chunk is made only on request."""
    for size, length in ((2**60 - 1, 2**60 - 1), (2**61, 2**60 - 1), ((2**60, 2), 2**59 - 1)):
        sn.Laplace(1.0).sample_chunks(size, length)


def test_far_into_the_largest_fill():
    """A view near the end of the longest possible fill gives its last values."""
    for mechanism, end in (
        (sn.Laplace(1.0), 2**62),
        (sn.Skellam(1.0), 2**40),
        (sn.MultivariateStaircase(1.0, dim=4), 2**40),
    ):
        width = max(1, *mechanism._value_shape, 1)
        rng = sn.SeededRng(9).at(end - 8 * width)
        whole = mechanism.sample(8, rng=sn.SeededRng(9).at(end - 8 * width))
        assert np.array_equal(joined(mechanism.sample_chunks(8, 3, rng=rng)), whole)
        with pytest.raises(sn.ParameterError, match=r"^size must fit into a fill \(the last index of a fill"):
            mechanism.sample_chunks(9, 3, rng=sn.SeededRng(9).at(end - 8 * width))
        assert len(next(mechanism.sample_chunks(end // width, 3))) == 3


LAPLACE = sn.Laplace(1.0)
PAST = "size must fit into a fill (the last index of a fill must be below 2**62), got shape ("
REFUSED = {
    "no size": (lambda rng: LAPLACE.sample_chunks((), rng=rng), "size must have a first axis to divide into chunks, got ()"),
    "size": (lambda rng: LAPLACE.sample_chunks(-1, rng=rng), "size must be a non-negative integer below 2**63"),
    "float": (lambda rng: LAPLACE.sample_chunks(1e9, rng=rng), "size must be a non-negative integer below 2**63"),
    "chunk of 0": (lambda rng: LAPLACE.sample_chunks(5, 0, rng=rng), "chunk_size must be an integer from 1 to 2**63 - 1, got 0"),
    "chunk": (lambda rng: LAPLACE.sample_chunks(5, 2.0, rng=rng), "chunk_size must be an integer, got 2.0"),
    "large chunk": (lambda rng: LAPLACE.sample_chunks(2**61, 2**61, rng=rng), "chunk_size must give chunks small enough"),
    "large chunk of short rows": (
        lambda rng: LAPLACE.sample_chunks((2**60, 2), 2**60, rng=rng),
        "chunk_size must give chunks small enough",
    ),
    "dtype": (lambda rng: LAPLACE.sample_chunks(5, dtype="i8", rng=rng), "dtype must be float64 or float32, got int64"),
    "threads": (lambda rng: LAPLACE.sample_chunks(5, threads=0, rng=rng), "threads must be an integer from 1"),
    "parameters": (lambda rng: sn.Laplace([1.0, 2.0]).sample_chunks(5, rng=rng), "size must be a shape that the parameters"),
    "axes": (lambda rng: LAPLACE.sample_chunks((1,) * 33, rng=rng), "size must have at most 32 dimensions, got 33"),
    "fill": (
        lambda rng: LAPLACE.sample_chunks(2**62 + 1, rng=rng),
        PAST,
    ),
    "axes of a fill": (lambda rng: LAPLACE.sample_chunks((2**62, 2**62), 1, rng=rng), "chunk_size must give chunks small"),
    "beyond 2**64": (
        lambda rng: LAPLACE.sample_chunks((2**62, 2**30), 1, rng=rng),
        PAST,
    ),
    "array fill": (
        lambda rng: sn.Laplace([1.0, 2.0]).sample_chunks((2**62, 2), 1, rng=rng),
        PAST,
    ),
    "staged fill": (
        lambda rng: sn.Skellam(1.0).sample_chunks(2**40 + 1, rng=rng),
        "size must fit into a fill (the last index of a fill of this mechanism must be below 2**40), got shape (1099511627777,)",
    ),
}


@pytest.mark.parametrize(("call", "text"), REFUSED.values(), ids=REFUSED)
def test_the_call_refuses_and_not_the_first_chunk(call, text, rng):
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError)) as caught:
        call(rng)
    assert str(caught.value).startswith(text)
    assert rng._stream.fill_count == 0


def test_a_generator_of_numpys_is_refused_at_the_call():
    with pytest.raises(sn.ParameterTypeError, match=r"^rng must be"):
        LAPLACE.sample_chunks(5, rng=np.random.default_rng(1))


def test_an_early_end_leaves_the_generator_at_its_next_fill():
    whole = LAPLACE.sample(100, rng=sn.SeededRng(9))
    for taken in range(4):
        rng, other = sn.SeededRng(9), sn.SeededRng(9)
        chunks = LAPLACE.sample_chunks(100, 10, rng=rng)
        assert rng._stream.fill_count == 1
        assert np.array_equal(np.array(list(itertools.islice(chunks, taken))).ravel(), whole[: 10 * taken])
        chunks.close()
        assert list(chunks) == []
        LAPLACE.sample(1, rng=other)
        assert np.array_equal(LAPLACE.sample(5, rng=rng), LAPLACE.sample(5, rng=other))


def test_draws_between_the_chunks_do_not_change_them():
    rng = sn.SeededRng(9)
    whole = LAPLACE.sample(20, rng=sn.SeededRng(9))
    chunks = LAPLACE.sample_chunks(20, 5, rng=rng)
    found = []
    for chunk in chunks:
        found.append(chunk)
        LAPLACE.sample(7, rng=rng)
        rng.spawn(1)
    rng.reseed(10)
    assert np.array_equal(np.concatenate(found), whole)


def test_two_iterators_of_one_generator_share_no_noise():
    rng = sn.SecureRng()
    first, second = LAPLACE.sample_chunks(10**6, 10**5, rng=rng), LAPLACE.sample_chunks(10**6, 10**5, rng=rng)
    for one, other in zip(first, second, strict=True):
        assert (
            len(np.intersect1d(one, other)) < 1000
        )  # of 10**5 continuous values, which have 2**32 lattice steps to a sensitivity


def test_threads_that_take_fills_of_one_generator_get_different_ones():
    rng, taken = sn.SeededRng(9), []

    def take():
        for _ in range(200):
            taken.append(next(LAPLACE.sample_chunks(4, 4, rng=rng)).tobytes())

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fills = sn.SeededRng(9)
    assert sorted(taken) == sorted(LAPLACE.sample(4, rng=fills).tobytes() for _ in range(800))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_forked_child_draws_other_chunks_of_one_fill():
    def rest(chunks):
        return np.concatenate(list(chunks)).tobytes()

    chunks = LAPLACE.sample_chunks(30, 10)
    next(chunks)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, rest(chunks))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        there = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    here = rest(chunks)
    assert len(there) == len(here) == 160
    assert there != here


def test_the_process_wide_generator():
    assert joined(LAPLACE.sample_chunks(10, 3)).shape == (10,)


def test_a_memmap_is_filled_chunk_by_chunk(tmp_path):
    out = np.lib.format.open_memmap(tmp_path / "noise.npy", "w+", np.float64, (1000,))
    first = 0
    for chunk in LAPLACE.sample_chunks(1000, 64, rng=sn.SeededRng(9)):
        out[first : first + len(chunk)] = chunk
        first += len(chunk)
    out.flush()
    assert np.array_equal(np.load(tmp_path / "noise.npy"), LAPLACE.sample(1000, rng=sn.SeededRng(9)))


def test_it_takes_what_sample_takes_but_an_out():
    taken = [list(inspect.signature(method).parameters) for method in (LAPLACE.sample, LAPLACE.sample_chunks)]
    assert [name for name in taken[1] if name != "chunk_size"] == [name for name in taken[0] if name != "out"]
