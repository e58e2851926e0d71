"""The distribution functions: a million points at a call, and one, beside SciPy's if it has the distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benches import ours
from benches.mechanisms import CoreMechanism, discrete_laplace, discrete_staircase, laplace, staircase
from benches.timing import Run, side_by_side

POINTS = 10**6
MECHANISMS = (staircase(4), laplace(4), discrete_staircase(1, 10), discrete_laplace(0.1))
FUNCTIONS = ("density", "cdf", "sf", "logcdf", "ppf", "isf")
AIMED_AT = ("density", "cdf", "ppf")
RNG = np.random.default_rng(1)


def method(mechanism: CoreMechanism, function: str) -> str:
    """Return the function's name for this mechanism."""
    if function != "density":
        return function
    return "pmf" if mechanism.discrete else "pdf"


def work(mechanism: CoreMechanism, function: str) -> str:
    """Return the function and its mechanism in words."""
    return f"{method(mechanism, function)}, {mechanism.work}"


def arguments(mechanism: CoreMechanism, function: str, n: int) -> Any:
    """Return points where the noise has its mass; probabilities for the quantile functions."""
    if function in ("ppf", "isf"):
        return RNG.random(n)
    return ours.distribution(mechanism).sample(n).astype(np.float64)


def scipy_mechanism(mechanism: CoreMechanism) -> Any:
    """Return SciPy's frozen Laplace distribution; None for the staircases, which SciPy lacks."""
    from scipy import stats

    if mechanism.mechanism == "laplace":
        return stats.laplace(scale=mechanism.sensitivity / mechanism.eps)
    if mechanism.mechanism == "discrete_laplace":
        return stats.dlaplace(mechanism.eps / mechanism.sensitivity)
    return None


def run(distribution: Any, mechanism: CoreMechanism, function: str, x: Any) -> Run:
    """Return one call with the points `x`."""
    call = getattr(distribution, method(mechanism, function))
    return Run(lambda: call(x), np.size(x))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.work)
def bench_points(benchmark: Any, mechanism: CoreMechanism, function: str) -> None:
    """Time a million points."""
    x, d = arguments(mechanism, function, POINTS), ours.distribution(mechanism)
    values = side_by_side(benchmark, "theory", work(mechanism, function), "stairnoise", run(d, mechanism, function, x), {})
    one_by_one = [getattr(d, method(mechanism, function))(float(point)) for point in x[:1000]]
    np.testing.assert_allclose(np.asarray(values)[:1000], one_by_one, rtol=1e-13)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.work)
def bench_one_point(benchmark: Any, mechanism: CoreMechanism, function: str) -> None:
    """Time one point, a Python float."""
    x, d = float(arguments(mechanism, function, 1)[0]), ours.distribution(mechanism)
    value = side_by_side(
        benchmark, "theory", work(mechanism, function), "stairnoise, one point", run(d, mechanism, function, x), {}
    )
    assert value == pytest.approx(getattr(d, method(mechanism, function))(np.array([x]))[0], rel=1e-13)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "mechanism",
    [mechanism for mechanism in MECHANISMS if mechanism.mechanism.endswith("laplace")],
    ids=lambda mechanism: mechanism.work,
)
@pytest.mark.parametrize("points", [POINTS, 1])
def bench_scipy(benchmark: Any, mechanism: CoreMechanism, function: str, points: int) -> None:
    """Time SciPy's functions."""
    pytest.importorskip("scipy")
    x, d = arguments(mechanism, function, points), ours.distribution(mechanism)
    x = float(x[0]) if points == 1 else x
    contender = "scipy, one point" if points == 1 else "scipy"
    beside = {work(mechanism, function): run(d, mechanism, function, x)}
    values = side_by_side(
        benchmark, "theory", work(mechanism, function), contender, run(scipy_mechanism(mechanism), mechanism, function, x), beside
    )
    # SciPy's discrete tails are differences from 1.
    np.testing.assert_allclose(values, getattr(d, method(mechanism, function))(x), rtol=1e-9, atol=1e-12)
