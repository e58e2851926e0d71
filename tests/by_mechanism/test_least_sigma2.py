"""`DiscreteGaussian.from_eps` returns the smallest σ² that keeps (ε, δ), although δ need not fall with σ².

Evidence: δ as the sum of the positive parts of P(k) - e^ε P(k + Δ), in 60 digits and exact thresholds for what is returned, and
in float64 on a grid below it. Deterministic: no false alarms.
"""

import math
import random
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped, rest_long

# Triples of ε, δ and Δ.
BEFORE_A_RISE = [(15.0, 5e-5), (20.0, 1e-5), (18.0, 1e-5), (25.0, 1e-6)]
CASES = [(7.058, 2.296e-9, 1), (40.0, 1e-4, 5), (300.0, 1e-100, 1), (1.0, 1e-6, 1), (5.0, 0.7, 3), (2.0**20, 0.1, 1)]


def exact(eps, sigma2, shift):
    """δ, with the outcomes of a loss above ε found in rational arithmetic."""
    v = Fraction(sigma2)
    threshold = Fraction(eps) * v / shift - Fraction(shift, 2)
    first = math.floor(threshold) + 1
    with mp.workdps(60):
        twice = 2 * mp.mpf(v.numerator) / v.denominator
        reach = math.ceil(60 * math.sqrt(sigma2)) + 4
        total = mp.fsum(mp.exp(-mp.mpf(k * k) / twice) for k in range(-reach, reach + 1))
        over = (Fraction(2 * shift) * (k - threshold) for k in range(first, first + reach))
        terms = (
            mp.exp(-mp.mpf(k * k) / twice) * -mp.expm1(-mp.mpf(loss.numerator) / loss.denominator / twice)
            for k, loss in zip(range(first, first + reach), over, strict=True)
        )
        return mp.fsum(terms) / total


def on_a_grid(eps, sigma2, shift):
    """δ for many σ², in float64."""
    k = np.arange(-60.0 - shift, 61.0 + 40 * math.sqrt(sigma2.max()))
    v = sigma2[:, None]
    weight = np.exp(-k * k / (2 * v))
    loss = (k + shift / 2) * shift / v - eps
    total = 1 + 2 * np.exp(-(np.arange(1.0, k.size) ** 2) / (2 * v)).sum(axis=1)
    return (weight * np.where(loss > 0, -np.expm1(-np.maximum(loss, 0)), 0)).sum(axis=1) / total


def below(eps, sigma2, shift):
    """A grid of σ² from 2**-20 to a relative 1e-8 less, finer near the end; and both sides of where δ has its minima."""
    ends = (np.arange(200) + shift / 2) * shift / eps
    near = sigma2 * (1 - np.geomspace(1e-8, 0.5, 400))
    grid = np.concatenate([np.geomspace(2.0**-20, sigma2, 800), near, ends, ends * (1 - 1e-9), ends * (1 + 1e-9)])
    return grid[(grid >= 2.0**-20) & (grid <= sigma2 * (1 - 1e-8))]


def check(eps, delta, shift):
    mechanism = sn.DiscreteGaussian.from_eps(eps, delta, shift)
    assert exact(eps, mechanism.sigma2, shift) <= delta
    if mechanism.sigma2 > 2.0**-20:
        # The tolerance of a relative 1e-10 is for rounding.
        assert np.all(on_a_grid(eps, below(eps, mechanism.sigma2, shift), shift) > delta * (1 - 2e-10))
    return mechanism


@pytest.mark.parametrize(("eps", "delta"), BEFORE_A_RISE)
def test_before_delta_rises(eps, delta):
    """δ first reaches `delta` at a σ² for which only 1 and -1 are drawn besides 0: P(1) is e^-ε P(0) at 1/(2ε)."""
    sigma2 = check(eps, delta, 1).sigma2
    assert 1 / (2 * eps) * (1 - delta) < sigma2 < 1 / (2 * eps)
    assert exact(eps, 1.2 * sigma2, 1) < delta < exact(eps, 2.5 * sigma2, 1)


@pytest.mark.parametrize(("eps", "delta", "shift"), CASES)
def test_other_cases(eps, delta, shift):
    check(eps, delta, shift)


@pytest.mark.parametrize("case", rest_long(range(12), range(60)))
def test_any_parameters(case):
    choose = random.Random(f"least {case}")
    shift = choose.choice((1, 1, 1, 2, 3, 7))
    eps = choose.choice((choose.uniform(0.3, 5), choose.uniform(5, 40), shift * choose.uniform(5, 40)))
    delta = 10 ** choose.uniform(-12, -0.05)
    check(eps, delta, shift)


@pytest.mark.parametrize("case", rest_long(range(8), range(20)))
def test_just_enough_at_a_minimum_and_just_not(case):
    """For δ just above a local minimum, σ² is at the minimum; for δ just below, σ² is beyond the next maximum."""
    choose = random.Random(f"minimum {case}")
    shift, m = choose.choice((1, 1, 2, 3)), choose.choice((0, 1, 2))
    eps = shift * choose.uniform(8, 20)
    end = (m + shift / 2) * shift / eps
    least = float(exact(eps, end, shift))
    assert check(eps, least * (1 + 1e-6), shift).sigma2 == pytest.approx(end, rel=1e-4)
    assert check(eps, least * (1 - 1e-6), shift).sigma2 > end * (1 + 1e-4 / eps)


def test_a_larger_sigma2_may_not_keep_it():
    eps, delta = 7.058, 2.296e-9
    assert exact(eps, 0.6376, 1) <= delta < exact(eps, 0.688, 1)


@looped("case", range(40))
def test_the_profile_where_the_loss_of_an_integer_is_nearly_eps(case):
    """The integer's probability can be 1e100 times δ, so the two sides of this loss differ greatly."""
    choose = random.Random(f"profile {case}")
    shift = choose.choice((1, 1, 2, 3))
    eps = choose.uniform(1, 300)
    at = (choose.choice((0, 1, 2, 5)) + shift / 2) * shift / eps
    for sigma2 in (math.nextafter(at, 0), at, math.nextafter(at, 9)):
        expected = float(exact(eps, sigma2, shift))
        assert sn.DiscreteGaussian(sigma2).privacy_profile(eps, shift) == pytest.approx(expected, rel=1e-10, abs=1e-300)
