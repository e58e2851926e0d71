"""Distributions whose log-density is piecewise linear, on a lattice or a line, in rational numbers.

The Laplace distribution, truncated or merged, is one. Its slopes on the lattice and its exact ε are found without rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stairnoise._types import Floats
from stairnoise.numerics import sums as listed_sums
from stairnoise.numerics.roots import least_integer

# Integers above this one are rounded to a float64 by a few of them.
_EXACT = 2**52


class Slopes(NamedTuple):
    """W(k) = -ln P(k) + constant, on the integers from -below to above.

    W is even, W(0) = 0, and its corners are at ±breaks.
    """

    rates: Sequence[Fraction]
    breaks: Sequence[int]
    below: int | None = None
    """None: no end."""
    above: int | None = None

    def height(self, k: int) -> Fraction:
        """W(k)."""
        return _height(k, self.rates, self.breaks)

    def corners(self) -> list[int]:
        """Least integers of the runs on which W is linear, and one past the last of a distribution that ends."""
        inside = [-c for c in reversed(self.breaks)] + [0, *self.breaks]
        low = [] if self.below is None else [-self.below]
        high = [] if self.above is None else [self.above + 1]
        kept = [c for c in inside if (not low or c > low[0]) and (not high or c < high[0])]
        return low + kept + high

    def holds(self, k: int) -> bool:
        """Return whether k has a probability."""
        return (self.below is None or -self.below <= k) and (self.above is None or k <= self.above)


def largest_loss(rates: Sequence[Fraction], breaks: Sequence[Fraction], shift: Fraction) -> Fraction:
    """Return the largest loss W(|x + shift|) - W(|x|), where W has slope rates[j] from breaks[j - 1] to breaks[j].

    W rises with |x|, so no smaller shift loses more, nor does any x < 0. For x >= 0 the loss is piecewise linear in x,
    with corners where x or x + shift is a break, and constant from the last break on. So one of the corners has the largest.
    """
    corners = {Fraction(0), *breaks, *(c - shift for c in breaks if c > shift)}
    return max(_height(x + shift, rates, breaks) - _height(x, rates, breaks) for x in corners)


def _height(x: int | Fraction, rates: Sequence[Fraction], breaks: Sequence[int | Fraction]) -> Fraction:
    """W(x)."""
    size, start, total = abs(Fraction(x)), Fraction(0), Fraction(0)
    for rate, end in zip(rates, breaks, strict=False):
        if size <= end:
            return total + rate * (size - start)
        total, start = total + rate * (end - start), Fraction(end)
    return total + rates[-1] * (size - start)


def log_sum(beta: Floats | float, n: Floats | float) -> Floats:
    """Logarithm of the sum of exp(-β j) over j < n; for n = 0 the result has no meaning."""
    size = np.abs(beta)
    safe = np.where(size > 0, size, 1.0)
    with np.errstate(all="ignore"):
        falling = np.log(np.expm1(-safe * n) / np.expm1(-safe))
        growth = np.where(np.less(beta, 0), size * (n - 1), 0.0)
        return np.asarray(np.where(size > 0, falling + growth, np.log(n)))


class _Side:
    """P(X >= m), m >= 1, up to a constant factor."""

    def __init__(self, slopes: Slopes, end: int | None) -> None:
        starts = [0, *(c for c in slopes.breaks if end is None or c <= end)]
        last = math.inf if end is None else float(end + 1)
        self._start = np.array(starts, np.float64)
        self._stop = np.array([*map(float, starts[1:]), last])
        self._rate = np.array([float(rate) for rate in slopes.rates[: len(starts)]])
        self._height = np.array([float(slopes.height(c)) for c in starts])
        self.reach = self._reach(last)

    def __call__(self, m: Floats) -> Floats:
        """Sum of exp(-W) from m on."""
        first = np.maximum(np.asarray(m)[..., None], self._start)
        left = np.maximum(self._stop - first, 0.0)
        logs = -self._height - self._rate * (first - self._start) + log_sum(self._rate, np.maximum(left, 1.0))
        return np.asarray(np.where(left > 0, np.exp(logs), 0.0).sum(axis=-1))

    def _reach(self, last: float) -> float:
        """Where the distribution ends, or where what is left has no probability that matters."""
        at = last
        for start, stop, height, rate in zip(self._start, self._stop, self._height, self._rate, strict=True):
            there = start + (listed_sums.LISTED - height) / rate
            if start <= there <= stop:
                at = math.ceil(there)
                break
        return float(min(last, at))


class _Distribution:
    def __init__(self, slopes: Slopes) -> None:
        self._right, self._left = _Side(slopes, slopes.above), _Side(slopes, slopes.below)
        one = np.array(1.0)
        self._total = float(1 + self._right(one) + self._left(one))
        self.decay = float(min(slopes.rates))
        self.symmetric = slopes.below == slopes.above
        self.reach = max(self._right.reach, self._left.reach)

    def beyond(self, t: int) -> float:
        """P(|X| > t)."""
        m = np.array(float(t + 1))
        return float(self._right(m) + self._left(m)) / self._total

    def bins(self, h: int, k: int, *, mirrored: bool = False, up: bool = False) -> listed_sums.Summand:
        """One variable on bins of h integers about the multiples of h, spread, or below them, rounded up."""
        right, left = (self._left, self._right) if mirrored else (self._right, self._left)
        n = math.ceil(self.reach / h) + 1
        i = np.arange(1, n + 2, dtype=np.float64)
        # Least magnitudes of the bins beyond the one of 0, which is computed from both sides.
        if up:
            above, below = right(h * (i - 1) + 1), left(h * i)
        else:
            above, below = right(h * (i - 1) + (h + 1) // 2), left(h * (i - 1) + (h + 1) // 2)
        middle = self._total - above[0] - below[0]
        weights = np.concatenate([-np.diff(below)[::-1], [middle], -np.diff(above)])
        return listed_sums.Summand(-n, np.maximum(weights, 0.0) / self._total, self.decay * h, k, spread=not up and h > 1)


@lru_cache(maxsize=64)
def error_bound(slopes: Slopes, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha for the sum S of k variables: the smallest for one, and nearly so for more."""
    distribution = _Distribution(slopes)
    if k == 1:
        t = least_integer(lambda t: distribution.beyond(t) <= alpha, -1, math.ceil(distribution.reach))
        return t if t < _EXACT else math.ceil(t * (1 + 2.0**-50))
    least = math.ceil(distribution.reach / listed_sums.BINS) | 1
    upwards = not distribution.symmetric
    lower = (lambda h: distribution.bins(h, k, mirrored=True, up=True)) if upwards else None
    return listed_sums.bound(lambda h: distribution.bins(h, k, up=upwards), lower, alpha, least)
