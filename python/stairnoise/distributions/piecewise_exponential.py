"""Densities that fall exponentially, at one rate after another, on either side of 0: closed forms without cancellation.

A side is ``w(y) = exp(-W(y))`` for y >= 0, where W is continuous, starts at 0 and has slope r_j on the j-th piece; the last piece
may end, and then so does the distribution. All tails are kept relative to w where they begin, so that they have logarithms where
they underflow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stairnoise._types import Floats, Places
from stairnoise.numerics.quadrature import gauss_legendre

# Nodes on an interval [a, 2a], or on one below 4 mean distances: the rule's error for y**p exp(-r y) is below 1e-16.
_NODES = 40
# Smaller than rounding: an integral ends where its pieces are below this part of it.
_NEGLIGIBLE = 2.0**-64


class Side:
    """One side of 0."""

    def __init__(self, rates: Sequence[float], breaks: Sequence[float], end: float = math.inf) -> None:
        """Take the slopes of W, where they change, and where the distribution ends."""
        self.end = end
        self._rate = np.array(rates, np.float64)
        self._start = np.array([0.0, *breaks], np.float64)
        self._length = np.diff([*self._start, end])
        rise = self._rate * self._length
        self._height = np.concatenate([[0.0], np.cumsum(rise[:-1])])
        # Mass of a piece, and of all that follows it, relative to w where they begin.
        own = -np.expm1(-rise) / self._rate
        after = np.zeros(own.size)
        for j in range(own.size - 2, -1, -1):
            after[j] = own[j + 1] + math.exp(-rise[j + 1]) * after[j + 1]
        self._after = after
        self._from_start = own + np.exp(-rise) * after
        self.mass = float(self._from_start[0])
        # Tail at the beginning of every piece but the first, falling.
        self._log_tails = (np.log(self._from_start) - self._height)[1:]

    def _piece(self, y: Floats) -> Places:
        return np.searchsorted(self._start[1:], y, side="right")

    def log_weight(self, y: Floats) -> Floats:
        """-W(y), for y >= 0."""
        j = self._piece(y)
        inside = -(self._height[j] + self._rate[j] * (y - self._start[j]))
        return np.where(y > self.end, -np.inf, inside)

    def log_tail(self, y: Floats) -> Floats:
        """Logarithm of the integral of w beyond y >= 0."""
        j = self._piece(y)
        left = self._rate[j] * np.maximum(self._start[j] + self._length[j] - y, 0.0)
        relative = -np.expm1(-left) / self._rate[j] + np.exp(-left) * self._after[j]
        return np.where(y >= self.end, -np.inf, np.log(relative) + self.log_weight(np.minimum(y, self.end)))

    def tail_inverse(self, log_s: Floats) -> Floats:
        """Return the y beyond which the integral of w is exp(log_s), at most the mass."""
        j = np.searchsorted(-self._log_tails, -log_s, side="left")
        rate, fall = self._rate[j], np.exp(-self._rate[j] * self._length[j])
        # exp(-r (y - start)), which is near 1 at the beginning of a piece and small at the end of a long one.
        s = np.exp(log_s + self._height[j])
        lost = rate * (s - self._from_start[j])
        kept = np.maximum(rate * (s - fall * self._after[j]) + fall, fall)
        distance = np.where(lost > -0.5, -np.log1p(np.maximum(lost, -0.5)), -np.log(kept)) / rate
        return np.asarray(np.clip(self._start[j] + distance, 0.0, self.end))

    def moment(self, p: float) -> float:
        """Integral of ``y**p w(y)``, for p > -1."""
        total = 0.0
        for start, length, rate, height in zip(self._start, self._length, self._rate, self._height, strict=True):
            if start == 0.0:
                a = min(length, 1 / rate)
                total += _power_integral(p, rate, a)
            else:
                a = start
            while a < start + length:
                b = min(2 * a, a + 4 / rate, start + length)
                nodes, weights = gauss_legendre(_NODES)
                y = a + (b - a) * nodes
                values = np.exp(p * np.log(y) - rate * (y - start) - height)
                part = (b - a) * float(weights @ values)
                total += part
                a = b
                if part <= _NEGLIGIBLE * total and rate * (a - start) > 1 and rate * a > p:
                    break
        return total

    def mean_log(self) -> float:
        """Integral of ``W(y) w(y)``."""
        rise = self._rate * self._length
        finite = np.where(np.isfinite(rise), rise, 0.0)
        # The integral of z exp(-z) from 0 to the rise.
        first = np.where(np.isfinite(rise), -np.expm1(-finite) - finite * np.exp(-finite), 1.0)
        own = -np.expm1(-rise) / self._rate
        return float(np.sum(np.exp(-self._height) * (self._height * own + first / self._rate)))


def _power_integral(p: float, rate: float, end: float) -> float:
    """Integral of ``y**p exp(-rate y)`` from 0 to `end`, rate*end <= 1: a series of positive terms."""
    z = rate * end
    term = total = 1 / (p + 1)
    n = 1
    while term > _NEGLIGIBLE * total:
        term *= z / (p + 1 + n)
        total += term
        n += 1
    return math.exp((p + 1) * math.log(end) - z) * total


class Pieces:
    """The functions of a distribution, in units of `unit`: a left side, mirrored, and a right side."""

    def __init__(self, left: Side, right: Side, unit: float) -> None:
        self._left, self._right, self.unit = left, right, unit
        self._mass = left.mass + right.mass
        self._log_mass = math.log(self._mass)

    def in_units(self) -> Pieces:
        """Return the distribution of X/unit."""
        return Pieces(self._left, self._right, 1.0)

    def pdf(self, x: Floats) -> Floats:
        """Density."""
        return np.exp(self.logpdf(x))

    def logpdf(self, x: Floats) -> Floats:
        """Logarithm of the density."""
        y = np.abs(x) / self.unit
        weight = np.where(x < 0, self._left.log_weight(y), self._right.log_weight(y))
        return weight - self._log_mass - math.log(self.unit)

    def cdf(self, x: Floats) -> Floats:
        """P(X <= x)."""
        return np.where(x < 0, np.exp(self._log_below(x)), -np.expm1(self._log_above(x)))

    def sf(self, x: Floats) -> Floats:
        """P(X > x)."""
        return np.where(x < 0, -np.expm1(self._log_below(x)), np.exp(self._log_above(x)))

    def logcdf(self, x: Floats) -> Floats:
        """Logarithm of `cdf`."""
        return np.where(x < 0, self._log_below(x), _log_complement(self._log_above(x)))

    def logsf(self, x: Floats) -> Floats:
        """Logarithm of `sf`."""
        return np.where(x < 0, _log_complement(self._log_below(x)), self._log_above(x))

    def _log_below(self, x: Floats) -> Floats:
        return self._left.log_tail(np.maximum(-x, 0.0) / self.unit) - self._log_mass

    def _log_above(self, x: Floats) -> Floats:
        return self._right.log_tail(np.maximum(x, 0.0) / self.unit) - self._log_mass

    def ppf(self, q: Floats) -> Floats:
        """Return the x with P(X <= x) = q; NaN outside [0, 1]."""
        return self._quantile(q, self._left, self._right)

    def isf(self, q: Floats) -> Floats:
        """Return the x with P(X > x) = q; NaN outside [0, 1]."""
        return -self._quantile(q, self._right, self._left) + 0.0

    def _quantile(self, q: Floats, near: Side, far: Side) -> Floats:
        small = q <= near.mass / self._mass
        below = near.tail_inverse(np.log(q) + self._log_mass)
        above = far.tail_inverse(np.log1p(-q) + self._log_mass)
        x = np.where(small, -below, above) * self.unit + 0.0
        return np.where((q >= 0) & (q <= 1), x, np.nan)

    def error_bound(self, alpha: Floats) -> Floats:
        """Least t with P(|X| > t) <= alpha, for a symmetric distribution."""
        return self._right.tail_inverse(np.log(alpha / 2) + self._log_mass) * self.unit

    def entropy(self) -> float:
        """Differential entropy in nats."""
        return self._log_mass + math.log(self.unit) + (self._left.mean_log() + self._right.mean_log()) / self._mass

    def abs_moment(self, p: float) -> float:
        """E|X|**p."""
        return self._times_unit(self._left.moment(p) + self._right.moment(p), p)

    def mean(self) -> float:
        """E X."""
        return self.moment(1)

    def var(self) -> float:
        """E X² - (E X)²."""
        return self.abs_moment(2.0) - self.mean() ** 2

    def _times_unit(self, moment: float, p: float) -> float:
        with np.errstate(all="ignore"):
            return float(np.float64(self.unit) ** p * (moment / self._mass))

    def moment(self, order: int) -> float:
        """E X**order."""
        if order % 2 == 0:
            return self.abs_moment(float(order))
        if self._left is self._right:
            return 0.0
        return self._times_unit(self._right.moment(float(order)) - self._left.moment(float(order)), order)

    def support(self) -> tuple[float, float]:
        """Return the ends of the distribution."""
        return -self._left.end * self.unit, self._right.end * self.unit


def _log_complement(log_p: Floats) -> Floats:
    """``ln(1 - exp(log_p))``."""
    return np.where(log_p > -math.log(2), np.log(-np.expm1(log_p)), np.log1p(-np.exp(log_p))) + 0.0
