r"""The γ in (0, 1] of least E ‖X‖^p, p = 1 or 2, for staircase noise in d dimensions.

E ‖X‖^p is proportional to F = Φ(b, −d−p, γ)/Φ(b, −d, γ). F is equal at γ = 0 and 1 and may have several minima between them,
so all of (0, 1] is searched. The slope of F is proportional to (d+p) Φ_{d+p−1}/Φ_{d+p} − d Φ_{d−1}/Φ_d, with Φ_s for
Φ(b, −s, γ).

F is flat for small ε and large d: at ε = 0.1 and d = 10 it varies by a relative 1e-20. If rounding errors of the series would
exceed that, only the small part η_s of Φ_s = e^{εγ} s! ε^{−s−1} (1 + η_s) is computed, by Lipschitz's formula or by its expansion
in powers of ε:

    η_s = 2 Re Σ_{k ≥ 1} z_k^{s+1} e^{2πikγ},  z_k = ε/(ε + 2πik);      η_s = (−1)^s Σ_{j > s} C(j−1, s) (−ε)^j B_j(γ)/j!

In many dimensions balls of radius r have weights r^d e^{−εr}, with a standard deviation near √d/ε. If that is much larger than
the distance of two balls, Lipschitz's formula needs few terms. With t_k = 2 z_k^d e^{2πikγ}, the slope is proportional to

    Re Σ t(z−1) · Re Σ t(z^p−1) − (1 + Re Σ t) · Re Σ t(z−1)(z^p−1),

in which the small differences are factors. Otherwise two balls have nearly all of the weight. Each has half if the radius of the
smaller ball is ρ = 1/(e^{ε/d} − 1). The optimum is slightly above, where the larger ball has about ρ(ρ+1)/d of the weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from stairnoise._types import Complexes, Floats
from stairnoise.mechanisms.multivariate_staircase.distribution import last_ball
from stairnoise.numerics.lerch import bernoulli_over_factorial
from stairnoise.numerics.roots import Rising, bisection

Function = Callable[[Floats], Floats]
Parts = Callable[..., list[Floats]]

# Up to so many dimensions the grid and float64 have enough digits.
_FEW_DIMENSIONS = 4096
# For a larger η the series itself has enough digits.
_LARGE = 1e-4
# From this many dimensions on, Lipschitz's formula needs few terms.
_MANY_DIMENSIONS = 8
# Terms smaller than the first by this factor change no bit of a sum. On the grid fewer digits suffice: an error changes only
# which of two neighbours is the best.
_LOST = 2.0**64
_LOST_ON_GRID = 2.0**40
_BERNOULLI = 80
_NATS, _NATS_ON_GRID = 60.0, 34.0
_GRID = 256
_LEAST_LOG = -690.0
_LEAST = 1e-300
# Up to this many dimensions, rounding errors of the slope move its root by less than a relative 1e-10.
_MOST_SMOOTH = 512
_ROOT_ERROR = 1e-9
# Relative lengths: of the bracket that is tried around the root, and of the last bracket.
_APART, _SHORT = 2.0**-44, 2.0**-40


class Search(NamedTuple):
    """The cost, up to a constant factor and summand, and its slope, up to a positive factor."""

    cost: Function
    slope: Function


@lru_cache(maxsize=256)
def optimal(eps: float, dim: int, p: int) -> float:
    """Return the best γ, with a relative error below 1e-9, unless γ is below 1e-300."""
    if dim > _FEW_DIMENSIONS:
        return _optimal_for_many_dimensions(eps, dim, p)
    search = _search(eps, dim, p)
    grid = _grid(eps)
    best = int(np.argmin(search.cost(grid)))
    at_best = float(search.slope(grid[best : best + 1])[0])
    if at_best > 0:
        low, high = float(grid[best - 1]) if best else _LEAST, float(grid[best])
    elif best + 1 < grid.size:
        low, high = float(grid[best]), float(grid[best + 1])
    else:
        # γ = 1 is the same distribution as γ = 0.
        low, high = _LEAST, float(grid[0])

    def slope(gamma: float) -> float:
        return float(search.slope(np.array([gamma]))[0])

    if low > _LEAST and dim <= _MOST_SMOOTH:
        holds = Rising(slope)
        holds.close_in(low, high, _APART)
        gamma = bisection(holds, low, high, relative=_SHORT)
        # If rounding errors of the slope could change the rounded γ, only plain bisection is reproducible.
        if rounded(gamma * (1 - _ROOT_ERROR)) == rounded(gamma * (1 + _ROOT_ERROR)):
            return gamma
    return bisection(lambda gamma: not slope(gamma) < 0, low, high)


def rounded(gamma: float) -> float:
    """Round γ to 24 significant bits, so that it is equal on machines whose elementary functions differ in their last bits."""
    fraction, exponent = math.frexp(gamma)
    return math.ldexp(round(math.ldexp(fraction, 24)), exponent - 24)


def _grid(eps: float) -> Floats:
    """Points of (0, 1]: evenly spaced, and below 1/256 evenly in the logarithm, down to below b."""
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
        rough, fine = (_harmonics(eps, dim, log_size, lost) for lost in (_LOST_ON_GRID, _LOST))
        return _by_small_parts(rough, fine, dim, p, math.exp(log_size))
    powers = _powers(eps, dim)
    return _by_small_parts(powers, powers, dim, p, 1.0)


def _by_series(eps: float, dim: int, p: int) -> Search:
    rough, fine = (np.arange(last_ball(eps, dim, 1.0, nats) + 1, dtype=np.float64) for nats in (_NATS_ON_GRID, _NATS))

    def means(index: Floats, gamma: Floats, q: int, *powers: int) -> Floats:
        """Mean of (m + γ)^q over weights b^m (m + γ)^s, for each s of `powers`."""
        radii = index + gamma[:, None]
        logs = np.array(powers)[:, None, None] * np.log(radii) - eps * index
        weights = np.exp(logs - logs.max(axis=2, keepdims=True))
        return np.asarray((weights * radii**q).sum(axis=2) / weights.sum(axis=2))

    def slope(gamma: Floats) -> Floats:
        above, at = means(fine, gamma, -1, dim + p, dim)
        return np.asarray((dim + p) * above - dim * at)

    return Search(lambda gamma: means(rough, gamma, p, dim)[0], slope)


def _by_small_parts(of_grid: Parts, of_one: Parts, dim: int, p: int, unit: float) -> Search:
    """Return cost and slope from functions that return η of γ for several s, in units of `unit`; `of_grid` is rougher."""

    def cost(gamma: Floats) -> Floats:
        there, here = of_grid(gamma, dim + p, dim)
        return (there - here) / (1 + unit * here)

    def slope(gamma: Floats) -> Floats:
        a, b, c, e = of_one(gamma, dim + p - 1, dim, dim - 1, dim + p)
        return a + b - c - e + unit * (a * b - c * e)

    return Search(cost, slope)


def _harmonics(eps: float, dim: int, log_unit: float, lost: float) -> Parts:
    """Return the function for η by Lipschitz's formula, for s from d − 1 on."""
    # |z_k/z_1|^d is below 1/lost from here on.
    last = math.hypot(eps, 2 * math.pi) * lost ** (1 / dim)
    turns = 2 * np.pi * np.arange(1, math.ceil(last / (2 * math.pi)) + 1)
    log_z, angle = math.log(eps) - np.log(np.hypot(eps, turns)), -np.arctan2(turns, eps)

    @cache
    def waves(*s: int) -> tuple[Floats, Floats]:
        powers = np.array(s)[:, None, None] + 1
        return powers * angle, np.exp(powers * log_z - log_unit)

    def etas(gamma: Floats, *s: int) -> list[Floats]:
        phases, sizes = waves(*s)
        return list(2 * (np.cos(phases + turns * gamma[:, None]) * sizes).sum(axis=2))

    return etas


