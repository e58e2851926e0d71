"""`eps_for_error` of the continuous distributions keeps its bound for drawn values, which are on the lattice.

Evidence: the tail of the drawn integers by the contract (section 3), in 50 digits, with sensitivity, step and shape of
the mechanism made for the returned ε. The density's tail, which differs by some 1e-9 of itself, is not used.
"""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stairnoise as sn

SHAPES = ["l1", "l2", 0.3, 1.0]


def tail_of_what_is_drawn(mechanism, t):
    """P(|g K| > t)."""
    g = Fraction(mechanism.granularity)
    D, n = math.ceil(Fraction(mechanism.sensitivity) / g), math.floor(Fraction(t) / g)
    eps = mp.mpf(mechanism.eps)
    if isinstance(mechanism, sn.Laplace):
        ratio = mp.exp(-eps / D)
        return 2 * ratio ** (n + 1) / (1 + ratio)
    b, r = mp.exp(-eps), shape_of_what_is_drawn(mechanism, D)
    c = b / (1 - b)
    stair = 0 if n + 1 < r else (n + 1 - r) // D + 1
    return 2 * b**stair * (r + stair * D - (n + 1) + D * c) / (2 * r - 1 + 2 * D * c)


def shape_of_what_is_drawn(mechanism, D):
    spec = mechanism._arguments()[2]
    return sn.DiscreteStaircase(mechanism.eps, D, spec).r if isinstance(spec, str) else math.ceil(Fraction(mechanism.gamma) * D)


def check(kind, t, alpha, sensitivity, *spec):
    confidence = 1 - alpha
    try:
        eps = kind.eps_for_error(t, confidence, sensitivity, *spec)
    except sn.ParameterError:
        assert spec
        assert not isinstance(spec[0], str)
        return None
    with mp.workdps(50):
        assert tail_of_what_is_drawn(kind(eps, sensitivity, *spec), t) <= 1 - confidence
    return eps


@given(st.floats(-3, 3), st.floats(-12, -0.31), st.floats(1e-3, 1e3), st.sampled_from(SHAPES))
def test_the_bound_holds_for_what_is_drawn(exponent, of_alpha, sensitivity, gamma):
    alpha = 10**of_alpha
    check(sn.Laplace, 10**exponent * sensitivity, alpha, sensitivity)
    check(sn.Staircase, 10**exponent * sensitivity, alpha, sensitivity, gamma)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-4, 1e-12])
def test_the_bound_holds_on_the_lattice_and_on_edges_of_stairs(alpha):
    """Bounds t are multiples of the lattice step, where P(|X| > t) excludes the point t, and edges of the staircase's steps."""
    for t in (1.0, 0.25, 2.0**-20, 3.0, 17.0, 1000.0):
        for beside in (t, math.nextafter(t, 0), math.nextafter(t, math.inf)):
            check(sn.Laplace, beside, alpha, 1.0)
            for gamma in (*SHAPES, 0.25):
                check(sn.Staircase, beside, alpha, 1.0, gamma)


def test_the_price_of_the_lattice():
    """Compared with the density's minimum ε, a closed form for Laplace noise and otherwise the root of the tail."""
    for t, confidence in [(0.7, 0.95), (3.0, 1 - 1e-6), (0.01, 0.7)]:
        alpha = 1 - confidence
        eps = check(sn.Laplace, t, alpha, 1.0)
        assert 0 <= eps / (-math.log(alpha) / t) - 1 < 1e-9
        eps = check(sn.Staircase, t, alpha, 1.0, "l2")
        assert 2 * sn.Staircase(eps * (1 - 1e-8), gamma="l2").sf(t) > alpha >= 2 * sn.Staircase(eps, gamma="l2").sf(t)


def test_arrays():
    t = np.array([0.5, 3.0])
    eps = sn.Staircase.eps_for_error(t, 0.95, 0.7)
    for one, limit in zip(eps, t, strict=True):
        assert one == check(sn.Staircase, float(limit), 0.05, 0.7)


@pytest.mark.parametrize(("t", "alpha", "delta"), [(10.0, 0.05, 1e-6), (0.3, 1e-9, 1e-3), (1.0, 0.5, 0.1)])
def test_gaussian(t, alpha, delta):
    """The probabilities of the multiples of g, proportional to exp(-(g k)²/(2σ²)), are summed by Poisson and Euler-Maclaurin.

    At 2**32 steps to σ the sum over k > n is the integral from n + 1/2 to a relative 1e-18.
    """
    alpha = 1 - (confidence := 1 - alpha)
    mechanism = sn.Gaussian(sn.Gaussian.eps_for_error(t, confidence, delta=delta), delta)
    g = mechanism.granularity
    with mp.workdps(40):
        edge = mp.mpf(g) * (math.floor(Fraction(t) / Fraction(g)) + mp.mpf(1) / 2)
        assert mp.erfc(edge / mp.mpf(mechanism.sigma) / mp.sqrt(2)) <= alpha


@pytest.mark.slow
def test_the_largest_confidence_has_a_bound() -> None:
    """The integrals of cost functions need the bound of a tail of 5e-324, half of which is 0 in float64."""
    assert 38 < sn.DiscreteGaussian(10_000)._tail_bound(5e-324) / 100 < 39
    largest = math.nextafter(1, 0)
    eps = sn.Gaussian.eps_for_error(t=10.0, confidence=largest, delta=1e-6)
    assert sn.Gaussian(eps, 1e-6).error_bound(largest) <= 10.0
