"""Properties of every privacy loss: shapes of its curves, duality, composition.

Tolerances are for rounding only; no test here is statistical.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from tests.property.strategies import anything, good_mechanisms

SLACK = 1e-11


@st.composite
def losses(draw):
    """Draw the loss of one release, of several, or of several with two mechanisms."""
    lattice = draw(st.booleans())
    loss = draw(good_mechanisms()).privacy_loss(lattice=lattice)
    kind = draw(st.sampled_from(["one", "one", "several", "mixed"]))
    if kind == "one":
        return loss
    if kind == "several" and loss._parts[0][0].__class__.__name__ == "Atoms":
        return loss.compose(draw(st.integers(2, 300)))
    eps, sensitivity = draw(st.floats(0.01, 20)), draw(st.integers(1, 30))
    small = sn.DiscreteLaplace(eps, sensitivity).privacy_loss().compose(draw(st.integers(1, 40)))
    if kind == "several":
        return small
    return small + sn.DiscreteStaircase(eps, sensitivity).privacy_loss().compose(draw(st.integers(1, 10)))


@given(losses())
def test_profile_falls_is_convex_and_ends_at_the_pure_eps(loss):
    levels = np.linspace(-1.2, 1.1, 93) * loss.eps
    delta = loss.privacy_profile(levels)
    assert (delta >= 0).all()
    assert (delta <= 1).all()
    assert (np.diff(delta) <= SLACK).all()
    # δ is convex in e^ε, so E(1 - e^(ε-L))+ is above each of its lines
    rising = np.exp(levels - levels.max())
    chord = np.interp(rising[1:-1], rising[[0, -1]], delta[[0, -1]]) if rising[0] < rising[-1] else delta[1:-1]
    assert (delta[1:-1] <= chord + SLACK).all()
    assert loss.privacy_profile(loss.eps) <= SLACK
    assert loss.eps_for_delta(0) == loss.eps


@given(losses(), st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_eps_for_delta_is_the_least(loss, deltas):
    for delta in deltas:
        eps = loss.eps_for_delta(delta)
        assert 0 <= eps <= loss.eps
        assert loss.privacy_profile(eps) <= delta * (1 + 1e-8) + loss.eps * 1e-15 + SLACK
        if eps > 0:
            assert loss.privacy_profile(eps * (1 - 1e-6)) >= delta * (1 - 1e-8) - SLACK


@given(losses())
def test_tradeoff_falls_is_convex_and_its_own_inverse(loss):
    alpha = np.linspace(0, 1, 101)
    beta = loss.tradeoff(alpha)
    assert beta[0] == 1
    assert beta[-1] == 0
    assert (np.diff(beta) <= SLACK).all()
    assert (beta[1:-1] <= (beta[:-2] + beta[2:]) / 2 + SLACK).all()
    assert (beta <= 1 - alpha + SLACK).all()
    inner = (beta > 1e-3) & (alpha > 0)
    slope = np.exp(min(loss.eps, 30.0))
    assert (np.abs(loss.tradeoff(beta[inner]) - alpha[inner]) <= 1e-14 * slope + 1e-8).all()


@given(losses(), st.floats(0, 1), st.floats(-1.0, 1.0))
def test_profile_and_tradeoff_are_dual(loss, alpha, share):
    """Any test obeys (ε, δ): 1 - β <= e^ε α + δ; and the best ε for a given α attains it."""
    eps = share * loss.eps
    if eps > 600:
        return
    beta, delta = loss.tradeoff(alpha), loss.privacy_profile(eps)
    assert 1 - beta <= math.exp(eps) * alpha + delta + SLACK
    if loss.eps > 600:
        return
    levels = np.linspace(-1, 1, 4001) * loss.eps
    lines = 1 - np.exp(levels) * alpha - loss.privacy_profile(levels)
    # a grid of a thousandth of the range misses the optimum by at most the curvature's bound
    assert beta >= lines.max() - SLACK
    assert beta <= max(lines.max(), 0) + math.expm1(loss.eps / 2000)


@given(losses(), st.lists(st.floats(1e-3, 1e4), min_size=2, max_size=12))
def test_renyi_divergence_rises_with_its_order(loss, orders):
    orders = np.sort(orders)
    rdp = loss.rdp(orders)
    assert (rdp >= 0).all()
    assert (np.diff(rdp) >= -1e-12 * rdp[1:]).all()
    assert (rdp <= loss.eps * (1 + 1e-12)).all()
    # skew symmetry of a mirrored pair: (1-α) D_α = α D_(1-α)
    inner = orders[orders < 0.999]
    if inner.size:
        assert np.allclose((1 - inner) * loss.rdp(inner), inner * loss.rdp(1 - inner), rtol=1e-11, atol=0)


@given(losses(), st.floats(1.001, 50), st.floats(1e-9, 0.5))
def test_renyi_bounds_the_profile(loss, order, delta):
    """Mironov, proposition 3: (D + ln(1/δ)/(α-1), δ)."""
    assert loss.eps_for_delta(delta) <= loss.rdp(order) + math.log(1 / delta) / (order - 1) + 1e-3 * loss.eps * (not loss.exact)


@given(good_mechanisms(), st.integers(1, 30), st.integers(1, 30))
def test_composition_is_associative(mechanism, a, b):
    loss = mechanism.privacy_loss()
    assert loss.compose(1) == loss
    if loss.eps > 512 and not isinstance(mechanism, (sn.Staircase, sn.DiscreteStaircase)):
        return
    assert loss.compose(a).compose(b) == loss.compose(a * b)
    assert loss.compose(a) + loss.compose(b) == loss.compose(a + b)
    assert math.isclose(loss.compose(a).rdp(2), a * loss.rdp(2), rel_tol=1e-13)


@settings(max_examples=25)
@given(st.floats(0.01, 5), st.integers(2, 40), st.booleans())
def test_brackets_are_narrow_and_in_order(eps, k, lattice):
    loss = sn.Laplace(eps).privacy_loss(lattice=lattice).compose(k)
    levels = np.linspace(0, 1, 21) * loss.eps
    low, high = loss.privacy_profile(levels, bounds=True)
    assert (low <= high).all()
    assert (high - low <= 1e-4).all()
    low, high = loss.tradeoff(np.linspace(0, 1, 21), bounds=True)
    assert (low <= high).all()
    low, high = loss.eps_for_delta(np.logspace(-12, -1, 12), bounds=True)
    assert (low <= high).all()
    assert (high - low <= 1e-4 * loss.eps).all()


@given(good_mechanisms(), anything, st.sampled_from(["privacy_profile", "eps_for_delta", "rdp", "tradeoff", "compose"]))
def test_any_argument(mechanism, argument, method):
    """A call returns no NaN, or raises our error that names the wrong argument."""
    text = " must got "
    try:
        result = getattr(mechanism.privacy_loss(), method)(argument)
    except sn.StairnoiseError as error:
        result, text = 0.0, str(error)
    assert " must " in text
    assert "got " in text
    assert method == "compose" or not np.isnan(result).any()


def test_worst_case_is_randomised_response():
    """Among all mechanisms of one ε, γ = 1/2 has the largest loss: its profile is (1 - e^(t-ε))/(1 + e^-ε)."""
    rng = np.random.default_rng(3)
    t = np.linspace(0, 2, 9)
    worst = sn.Staircase(2, 1, 0.5).privacy_loss(lattice=False).privacy_profile(t)
    assert worst == pytest.approx(np.maximum(-np.expm1(t - 2) / (1 + math.exp(-2)), 0), rel=1e-14)
    for gamma in rng.random(50):
        assert (sn.Staircase(2, 1, float(gamma)).privacy_loss(lattice=False).privacy_profile(t) <= worst).all()
