"""Probabilities of the Skellam distribution, P(X = k) = e^(-μ) I_k(μ), and losses of its shifts.

If w = √(k² + μ²) is at least `_EXPANDED`, probabilities come from the uniform expansion of the modified Bessel function [1]_,
whose terms are polynomials in (k/w)² over powers of w. Otherwise they come from the ratios of neighbours, from far out inwards.

References
----------
.. [1] NIST Digital Library of Mathematical Functions, 10.41.3 and 10.41.9.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from stairnoise._types import Floats
from stairnoise.distributions.tabulated import Mirrored
from stairnoise.numerics.quadrature import gauss_legendre
from stairnoise.numerics.roots import least_integer

# Probabilities are listed as long as they are normal float64 numbers.
_NEPERS = 680.0
# From this w on, twelve terms of the expansion have a relative error below 1e-17.
_EXPANDED, _TERMS = 64.0, 12
# The recurrence starts at this k: ratios below `_EXPANDED` then do not depend on its start.
_FAR = 400
# Nodes of a quadrature over a shift; singularities are at least twice its length from its middle.
_NODES = 16
# In nepers beyond the quantile: the rest does not matter in a sum.
_SHORT = 45.0
# A standard deviation has at least this many bins, or one for every integer.
_BINS = 2**14


def functions(mu: float) -> Mirrored:
    """Return the functions of the distribution."""
    return Mirrored(log_pmf(mu, np.arange(reach(mu, _NEPERS) + 1.0)), mu)


def reach(mu: float, nepers: float) -> int:
    """Return a k with ln P(0)/P(k) at least `nepers`, near the least."""
    high = 1
    while fall(mu, high) < nepers:
        high *= 2
    return least_integer(lambda k: fall(mu, k) >= nepers, high // 2, high)


def fall(mu: float, k: int) -> float:
    """Integral of asinh(t/μ) from 0 to k: the first term of the expansion of ln P(0)/P(k), and a lower bound."""
    return k * math.asinh(k / mu) - k * (k / (math.hypot(k, mu) + mu))


def log_pmf(mu: float, k: Floats) -> Floats:
    """Natural logarithms of P(X = k) for integers k, with an absolute error near 1e-15 of their size."""
    k = np.abs(k)
    w = np.hypot(k, mu)
    near = w < _EXPANDED
    corrections = np.log1p(_corrections(k, np.maximum(w, _EXPANDED)))
    found = k * (k / (w + mu)) - k * np.arcsinh(k / mu) - 0.5 * np.log(2 * math.pi * w) + corrections
    if near.any():
        found[near] = _listed(mu)[k[near].astype(np.intp)]
    return np.asarray(found)


def loss(mu: float, k: Floats, shift: int) -> Floats:
    """Return ln P(X = k)/P(X = k - shift), which falls with k.

    If both have expansions and the shift is short, these are subtracted term by term, without cancellation.
    """
    other, middle = k - shift, k - shift / 2
    w, v = np.hypot(k, mu), np.hypot(other, mu)
    if min(w.min(), v.min()) < _EXPANDED or 2 * shift > np.hypot(middle, mu).min():
        return log_pmf(mu, k) - log_pmf(mu, other)
    integral = np.zeros(k.shape)
    for node, weight in zip(*gauss_legendre(_NODES), strict=True):
        integral += (weight * shift) * np.arcsinh((middle + (node - 0.5) * shift) / mu)
    rest = np.log1p(_corrections(k, w)) - np.log1p(_corrections(other, v))
    return np.asarray(rest - integral - 0.25 * np.log1p(2 * shift * middle / (v * v)))


def _corrections(k: Floats, w: Floats) -> Floats:
    """Sum of the terms of the expansion after the first, which is 1."""
    p2 = (k / w) ** 2
    total = np.zeros(w.shape)
    for polynomial in _polynomials()[:0:-1]:
        value = np.zeros(w.shape)
        for coefficient in polynomial[::-1]:
            value = value * p2 + coefficient
        total = (total + value) / w
    return total


@lru_cache(maxsize=1)
def _polynomials() -> tuple[tuple[float, ...], ...]:
    """Coefficients in p² of U_j(p)/p^j, from U_{j+1} = ½p²(1 - p²)U_j' + ⅛∫(1 - 5s²)U_j ds."""
    found = [[Fraction(1)]]
    for j in range(_TERMS - 1):
        now, following = found[-1], [Fraction(0)] * (j + 2)
        for i, c in enumerate(now):
            power = j + 2 * i
            following[i] += c * (Fraction(power, 2) + Fraction(1, 8 * (power + 1)))
            following[i + 1] -= c * (Fraction(power, 2) + Fraction(5, 8 * (power + 3)))
        found.append(following)
    return tuple(tuple(map(float, polynomial)) for polynomial in found)


@lru_cache(maxsize=16)
def _listed(mu: float) -> Floats:
    """Logarithms of P(X = k) below `_EXPANDED`, from I_{k+1}/I_k = μ/(2(k + 1) + μ I_{k+2}/I_{k+1})."""
    ratio, ratios = 0.0, [0.0] * _FAR
    for k in range(_FAR, 0, -1):
        ratios[k - 1] = ratio = mu / (2 * k + mu * ratio)
    logs = np.append(0.0, np.cumsum(np.log(ratios)))
    total = 1 + 2 * math.fsum(np.exp(logs[1:]).tolist())
    return np.asarray(logs[: int(_EXPANDED) + 1] - math.log(total))


@lru_cache(maxsize=256)
def sum_bound(mu: Fraction, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha for the sum S of k variables of variance `mu`: the smallest, up to rounding.

    By Chernoff's bound, P(S >= t) is at most exp(-t²/(2(μ + t))), so the list ends there. In very wide distributions all
    integers of a bin of `h` count as the first one, which is the most probable: t is then too large by less than a relative
    1e-4.
    """
    variance = float(mu * k)
    nepers = math.log(2 / alpha) + _SHORT
    end = math.ceil(nepers + math.sqrt(nepers * nepers + 2 * nepers * variance)) + 1
    h = max(1, math.isqrt(int(variance)) // _BINS)
    masses = h * np.exp(log_pmf(variance, h * np.arange(end // h + 1.0)))
    # Entry i: P(S >= ih), or more.
    tails = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    # P(|S| > t) is twice P(S >= t + 1).
    return max(h * int(np.argmax(2 * tails <= alpha)) - 1, 0)
