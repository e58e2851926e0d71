"""Arete: its distribution, its exact ε, and what it refuses.

Evidence: sums in 40 digits, and brute force over the points of the lattice. Deterministic: no false alarms.
"""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.distributions import infinitely_divisible as theory
from stairnoise.distributions.infinitely_divisible import Term
from tests.by_mechanism.infinitely_divisible import hypergeometric, points, probabilities


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.25, 0.75), (0.75, 0.25), (0.5, 0.5)])
def test_the_end_of_the_list(rates):
    """The sum of a fractional term and a geometric term, over all splits that matter at that point."""
    terms = [Term(1, 0.2, rates[0]), Term(1, 1.0, rates[1])]
    listed = theory.log_pmf(terms)
    slow, fast = sorted(terms, key=lambda term: term.rate)
    for k in (listed.size // 3, listed.size - 1):
        with mp.workdps(40):
            exact = mp.mpf(0)
            # Splits with the slow term around k and, if both terms fall alike, every split.
            for j in range(-60, k + 61) if rates[0] == rates[1] else range(k - 250, k + 251):
                exact += hypergeometric(slow.shape, slow.rate, abs(j)) * hypergeometric(fast.shape, fast.rate, abs(k - j))
            assert float(mp.mpf(float(listed[k])) - mp.log(exact)) == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "theta", "lam"),
    [(0.5, 1.0, 0.25), pytest.param(0.25, 0.7, 0.1, marks=pytest.mark.long), (0.05, 1 / 3, 0.05), (0.3, 0.1, 2.0)],
)
def test_variance_of_arete_is_that_of_the_density_but_for_the_lattice(alpha, theta, lam):
    mechanism = sn.Arete(alpha, theta, lam)
    g, continuous = mechanism.granularity, 2 * alpha * theta**2 + 2 * lam**2
    loss = (2 * alpha + 2) * g**2 / 12
    assert continuous - mechanism.var() == pytest.approx(loss, rel=1e-2)
    assert 2**10 <= max(theta, lam) / g < 2**11
    p = probabilities(mechanism, np.arange(-90_000, 90_000))
    p = p[p > 0]
    assert mechanism.entropy() == pytest.approx(-math.fsum(p * np.log(p / g)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "theta", "lam", "change"),
    [
        pytest.param(math.exp(-0.25), 4.0, math.exp(-0.25), 1.0, marks=pytest.mark.long),
        (math.exp(-1), 1.0, math.exp(-1), 1.0),  # largest near x = 0.3
        (math.exp(-3), 1 / 3, math.exp(-3), 1.0),  # largest at 0
        (0.3, 0.5, 2.0, 0.1),
        (2.0, 1.0, 0.5, 0.1),
        (0.5, 1.0, 1.0, 0.1),
    ],
)
def test_exact_eps_of_arete(alpha, theta, lam, change):
    mechanism = sn.Arete(alpha, theta, lam)
    found, steps = mechanism.privacy_eps(change), math.ceil(change / mechanism.granularity)
    k = np.arange(0, int(60 / min(1 / theta, 1 / lam) / mechanism.granularity))
    loss = mechanism.logpdf(points(mechanism, k)) - mechanism.logpdf(points(mechanism, k + steps))
    if lam < theta and alpha < 1:
        assert found == pytest.approx(float(loss.max()), rel=1e-12)
    else:
        tail = steps * mechanism.granularity / max(theta, lam) if alpha + (lam == theta) >= 1 or lam > theta else None
        assert tail is not None
        assert found == pytest.approx(tail, rel=1e-13)
        assert loss.max() < found * (1 + 1e-12)
        assert loss.max() > 0.9 * found


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "expected"), [(12, 8.030), (16, 11.180), (20, 14.250), (24, 17.282)])
def test_arete_of_the_paper_is_conservative(eps, expected):
    assert sn.Arete.from_eps(eps, 1).privacy_eps(1.0) == pytest.approx(expected, abs=1e-3)
    assert sn.Arete.from_eps(eps, 3.0).privacy_eps(3.0) == pytest.approx(expected, abs=2e-2)


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "at_mode"), [(4, False), (12, True), pytest.param(20, True, marks=pytest.mark.long)])
def test_where_arete_loses_most(eps, at_mode):
    """The largest loss is at the mode for eps = 12 and 20, and beside the mode for eps = 4."""
    mechanism = sn.Arete.from_eps(eps, 1)
    mode = mechanism.logpdf(0.0) - mechanism.logpdf(1.0)
    assert (mechanism.privacy_eps(1.0) <= mode * (1 + 1e-12)) == at_mode


@pytest.mark.parametrize("eps", [5e-324, 1e-300, 64, 700, 1e300])
def test_arete_names_the_eps_that_has_no_lattice(eps):
    with pytest.raises(sn.ParameterError, match=r"^eps and sensitivity must give scales that one lattice holds, got "):
        sn.Arete.from_eps(eps, 1)
