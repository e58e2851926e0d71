"""The worst difference of two neighbours: every measure of a loss is compared with all shifts from 1 to the sensitivity.

Evidence: probabilities from each mechanism's definition (powers, and convolutions of them), shifted and summed in float64; the
package's losses are not used. Shifts of both signs are tried, because mechanisms with unequal bounds are not symmetric.
"""

import functools
import math

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.accounting.losses.largest import Largest
from stairnoise.accounting.losses.runs import Runs
from stairnoise.accounting.privacy_loss import PrivacyLoss
from stairnoise.distributions.slopes import Slopes

LEVELS = (0.0, 0.01, 0.3, 0.9, 1.7, 3.1)
ORDERS = (0.3, 1.5, 2.0, 6.0)
ALARMS = (0.0, 1e-4, 0.01, 0.2, 0.5, 0.9, 1.0)
FAR = 700


def staircase(eps, D, r):
    k = np.abs(np.arange(-FAR, FAR + 1))
    return np.exp(-eps * np.where(k < r, 0, (k - r) // D + 1))


def geometric(decay, scale=1):
    k = np.arange(-FAR, FAR + 1)
    return np.where(k % scale == 0, np.exp(-decay * np.abs(k) / scale), 0.0)


def gaussian(sigma2):
    return np.exp(-(np.arange(-FAR, FAR + 1.0) ** 2) / (2 * sigma2))


def infinitely_divisible(shape, decay, scale=1):
    """Return the pmf of N - N' for negative binomial N: P(N = k) is proportional to Γ(k + shape)/k! exp(-decay k)."""
    n = FAR // scale
    one = np.exp([math.lgamma(k + shape) - math.lgamma(k + 1) - decay * k for k in range(n + 1)])
    both = np.convolve(one, one[::-1])
    spaced = np.zeros(2 * FAR + 1)
    spaced[FAR - n * scale : FAR + n * scale + 1 : scale] = both
    return spaced


def convolved(*mechanisms):
    return functools.reduce(lambda a, b: np.convolve(a / a.sum(), b / b.sum(), "same"), mechanisms)


def slopes(rates, breaks=(), below=None, above=None):
    k = np.abs(np.arange(-FAR, FAR + 1))
    spans = zip(rates, (0, *breaks), (*breaks, math.inf), strict=True)
    height = sum(rate * np.maximum(np.minimum(k, end) - start, 0) for rate, start, end in spans)
    signed = np.arange(-FAR, FAR + 1)
    inside = (signed >= -(FAR if below is None else below)) & (signed <= (FAR if above is None else above))
    return np.where(inside, np.exp(-height), 0.0)


def loss_on_slopes(rates, D, breaks=(), below=None, above=None):
    from fractions import Fraction

    mechanism = Slopes(tuple(map(Fraction, rates)), breaks, below, above)
    pairs = [Runs((str(mechanism),), mechanism, D), Runs((str(mechanism),), mechanism, -D)]
    part = pairs[0] if below == above else Largest(pairs)
    return PrivacyLoss._of(((part, 1),), ("slopes",))


CASES = {
    "staircase r=1": (sn.DiscreteStaircase(1.5, 7, 1).privacy_loss(), staircase(1.5, 7, 1), 7),
    "staircase r=3": (sn.DiscreteStaircase(0.8, 7, 3).privacy_loss(), staircase(0.8, 7, 3), 7),
    "staircase r=D": (sn.DiscreteStaircase(2.0, 5, 5).privacy_loss(), staircase(2.0, 5, 5), 5),
    "staircase, large eps": (sn.DiscreteStaircase(20.0, 12, 2).privacy_loss(), staircase(20.0, 12, 2), 12),
    "discrete Laplace": (sn.DiscreteLaplace(1.0, 6).privacy_loss(), geometric(1.0 / 6), 6),
    "discrete Laplace, large eps": (sn.DiscreteLaplace(15.0, 5).privacy_loss(), geometric(3.0), 5),
    "discrete Gaussian": (sn.DiscreteGaussian(20.0).privacy_loss(sensitivity=6), gaussian(20.0), 6),
    "narrow discrete Gaussian": (sn.DiscreteGaussian(0.7).privacy_loss(sensitivity=3), gaussian(0.7), 3),
    "infinitely divisible": (
        sn.GeneralizedDiscreteLaplace(0.3, 0.4).privacy_loss(sensitivity=6),
        infinitely_divisible(0.3, 0.4),
        6,
    ),
    "infinitely divisible, large shape": (
        sn.GeneralizedDiscreteLaplace(3.0, 0.5).privacy_loss(sensitivity=6),
        infinitely_divisible(3.0, 0.5),
        6,
    ),
    "multi-scale": (
        sn.MultiScaleDiscreteLaplace(1.5, 4).privacy_loss(),
        convolved(*(geometric(1.5, m) for m in range(1, 5))),
        4,
    ),
    "shares of multi-scale": (
        sn.MultiScaleDiscreteLaplace(2.0, 3).share(10, 9).privacy_loss(),
        convolved(*(infinitely_divisible(0.9, 2.0, m) for m in range(1, 4))),
        3,
    ),
    "merged, steep centre": (loss_on_slopes([0.1, 0.0625], 40, (24,)), slopes([0.1, 0.0625], (24,)), 40),
    "merged, flat centre": (loss_on_slopes([0.0625, 0.15, 0.08], 30, (25, 40)), slopes([0.0625, 0.15, 0.08], (25, 40)), 30),
    "truncated": (loss_on_slopes([0.05], 40, (), 200, 200), slopes([0.05], (), 200, 200), 40),
    "truncated, unequal bounds": (loss_on_slopes([0.05], 40, (), 90, 210), slopes([0.05], (), 90, 210), 40),
}  # fmt: skip
# Their moments are integrals for a much finer lattice, so they differ by the square of the loss in a step.
INTEGRATED = {"merged, steep centre": 5e-3, "merged, flat centre": 5e-3}
TOLERANT = [(*case, INTEGRATED.get(name, 1e-9)) for name, case in CASES.items()]
case = pytest.mark.parametrize(("loss", "weights", "D", "tolerance"), TOLERANT, ids=CASES)


def pairs(weights, D):
    """Yield P and Q for every shift of either sign, at all integers where float64 can hold them."""
    mechanism = weights / weights.sum()
    ends = np.flatnonzero(mechanism)[[0, -1]]
    bounded = ends[0] > D and mechanism[ends[0]] > 1e-100
    for s in (*range(1, D + 1), *range(-D, 0)):
        p, q = (mechanism[s:], mechanism[:-s]) if s > 0 else (mechanism[:s], mechanism[-s:])
        kept = (p > 0) | (q > 0) if bounded else (p > 0) & (q > 0)
        yield s, p[kept], q[kept]


def profile(p, q, t):
    return np.maximum(p - math.exp(t) * q, 0).sum()


def renyi(p, q, order):
    if order > 1 and (q == 0).any():
        return math.inf
    both = (p > 0) & (q > 0)
    return np.logaddexp.reduce(order * np.log(p[both]) + (1 - order) * np.log(q[both])) / (order - 1)


def mean(p, q):
    if (q == 0).any():
        return math.inf
    return np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0]))


