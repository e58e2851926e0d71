"""Every value with its own parameters: stairnoise beside samplers in NumPy that take arrays of parameters."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stairnoise as sn
from benches.family import Mechanism
from benches.mechanisms import CoreMechanism, optimal_gamma, staircase_moments
from benches.peers import algorithm_1
from benches.timing import BULK, Draw, Run, affordable, fill, side_by_side

LEAST, MOST = 0.1, 4.0
PREPARED = "staircase, own eps, mechanism prepared"
WHOLE = "staircase, own eps, parameters to noise in one call"


def epsilons(n: int) -> NDArray[np.float64]:
    """Return ε from the minimum to the maximum."""
    return np.linspace(LEAST, MOST, n)


def _ours_prepared(n: int) -> Draw:
    mechanism, out = sn.Staircase(epsilons(n)), np.zeros(n)
    return lambda: mechanism.sample(out=out)


def _ours_whole(n: int) -> Draw:
    eps, out = epsilons(n), np.zeros(n)
    return lambda: sn.sample(None, eps, out=out)


def _numpy_prepared(n: int) -> Draw:
    rng, eps, out = np.random.default_rng(1), epsilons(n), np.zeros(n)
    gamma = optimal_gamma(eps)
    return lambda: algorithm_1(rng, out, eps, 1.0, gamma)


def _numpy_whole(n: int) -> Draw:
    rng, eps, out = np.random.default_rng(1), epsilons(n), np.zeros(n)
    return lambda: algorithm_1(rng, out, eps, 1.0, optimal_gamma(eps))


def check(values: NDArray[np.float64]) -> None:
    """Check the values in eight parts against the mixture of each part's mechanisms: every ε must be used in its place."""
    parts = zip(np.array_split(values, 8), np.array_split(epsilons(values.size), 8), strict=True)
    for part, eps in parts:
        abs_mean, second_moment = (float(moment.mean()) for moment in staircase_moments(eps))
        CoreMechanism("staircase", float(eps.mean()), 1, abs_mean, second_moment).check(part)


@pytest.mark.parametrize(
    ("work", "mine", "theirs"),
    [(PREPARED, _ours_prepared, _numpy_prepared), (WHOLE, _ours_whole, _numpy_whole)],
    ids=["prepared", "whole"],
)
@pytest.mark.parametrize("contender", ["stairnoise", "NumPy, Algorithm 1"])
def bench_own_eps(benchmark: Any, work: str, mine: Any, theirs: Any, contender: str) -> None:
    """Time 10⁷ values, or fewer if a draw would take seconds; the record has the number."""
    n = affordable(mine, BULK)
    beside = {"fill": fill()}
    if contender == "stairnoise":
        run = Run(mine(n), n)
    else:
        beside[work] = Run(mine(n), n)
        n = affordable(theirs, BULK)
        run = Run(theirs(n), n)
    drawn = side_by_side(benchmark, "own eps", work, contender, run, beside)
    check(np.asarray(drawn))


# ---------------------------------------------------------------- Gaussian noise

SIGMAS = (1.0, 10.0)
GROUPS = {"in 64 groups": 64, "all different": BULK}
"""The number of different σ."""


def sigmas(n: int, different: int) -> NDArray[np.float64]:
    """Return σ from the minimum to the maximum."""
    groups = min(n, different)
    return np.linspace(*SIGMAS, groups)[np.arange(n) * groups // n]


def _gaussian(n: int, different: int) -> Draw:
    mechanism, out = sn.Gaussian(sigma=sigmas(n, different)), np.zeros(n)
    return lambda: mechanism.sample(out=out, threads=1)


def _discrete_gaussian(n: int, different: int) -> Draw:
    mechanism, out = sn.DiscreteGaussian(sigmas(n, different) ** 2), np.zeros(n, np.int64)
    return lambda: mechanism.sample(out=out, threads=1)


def _numpy_normal(n: int, different: int) -> Draw:
    rng, sigma, out = np.random.default_rng(1), sigmas(n, different), np.zeros(n)
    return lambda: np.multiply(rng.standard_normal(out=out), sigma, out=out)


def check_gaussian(values: NDArray[Any], different: int) -> None:
    """Check the values in eight parts, as `check` does; a discrete variance equals σ² to 1e-7."""
    parts = zip(np.array_split(values, 8), np.array_split(sigmas(values.size, different), 8), strict=True)
    for part, sigma in parts:
        Mechanism("Gaussian", {"sigma": float(sigma.mean())}, float(np.mean(sigma**2)), float(np.mean(3 * sigma**4))).check(part)


@pytest.mark.parametrize("mine", [_gaussian, _discrete_gaussian], ids=["Gaussian", "DiscreteGaussian"])
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("contender", ["stairnoise", "NumPy normal"])
def bench_own_sigma(benchmark: Any, mine: Any, groups: str, contender: str) -> None:
    """Time Gaussian noise where every value, or every group of values, has its own σ."""
    work, different = f"{mine.__name__[1:]}, own sigma {groups}", GROUPS[groups]
    make = partial(mine, different=different)
    n = affordable(make, BULK)
    ours = Run(make(n), n)
    if contender == "stairnoise":
        drawn = side_by_side(benchmark, "own eps", work, contender, ours, {"fill": fill()})
    else:
        run = Run(_numpy_normal(n, different), n)
        drawn = side_by_side(benchmark, "own eps", work, contender, run, {"fill": fill(), work: ours})
    check_gaussian(np.asarray(drawn), different)
