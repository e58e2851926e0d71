"""Twenty million draws of each mechanism through the public API, seeds fixed, against exact probabilities and moments.

Evidence: distribution (chi-square), mass at zero, symmetry, mass beyond 2^-20, privacy loss across one sensitivity, E|X| and
E X^2. False alarms: at most one in a million for each check of each case (ALPHA), 8e-5 for the whole module when the seeds
change; none while they stay.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stairnoise as sn
from tests.combinations import rest_long
from tests.oracles import lattice, moments
from tests.statistical import checks
from tests.statistical.summary import Summary

ALPHA = 1e-6
TOTAL = 20_000_000
CHUNK = 2_000_000

CASES: dict[str, tuple[str, float, float, lattice.Shape, Any]] = {
    "discrete laplace": ("discrete_laplace", 1.0, 1, None, sn.DiscreteLaplace(1.0)),
    "discrete laplace, 5 steps": ("discrete_laplace", 0.7, 5, None, sn.DiscreteLaplace(0.7, 5)),
    "discrete staircase, l1": ("discrete_staircase", 2.0, 5, "l1", sn.DiscreteStaircase(2.0, 5)),
    "discrete staircase, r = 1": ("discrete_staircase", 0.5, 4, 1.0, sn.DiscreteStaircase(0.5, 4, 1)),
    "discrete staircase, r = D": ("discrete_staircase", 3.0, 3, 3.0, sn.DiscreteStaircase(3.0, 3, 3)),
    "laplace": ("laplace", 1.0, 1.0, None, sn.Laplace(1.0)),
    "laplace, large eps": ("laplace", 12.0, 0.3, None, sn.Laplace(12.0, 0.3)),
    "staircase, l1": ("staircase", 4.0, 1.0, "l1", sn.Staircase(4.0)),
    "staircase, l2": ("staircase", 1.0, 0.3, "l2", sn.Staircase(1.0, 0.3, "l2")),
    "staircase, gamma = 1": ("staircase", 2.0, 3.0, 1.0, sn.Staircase(2.0, 3.0, 1.0)),
}


@cache
def summary(case: str) -> Summary:
    kind, eps, sensitivity, shape, noise = CASES[case]
    where = lattice.lattice(kind, eps, sensitivity, shape)
    found = Summary(lattice.mechanism(eps, where), TOTAL)
    return found.gather(integers(noise, where.log2_g, sn.SeededRng(NAMES.index(case))))


def integers(noise: Any, log2_g: int, rng: sn.SeededRng) -> Iterator[NDArray[np.int64]]:
    """Yield chunks of draws in units of the granularity, one fill each."""
    for _ in range(TOTAL // CHUNK):
        yield np.ldexp(noise.sample(CHUNK, rng=rng), -log2_g).astype(np.int64)


NAMES = list(CASES)


@pytest.fixture(params=rest_long(NAMES[1:8:2], NAMES))
def drawn(request: pytest.FixtureRequest) -> Summary:
    return summary(request.param)


def test_distribution(drawn: Summary) -> None:
    checks.check_distribution(drawn.counts, drawn.grid.probabilities, ALPHA)


def test_mass_at_zero(drawn: Summary) -> None:
    checks.check_share(drawn.zeros, drawn.total, float(moments.pmf(drawn.mechanism, 0)), ALPHA)


def test_symmetry(drawn: Summary) -> None:
    checks.check_symmetry(drawn.counts, ALPHA)


def test_tail(drawn: Summary) -> None:
    checks.check_share(drawn.beyond, drawn.total, float(moments.survival(drawn.mechanism, drawn.far)), ALPHA)


def test_privacy_loss_is_at_most_eps(drawn: Summary) -> None:
    lower, upper, _ = drawn.pairs
    eps = float(drawn.mechanism.eps)
    checks.check_loss_at_most(lower, upper, eps, ALPHA / 2)
    checks.check_loss_at_most(upper, lower, eps, ALPHA / 2)


def test_privacy_loss_is_eps_away_from_the_answer(drawn: Summary) -> None:
    """P(i) = e^eps P(i + D) for every i >= 0, in all four mechanisms."""
    lower, upper, nonnegative = drawn.pairs
    checks.check_loss_equals(lower[nonnegative], upper[nonnegative], float(drawn.mechanism.eps), ALPHA)


@pytest.mark.parametrize("power", [1, 2])
def test_moments(drawn: Summary, power: int) -> None:
    checks.check_mean(drawn.mean(power), drawn.expectation(power), drawn.standard_error(power), ALPHA)
