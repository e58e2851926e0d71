"""Shapes and rates of differences of negative binomial variables for a pure ε."""

from __future__ import annotations

import math

import numpy as np

from stairnoise.distributions.infinitely_divisible import pure_eps
from stairnoise.numerics.roots import golden_section, secants

# The search for the best rate starts at this many times 1/Δ: the best rate is above 2/Δ, its limit for β → 0.
_LEAST_SHIFTED = 1.0
_GRID = 25
# Smaller shapes hardly fit float64; a shape larger than the root is private too.
_LEAST_LOG_SHAPE = -700.0
# A few times the rounding error of ε.
_ROOT = 1e-14
# The shape returned is above the least one by this much, relatively: many times the error of its computation.
_MARGIN = 2.0**-36
# The cost is flat at its minimum: with this error of ln(rate), its relative error is below 1e-9.
_FLAT = 1e-5


def shape_for_eps(eps: float, sensitivity: int, rate: float) -> float:
    """Return the β ≤ 1 whose `pure_eps` is eps ≥ rate·Δ, by secants in ln β that enclose the root."""
    if not rate * sensitivity < eps:
        return 1.0

    def excess(x: float) -> float:
        return pure_eps(math.exp(x), rate, sensitivity) - eps

    high, above = 0.0, rate * sensitivity - eps
    # For a small β, P(0)/P(Δ) is near Δ·e^(rate·Δ)/β, or somewhat less.
    low = max(min(math.log(sensitivity) + above, -1e-3) - 1e-3, _LEAST_LOG_SHAPE)
    while (below := excess(low)) < 0:
        if low == _LEAST_LOG_SHAPE:
            return math.exp(low)
        high, above, low = low, below, max(2 * low, _LEAST_LOG_SHAPE)
    return math.exp(secants(excess, (low, below), (high, above), _ROOT * (1 + eps)))


def best_for_eps(eps: float, sensitivity: int, least_rate: float, most_rate: float) -> tuple[float, float]:
    """Return the (β, rate) of least variance β/(cosh rate − 1) that is eps-private under shifts up to `sensitivity`.

    β = 1 with the largest rate, eps/Δ rounded down, is one local minimum; others have β < 1 and a smaller rate. A grid
    finds the best neighbourhood, and Newton's method on β makes the variance exact on it.
    """

    def cost(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return math.log(shape_for_eps(eps, sensitivity, rate)) - 2 * math.log(math.sinh(rate / 2))

    low, high = math.log(max(least_rate, min(_LEAST_SHIFTED / sensitivity, most_rate / 2))), math.log(most_rate)
    if low >= high:
        return 1.0, most_rate
    grid = np.linspace(low, high, _GRID).tolist()
    costs = [cost(x) for x in grid]
    i = int(np.argmin(costs))
    if i == _GRID - 1:
        return 1.0, most_rate
    rate = math.exp(golden_section(cost, grid[max(i - 1, 0)], grid[i + 1], _FLAT))
    return private_shape(eps, sensitivity, rate), rate


def private_shape(eps: float, sensitivity: int, rate: float) -> float:
    """Return a β that is eps-private: above the least by `_MARGIN`."""
    return min(shape_for_eps(eps, sensitivity, rate) * (1 + _MARGIN), 1.0)
