"""One value at a call, and the release of a few counts, beside NumPy's Laplace noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benches import ours
from benches.counts import COUNTS, noise_of
from benches.mechanisms import CoreMechanism, discrete_laplace, discrete_staircase, laplace, staircase
from benches.timing import Run, side_by_side

MECHANISMS = (staircase(1), laplace(1), discrete_laplace(1), discrete_staircase(1, 10))
RELEASED = (staircase(1), laplace(1), discrete_laplace(1))


def one(mechanism: CoreMechanism) -> str:
    """Return the work of one value."""
    return f"one value, {mechanism.work}"


def seven(mechanism: CoreMechanism) -> str:
    """Return the work of a release."""
    return f"release of 7 counts, {mechanism.work}"


def _sample(mechanism: CoreMechanism) -> Run:
    return Run(ours.distribution(mechanism).sample, 1)


def _release(mechanism: CoreMechanism) -> Run:
    d = ours.distribution(mechanism)
    return Run(lambda: d.release(COUNTS), len(COUNTS))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.work)
def bench_sample(benchmark: Any, mechanism: CoreMechanism) -> None:
    """Time `d.sample()`."""
    run = _sample(mechanism)
    side_by_side(benchmark, "scalars", one(mechanism), "stairnoise", run, {})
    mechanism.check(np.array([run.draw() for _ in range(10_000)]))


@pytest.mark.parametrize("mechanism", RELEASED, ids=lambda mechanism: mechanism.work)
def bench_release(benchmark: Any, mechanism: CoreMechanism) -> None:
    """Time `d.release(counts)`."""
    run = _release(mechanism)
    side_by_side(benchmark, "scalars", seven(mechanism), "stairnoise", run, {})
    mechanism.check(noise_of(run.draw))


def bench_numpy_sample(benchmark: Any) -> None:
    """Time `Generator.laplace()`, without arguments: its quickest form."""
    rng = np.random.default_rng(1)
    beside = {one(mechanism): _sample(mechanism) for mechanism in MECHANISMS}
    side_by_side(benchmark, "scalars", one(laplace(1)), "Generator.laplace()", Run(rng.laplace, 1), beside)
    laplace(1).check(np.array([rng.laplace() for _ in range(10_000)]))


def bench_numpy_release(benchmark: Any) -> None:
    """Time `counts + Generator.laplace(0, s, 7)`."""
    rng = np.random.default_rng(1)
    run = Run(lambda: COUNTS + rng.laplace(0, 1.0, 7), len(COUNTS))
    beside = {seven(mechanism): _release(mechanism) for mechanism in RELEASED}
    side_by_side(benchmark, "scalars", seven(laplace(1)), "counts + Generator.laplace", run, beside)
    laplace(1).check(noise_of(run.draw))
