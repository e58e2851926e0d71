"""Confidence intervals of the mechanisms beyond the first four, for one value and for sums and means of many.

Evidence: schoolbook convolution in exact integers (probabilities as multiples of 2**-200, from the documented formulas in 60
digits); closed forms for Laplace and normal sums; coverage of the mechanism's own draws, at fixed seeds.
"""

import itertools
import math
from fractions import Fraction
from functools import cache

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.distributions import slopes as slope_sums
from stairnoise.distributions.slopes import Slopes
from stairnoise.numerics import sums as listed_sums
from tests.combinations import in_turn, rest_long

SCALE = 2**200
ALPHAS = [0.5, 0.05, 1e-3, 1e-6, 1e-9, 1e-12]


def gaussian(sigma2):
    k = range(int(math.sqrt(280 * sigma2)) + 3)
    return [mp.exp(-mp.mpf(i * i) / (2 * mp.mpf(sigma2))) for i in k]


def divisible(beta, a):
    beta, x = mp.mpf(beta), mp.exp(-mp.mpf(a))
    return [x**k * mp.rf(beta, k) / mp.factorial(k) * mp.hyp2f1(beta, beta + k, 1 + k, x * x) for k in range(int(110 / a))]


def as_integers(right):
    """Return probabilities from -n to n as multiples of 2**-200, from weights of 0, 1, 2, ..."""
    weights = [*right[:0:-1], *right]
    total = mp.fsum(weights)
    return np.array([int(w / total * SCALE) for w in weights], object)


def convolved(mechanism, k):
    total = mechanism
    for _ in range(k - 1):
        total = np.convolve(total, mechanism)
    return total


def tails_of(total, centre, denominator):
    """Return P(|S| > t) for t = 0, 1, ..., as rationals."""
    reach = max(centre, total.size - 1 - centre)
    padded = np.concatenate([np.zeros(reach - centre, object), total, np.zeros(reach - (total.size - 1 - centre), object)])
    both = padded[reach + 1 :] + padded[:reach][::-1]
    beyond = [Fraction(int(p), denominator) for p in itertools.accumulate(both[::-1])]
    return [*beyond[::-1], Fraction(0)]


