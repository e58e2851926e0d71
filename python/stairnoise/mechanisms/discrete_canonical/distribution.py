"""Canonical noise on the integers for 0 < δ < 1: its functions and its moments.

With b = exp(-ε), c = δ/(e^ε - 1), a[k] = P(X >= k), k from 1 to the end A, and i = A - k,

    a[k] = (a[1] + c) b**(k-1) - c,     a[A-i] = a[A] e**(iε) + δ (e**(iε) - 1)/(e^ε - 1).

The second form has no difference. It is used where the difference of the first form is less than half of its larger term. a[A] is
a difference that may be tiny, and is computed in decimals. P(X = k) is P(X = 0) b**abs(k), except at both ends, where it is a[A].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from stairnoise._types import Floats
from stairnoise.mechanisms.gaussian.distribution import Centred
from stairnoise.mechanisms.truncated_staircase.distribution import TILT, sum_of_terms, symmetric_bound
from stairnoise.numerics.roots import least_integers

# a[A] loses up to 13 digits if ε is tiny, and others if a[A] is much smaller than δ.
_DIGITS = 90
_LEAST = 5e-324
# Integers below 2**this are float64 numbers.
_MOST_EXPONENT = 1000


class End(NamedTuple):
    """The last probability a[A], and ratios that stay in range where a[A] is tiny."""

    mass: float
    log_mass: float
    of_delta: float
    """a[A]/δ, greater than 0 and at most 1."""
    log_part: float
    """Logarithm of a[A] over P(X = 0) b**A, which is the probability without an end; at most 0."""


@lru_cache(maxsize=256)
def end_of(eps: float, delta: float, end: int) -> End:
    """Return the mass of each end, to float64's last digits."""
    with localcontext() as context:
        context.prec = _DIGITS
        b, d = (-Decimal(eps)).exp(), Decimal(delta)
        centre = (1 - b + 2 * d * b) / (1 + b)
        # a[A] = (P(X = 0) b**A - δ b)/(1 - b). The numerator is first divided by P(X = 0) b**A, which may underflow where A = 1.
        part = (1 - d * (Decimal(eps) * (end - 1)).exp() / centre) / (1 - b)
        log_mass = part.ln() + centre.ln() - Decimal(eps) * end
        ratio = (log_mass - d.ln()).exp()
        return End(float(log_mass.exp()), float(log_mass), float(ratio), float(part.ln()))


class Canonical(Centred):
    """Functions of canonical noise for (ε, δ) that ends at `end`."""

    def __init__(self, eps: float, delta: float, end: int) -> None:
        self._eps, self._delta, self._end = eps, delta, float(end)
        self._last = end_of(eps, delta, end)
        decay, drop = math.exp(-eps), -math.expm1(-eps)
        centre = drop + 2 * delta * decay
        self._log_delta, self._drop = math.log(delta), drop
        self._zero = centre / (1 + decay)
        # ln P(X = 0), accurate also where P(X = 0) is close to 1.
        self._log_zero = math.log1p(-2 * decay * (1 - delta) / (1 + decay)) if self._zero > 0.5 else math.log(self._zero)
        # a[1] + c is e**log_height, and c/(a[1] + c) is `lost`.
        self._log_height = self._log_zero - eps - math.log(drop)
        self._lost = delta * (1 + decay) / centre

    # Tails

    def _log_tail(self, k: Floats) -> Floats:
        """Ln a[k] for 1 <= k <= A."""
        eps, last = self._eps, self._last
        share = self._lost * np.exp(eps * (k - 1))
        i = self._end - k
        # (e**(iε) - 1)/(e^ε - 1), for an ε of any size.
        steps = np.exp(eps * (i - 1)) * (np.expm1(-i * eps) / -self._drop)
        near = self._log_delta + np.log(last.of_delta * np.exp(i * eps) + steps)
        far = self._log_height - eps * (k - 1) + np.log1p(-np.minimum(share, 0.5))
        return np.where(share <= 0.5, far, np.where(i > 0, near, last.log_mass))

    def logsf(self, x: Floats) -> Floats:
        """Ln P(X > x)."""
        k = np.floor(x) + 1
        # P(X <= x) is P(X > -x - 1) for integers.
        i = np.where(k >= 1, k, 1 - k)
        tail = np.where(i <= self._end, self._log_tail(np.minimum(i, self._end)), -np.inf)
        return np.where(np.isnan(x), x, np.where(k >= 1, tail, np.log1p(-np.exp(tail)) + 0.0))

    # Probabilities

    def logpmf(self, x: Floats) -> Floats:
        """Ln P(X = x)."""
        k = np.abs(x)
        inside = np.where(k < self._end, self._log_zero - self._eps * k, self._last.log_mass)
        return np.where(np.isnan(x), x, np.where((k <= self._end) & (k == np.floor(k)), inside, -np.inf))

    # Quantiles

    def ppf(self, q: Floats) -> Floats:
        """Least x with P(X <= x) >= q; NaN outside [0, 1]."""
        # A cdf can round to 1 before the end.
        return self._least(q, lambda i: (self.cdf(i) >= q) & ((q < 1) | (i == self._end)))

    def isf(self, q: Floats) -> Floats:
        """Least x with P(X > x) <= q; NaN outside [0, 1]."""
        return self._least(q, lambda i: self.sf(i) <= q)

    def _least(self, q: Floats, enough: Callable[[Floats], Any]) -> Floats:
        below, high = np.full(np.shape(q), -self._end - 1), np.full(np.shape(q), self._end)
        return np.where((q >= 0) & (q <= 1), least_integers(enough, below, high) + 0.0, np.nan)

    def error_bound(self, alpha: Floats) -> Floats:
        """Least t with P(|X| > t) <= alpha."""
        return self.isf(np.maximum(alpha / 2, _LEAST))

    # Moments

    def support(self) -> tuple[float, float]:
        """Return the ends."""
        return -self._end, self._end

    def abs_moment(self, p: float) -> float:
        """E|X|**p; inf for p < 0, because 0 has a probability."""
        if p <= 0:
            return math.inf if p < 0 else 1.0
        eps, p, last = self._eps, float(p), self._last

        def terms(k: Floats) -> Floats:
            # Logarithms lose digits, so they are used only if a power overflows.
            if p * math.log2(self._end) < _MOST_EXPONENT:
                return np.asarray(np.exp(-eps * k) * k**p)
            return np.exp(p * np.log(k) - eps * k)

        inside = sum_of_terms(terms, self._end)
        return float(2 * (self._zero * inside + np.exp(last.log_mass + p * math.log(self._end))))

    def entropy(self) -> float:
        """Entropy in nats: every probability but the last is P(X = 0) times a power of b."""
        inside = 2 * self._zero * sum_of_terms(lambda m: np.exp(-self._eps * m) * m, self._end)
        return float(self._eps * inside - self._log_zero * (1 - 2 * self._last.mass) - 2 * self._last.mass * self._last.log_mass)


@lru_cache(maxsize=64)
def error_bound(eps: float, delta: float, end: int, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha for the sum S of k variables: the smallest for one, and nearly so for more."""
    distribution = Canonical(eps, delta, end)
    if k == 1:
        return int(distribution.error_bound(np.array(alpha)))
    return symmetric_bound(distribution, end, max(eps, TILT / end), k, alpha)