def variance(p, q):
    if (q == 0).any():
        return math.inf
    loss = np.log(p[p > 0] / q[p > 0])
    return np.sum(p[p > 0] * loss**2) - np.sum(p[p > 0] * loss) ** 2


def missed(p, q):
    """Neyman and Pearson: return the miss probability under p if alarms at large p/q have the probabilities ALARMS under q."""
    with np.errstate(divide="ignore"):
        order = np.argsort(np.where(q > 0, -p / np.where(q > 0, q, 1.0), -np.inf), kind="stable")
    p, q = p[order], q[order]
    false = np.concatenate([[0.0], np.cumsum(q)])
    found = np.concatenate([[0.0], np.cumsum(p)])
    sure = found[np.searchsorted(false, 0.0, side="right") - 1]
    return np.where(np.equal(ALARMS, 1), 0.0, 1 - np.maximum(sure, np.interp(ALARMS, false, found)))


@case
def test_no_shift_is_worse_than_the_loss_says_and_one_is_as_bad(loss, weights, D, tolerance):
    """δ(t), Rényi and Kullback-Leibler divergences and the trade-off curve are worst at the whole sensitivity."""
    found = list(pairs(weights, D))
    for t in LEVELS:
        assert loss.privacy_profile(t) == pytest.approx(max(profile(p, q, t) for _, p, q in found), rel=1e-9, abs=1e-13)
    for order in ORDERS:
        assert loss.rdp(order) == pytest.approx(max(renyi(p, q, order) for _, p, q in found), rel=tolerance)
    assert loss.mean() == pytest.approx(max(mean(p, q) for _, p, q in found), rel=tolerance)
    for alarm, least in zip(ALARMS, np.min([missed(p, q) for _, p, q in found], axis=0), strict=True):
        assert loss.tradeoff(alarm) == pytest.approx(least, rel=1e-9, abs=1e-13)
        assert loss.tradeoff([alarm])[0] == loss.tradeoff(alarm)


@case
def test_variance_is_that_at_the_sensitivity_and_not_the_largest(loss, weights, D, tolerance):
    at = {s: variance(p, q) for s, p, q in pairs(weights, D)}
    expected = max(at.values()) if "Largest" in type(loss._parts[0][0]).__name__ else max(at[D], at[-D])
    assert loss.var() == pytest.approx(expected, rel=max(tolerance, 1e-7))


def test_variance_of_a_smaller_shift_is_larger():
    """At eps = 20 the loss of a staircase is nearly always 20 at the whole shift, and 20 or 0 at half of it."""
    loss, weights, D = CASES["staircase, large eps"]
    largest = max(variance(p, q) for _, p, q in pairs(weights, D))
    assert largest > 100 * loss.var()


@pytest.mark.slow
def test_the_least_probability_of_a_miss_without_any_false_alarm():
    """With no false alarm, the miss probability is 1 minus the probability of an infinite loss, also for compositions.

    For the truncated mechanism, an infinite loss has the probability of the outermost D steps on one side.
    """
    mechanism = sn.TruncatedLaplace(eps=1, delta=0.01)
    once = mechanism.privacy_loss()
    assert once.tradeoff(0) == pytest.approx(1 - mechanism.achieved_delta, rel=1e-12)
    assert once.tradeoff(0) == pytest.approx(1 - once.privacy_profile(50.0), rel=1e-14)
    for k in (2, 30):
        low, high = once.compose(k).tradeoff(0.0, bounds=True)
        sure = (1 - mechanism.achieved_delta) ** k
        assert sure * (1 - 1e-6) <= low <= sure * (1 + 1e-12)
        assert sure * (1 - 1e-12) <= high <= sure * (1 + 1e-6)
    mixed = once + sn.Laplace(1).privacy_loss()
    assert mixed.tradeoff([0.0, 1.0]) == pytest.approx([1 - mechanism.achieved_delta, 0.0], rel=1e-6, abs=1e-12)
    for finite in (sn.Laplace(1), sn.Staircase([1, 2]), sn.Gaussian(1, 1e-6), sn.DiscreteGaussian(2), sn.Arete.from_eps(8, 1)):
        assert np.all(finite.privacy_loss().tradeoff(0) == 1)
