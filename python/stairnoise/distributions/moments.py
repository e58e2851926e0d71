"""Absolute moments of the Laplace and the staircase distributions, of integer order, in closed form.

Functions of float64 arrays that broadcast, in the notation of `stairnoise.distributions`.

References
----------
.. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186.
"""

from __future__ import annotations

from functools import cache
from math import comb, factorial
from typing import Any

import numpy as np

from stairnoise._parameters import Real
from stairnoise._types import Floats

# Beyond this, exp(eps/2) overflows; the quantities that use it are below 1e-304 there.
_LARGEST_HALF_EPS = 700.0


def staircase_abs_moment(p: int, eps: Real, D: Real, gamma: Real) -> Floats:
    """E|X|**p of the continuous staircase, integer p.

    The distribution is a mixture of uniform distributions on [-(gamma+m)D, (gamma+m)D] with weights proportional to
    ``b**m (gamma+m)``, so E|X|**p is a ratio of moments of gamma + M, M geometric; these are sums
    of ``c**i`` times forward differences, all positive.
    """
    if p == 0:
        return np.ones(np.broadcast(eps, D, gamma).shape)
    with np.errstate(all="ignore"):
        c = odds(eps)
        centre, beyond = central_mass(eps, gamma)
        stairs = sum(_power_difference(p + 1, i, gamma) * c ** (i - 1) for i in range(1, p + 2))
        # In two factors: the power of a large sensitivity may overflow where the moment does not.
        scale = np.asarray(D) ** (p / 2)
        return np.asarray(scale * (np.asarray(gamma) ** p * centre + beyond * stairs) / (p + 1) * scale)


def laplace_abs_moment(p: int, eps: Real, D: Real) -> Floats:
    """E|X|**p of the Laplace distribution, ``p! (D/eps)**p``."""
    with np.errstate(all="ignore"):
        return np.asarray(float(factorial(p)) * (np.asarray(D) / eps) ** p)


def lattice_abs_moment(p: int, eps: Real, D: Real, r: Real) -> Floats:
    """E|X|**p of the discrete staircase, integer p; D = r = 1 is the two-sided geometric distribution.

    The distribution is a mixture of uniform distributions on -(N-1)..N-1 with N = r + M D and weights proportional
    to ``b**M (2N-1)``. So E|X|**p is ``2/t`` times the mean of ``1**p + ... + (N-1)**p`` over a
    geometric M: again a sum of ``c**i`` times positive forward differences.
    """
    if p == 0:
        return np.ones(np.broadcast(eps, D, r).shape)
    D, r = np.asarray(D, np.float64), np.asarray(r, np.float64)
    with np.errstate(all="ignore"):
        c = odds(eps)
        centre = _power_sum(p, r)
        stair = [_power_sum(q, r + D) - _power_sum(q, r) for q in range(p + 1)]
        stairs = sum(
            float(comb(p, m) * _surjections(m, i)) * D**m * stair[p - m] * c ** (i + 1)
            for i in range(p + 1)
            for m in range(i, p + 1)
        )
        return 2 * (centre + stairs) / (2 * r - 1 + 2 * D * c)


def odds(eps: Real) -> Floats:
    """``c = b/(1 - b)``, the mean of the geometric distribution; 1/expm1(eps) would overflow at 710."""
    return np.asarray(np.exp(-np.asarray(eps)) / -np.expm1(-np.asarray(eps)))


def central_mass(eps: Real, gamma: Real) -> tuple[Floats, Floats]:
    """P(|X| < gamma D) = gamma/(gamma+c) and its complement c/(gamma+c).

    Through the ratio gamma/c in two factors, which survives when b itself underflows.
    """
    eps = np.asarray(eps)
    root = np.exp(np.minimum(eps / 2, _LARGEST_HALF_EPS))
    ratio = (gamma * root) * (root * -np.expm1(-eps))
    return 1 / (1 + 1 / ratio), 1 / (1 + ratio)


def _power_difference(s: int, i: int, x: Real) -> Any:
    """Forward difference number i, at 0, of m -> (m + x)**s."""
    x = np.asarray(x)
    return sum(float(comb(s, m) * _surjections(m, i)) * x ** (s - m) for m in range(i, s + 1))


def _power_sum(q: int, n: Floats) -> Floats:
    """0**q + 1**q + ... + (n-1)**q, with 0**0 = 1."""
    total = np.zeros_like(n)
    falling = n  # n (n-1) ... (n-i) / (i+1)!
    for i in range(q + 1):
        total = total + float(_surjections(q, i)) * falling
        falling = falling * (n - i - 1) / (i + 2)
    return total


@cache
def _surjections(m: int, i: int) -> int:
    """Count the maps from m things onto i things: forward difference i, at 0, of x -> x**m."""
    if m == 0 or i == 0:
        return int(m == i)
    return i * (_surjections(m - 1, i) + _surjections(m - 1, i - 1))
