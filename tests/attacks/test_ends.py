"""Attacks at the ends of number formats: the sign of zero, subnormal numbers, the largest numbers.

Evidence: outcome sets of neighbours are compared over 100 000 releases each (an outcome of probability p is missed with
probability (1 - p)**100 000, below 1e-9 for those compared), and their shares by the Chernoff bounds of checks.py, at a
false-alarm rate of at most `ALPHA` each. Plain NumPy must be caught by the same comparison.
"""

import numpy as np
import pytest

import stairnoise as sn
from tests.attacks import naive
from tests.statistical.checks import check_loss_at_most

ALPHA = 1e-9
N = 100_000
EPS = 1.0
DISCRETE = [sn.DiscreteLaplace(EPS, sensitivity=1), sn.DiscreteStaircase(EPS, sensitivity=1)]
CONTINUOUS = [sn.Laplace(EPS, sensitivity=1), sn.Staircase(EPS, sensitivity=1)]
INT64 = np.iinfo(np.int64)
COMMON = 6  # |noise| up to here has probability above 1e-3 each


def released(mechanism, answer, seed, dtype=None, size=N):
    values = np.full(size, answer, dtype)
    return mechanism.release(values, rng=sn.SeededRng(seed, allow_release=True))


def compare(first, second, outcomes):
    """Require that both neighbours reach every outcome, with shares within e^eps of each other."""
    counts = [np.array([np.count_nonzero(values == outcome) for outcome in outcomes]) for values in (first, second)]
    assert np.array_equal(counts[0] > 0, counts[1] > 0), f"{counts} of {outcomes}"
    check_loss_at_most(counts[0], counts[1], EPS, ALPHA)
    check_loss_at_most(counts[1], counts[0], EPS, ALPHA)


@pytest.mark.parametrize("mechanism", DISCRETE, ids=repr)
@pytest.mark.parametrize(("end", "inwards"), [(INT64.max, -1), (INT64.min, 1)])
def test_the_ends_of_int64(mechanism, end, inwards):
    first, second = (released(mechanism, answer, seed, np.int64) for answer, seed in ((end, 1), (end + inwards, 2)))
    compare(first, second, [end + inwards * steps for steps in range(COMMON)])
    for values in (first, second):
        assert (values > 0).all() == (end > 0), "no output is beyond the other end"


def test_the_ends_of_int64_give_plain_numpy_away():
    rng = np.random.default_rng(3)
    first, second = (naive.wrapping(rng, int(answer), N, EPS) for answer in (INT64.max, INT64.max - 5))
    with pytest.raises(AssertionError):
        compare(first, second, [INT64.min, INT64.max])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("family", [sn.Laplace, sn.Staircase])
def test_the_ends_of_floats(family, dtype):
    """Noise wide enough to leave the format: about half of all outputs are the largest number, and none is infinite."""
    largest = float(np.finfo(dtype).max)
    delta = 2.0 ** (np.frexp(largest)[1] - 32)
    mechanism = family(EPS, delta)
    first, second = (released(mechanism, answer, seed, dtype) for answer, seed in ((largest, 1), (largest - delta, 2)))
    assert np.isfinite(first).all()
    assert np.isfinite(second).all()
    compare(first >= largest, second >= largest, [True, False])
    assert np.count_nonzero(first == largest) > 0.4 * N


@pytest.mark.parametrize("mechanism", [*DISCRETE, *CONTINUOUS], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("answer", [0.0, -0.0, -0.3, -1e-300, -5e-324])
def test_zero_has_no_sign(mechanism, dtype, answer):
    values = released(mechanism, answer, 4, dtype)
    assert not np.signbit(values[values == 0]).any()


def test_the_sign_of_zero_gives_plain_numpy_away():
    rng = np.random.default_rng(5)
    signs = [np.signbit(values[values == 0]) for values in (naive.signed_zero(rng, answer, N, EPS) for answer in (0.3, -0.3))]
    assert not signs[0].any()
    assert signs[1].all()


@pytest.mark.parametrize("mechanism", [*DISCRETE, *CONTINUOUS], ids=repr)
@pytest.mark.parametrize("answer", [5e-324, -5e-324, 1e-310, -1e-310, 2.2250738585072014e-308])
def test_subnormal_answers_are_zero(mechanism, answer):
    """Answers far below the lattice step all round to one lattice point, so outputs are equal too."""
    assert np.array_equal(released(mechanism, answer, 6, size=1000), released(mechanism, 0.0, 6, size=1000))


@pytest.mark.parametrize("family", [sn.Laplace, sn.Staircase])
def test_a_subnormal_lattice(family):
    """Sensitivity 2**-1030: the lattice step is subnormal, and so are most outputs; neighbours reach only multiples of it."""
    mechanism = family(EPS, 2.0**-1030)
    g = mechanism.granularity
    assert 0 < g < np.finfo(float).smallest_normal
    here, there = (released(mechanism, answer, 7) for answer in (0.0, 2.0**-1030))
    assert (here % g == 0).all()
    steps = there / g - here / g
    assert np.ptp(steps) == 0
    assert 0 < steps[0] <= 2.0**-1030 / g