@cache
def exact_tails(name, k):
    with mp.workdps(60):
        if name == "multi-scale":
            mechanism = as_integers([mp.exp(-mp.mpf(2) * j) for j in range(60)])
            scaled = np.zeros(2 * (mechanism.size // 2) * 2 + 1, object)
            scaled[::2] = mechanism
            one, scale = np.convolve(mechanism, scaled), SCALE**2
        else:
            one, scale = as_integers(ONE[name]()), SCALE
    total = convolved(one, k)
    return tails_of(total, total.size // 2, scale**k)


ONE = {
    "gaussian 0.1": lambda: gaussian(0.1),
    "gaussian 0.3": lambda: gaussian(0.3),
    "gaussian 7.25": lambda: gaussian(7.25),
    "divisible 0.3": lambda: divisible(0.3, 0.9),
    "divisible 2.5": lambda: divisible(2.5, 1.5),
}
LISTED = [
    ("gaussian 0.1", sn.DiscreteGaussian(0.1)),
    ("gaussian 0.3", sn.DiscreteGaussian(0.3)),
    ("gaussian 7.25", sn.DiscreteGaussian(7.25)),
    ("divisible 0.3", sn.GeneralizedDiscreteLaplace(0.3, 0.9)),
    ("divisible 2.5", sn.GeneralizedDiscreteLaplace(2.5, 1.5)),
    ("multi-scale", sn.MultiScaleDiscreteLaplace(2, 2)),
]


@pytest.mark.parametrize(("name", "mechanism"), LISTED)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_interval_is_the_smallest(name, mechanism, k):
    tails = exact_tails(name, k)
    for alpha in ALPHAS:
        confidence = 1 - alpha
        low, high = mechanism.confidence_interval(100, confidence, of="sum", terms=k)
        t = high - 100
        assert low == 100 - t
        assert tails[t] <= 1 - Fraction(confidence)
        assert t == 0 or tails[t - 1] > 1 - Fraction(confidence)


COARSE = [
    Slopes((Fraction(1, 5),), ()),
    Slopes((Fraction(3, 4), Fraction(1, 6)), (3,)),
    Slopes((Fraction(1, 6), Fraction(3, 4)), (9,)),
    Slopes((Fraction(1, 4),), (), 20, 20),
    Slopes((Fraction(1, 4),), (), 9, 30),
    Slopes((Fraction(1, 8), Fraction(1, 3)), (5,), 30, 12),
]


@pytest.mark.parametrize(("slopes", "k"), rest_long(in_turn(COARSE, (4, 2, 1)), itertools.product(COARSE, (4, 2, 1))))
def test_sums_of_a_coarse_lattice(slopes, k):
    """If every integer can be listed, the bound is the smallest one, also for asymmetric mechanisms."""
    with mp.workdps(60):
        below = 350 if slopes.below is None else slopes.below
        above = 350 if slopes.above is None else slopes.above
        weights = [mp.exp(-mp.mpf(h.numerator) / h.denominator) for h in map(slopes.height, range(-below, above + 1))]
        total = mp.fsum(weights)
        one = np.array([int(w / total * SCALE) for w in weights], object)
    tails = tails_of(convolved(one, k), k * below, SCALE**k)
    for alpha in (0.5, 0.05, 1e-3, 1e-9):
        t = slope_sums.error_bound(slopes, k, alpha)
        assert tails[t] <= alpha
        assert t == 0 or tails[t - 1] > alpha


TERMS, LEVELS = (2, 12, 1000, 10**6), (0.5, 0.05, 1e-9)


@pytest.mark.parametrize(("k", "alpha"), rest_long(in_turn(TERMS, LEVELS), itertools.product(TERMS, LEVELS)))
def test_sums_of_wider_cells_are_bounds_and_hardly_wider(k, alpha):
    """The mechanism of one rate is the Laplace distribution, whose sums have a closed form."""
    mechanism, other = sn.MergedLaplace([1.0], [], 3.0), sn.Laplace(1.0, 3.0)
    wide, exact = (d.confidence_interval(0.0, 1 - alpha, of="sum", terms=k)[1] for d in (mechanism, other))
    assert exact <= wide <= exact * (1 + 1e-4)


@pytest.mark.parametrize("k", [50, 10**6])
def test_rounding_outwards_bounds(k):
    """The fallback for unordered probabilities is compared with the exact list, on cells of several integers."""
    reach = 200
    places = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * np.abs(places)) * math.tanh(0.25)
    variable = listed_sums.Summand(-reach, weights, 0.5, k)
    bounds = [listed_sums.bound(lambda h: listed_sums.rounded_up(variable, h), None, 0.05, h) for h in (1, 3, 9)]
    assert bounds[0] <= bounds[1] <= bounds[2] <= bounds[0] + 9 * k
    spread = [listed_sums.bound(lambda h: listed_sums.widened(variable, h), None, 0.05, h) for h in (1, 3)]
    assert bounds[0] == spread[0] <= spread[1] <= 1.2 * spread[0]


@pytest.mark.parametrize("k", [2, 12, 50])
def test_what_is_within_one_cell_still_spreads(k):
    """One cell joins three integers of a uniform distribution; the bound adds the spread lost in the cell."""
    weights = np.full(3, 1 / 3)
    exact, wide = (
        listed_sums.bound(lambda h: listed_sums.widened(listed_sums.Summand(-1, weights, 1.0, k), h), None, 0.05, h)
        for h in (1, 3)
    )
    assert exact <= wide <= 3 * exact


@pytest.mark.parametrize("name", [name for name, _ in LISTED])
@pytest.mark.parametrize("k", [2, 5])
def test_tail_of_the_transform(name, k):
    """The tail is never below the exact tail, and above it by less than 1e-8 of itself or of alpha."""
    tails = exact_tails(name, k)
    mechanism = dict(LISTED)[name]
    reach, decay = (12, 8.0) if isinstance(mechanism, sn.DiscreteGaussian) else (60, 0.8)
    if name == "gaussian 7.25":
        reach, decay = 40, 2.5
    weights = mechanism.pmf(np.arange(-reach, reach + 1))
    for alpha in (0.05, 1e-9, 1e-12):
        tail = listed_sums._Tail(listed_sums.Summand(-reach, weights, decay, k), alpha)
        n = next(t for t, p in enumerate(tails) if p <= alpha)
        for t in {n, max(n - 1, 0)}:
            error = Fraction(2 * tail(t)) - tails[t]
            assert -1e-11 * tails[t] <= error < 1e-8 * max(alpha, tails[t])


@pytest.mark.parametrize("k", [1, 3, 10**9])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
def test_gaussian_sums_are_normal(k, confidence):
    mechanism = sn.Gaussian(1, 1e-6, 2.0)
    low, high = mechanism.confidence_interval(0.0, confidence, of="mean", terms=k)
    with mp.workdps(30):
        quantile = float(mp.sqrt(2) * mp.erfinv(mp.mpf(confidence)))
    exact = quantile * mechanism.sigma / math.sqrt(k)
    assert low == -high
    assert exact * (1 - 1e-9) <= high <= exact * (1 + 1e-8) + mechanism.granularity


MECHANISMS = [
    sn.Gaussian(1, 1e-6),
    sn.DiscreteGaussian(5.0),
    sn.TruncatedLaplace(1, 1e-3),
    sn.TruncatedLaplace(1, 1e-2, lower=-6),
    sn.MergedLaplace([16, 4], [0.125]),
    sn.GeneralizedDiscreteLaplace(0.3, 0.5),
    sn.GeneralizedDiscreteLaplace(0.3, 0.5).share(3, 2),
    sn.MultiScaleDiscreteLaplace(1, 4),
    sn.MultiScaleDiscreteLaplace(1, 4).share(3, 2),
    sn.Arete.from_eps(8, 1),
    sn.Arete.from_eps(8, 1).share(2),
]
each_mechanism = pytest.mark.parametrize("mechanism", rest_long(MECHANISMS[:-1], MECHANISMS), ids=repr)


@each_mechanism
@pytest.mark.parametrize("k", [1, 4])
def test_coverage(mechanism, k):
    """Coverage of 40,000 sums of draws; a mechanism with the coverage 0.9 fails with a probability below 1e-6."""
    n = 40_000
    sums = mechanism.sample((n, k), rng=sn.SeededRng(7)).sum(axis=1)
    low, high = mechanism.confidence_interval(sums, 0.9, of="sum", terms=k)
    covered = np.mean((low <= 0) & (high >= 0))
    assert covered >= 0.9 - 5 * math.sqrt(0.09 / n)
    # The interval is hardly wider than needed: on integers, by at most the probability of its ends.
    half = float(high[0] - sums[0])
    inside = np.mean(np.abs(sums) < half * (1 - 1e-6) - mechanism.granularity)
    assert inside <= 0.9 + 5 * math.sqrt(0.09 / n)


@each_mechanism
def test_one_value_agrees_with_the_error_bound(mechanism):
    zero = 0 if mechanism._dtypes[0] == "int64" else 0.0
    for alpha in (0.5, 0.05, 1e-4):
        low, high = mechanism.confidence_interval(zero, 1 - alpha)
        assert low == -high
        assert type(high) is type(zero)
        assert (
            mechanism._tail_bound(alpha) * (1 - 1e-9)
            <= high
            <= mechanism._tail_bound(alpha * (1 - 1e-9)) * (1 + 1e-8) + mechanism.granularity
        )


@pytest.mark.parametrize("mechanism", rest_long(MECHANISMS[::3], MECHANISMS), ids=repr)
def test_shapes(mechanism):
    released = np.zeros((3, 1), "i8")
    low, high = mechanism.confidence_interval(released, [0.5, 0.99], of="sum", terms=2)
    assert low.shape == high.shape == (3, 2)
    assert (np.diff(high) >= 0).all()
    assert low.dtype == (np.int64 if mechanism._dtypes[0] == "int64" else np.float64)


def test_max_partitions_contributed():
    mechanism = sn.Gaussian(1, 1e-6)
    one, four = (mechanism.confidence_interval(0.0, max_partitions_contributed=m)[1] for m in (1, 4))
    assert four == pytest.approx(2 * one, rel=1e-6)
    mechanism = sn.MultiScaleDiscreteLaplace(2, 3)
    assert mechanism.confidence_interval(0, max_partitions_contributed=2) == sn.MultiScaleDiscreteLaplace(
        1, 3
    ).confidence_interval(0)
    with pytest.raises(
        sn.ParameterError, match="max_partitions_contributed must be 1 for a mechanism given by beta and a, got 2"
    ):
        sn.GeneralizedDiscreteLaplace(1, 1).confidence_interval(0, max_partitions_contributed=2)


def test_refused():
    mechanism = sn.Gaussian(1, 1e-6)
    with pytest.raises(sn.ParameterError, match=r"confidence must be less than 1, got 1\.0"):
        mechanism.confidence_interval(0.0, 1.0)
    with pytest.raises(sn.ParameterError, match="terms must be 1 for a single value"):
        mechanism.confidence_interval(0.0, terms=2)
