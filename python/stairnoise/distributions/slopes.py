"""Distributions whose log-density is piecewise linear, on a lattice or a line, in rational numbers.

The Laplace distribution, truncated or merged, is one. Its slopes on the lattice and its exact ε are found without rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from stairnoise._types import Floats


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
