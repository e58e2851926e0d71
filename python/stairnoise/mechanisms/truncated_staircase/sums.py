"""Sums of truncated staircase noise: bounds of their distance from 0."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from stairnoise.mechanisms.truncated_staircase.distribution import Truncated, on_integers
from stairnoise.numerics import sums as listed_sums
from stairnoise.numerics.sums import Summand

# Larger integers may be rounded to float64.
_EXACT = 2**52
# Useful tilts of a bounded variable, in nepers from the centre to the end.
TILT = 30.0


@lru_cache(maxsize=64)
def error_bound(eps: float, steps: int, r: int, end: int, centre: int, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha for the sum S of k variables: the smallest for one, and nearly so for more."""
    distribution = on_integers(eps, steps, r, end, float(centre))
    if k == 1:
        t = int(distribution.error_bound(np.array(alpha)))
        return t if t < _EXACT else math.ceil(t * (1 + 2.0**-50))
    decay = max(eps / steps, TILT / end)
    if centre == 0:
        return symmetric_bound(distribution, end, decay, k, alpha)
    mirrored = on_integers(eps, steps, r, end, float(-centre))
    least = math.ceil((abs(centre) + end) / listed_sums.BINS) | 1

    def upper(h: int) -> Summand:
        return _rounded_up(distribution, centre, end, h, k, decay)

    def lower(h: int) -> Summand:
        return _rounded_up(mirrored, -centre, end, h, k, decay)

    return listed_sums.bound(upper, lower, alpha, least)


def symmetric_bound(distribution: Any, end: int, decay: float, k: int, alpha: float) -> int:
    """Return the bound for a distribution on -end..end that falls on both sides of 0."""
    least = math.ceil(end / listed_sums.BINS) | 1
    return listed_sums.bound(lambda h: _spread(distribution, end, h, k, decay), None, alpha, least)


def _spread(distribution: Any, end: int, h: int, k: int, decay: float) -> Summand:
    """Return one variable on bins of h integers around the multiples of h; h is odd."""
    n = math.ceil(end / h) + 1
    edges = h * (np.arange(1, n + 2, dtype=np.float64) - 1) + (h - 1) // 2
    beyond = distribution.sf(edges)
    side = np.maximum(-np.diff(beyond), 0.0)
    weights = np.concatenate([side[::-1], [1 - 2 * beyond[0]], side])
    return Summand(-n, weights, decay * h, k, spread=h > 1)


def _rounded_up(distribution: Truncated, centre: int, end: int, h: int, k: int, decay: float) -> Summand:
    """Return one variable with every value rounded up to the end of its bin, a multiple of h."""
    first, last = -(-(centre - end) // h), -(-(centre + end) // h)
    edges = h * np.arange(first - 1, last + 1, dtype=np.float64)
    # Differences of the smaller tail.
    low = edges[1:] <= centre
    weights = np.where(low, np.diff(distribution.cdf(edges)), -np.diff(distribution.sf(edges)))
    return Summand(first, np.maximum(weights, 0.0), decay * h, k)
