"""The sum of k independent discrete staircase variables: bounds of its distance from 0.

A staircase variable is ``C + D (G - G')``. G and G' are geometric with ``b = exp(-eps)``. C is a mixture of two centred uniform
distributions on 2r - 1 and 2 (D - r) + 1 integers, with weights proportional to the counts times 1 and b. So the transform of the
sum is known in closed form, and an inverse FFT gives its probabilities. They are first tilted by ``exp(theta x)`` with Chernoff's
theta, which moves the mass to the quantile: rounding errors are then small relative to the tail, not only relative to 1.

For too many integers, a distribution on wider bins replaces the original. It is larger in the peakedness order,
P(|X| > t) <= P(|Y| > t) for all t. Sums of symmetric unimodal variables keep this order [1]_, so the bound stays a bound:

* X plus a uniform variable on a bin of 1 has the staircase density with half-width ``w = r - 1/2``, and is larger.
* For too many stairs, the density keeps only every L-th edge. Its survival function becomes a chord of the convex original, which
  lies above it.
* Spread over bins of width h, ``Y = h (K + V)`` with K = X/h rounded and V uniform on a bin is larger still, again by a chord.
* An integer W with P(|W| > j) = 2 exp(-6 j²/(k - 1)), Hoeffding's bound, replaces all but one of V_1 + ... + V_k.

This is of second order: the variance grows by less than ``k h²``, and if stairs are joined, by less than ``k (L D)²`` more.

References
----------
.. [1] Birnbaum, "On Random Variables with Comparable Peakedness", Annals of Mathematical Statistics 19, 1948.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stairnoise._types import Complexes, Floats, Ints
from stairnoise.numerics.sums import (
    EXPONENTS,
    LONGEST,
    ROUNDING,
    Extent,
    extent,
    fast_length,
    normalised,
    spread_bound,
    upper_tail,
)

# Bins in a standard deviation, and in the bound; at large eps the bound is much larger than most of the noise.
_FINE = 128
_FINE_BOUND = 256
# Beyond this, exp(eps) overflows and the probability exp(-eps) is negligible.
_LARGEST_EPS = 700.0
_LARGEST_TILT = 300.0


class Bins(NamedTuple):
    """A staircase distribution on bins; lengths in bins."""

    eps: float
    """Infinite for the central stair alone, a uniform distribution."""
    D: float
    w: float
    k: int
    spread: bool
    """Whether the distribution is that of a density, constant on each bin."""
    more_outside: float = 1.0
    """P(|X| >= w), relative to that of a staircase with this eps, D and w."""


@lru_cache(maxsize=1024)
def error_bound(eps: float, D: int, r: int, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha: the smallest if the integers fit the transform, and otherwise nearly the smallest.

    About ``22 sqrt(k Var X)`` integers are needed, and 2**21 fit. Bounds of the rounding errors are added to the tail. They grow
    with k; for few terms they are usually below 1e-10 alpha, and below 1e-8 alpha at alpha = 1e-9.

    Parameters
    ----------
    eps, D, r
        The distribution.
    k : int
        Number of variables, from 1 to 10**9.
    alpha : float
        At least 2**-60.
    """
    outside = _share_outside(eps, D, r - 0.5) * (1 + 16 * ROUNDING)
    if r == 1 and k * outside <= alpha:
        return 0
    whole = Bins(eps, float(D), r - 0.5, k, False)
    if D <= LONGEST and _extent(whole, alpha).length <= LONGEST:
        return _Tail(whole, alpha).integer_bound(alpha)
    bound = _bound_on_bins(eps, (r - 0.5) / D, k, alpha)
    left = alpha - k * outside
    if left >= alpha / 2:
        # Bounds the central stairs alone, whose bins can be finer; `left` allows for draws outside them.
        bound = min(bound, (r - 0.5) / D * _bound_on_bins(math.inf, 1.0, k, left))
    return math.ceil(bound * D * (1 + 4 * ROUNDING) - 0.5)


def _bound_on_bins(eps: float, gamma: float, k: int, alpha: float) -> float:
    """Return the bound in units of D, from bins as fine as fit or as are useful."""
    trial = Bins(eps, 1024.0, 1024 * gamma, k, True)
    most = 1000 * LONGEST / _extent(trial, alpha).length
    D = _FINE / _standard_deviation(eps, gamma)
    while True:
        D = min(most, D)
        t = _Tail(_bins(eps, gamma, k, D), alpha).bound(alpha)
        if t >= _FINE_BOUND * min(D, 1) or most == D:
            return t / (math.floor(D) or 1 / math.ceil(1 / D))
        D *= 16


def _bins(eps: float, gamma: float, k: int, D: float) -> Bins:
    """Make about D bins for a stair; if D < 1, every bin joins several stairs."""
    if D >= 1:
        return Bins(eps, float(math.floor(D)), math.floor(D) * gamma, k, True)
    L = math.ceil(1 / D)
    more = _share_outside(eps, 1.0, gamma) / _share_outside(L * eps, L, gamma)
    return Bins(L * eps, 1.0, gamma / L, k, True, more)


