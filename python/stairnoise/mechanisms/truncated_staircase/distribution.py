"""The truncated staircase distributions around any centre: their functions, their moments, and their exact δ."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.distributions.symmetric import Lattice, Line
from stairnoise.mechanisms.staircase import distribution as staircase
from stairnoise.mechanisms.truncated_staircase import stairs as truncated_stairs
from stairnoise.mechanisms.truncated_staircase.stairs import MOST_STAIRS, Ended
from stairnoise.numerics import sums as listed_sums
from stairnoise.numerics.elementwise import Formula, Scalars, evaluate
from stairnoise.numerics.quadrature import gauss_legendre
from stairnoise.numerics.roots import least_float, least_integer

DIGITS = 60
"""Digits of decimals."""
# Number of first terms that are added up; Euler and Maclaurin's formula has the rest.
_FIRST = 64
# Most integers of a moved distribution that are listed.
_MOST_LISTED = 2**21

_ON_LINE = Line(truncated_stairs)
_ON_INTEGERS = Lattice(truncated_stairs)
# Larger integers may be rounded to float64.
_EXACT = 2**52
# Useful tilts of a bounded variable, in nepers from the centre to the end.
TILT = 30.0


class Truncated:
    """Functions of a truncated staircase distribution around `centre`.

    Parameters
    ----------
    constants : Ended
    centre : float
    whole : bool
        Whether the distribution is on the integers; the constants then have the half-width r - 1/2 and the end A + 1/2.
    """

    def __init__(self, constants: Ended, centre: float, *, whole: bool) -> None:
        self._k, self._centre, self._whole = constants, centre, whole
        self._formulas: dict[str, Formula] = vars(_ON_INTEGERS if whole else _ON_LINE)
        self._end = float(constants.end) - (0.5 if whole else 0.0)

    @property
    def unit(self) -> float:
        """Unit of the constants, a power of two."""
        return 1 / float(self._k.scale)

    def in_units(self) -> Truncated:
        """Return the distribution of X/unit."""
        scale = self._k.scale
        return Truncated(self._k._replace(scale=scale / scale, end=self._k.end * scale), self._centre * float(scale), whole=False)

    def __getattr__(self, name: str) -> Callable[[Floats], Any]:
        """Return a function of x: one of pdf or pmf, cdf, sf and their logarithms."""
        if name not in ("pdf", "pmf", "logpdf", "logpmf", "cdf", "sf", "logcdf", "logsf") or name not in self._formulas:
            raise AttributeError(name)
        formula = self._formulas[name]
        return lambda x: np.asarray(evaluate(formula, x - self._centre, self._k))

    def ppf(self, q: Floats) -> Floats:
        """Least x with P(X <= x) >= q; NaN outside [0, 1]."""
        return self._quantile("ppf", q)

    def isf(self, q: Floats) -> Floats:
        """Least x with P(X > x) <= q; NaN outside [0, 1]."""
        return self._quantile("isf", q)

    def _quantile(self, name: str, q: Floats) -> Floats:
        return np.asarray(np.clip(evaluate(self._formulas[name], q, self._k), -self._end, self._end) + self._centre)

    def error_bound(self, alpha: Floats) -> Floats:
        """Least t with P(|X| > t) <= alpha."""
        if self._centre == 0:
            return np.asarray(np.minimum(evaluate(self._formulas["error_bound"], alpha, self._k), self._end))
        return np.asarray(np.vectorize(self._moved_error_bound, [np.float64])(alpha))

    def _moved_error_bound(self, alpha: float) -> float:
        centre, far = abs(self._centre), abs(self._centre) + self._end
        step = 1.0 if self._whole else 0.0

        def enough(t: float) -> bool:
            # P(X > t) on the side of the centre, and P(X < -t) on the other.
            above = float(evaluate(self._formulas["sf"], t - centre, self._k))
            below = float(evaluate(self._formulas["cdf"], -t - step - centre, self._k))
            return above + below <= alpha

        if self._whole:
            return float(least_integer(lambda n: enough(float(n)), -1, int(far)))
        return least_float(enough, 0.0, far) if not enough(0.0) else 0.0

    def entropy(self) -> float:
        """Entropy in nats."""
        return float(truncated_stairs.entropy(Scalars, self._k))

    def mean(self) -> float:
        """E X, the centre."""
        return self._centre

    def var(self) -> float:
        """E (X - E X)²."""
        return self.central(2)

    def moment(self, order: int) -> float:
        """E X**order, a sum of terms of the same sign."""
        c = self._centre
        if c == 0:
            return 0.0 if order % 2 else self.central(order)
        return math.fsum(comb(order, i) * float(np.power(c, order - i)) * self.central(i) for i in range(0, order + 1, 2))

    def abs_moment(self, p: float) -> float:
        """E|X|**p; inf for p < 0 where 0 has a probability."""
        p = float(p)
        if p == 0:
            return 1.0
        if self._centre == 0:
            return math.inf if self._whole and p < 0 else self.central(p)
        if p.is_integer() and p > 0 and (p % 2 == 0 or abs(self._centre) >= self._end):
            return abs(self.moment(int(p)))
        return self._moved_moment(p)

    def support(self) -> tuple[float, float]:
        """Return the ends of the support."""
        return self._centre - self._end, self._centre + self._end

    def central(self, p: float) -> float:
        """E|X - centre|**p: a mixture of uniform distributions around the centre."""
        if p == 0:
            return 1.0
        if self._whole:
            return self._mixture(_sum_of_powers(p), 1 / float(self._k.scale))
        return self._scaled(self._mixture(lambda y: y ** (p + 1) / (p + 1), 1.0), p)

    def _scaled(self, moment: float, p: float) -> float:
        """Return a moment of order p in the caller's unit; in two factors, because the power alone may overflow."""
        root = float(np.power(1 / float(self._k.scale), p / 2))
        return moment * root * root

    def _mixture(self, half: Callable[[Floats], Floats], unit: float) -> float:
        """Return the mean of a function from `half`, its integral from the centre to a distance, averaged over both sides.

        Distances are those of the constants, times `unit`.
        """
        k = self._k
        last, width, w = float(k.last), float(k.D) * unit, float(k.w) * unit
        end = np.array([float(k.end) * float(k.scale) * unit])

        def terms(m: Floats) -> Floats:
            return np.asarray(np.exp(-k.eps * m) * half(w + m * width))

        total = float(k.drop) * sum_of_terms(terms, last) + math.exp(-k.eps * last) * float(half(end)[0])
        return total / (float(k.half) * unit)

    def _moved_moment(self, p: float) -> float:
        low, high = self.support()
        if self._whole and high - low < _MOST_LISTED:
            i = np.arange(low, high + 1)
            with np.errstate(divide="ignore"):
                return float(np.sum(self.pmf(i) * np.abs(i) ** p))
        if self._whole and p < 0:
            return math.inf if low <= 0 <= high else self._spread_moment(p)
        return self._spread_moment(p)

    def _spread_moment(self, p: float) -> float:
        """Return a moment of the density, or of integers so many that their sum equals the integral."""
        unit = 1 / float(self._k.scale) if self._whole else 1.0
        c, q = abs(self._centre) * float(self._k.scale) * unit, p + 1

        def half(y: Floats) -> Floats:
            with np.errstate(all="ignore"):
                around = ((y + c) ** q + (y - c) ** q) / 2
                # (c + y)**q - (c - y)**q without cancellation.
                beside = (c - y) ** q * np.expm1(q * np.log1p(2 * y / (c - y))) / 2
            return np.where(y >= c, around, beside) / q

        moment = self._mixture(half, unit)
        return moment if self._whole else self._scaled(moment, p)