def _powers(eps: float, dim: int) -> Parts:
    """Return the function for η by powers of ε, for s from d − 1 to d + 2."""
    number = _terms(eps, dim + 2)

    @cache
    def factors(s: int) -> Floats:
        return np.array([(-1) ** s * math.comb(j - 1, s) * (-eps) ** j for j in range(s + 1, number)])

    def etas(gamma: Floats, *s: int) -> list[Floats]:
        bernoulli = _bernoulli_over_factorial(gamma, dim, number)
        return [np.asarray(factors(i) @ bernoulli[i + 1 - dim :]) for i in s]

    return etas


def _terms(eps: float, s: int) -> int:
    """Return the first j whose terms of η_s, below 2 C(j−1, s) (ε/2π)^j, change no bit of a sum."""
    size, j = 1.0, s + 1
    while size > 1 / _LOST and j < _BERNOULLI:
        size *= eps / (2 * math.pi) * j / (j - s)
        j += 1
    return j


def _bernoulli_over_factorial(gamma: Floats, first: int, number: int) -> Floats:
    """B_j(γ)/j! for j from `first` to `number` − 1, expanded around ½, where the terms cancel least."""
    steps = np.concatenate([np.ones((1, gamma.size)), (gamma - 0.5) / np.arange(1, number)[:, None]])
    powers, rows = np.multiply.accumulate(steps), _about_one_half()
    return np.array([rows[j, : j + 1] @ powers[: j + 1] for j in range(first, number)])


