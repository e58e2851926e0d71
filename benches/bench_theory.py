"""The distribution functions: a million points at a call, and one, beside SciPy's where it has the law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benches import ours
from benches.mechanisms import Law, discrete_laplace, discrete_staircase, laplace, staircase
from benches.timing import Run, side_by_side

POINTS = 10**6
LAWS = (staircase(4), laplace(4), discrete_staircase(1, 10), discrete_laplace(0.1))
FUNCTIONS = ("density", "cdf", "sf", "logcdf", "ppf", "isf")
AIMED_AT = ("density", "cdf", "ppf")
RNG = np.random.default_rng(1)


def method(law: Law, function: str) -> str:
    """Return the function's name for this law."""
    if function != "density":
        return function
    return "pmf" if law.discrete else "pdf"


def work(law: Law, function: str) -> str:
    """Return the function and its law in words."""
    return f"{method(law, function)}, {law.work}"


def arguments(law: Law, function: str, n: int) -> Any:
    """Return points where the law has its mass; probabilities for the quantile functions."""
    if function in ("ppf", "isf"):
        return RNG.random(n)
    return ours.distribution(law).sample(n).astype(np.float64)


def scipy_law(law: Law) -> Any:
    """Return SciPy's frozen distribution of a Laplace law; None for the staircases, which it has not."""
    from scipy import stats

    if law.mechanism == "laplace":
        return stats.laplace(scale=law.sensitivity / law.eps)
    if law.mechanism == "discrete_laplace":
        return stats.dlaplace(law.eps / law.sensitivity)
    return None


def run(distribution: Any, law: Law, function: str, x: Any) -> Run:
    """Return one call with the points `x`."""
    call = getattr(distribution, method(law, function))
    return Run(lambda: call(x), np.size(x))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.work)
def bench_points(benchmark: Any, law: Law, function: str) -> None:
    """Time a million points."""
    x, d = arguments(law, function, POINTS), ours.distribution(law)
    values = side_by_side(benchmark, "theory", work(law, function), "stairnoise", run(d, law, function, x), {})
    one_by_one = [getattr(d, method(law, function))(float(point)) for point in x[:1000]]
    np.testing.assert_allclose(np.asarray(values)[:1000], one_by_one, rtol=1e-13)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.work)
def bench_one_point(benchmark: Any, law: Law, function: str) -> None:
    """Time one point, a Python float."""
    x, d = float(arguments(law, function, 1)[0]), ours.distribution(law)
    value = side_by_side(benchmark, "theory", work(law, function), "stairnoise, one point", run(d, law, function, x), {})
    assert value == pytest.approx(getattr(d, method(law, function))(np.array([x]))[0], rel=1e-13)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("law", [law for law in LAWS if law.mechanism.endswith("laplace")], ids=lambda law: law.work)
@pytest.mark.parametrize("points", [POINTS, 1])
def bench_scipy(benchmark: Any, law: Law, function: str, points: int) -> None:
    """Time SciPy's functions."""
    pytest.importorskip("scipy")
    x, d = arguments(law, function, points), ours.distribution(law)
    x = float(x[0]) if points == 1 else x
    contender = "scipy, one point" if points == 1 else "scipy"
    beside = {work(law, function): run(d, law, function, x)}
    values = side_by_side(benchmark, "theory", work(law, function), contender, run(scipy_law(law), law, function, x), beside)
    # SciPy's discrete tails are differences from 1.
    np.testing.assert_allclose(values, getattr(d, method(law, function))(x), rtol=1e-9, atol=1e-12)
