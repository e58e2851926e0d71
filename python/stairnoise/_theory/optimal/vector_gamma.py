r"""The γ in (0, 1] of least E ‖X‖^p, p = 1 or 2, for staircase noise in d dimensions.

E ‖X‖^p is proportional to F = Φ(b, −d−p, γ)/Φ(b, −d, γ), which is the same for γ = 0 and 1 and may have several minima
between them: all of (0, 1] is searched. Its slope is proportional to (d+p) Φ_{d+p−1}/Φ_{d+p} − d Φ_{d−1}/Φ_d, with Φ_s for
Φ(b, −s, γ).

The smaller ε and the larger d, the flatter F is: at ε = 0.1 and d = 10 it varies by 1e-20 of itself. Where the sums of the
series would lose that in rounding, Φ_s = e^{εγ} s! ε^{−s−1} (1 + η_s) with the small part η_s alone, by Lipschitz's formula or
by its expansion in powers of ε:

    η_s = 2 Re Σ_{k ≥ 1} z_k^{s+1} e^{2πikγ},  z_k = ε/(ε + 2πik);      η_s = (−1)^s Σ_{j > s} C(j−1, s) (−ε)^j B_j(γ)/j!
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._theory.laws.multivariate_staircase import last_ball
from stairnoise._theory.numerics.roots import Rising, bisection
from stairnoise._theory.optimal import long_vector_gamma

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

# Above this size of η the series itself has digits enough.
_LARGE = 1e-4
# From this many dimensions on, Lipschitz's formula needs few terms.
_MANY_DIMENSIONS = 8
_HARMONICS = 512
# From so many dimensions on, so many of them change no bit of a sum.
_FEWER_HARMONICS = ((64, 16), (16, 128))
_BERNOULLI = 80
_NATS = 60.0
_GRID = 256
_LEAST_LOG = -690.0
_LEAST = 1e-300
# In so many dimensions at most, rounding errors of the slope move its root by less than 1e-10 of itself. This is allowed for.
_MOST_SMOOTH = 512
_DOUBT = 1e-9
# How near to the root places are looked for on both sides.
_APART = 2.0**-44


class Search(NamedTuple):
    """The cost, up to a constant factor and summand, and its slope, up to a positive factor."""

    cost: Function
    slope: Function


@lru_cache(maxsize=256)
def optimal(eps: float, dim: int, p: int) -> float:
    """Return the best γ, with a relative error below 1e-9 where it is not below 1e-300."""
    if dim > long_vector_gamma.LONG:
        return long_vector_gamma.optimal(eps, dim, p)
    search = _search(eps, dim, p)
    grid = _grid(eps)
    best = int(np.argmin(search.cost(grid)))
    at_best = float(search.slope(grid[best : best + 1])[0])
    if at_best > 0:
        low, high = float(grid[best - 1]) if best else _LEAST, float(grid[best])
    elif best + 1 < grid.size:
        low, high = float(grid[best]), float(grid[best + 1])
    else:
        # Beyond 1 the distribution goes on as from 0.
        low, high = _LEAST, float(grid[0])

    def slope(gamma: float) -> float:
        return float(search.slope(np.array([gamma]))[0])

    if low > _LEAST and dim <= _MOST_SMOOTH:
        holds = Rising(slope)
        holds.close_in(low, high, _APART)
        gamma = bisection(holds, low, high)
        # Where rounding errors of the slope could decide the rounded number, the path to it is the plain one.
        if rounded(gamma * (1 - _DOUBT)) == rounded(gamma * (1 + _DOUBT)):
            return gamma
    return bisection(lambda gamma: not slope(gamma) < 0, low, high)


def rounded(gamma: float) -> float:
    """γ to 24 significant bits, so that machines whose elementary functions differ in the last bits agree on it."""
    fraction, exponent = math.frexp(gamma)
    return math.ldexp(round(math.ldexp(fraction, 24)), exponent - 24)


def _grid(eps: float) -> Floats:
    """Points of (0, 1]: evenly, and below 1/256 evenly in the logarithm down to below b."""
    even = np.arange(1, _GRID + 1) / _GRID
    least = max(_LEAST_LOG, -eps - 5)
    if least >= math.log(even[0]):
        return even
    small = np.exp(np.linspace(least, math.log(even[0]), 4 * int(-least), endpoint=False))
    return np.concatenate([small, even])


def _search(eps: float, dim: int, p: int) -> Search:
    # |z_1|^(d+1), the size of η_d.
    log_size = (dim + 1) * (math.log(eps) - math.log(math.hypot(eps, 2 * math.pi)))
    if log_size > math.log(_LARGE):
        return _by_series(eps, dim, p)
    if dim >= _MANY_DIMENSIONS:
        number = next((n for least, n in _FEWER_HARMONICS if dim >= least), _HARMONICS)
        return _by_small_parts(_harmonics(eps, log_size, number), dim, p, math.exp(log_size))
    return _by_small_parts(_powers(eps), dim, p, 1.0)


def _by_series(eps: float, dim: int, p: int) -> Search:
    index = np.arange(last_ball(eps, dim, 1.0, _NATS) + 1, dtype=np.float64)

    def mean(gamma: Floats, s: int, q: int) -> Floats:
        """Mean of (m + γ)^q over weights b^m (m + γ)^s."""
        radii = index + gamma[:, None]
        logs = s * np.log(radii) - eps * index
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        total: Floats = (weights * radii**q).sum(axis=1) / weights.sum(axis=1)
        return total

    def slope(gamma: Floats) -> Floats:
        return (dim + p) * mean(gamma, dim + p, -1) - dim * mean(gamma, dim, -1)

    return Search(lambda gamma: mean(gamma, dim, p), slope)


def _by_small_parts(etas: Callable[..., list[Floats]], dim: int, p: int, unit: float) -> Search:
    """With η of one γ and several s in units of `unit`."""

    def cost(gamma: Floats) -> Floats:
        there, here = etas(gamma, dim + p, dim)
        return (there - here) / (1 + unit * here)

    def slope(gamma: Floats) -> Floats:
        a, b, c, e = etas(gamma, dim + p - 1, dim, dim - 1, dim + p)
        return a + b - c - e + unit * (a * b - c * e)

    return Search(cost, slope)


def _harmonics(eps: float, log_unit: float, number: int = _HARMONICS) -> Callable[..., list[Floats]]:
    turns = 2 * np.pi * np.arange(1, number + 1)
    log_z, angle = math.log(eps) - np.log(np.hypot(eps, turns)), -np.arctan2(turns, eps)

    def eta(gamma: Floats, s: int) -> Floats:
        sizes = np.exp((s + 1) * log_z - log_unit)
        terms = np.cos((s + 1) * angle + turns * gamma[:, None]) * sizes
        return np.asarray(2 * terms.sum(axis=1))

    return lambda gamma, *s: [eta(gamma, i) for i in s]


def _powers(eps: float) -> Callable[..., list[Floats]]:
    @cache
    def factors(s: int) -> Floats:
        return np.array([(-1) ** s * math.comb(i - 1, s) * (-eps) ** i for i in range(s + 1, _BERNOULLI)])

    def etas(gamma: Floats, *s: int) -> list[Floats]:
        bernoulli = _bernoulli_over_factorial(gamma)
        return [np.asarray(factors(i) @ bernoulli[i + 1 :]) for i in s]

    return etas


def _bernoulli_over_factorial(gamma: Floats) -> Floats:
    """B_j(γ)/j! for j = 0, 1, …, expanded about ½, where the terms cancel least."""
    t = gamma - 0.5
    powers = np.ones((_BERNOULLI, t.size))
    for k in range(1, _BERNOULLI):
        powers[k] = powers[k - 1] * t / k
    middle = _at_one_half()
    return np.array([middle[j::-1] @ powers[: j + 1] for j in range(_BERNOULLI)])


@lru_cache(maxsize=1)
def _at_one_half() -> Floats:
    """B_j(½)/j! = (2^(1−j) − 1) B_j/j!."""
    # B_j/j! from x = (e^x - 1) · Σ B_j x^j/j!.
    over: list[Fraction] = [Fraction(1)]
    for j in range(1, _BERNOULLI):
        over.append(-sum((over[i] / math.factorial(j + 1 - i) for i in range(j)), Fraction(0)))
    return np.array([float((Fraction(2) ** (1 - j) - 1) * value) for j, value in enumerate(over)])
