r"""The γ of least E ‖X‖^p, p = 1 or 2, in more dimensions than `calibration` has a grid and digits for.

Balls of radius r have weights r^d e^{−εr}, with a standard deviation near √d/ε. If that is much larger than the distance of two
balls, Lipschitz's formula needs few terms. With t_k = 2 z_k^d e^{2πikγ} and z_k = ε/(ε + 2πik), the slope of `calibration` is
proportional to

    Re Σ t(z−1) · Re Σ t(z^p−1) − (1 + Re Σ t) · Re Σ t(z−1)(z^p−1),

in which the small differences are factors. Otherwise two balls have nearly all of the weight. Each has half if the radius of the
smaller ball is ρ = 1/(e^{ε/d} − 1). The optimum is slightly above, where the larger ball has about ρ(ρ+1)/d of the weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stairnoise._types import Complexes
from stairnoise.mechanisms.multivariate_staircase.distribution import last_ball
from stairnoise.numerics.roots import bisection

Slope = Callable[[float], float]

# Up to this many dimensions `calibration` finds γ.
LONG = 4096

_HARMONICS = np.arange(1, 65)
_NATS = 60.0
_GRID = 256
_LEAST = 1e-300
_MOST_QUOTIENT = 650.0
# If d/(ρ(ρ+1)), the squared distance of two balls in standard deviations, is larger, only two balls matter.
_APART = 64.0


def optimal(eps: float, dim: int, p: int) -> float:
    """Return the best γ in (0, 1], with a relative error below 1e-9; 1e-300 stands for everything below it."""
    if eps / dim > _MOST_QUOTIENT:
        return _LEAST
    apart = 4 * dim * math.sinh(eps / dim / 2) ** 2
    slope, low, high = _of_two_balls(eps, dim, p, apart) if apart > _APART else _of_many_balls(eps, dim, p)
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