@lru_cache(maxsize=1)
def _about_one_half() -> Floats:
    """Return the matrix that takes t^k/k! for k = 0, 1, … to B_j(½ + t)/j!, from B_j(½)/j! = (2^(1−j) − 1) B_j/j!."""
    middle = [float((Fraction(2) ** (1 - j) - 1) * value) for j, value in enumerate(bernoulli_over_factorial(_BERNOULLI))]
    return np.array([[middle[j - k] if k <= j else 0.0 for k in range(_BERNOULLI)] for j in range(_BERNOULLI)])


# Many dimensions

Slope = Callable[[float], float]

_HARMONICS = np.arange(1, 65)
_MOST_QUOTIENT = 650.0
# If d/(ρ(ρ+1)), the squared distance of two balls in standard deviations, is larger, only two balls matter.
_FAR_APART = 64.0


def _optimal_for_many_dimensions(eps: float, dim: int, p: int) -> float:
    """Return the best γ in (0, 1], with a relative error below 1e-9; 1e-300 stands for everything below it."""
    if eps / dim > _MOST_QUOTIENT:
        return _LEAST
    apart = 4 * dim * math.sinh(eps / dim / 2) ** 2
    slope, low, high = _of_two_balls(eps, dim, p, apart) if apart > _FAR_APART else _of_many_balls(eps, dim, p)
    # γ and γ + 1 give the same distribution, except for a ball of negligible weight.
    gamma = bisection(lambda gamma: not slope(gamma) < 0, low, high) % 1
    return gamma or 1.0


def _of_many_balls(eps: float, dim: int, p: int) -> tuple[Slope, float, float]:
    """Return the slope, and two γ between which the least cost lies."""
    angle = 2 * math.pi * _HARMONICS / eps
    log_z = -np.log1p(angle**2) / 2 - 1j * np.arctan(angle)
    # z − 1, without cancellation; everything is in units of |z_1|^d.
    step = -1j * angle / (1 + 1j * angle)
    change = step if p == 1 else step * (2 + step)
    unit = math.exp(dim * log_z[0].real)

    def terms(gamma: float) -> Complexes:
        return np.asarray(2 * np.exp(dim * (log_z - log_z[0].real) + 2j * np.pi * _HARMONICS * gamma))

    def slope(gamma: float) -> float:
        t = terms(gamma)
        first, second, both = ((t * factor).sum().real for factor in (step, change, step * change))
        return float(unit * first * second - (1 + unit * t.sum().real) * both)

    def cost(gamma: float) -> float:
        t = terms(gamma) * (1 + step)
        return float((t * change).sum().real / (1 + unit * t.sum().real))

    best = min(range(_GRID), key=lambda i: cost(i / _GRID))
    return slope, (best - 1) / _GRID + 1, (best + 1) / _GRID + 1


def _of_two_balls(eps: float, dim: int, p: int, apart: float) -> tuple[Slope, float, float]:
    """Return the slope, and two γ between which the least cost lies."""
    even = 1 / math.expm1(eps / dim)
    smaller = math.floor(even)
    index = np.arange(last_ball(eps, dim, 1.0, _NATS) + 2, dtype=np.float64)

    def slope(gamma: float) -> float:
        radii = index + gamma
        largest = smaller + gamma
        # ln γ itself, because 1 − (1 − γ) has no digits of a small γ.
        growth = np.log1p((index[1:] - smaller) / largest)
        growth = np.concatenate([[math.log(gamma / largest)], growth])
        logs = dim * growth - eps * (index - smaller)
        weights = np.exp(logs - logs.max())
        there = weights * radii**p
        return float((dim + p) * (there / radii).sum() / there.sum() - dim * (weights / radii).sum() / weights.sum())

    low = even - smaller
    return slope, low, low + 4 * (math.log(apart) + 2) / apart