def on_integers(eps: float, steps: int, r: int, end: int, centre: float) -> Truncated:
    """Return the distribution on the integers within `end` of the centre."""
    last = (end + 1 - r) // steps + 1
    part = float(end + 1 - r - (last - 1) * steps)
    stairs = staircase.lattice(eps, float(steps), float(r))
    return Truncated(truncated_stairs.ended(stairs, end + 0.5, float(last), part), centre, whole=True)


def sum_of_terms(terms: Callable[[Floats], Floats], last: float) -> float:
    """Sum terms(m) for m from 0 to last - 1. Terms are nearly powers of m; if they are many, they fall slowly."""
    if last <= MOST_STAIRS:
        return float(np.sum(terms(np.arange(last))))
    head = float(np.sum(terms(np.arange(float(_FIRST)))))
    # Panels that grow, because near 0 the terms are powers.
    edges = np.geomspace(_FIRST, last, 64)
    x, weights = gauss_legendre(20)
    width = np.diff(edges)[:, np.newaxis]
    m = edges[:-1, np.newaxis] + width * x
    integral = float(np.sum(terms(m) * weights * width))
    start, end = float(_FIRST), last
    f = terms(np.array([start, end, start + 0.5, start - 0.5, end + 0.5, end - 0.5]))
    return head + integral + float((f[0] - f[1]) / 2 + ((f[4] - f[5]) - (f[2] - f[3])) / 12)


