"""The destination of values does not change them: shapes, strides, chunks and views of one fill."""

import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

import stairnoise as sn
from stairnoise._output import overlaps_itself
from tests.combinations import looped
from tests.property.strategies import exact_release, good_mechanisms, good_seeds, views

CONTINUOUS = (sn.Staircase, sn.Laplace)


@given(st.data(), good_mechanisms(), good_seeds)
def test_any_view_gets_the_values_of_a_contiguous_array(data, mechanism, seed):
    dtype = data.draw(st.sampled_from(["f8", "f4"] if isinstance(mechanism, CONTINUOUS) else ["i8", "i4", "f8"]))
    out = data.draw(views(dtype))
    assert mechanism.sample(out=out, rng=sn.SeededRng(seed)) is out
    assert np.array_equal(out, mechanism.sample(out.shape, dtype=dtype, rng=sn.SeededRng(seed)))


@looped("threads", [1, 2])
@looped("shape", [(64, 67), (67, 61), (1200, 1003), (2050, 1100)])
@looped("dtype", ["f8", "f4", "i8", "i4"])
def test_columns_get_the_values_of_rows(dtype, shape, threads):
    """Evidence: equality. Shapes are below and above the size at which writes bypass the caches; columns begin at cache lines or
    elsewhere; rows and columns have remainders. The memory between columns stays unchanged.
    """
    mechanism = sn.DiscreteLaplace(0.1) if dtype.startswith("i") else sn.Staircase(1.0, sensitivity=1)
    rows = mechanism.sample(shape, dtype=dtype, rng=sn.SeededRng(3))
    for padding in (0, 3, -shape[0] % 16):
        memory = np.full((shape[0] + padding, shape[1]), 77, dtype, order="F")
        mechanism.sample(out=memory[: shape[0]], rng=sn.SeededRng(3), threads=threads)
        assert np.array_equal(memory[: shape[0]], rows)
        assert (memory[shape[0] :] == 77).all()


@looped("mechanism", [sn.Staircase(4.0, sensitivity=1), sn.DiscreteLaplace(1e-12), sn.DiscreteGaussian(2.0)])
@looped("start", [0, 6, 7])
@looped("shape", [(700, 10), (64, 128), (64, 130), (300, 302), (41, 6, 44)])
def test_tiles_of_any_size_from_any_place(mechanism, start, shape):
    """Evidence: equality. Tiles have whole or partial rows, and the last tiles few columns; fills begin with either word of a
    block; values take a certain word, a doubtful word, or several words.
    """
    rows = mechanism.sample(shape, dtype="f8", rng=sn.SeededRng(9).at(start))
    out = np.empty(shape, order="F")
    mechanism.sample(out=out, rng=sn.SeededRng(9).at(start))
    assert np.array_equal(out, rows)


@given(st.data(), good_mechanisms(), good_seeds)
def test_any_view_of_parameters_and_out(data, mechanism, seed):
    """Arrays of equal parameters give the values of the scalar mechanism."""
    out = data.draw(views("f8"))
    per_element = type(mechanism)(np.full(out.shape, mechanism.eps), *mechanism._arguments()[1:])
    per_element.sample(out=out, rng=sn.SeededRng(seed))
    assert np.array_equal(out, mechanism.sample(out.shape, dtype="f8", rng=sn.SeededRng(seed)))


@given(good_mechanisms(), good_seeds, st.lists(st.integers(0, 700), max_size=5))
def test_parts_make_the_whole(mechanism, seed, cuts):
    n = 700
    whole = mechanism.sample(n, rng=sn.SeededRng(seed))
    edges = [0, *sorted(cuts), n]
    rng = sn.SeededRng(seed)
    parts = [mechanism.sample(b - a, rng=rng.at(a)) for a, b in pairwise(edges)]
    assert np.array_equal(np.concatenate(parts), whole)


@given(st.data(), good_mechanisms(CONTINUOUS), good_seeds)
def test_release_is_exact_rounding_exact_addition_one_conversion(data, mechanism, seed):
    finite = st.floats(allow_nan=False, allow_infinity=False)
    scale = st.integers(-(2**40), 2**40).map(lambda halves: halves * mechanism.granularity / 2)
    value = data.draw(st.one_of(finite, scale.filter(np.isfinite), st.integers(-(2**63), 2**63 - 1)))
    rng = sn.SeededRng(seed, allow_release=True)
    noise = mechanism.sample(rng=sn.SeededRng(seed))
    if abs(noise / mechanism.granularity) > 2**53:
        return  # only the noise was rounded
    if abs(value) >= Fraction(2) ** 126 * Fraction(mechanism.granularity):
        with pytest.raises(sn.ParameterError, match=r"^values must be below 2\*\*126 times the granularity"):
            mechanism.release(value, rng=rng)
        return
    assert mechanism.release(value, rng=rng) == exact_release(value, noise, mechanism.granularity)


