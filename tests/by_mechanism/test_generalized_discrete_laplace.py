"""GeneralizedDiscreteLaplace: its distribution, its exact ε, the best parameters.

Evidence: mpmath's hypergeometric function in 40 digits, brute force over shifts and parameters. Deterministic: no false alarms.
"""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.distributions import infinitely_divisible as theory
from stairnoise.distributions.infinitely_divisible import Term
from tests.by_mechanism.infinitely_divisible import hypergeometric, largest_loss


@pytest.mark.parametrize(
    ("beta", "a"),
    [
        (0.3, 0.7),
        (0.05, 0.25),
        (1.0, 0.5),
        (2.5, 1.25),
        pytest.param(1e-6, 0.1, marks=pytest.mark.long),
        (7.0, 2.0),
        (0.9, 30.0),
        (0.01, 0.004),
    ],
)
def test_probabilities_of_one_term(beta, a):
    mechanism = sn.GeneralizedDiscreteLaplace(beta, a)
    for k in (0, 1, 2, 7, int(20 / a), int(250 / a), int(640 / a)):
        exact = hypergeometric(beta, a, k)
        assert float(mechanism.pmf(k) / exact - 1) == pytest.approx(0, abs=1e-12)
        assert mechanism.pmf(-k) == mechanism.pmf(k)
        assert mechanism.logpmf(k) == pytest.approx(float(mp.log(exact)), rel=1e-14, abs=1e-13)


def test_one_is_the_discrete_laplace_mechanism():
    mechanism, same = sn.GeneralizedDiscreteLaplace(1.0, 0.01), sn.DiscreteLaplace(0.01)
    k = np.array([-60000, -3000, -1, 0, 1, 17, 1000, 50000])
    for name in ("pmf", "cdf", "sf", "logsf"):
        assert getattr(mechanism, name)(k) == pytest.approx(getattr(same, name)(k), rel=1e-12)
    assert (mechanism.var(), mechanism.abs_moment(1), mechanism.entropy()) == pytest.approx(
        (same.var(), same.abs_moment(1), same.entropy()), rel=1e-11
    )
    assert mechanism.error_bound(1 - 1e-9) == same.error_bound(1 - 1e-9)


@pytest.mark.parametrize(("shape", "rate"), [(0.3, 0.5), (0.01, 0.5), (0.3, 2.0**-6), (0.01, 2.0**-6)])
def test_the_transform_of_two_terms_of_one_rate(shape, rate):
    """Shapes add up, and a single term has its own accurate formula."""
    listed = theory.log_pmf([Term(1, 0.3 * shape, rate), Term(1, 0.7 * shape, rate)])
    error = np.abs(listed - theory.single(shape, rate, listed.size))
    assert listed[-1] < -199
    assert error[listed > -50].max() < 1e-9
    assert error.max() < 1e-6


@pytest.mark.parametrize(("beta", "a"), [(0.3, 0.7), (0.05, 0.25), (1.0, 0.5), (0.9, 3.0)])
@pytest.mark.parametrize("D", [1, 2, 4, 9])
def test_exact_eps_of_the_generalized_mechanism(beta, a, D):
    mechanism = sn.GeneralizedDiscreteLaplace(beta, a)
    assert mechanism.privacy_eps(D) == pytest.approx(largest_loss(mechanism, D, 150), rel=1e-12)


def test_exact_eps_of_shapes_above_one_is_approached_in_the_tail():
    mechanism = sn.GeneralizedDiscreteLaplace(2.5, 0.5)
    assert mechanism.privacy_eps(3) == 1.5
    assert largest_loss(mechanism, 3, 100) < largest_loss(mechanism, 3, 1000) < 1.5
    assert largest_loss(mechanism, 3, 1000) == pytest.approx(1.5, rel=5e-3)


