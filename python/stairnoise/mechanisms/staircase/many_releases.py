"""The first stair of least cost for k releases that are (ε, δ)-private together.

Each stair has a largest ε₁ of one release, and a cost at this ε₁; the search is for the stair of the least cost. The best stair
for one release makes the loss nearly always ε₁ or -ε₁. For many releases the variance of the loss matters, which is smaller for
a narrow stair, and for a stair wider than half the sensitivity. So there can be two local minima, and the search starts with a
grid.

For very many releases with small losses the stair is that of fewer releases: its cost is within 0.5 % of the least.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from stairnoise.distributions.moments import lattice_abs_moment, staircase_abs_moment
from stairnoise.mechanisms.staircase.loss import Atoms
from stairnoise.numerics.roots import Rising, bisection, golden_section

# Number of stairs on the geometric grid, and the resolution of the search between two of them.
_GRID, _RESOLUTION = 24, 0.01
# Width of the narrowest stair that is tried, relative to that of the least E|X| for ε₁.
_NARROWEST = 0.25
# Relative resolution of ε₁.
_STEP = 2.0**-20
_DIGITS = 3
# Most releases that are composed: that takes milliseconds, and a search composes a thousand times.
_VERY_MANY = 4096
# A smaller part of δ counts as this one, so that it has a logarithm.
_RARE = 2.0**-64
# Up to this loss only mean and variance matter.
_SMALL = 2.0**-6


@lru_cache(maxsize=16)
def best_gamma(eps: float, delta: float, k: int, p: int) -> float:
    """Return the half-width of the central stair, in units of the sensitivity, with the least E|X|**p, to three digits."""

    def cost(gamma: float) -> float:
        one = near_largest_eps(eps, delta, k, 2 * gamma, 2 * gamma - 1)
        return float(staircase_abs_moment(p, one, 1.0, gamma))

    def rounded(log_gamma: float) -> float:
        return min(float(f"{math.exp(log_gamma):.{_DIGITS}g}"), 1.0)

    return _best(cost, rounded, math.log(_narrowest(eps, delta, k)))


@lru_cache(maxsize=16)
def best_r(eps: float, delta: float, k: int, p: int, D: int) -> int:
    """Return the integer at which the second stair begins, from 1 to D, with the least E|X|**p."""

    def cost(r: float) -> float:
        one = near_largest_eps(eps, delta, k, (2 * r - 1) / D, (2 * r - 1 - D) / D)
        return float(lattice_abs_moment(p, one, float(D), r))

    def rounded(log_gamma: float) -> float:
        return float(max(1, min(round(math.exp(log_gamma) * D), D)))

    return int(_best(cost, rounded, math.log(_narrowest(eps, delta, k)))) if D > 1 else 1


def largest_eps(eps: float, delta: float, k: int, width: float, width_less_one: float) -> float:
    """Return the ε₁ with which k releases are (ε, δ)-private together, to a relative 2**-20."""

    def excess(one: float) -> float:
        part = Atoms(np.array(one), np.array(width), np.array(width_less_one))
        if k == 1:
            found = part.profile_scalar(eps)
        else:
            with np.errstate(over="ignore"):  # an infinite loss gains 1
                gains = -np.expm1(np.minimum(eps - one * np.arange(k, -1.0, -1.0), 0.0))
            found = float(part.powers(k) @ gains)
        return math.log(max(found / delta, _RARE))

    low = high = eps / k
    while excess(high := 1.25 * high) <= 0:
        low = high
    too_much = Rising(excess)
    too_much.close_in(low, high, _STEP / 4)
    return bisection(too_much, low, high, relative=_STEP)


def near_largest_eps(eps: float, delta: float, k: int, width: float, width_less_one: float) -> float:
    """Return `largest_eps`, for very many releases from fewer releases whose total loss has nearly the same mean and variance."""
    if k > _VERY_MANY:
        one = largest_eps(eps, delta, _VERY_MANY, width, width_less_one)
        if one <= _SMALL:
            return one * math.sqrt(_VERY_MANY / k)
    return largest_eps(eps, delta, k, width, width_less_one)


def _narrowest(eps: float, delta: float, k: int) -> float:
    one = near_largest_eps(eps, delta, k, 1.0, 0.0)
    return _NARROWEST / (1 + math.exp(min(one, 1000.0) / 2))


def _best(cost: Callable[[float], float], rounded: Callable[[float], float], least: float) -> float:
    costs: dict[float, float] = {}

    def known(log_gamma: float) -> float:
        stair = rounded(log_gamma)
        if stair not in costs:
            costs[stair] = cost(stair)
        return costs[stair]

    grid = [least * i / (_GRID - 1) for i in range(_GRID)]
    found = [known(at) for at in grid]
    place = found.index(min(found))
    golden_section(known, grid[min(place + 1, _GRID - 1)], grid[max(place - 1, 0)], _RESOLUTION)
    return min(costs, key=costs.__getitem__)