def _extent(bins: Bins, alpha: float) -> Extent:
    largest = min(bins.eps, _LARGEST_TILT) / bins.D
    return extent(bins, lambda tilt: _cumulant(bins, np.abs(tilt)), EXPONENTS, largest, alpha, more=2 * math.ceil(bins.D) + 1)


class _Tail:
    """P(|S| > n) plus a bound of the rounding errors, for the integers n >= 0 in units of bins."""

    def __init__(self, bins: Bins, alpha: float) -> None:
        # From 0 on, wherever the tilted sum begins.
        where = _extent(bins, alpha)._replace(first=1)
        size = fast_length(where.length)
        self.values = 2 * upper_tail(_one(bins, where.tilt, size), bins.k, where, size, spread=bins.spread)[1]

    def integer_bound(self, alpha: float) -> int:
        """Smallest n with P(|S| > n) <= alpha."""
        return int(np.searchsorted(-self.values, -alpha))

    def bound(self, alpha: float) -> float:
        """Smallest t with P(|S + V| > t) <= alpha, V uniform on a bin."""
        return spread_bound(lambda n: self.values[n] if n < self.values.size else 0.0, self.integer_bound(alpha), alpha)


def _one(bins: Bins, tilt: float, size: int) -> tuple[Complexes, float]:
    """Return the transform of one variable's tilted distribution on the bins, and ln E exp(tilt X)."""
    b = math.exp(-bins.eps) if bins.eps <= _LARGEST_EPS else 0.0
    reach = math.ceil(max(bins.w, bins.D - bins.w if b else 0.0))
    places = np.arange(-reach, reach + 1)
    centre = _overlap(places, bins.w)
    weights = centre + b * _overlap(places, bins.D - bins.w) if b else centre
    transform, log_mass = normalised(places, weights, tilt, size)
    if not b:
        return transform, log_mass
    # The angle is reduced in integers, because a product would multiply its rounding error.
    angle = 2j * np.pi * ((int(bins.D) * np.arange(transform.size)) % size) / size
    for sign in (1, -1):
        exponent = -bins.eps + sign * bins.D * tilt
        transform *= math.expm1(exponent) / np.expm1(exponent - sign * angle)
        log_mass += math.log(-math.expm1(-bins.eps)) - math.log(-math.expm1(exponent))
    if bins.more_outside == 1:
        return transform, log_mass
    others, log_others = normalised(places, centre, tilt, size)
    less_inside = (bins.more_outside - 1) * math.exp(log_others - log_mass)
    total = bins.more_outside - less_inside
    return (bins.more_outside * transform - less_inside * others) / total, log_mass + math.log(total)


def _overlap(places: Ints, w: float) -> Floats:
    """Return the length of each bin's part within w of 0."""
    inside = np.clip(w + 0.5 - np.abs(places), 0, 1)
    inside[places.size // 2] = min(2 * w, 1.0)
    return np.asarray(inside)


def _cumulant(bins: Bins, tilt: Floats) -> Floats:
    """Ln E exp(tilt X) for X as in `_one`, at tilts of at least 0."""
    with np.errstate(under="ignore"):
        inside = _overlap_mass(tilt, bins.w)
        if bins.eps > _LARGEST_EPS:
            return np.asarray(np.log(inside / (2 * bins.w)))
        b, other = math.exp(-bins.eps), bins.D - bins.w
        mass = (inside + b * _overlap_mass(tilt, other)) / (2 * (bins.w + b * other))
        ratio = np.exp((bins.D * tilt - bins.eps) / 2) * (np.expm1(-bins.D * tilt) / math.expm1(-bins.eps))
        mass /= (1 - ratio) * (1 + ratio)
        return np.asarray(np.log(bins.more_outside * mass - (bins.more_outside - 1) * inside / (2 * bins.w)))


def _overlap_mass(tilt: Floats, w: float) -> Floats:
    """Sum of `_overlap` times exp(tilt i), in closed form."""
    if w <= 0.5:
        return np.full(tilt.shape, 2 * w)
    n = math.floor(w - 0.5)
    part = w - 0.5 - n
    return np.asarray(np.sinh((n + 0.5) * tilt) / np.sinh(tilt / 2) + 2 * part * np.cosh((n + 1) * tilt))


def _share_outside(eps: float, D: float, w: float) -> float:
    """P(|X| >= w) of the density."""
    c = math.exp(-eps) / -math.expm1(-eps)
    return D * c / (w + D * c)


def _standard_deviation(eps: float, gamma: float) -> float:
    """Return the standard deviation in units of D."""
    if math.isinf(eps):
        return gamma / math.sqrt(3)
    b = math.exp(-eps)
    centre = (gamma**3 + b * (1 - gamma) ** 3) / (gamma + b * (1 - gamma)) / 3
    return math.sqrt(centre + 2 * b / math.expm1(-eps) ** 2)
