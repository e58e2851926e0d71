r"""Expected costs of noise, for powers of \|x\| and for any function of \|x\|."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stairnoise._errors import ParameterError
from stairnoise._parameters import Real
from stairnoise._types import Floats
from stairnoise.mechanisms.staircase import cost as staircase_cost
from stairnoise.numerics.elementwise import over_elements

CostFunction = Callable[[Floats], Any]

# Sums end where less than this probability is left; `_checked_sum` refuses costs for which the rest matters.
_NOTHING = 1e-300
_NEGLIGIBLE = 1e-17
_MOST_LISTED = 2**24
# Panels of a piece begin at 2**-6 of it: near 0 a cost may consist of rounding errors, so splitting there gains nothing.
_DEPTH = 1.0


def lattice_cost(function: CostFunction, mechanism: Any, step: float, mass: Callable[[Floats], Any]) -> float:
    """Return the expected cost of a mechanism on the multiples of `step`; `mass` returns their probabilities."""
    farthest = float(mechanism._tail_bound(_NOTHING)) / step
    if not farthest <= _MOST_LISTED:
        raise ParameterError(
            f"mechanism must reach at most 2**24 lattice steps from 0 where cost is a function, got {mechanism!r}"
        )
    cost, x = staircase_cost.Cost(function), np.arange(int(farthest) + 1.0) * step
    _require_finite(cost, float(x[-1]))
    terms = cost(x) * (mass(x) + np.where(x > 0, mass(-x), 0.0))
    return cost.at_zero + _checked_sum(float(terms.sum()), float(terms[-1]), mechanism)


def density_cost(function: CostFunction, mechanism: Any) -> float:
    """Return the expected cost of a mechanism with a density, integrated over the magnitude."""
    cost, farthest = staircase_cost.Cost(function), float(mechanism._tail_bound(_NOTHING))
    _require_finite(cost, farthest)

    def density(x: Floats) -> Floats:
        return np.asarray(cost(x) * (mechanism.pdf(x) + mechanism.pdf(-x)))

    def piece(start: float, end: float) -> float:
        width = end - start
        return float(staircase_cost.integrate(lambda u: density(start + u * width) * width, _DEPTH).integral[-1])

    ends = [0.0, *sorted(kink for kink in mechanism._kinks() if 0 < kink < farthest), farthest]
    total = sum(map(piece, ends[:-1], ends[1:]))
    return cost.at_zero + _checked_sum(total, float(density(np.array([farthest]))[0]) * farthest, mechanism)


def _require_finite(cost: staircase_cost.Cost, farthest: float) -> None:
    if not np.isfinite(cost(np.array([farthest]))[0]):
        raise ParameterError(f"cost must be finite wherever the mechanism has probability, got inf at |x| = {farthest}")


def _checked_sum(total: float, last: float, mechanism: Any) -> float:
    if last > _NEGLIGIBLE * total and np.isinf(mechanism.support()[1]):
        raise ParameterError("cost must have a finite expected value, got one that grows as fast as the mechanism falls")
    return total


# Functions as costs of mechanisms with array parameters: one element at a time


def check_function(eps: Real, steps: Real | None = None) -> None:
    """Refuse parameters for which the sum would take too long or underflow."""
    if steps is None:
        good, rule = np.asarray(eps) >= staircase_cost.LEAST_EPS, "eps must be from 2**-7 to 700 where cost is a function"
    else:
        most = np.maximum(steps, np.asarray(steps) / eps)
        good = most <= staircase_cost.MOST_STEPS
        rule = "sensitivity and sensitivity/eps must be at most 2**20, and eps at most 700, where cost is a function"
    bad = np.flatnonzero(~(good & (np.asarray(eps) <= staircase_cost.MOST_EPS)))
    if bad.size:
        shown = np.broadcast_to(eps, np.shape(good)).item(bad[0])
        more = "" if steps is None else f" and sensitivity {np.broadcast_to(steps, np.shape(good)).item(bad[0])}"
        raise ParameterError(f"{rule}, got eps {shown}{more}")


def elementwise(function: Callable[..., float], shape: tuple[int, ...], *parameters: Real) -> Any:
    """Apply a function of floats to every element."""
    if shape == ():
        return function(*map(float, parameters))
    return over_elements(function, float, *(np.asarray(parameter, np.float64) for parameter in parameters))
