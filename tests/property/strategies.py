"""Strategies for arguments: good ones, bad ones, and memory in every layout."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import stairnoise as sn

MECHANISMS = [sn.Staircase, sn.DiscreteStaircase, sn.Laplace, sn.DiscreteLaplace]
NAMES = ["staircase", "discrete_staircase", "laplace", "discrete_laplace"]

shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
powers = st.integers(-1074, 1023).map(lambda e: 2.0**e)
reals = st.one_of(st.floats(), powers, st.integers(), st.fractions(), st.decimals(), st.floats(0.01, 50))
junk = st.one_of(st.none(), st.booleans(), st.text(max_size=3), st.binary(max_size=3), st.complex_numbers(), st.just({}))
dtypes = st.sampled_from(["f8", "f4", "f2", ">f8", "g", "i8", "i1", "u8", "?", "c16", "O", "U1", "m8[s]", "M8[D]"])
arrays = dtypes.flatmap(
    lambda dtype: hnp.arrays(
        dtype, shapes, elements=st.integers(-3, 300) if dtype == "O" else None, fill=st.nothing() if dtype == "O" else None
    )
)
anything = st.one_of(reals, junk, st.lists(st.one_of(reals, junk), max_size=4), arrays)

good_eps = st.one_of(st.floats(2.0**-30, 50), st.floats(50, 1e300), st.just(2.0**-40))
good_seeds = st.integers(0, 2**128 - 1)


@st.composite
def good_mechanisms(draw, mechanisms=MECHANISMS):
    """Draw a mechanism with scalar parameters that fit its lattice."""
    mechanism = draw(st.sampled_from(mechanisms))
    if mechanism in (sn.Staircase, sn.Laplace):
        eps = draw(st.floats(2.0**-19, 1e3))
        sensitivity = draw(st.one_of(st.floats(1e-6, 1e6), st.floats(1e-280, 1e280)))
    else:
        eps = draw(st.floats(2.0**-19, 1e3))
        sensitivity = draw(st.integers(1, 2**30))
    if mechanism is sn.Staircase:
        return mechanism(eps, sensitivity, draw(st.one_of(st.sampled_from(["l1", "l2"]), st.floats(2.0**-60, 1))))
    if mechanism is sn.DiscreteStaircase:
        return mechanism(eps, sensitivity, draw(st.one_of(st.sampled_from(["l1", "l2"]), st.integers(1, sensitivity))))
    return mechanism(eps, sensitivity)


@st.composite
def views(draw, dtype):
    """Draw a writable array that does not overlap itself, of any order, stride, sign and alignment."""
    shape = draw(shapes)
    steps = [draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in shape]
    offset = draw(st.sampled_from([0, 0, 0, 1]))  # an offset of one byte is not aligned
    full = tuple(length * abs(step) for length, step in zip(shape, steps, strict=True))
    dtype = np.dtype(dtype)
    memory = np.zeros(int(np.prod(full)) * dtype.itemsize + offset, np.uint8)
    array = memory[offset:].view(dtype).reshape(full)
    array = array[(..., *(slice(None, None, step) for step in steps))]
    return array.transpose(draw(st.permutations(range(array.ndim))))


def exact_release(value, noise, granularity):
    """Return (floor(x/g + 1/2) + K) g from rational numbers, rounded once and kept finite."""
    step = Fraction(granularity)
    cell = (Fraction(value) / step + Fraction(1, 2)).__floor__()
    total = (cell + Fraction(noise) / step) * step
    try:
        return float(total)
    except OverflowError:
        largest = float(np.finfo(np.float64).max)
        return largest if total > 0 else -largest