@given(good_mechanisms([sn.DiscreteStaircase, sn.DiscreteLaplace]), good_seeds, st.integers(-(2**63), 2**63 - 1))
def test_release_of_integers_saturates(mechanism, seed, value):
    noise = mechanism.sample(rng=sn.SeededRng(seed))
    released = mechanism.release(value, rng=sn.SeededRng(seed, allow_release=True))
    assert released == max(-(2**63), min(2**63 - 1, value + noise))


@given(st.data())
def test_self_overlap_is_what_counting_bytes_says(data):
    ndim = data.draw(st.integers(0, 3))
    shape = tuple(data.draw(st.integers(0, 4)) for _ in range(ndim))
    strides = tuple(data.draw(st.integers(0, 40)) for _ in range(ndim))
    array = as_strided(np.zeros(100), shape, strides)
    starts = [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(shape)]
    touched = [start + byte for start in starts for byte in range(8)]
    assert overlaps_itself(array) is (len(set(touched)) < len(touched))


def placed(shape: tuple[int, ...], order: tuple[int, ...], dtype: str, step: int, ahead: int) -> np.ndarray:
    """Return an array with axes in this memory order, outermost first, of every `step`-th element from byte `ahead`."""
    lengths = [shape[axis] * (abs(step) if axis == order[-1] else 1) for axis in order]
    memory = np.zeros(int(np.prod(lengths)) * np.dtype(dtype).itemsize + ahead, np.uint8)
    array = memory[ahead:].view(dtype).reshape(lengths).transpose(np.argsort(order))
    return array[tuple(slice(None, None, step if axis == order[-1] else 1) for axis in range(len(shape)))]


# Enough values for joint writing of rows: several pieces; rows longer than a part; a third axis; few rows and few columns.
@looped(
    ("shape", "order"),
    [
        ((300, 301), (1, 0)),
        ((19, 9001), (1, 0)),
        ((3, 30001), (1, 0)),
        ((30001, 3), (1, 0)),
        ((37, 41, 43), (2, 1, 0)),
        ((37, 41, 43), (1, 2, 0)),
        ((37, 41, 43), (0, 2, 1)),
        ((5, 2, 67, 71), (3, 0, 2, 1)),
    ],
)
@looped(("step", "ahead"), [(1, 0), (1, 3), (1, 40), (2, 0), (-1, 8)])
def test_rows_that_share_lines(shape, order, step, ahead):
    """In Fortran order, and in other orders of the axes, values and errors equal those in C order."""
    mechanism = sn.Staircase(eps=1.0, sensitivity=1)
    for dtype in ("f8", "f4"):
        expected = mechanism.sample(shape, dtype=dtype, rng=sn.SeededRng(1))
        for threads in (1, 3):
            out = placed(shape, order, dtype, step, ahead)
            assert np.array_equal(mechanism.sample(out=out, rng=sn.SeededRng(1), threads=threads), expected)
    answers = np.arange(np.prod(shape), dtype="f8").reshape(shape) / 8
    expected = mechanism.release(answers, rng=sn.SeededRng(1, allow_release=True))
    values = placed(shape, order, "f8", step, ahead)
    for out in (np.empty(shape), placed(shape, order, "f8", 1, 0), placed(shape, order[::-1], "f8", 1, 0), values):
        values[...] = answers
        assert np.array_equal(mechanism.release(values, out=out, rng=sn.SeededRng(1, allow_release=True)), expected)
    per_element = sn.Staircase(eps=np.linspace(0.5, 2, answers.size).reshape(shape), sensitivity=1)
    expected = per_element.release(answers, rng=sn.SeededRng(1, allow_release=True))
    values[...] = answers
    assert np.array_equal(per_element.release(values, out=values, rng=sn.SeededRng(1, allow_release=True)), expected)


@pytest.mark.parametrize("shape", [(300, 301), (19, 9001), (37, 41, 43)])
@pytest.mark.parametrize("per_element", [False, True])
def test_the_first_refused_answer_is_named_in_any_order_of_the_axes(shape, per_element):
    mechanism, rng = sn.Staircase(eps=np.ones(shape) if per_element else 1.0, sensitivity=1), sn.SecureRng()
    for first, second in [((0, shape[1] - 1), (1, 0)), ((0, 0), (0, 1)), ((shape[0] - 2, 7), (shape[0] - 1, 3))]:
        values = np.asfortranarray(np.zeros(shape))
        values[first] = values[second] = np.nan
        out = np.zeros(shape, order="F")
        index = (*first, 0)[: len(shape)]
        with pytest.raises(sn.ParameterError, match=re.escape(f"at index ({', '.join(map(str, index))})")):
            mechanism.release(values, out=out, rng=rng)
        assert not out.any()


def test_vectors_in_any_order_of_the_axes():
    mechanism = sn.MultivariateStaircase(eps=1.0, dim=6, sensitivity=1)
    for shape, order in [((7001, 6), (1, 0)), ((90, 91, 6), (1, 0, 2)), ((90, 91, 6), (2, 1, 0)), ((3, 3001, 6), (1, 2, 0))]:
        out = placed(shape, order, "f8", 1, 0)
        assert np.array_equal(mechanism.sample(out=out, rng=sn.SeededRng(1)), mechanism.sample(shape[:-1], rng=sn.SeededRng(1)))
