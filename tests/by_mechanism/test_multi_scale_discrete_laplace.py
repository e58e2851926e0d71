"""MultiScaleDiscreteLaplace: its distribution, its exact ε, and what it refuses.

Evidence: sums from the definition in 40 digits, and brute force over shifts. Deterministic: no false alarms.
"""

from __future__ import annotations

import math

import mpmath as mp
import pytest

import stairnoise as sn
from stairnoise.distributions import infinitely_divisible as theory
from stairnoise.distributions.infinitely_divisible import Term
from tests.by_mechanism.infinitely_divisible import hypergeometric, largest_loss


def convolution(terms, k):
    """Return P(X = k) in 40 digits, summed from the definition; terms must fall fast."""
    with mp.workdps(40):
        mechanism = {0: mp.mpf(1)}
        for m, shape, rate in terms:
            reach = int(95 / rate) + 2
            single = [hypergeometric(shape, rate, j) for j in range(reach)]
            new: dict = {}
            for x, p in mechanism.items():
                for j in range(1 - reach, reach):
                    new[x + m * j] = new.get(x + m * j, 0) + p * single[abs(j)]
            mechanism = new
        return [mechanism[j] for j in k]


@pytest.mark.parametrize(
    ("terms", "k", "tolerance"),
    [
        ([Term(1, 1.0, 2.0), Term(2, 1.0, 2.0), Term(3, 1.0, 2.0)], (0, 1, 2, 4, 30, 50), 1e-13),
        ([Term(1, 0.2, 1.5), Term(1, 1.0, 4.0)], (0, 1, 2, 9, 20), 1e-13),
        ([Term(1, 0.2, 4.0), Term(1, 1.0, 1.5)], (0, 1, 2, 9, 20), 1e-13),
        ([Term(1, 0.1, 2.0), Term(2, 0.1, 2.0), Term(3, 0.1, 2.0)], (0, 1, 2, 4, 20), 1e-13),
        ([Term(1, 0.02, 1.5), Term(1, 0.1, 4.0)], (0, 1, 2, 9, 20), 1e-13),
        ([Term(1, 0.1, 2.0), Term(2, 0.1, 2.0), Term(3, 0.1, 2.0)], (45, 60), 1e-11),
    ],
)
def test_probabilities_of_several_terms(terms, k, tolerance):
    listed = theory.log_pmf(terms)
    for j, exact in zip(k, convolution(terms, k), strict=True):
        assert float(mp.exp(mp.mpf(float(listed[j]))) / exact - 1) == pytest.approx(0, abs=tolerance), j


@pytest.mark.parametrize("eps", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("D", [1, 3, 10])
def test_variance_of_the_multi_scale_mechanism(eps, D):
    expected = D * (D + 1) * (2 * D + 1) / 6 / (math.cosh(eps) - 1)
    assert sn.MultiScaleDiscreteLaplace(eps, D).var() == pytest.approx(expected, rel=1e-13)
    if eps == 20:
        assert sn.DiscreteStaircase(eps, D, 1).var() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("eps", "D"), [(2.0, 3), (1.0, 4), (5.0, 2)])
def test_exact_eps_of_the_multi_scale_mechanism(eps, D):
    mechanism = sn.MultiScaleDiscreteLaplace(eps, D)
    assert mechanism.privacy_eps() == pytest.approx(eps, rel=1e-15)
    assert largest_loss(mechanism, D, int(100 * D / eps)) == pytest.approx(eps, rel=1e-11)
    assert mechanism.privacy_eps(2 * D) == pytest.approx(largest_loss(mechanism, 2 * D, int(100 * D / eps)), rel=1e-11)
    for shift in range(1, 2 * D + 2):
        assert mechanism.privacy_eps(shift) == pytest.approx(eps * math.ceil(shift / D), rel=1e-14)
        assert largest_loss(mechanism, shift, int(40 * D / eps)) < mechanism.privacy_eps(shift) * (1 + 1e-11)
    rest = mechanism.share(10, 8)
    assert largest_loss(rest, D, int(20 * D / eps)) < rest.privacy_eps() < eps + 1


def test_multi_scale_names_the_partitions_that_leave_no_eps():
    with pytest.raises(
        sn.ParameterError, match=r"^max_partitions_contributed must leave an eps that the mechanism can have, got 4096: "
    ):
        sn.MultiScaleDiscreteLaplace(1.5, 2).release(3, max_partitions_contributed=4096)