@pytest.mark.parametrize(
    ("eps", "D", "beta", "a", "variance"),
    [(5, 3, 0.22283, 0.90987, 0.50267), (8, 10, 0.02711, 0.21892, 1.12664), (5, 10, 1.0, 0.5, 7.8354), (16, 1, None, None, None)],
)
def test_from_eps(eps, D, beta, a, variance):
    mechanism = sn.GeneralizedDiscreteLaplace.from_eps(eps, D)
    assert mechanism.privacy_eps(D) <= eps
    assert mechanism.privacy_eps(D) == pytest.approx(eps, rel=1e-9)
    if beta is not None:
        assert (mechanism.beta, mechanism.a, mechanism.var()) == pytest.approx((beta, a, variance), rel=2e-4)
    for rate in np.geomspace(0.3 / D, eps / D, 40)[:-1].tolist():
        assert sn.GeneralizedDiscreteLaplace.from_eps(eps, D, a=rate).var() >= mechanism.var() * (1 - 1e-9)
    assert sn.DiscreteLaplace(eps, D).var() >= mechanism.var() * (1 - 1e-9)


@pytest.mark.parametrize(
    ("eps", "D", "a"), [(5.0, 3, 0.9), (8.0, 10, 0.2), (6.0, 1, 2.0), (1.0, 7, 0.1), (30.0, 2, 1.0), (3.0, 3, 1.0)]
)
def test_least_shape(eps, D, a):
    mechanism = sn.GeneralizedDiscreteLaplace.from_eps(eps, D, a)
    assert eps * (1 - 1e-9) < mechanism.privacy_eps(D) <= eps
    less = sn.GeneralizedDiscreteLaplace(mechanism.beta * (1 - 1e-9), a)
    assert less.privacy_eps(D) > eps


def test_the_parameters_of_the_paper_are_private_and_cost_more():
    """β = Δ e^(2-ε), a = 2/Δ for ε > 2 + ln Δ."""
    for eps, D in ((4.0, 3), (8.0, 10), (10.0, 100)):
        mechanism = sn.GeneralizedDiscreteLaplace(D * math.exp(2 - eps), 2 / D)
        assert mechanism.privacy_eps(D) < eps
        assert mechanism.var() > sn.GeneralizedDiscreteLaplace.from_eps(eps, D).var()


@pytest.mark.parametrize(
    ("shape", "rate", "shift"),
    [(0.5, 1.0, 4096), (1e-9, 1.0, 800), (0.999, 700.0, 3), pytest.param(0.25, 0.01, 10**5, marks=pytest.mark.long)],
)
def test_pure_eps_beyond_the_smallest_float(shape, rate, shift):
    """Against the definition ln P(0)/P(Δ) at 30 digits, where P(Δ) is below all floats."""
    with mp.workdps(30):
        b, x = mp.mpf(shape), mp.exp(-mp.mpf(rate))
        at = [mp.rf(b, k) / mp.factorial(k) * mp.hyp2f1(b, b + k, 1 + k, x * x) for k in (0, shift)]
        exact = float(mp.log(at[0] / at[1]) + shift * mp.mpf(rate))
    assert theory.pure_eps(shape, rate, shift) == pytest.approx(exact, rel=1e-12)


def test_the_least_eps_leaves_one_rate():
    mechanism = sn.GeneralizedDiscreteLaplace.from_eps(2.0**-11, 1)
    assert (mechanism.beta, mechanism.a) == (1.0, 2.0**-11)
    assert mechanism.privacy_eps(1) == 2.0**-11


@pytest.mark.parametrize(("eps", "a"), [(64, None), (700, None), (2000, None), (2000, 1.0)])
def test_generalized_names_the_eps_whose_shape_is_too_small(eps, a):
    """The last two would need shapes below the smallest float."""
    with pytest.raises(sn.ParameterError, match=r"^eps and sensitivity must leave a shape that a table holds, got "):
        sn.GeneralizedDiscreteLaplace.from_eps(eps, 2, a)