def _sum_of_powers(p: float) -> Callable[[Floats], Floats]:
    """Return the function that maps N - 1/2 to 1**p + ... + (N - 1)**p."""
    first = np.cumsum(np.arange(float(_FIRST)) ** p)
    a = _FIRST - 0.5

    def tail(y: Floats) -> Floats:
        """Return integral and corrections (Euler and Maclaurin, at midpoints); differences of this function are sums."""
        return y ** (p + 1) / (p + 1) - p * y ** (p - 1) / 24 + 7 * p * (p - 1) * (p - 2) * y ** (p - 3) / 5760

    def sums(y: Floats) -> Floats:
        n = np.asarray(y + 0.5)
        few = first[np.clip(n - 1, 0, _FIRST - 1).astype(np.intp)]
        far = np.maximum(n - 0.5, a)
        return np.where(n <= _FIRST, few, first[-1] + tail(far) - tail(np.array(a)))

    return sums


def achieved_delta(eps: float, steps: int, r: int, most: int) -> Fraction:
    """δ of the distribution on the integers from -most to most: the mass of the `steps` outermost integers of an end.

    The relative error is below 1e-40, because a small ε and a large D cost at most 20 of the 60 digits.
    """
    with localcontext() as context:
        context.prec = DIGITS
        b, tail = (-Decimal(eps)).exp(), tail_weight(eps, steps, r, most + 1 - steps)
        return Fraction(tail * (1 - b) / ((2 * r - 1) * (1 - b) + 2 * steps * b - 2 * b * tail))


def tail_weight(eps: float, steps: int, r: int, j: int) -> Decimal:
    """Return P(X >= j) t (1 - b) of the staircase without ends, for j >= 1, in the decimal context of the caller."""
    b, J = (-Decimal(eps)).exp(), 0 if j < r else (j - r) // steps + 1
    return (-Decimal(eps) * J).exp() * ((r + J * steps - j) * (1 - b) + steps * b)


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

    def upper(h: int) -> listed_sums.Summand:
        return _rounded_up(distribution, centre, end, h, k, decay)

    def lower(h: int) -> listed_sums.Summand:
        return _rounded_up(mirrored, -centre, end, h, k, decay)

    return listed_sums.bound(upper, lower, alpha, least)


def symmetric_bound(distribution: Any, end: int, decay: float, k: int, alpha: float) -> int:
    """Return the bound for a distribution on -end..end that falls on both sides of 0."""
    least = math.ceil(end / listed_sums.BINS) | 1
    return listed_sums.bound(lambda h: _spread(distribution, end, h, k, decay), None, alpha, least)


def _spread(distribution: Any, end: int, h: int, k: int, decay: float) -> listed_sums.Summand:
    """Return one variable on bins of h integers around the multiples of h; h is odd."""
    n = math.ceil(end / h) + 1
    edges = h * (np.arange(1, n + 2, dtype=np.float64) - 1) + (h - 1) // 2
    beyond = distribution.sf(edges)
    side = np.maximum(-np.diff(beyond), 0.0)
    weights = np.concatenate([side[::-1], [1 - 2 * beyond[0]], side])
    return listed_sums.Summand(-n, weights, decay * h, k, spread=h > 1)


def _rounded_up(distribution: Truncated, centre: int, end: int, h: int, k: int, decay: float) -> listed_sums.Summand:
    """Return one variable with every value rounded up to the end of its bin, a multiple of h."""
    first, last = -(-(centre - end) // h), -(-(centre + end) // h)
    edges = h * np.arange(first - 1, last + 1, dtype=np.float64)
    # Differences of the smaller tail.
    low = edges[1:] <= centre
    weights = np.where(low, np.diff(distribution.cdf(edges)), -np.diff(distribution.sf(edges)))
    return listed_sums.Summand(first, np.maximum(weights, 0.0), decay * h, k)
