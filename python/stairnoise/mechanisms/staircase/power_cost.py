r"""The best staircase for the cost ``|x|**p``, p > 0, which is a root of the derivative of the expected cost.

The expected cost is ``N(gamma)/(gamma + c)``. N has the derivative ``l(gamma)``, the mean of the cost over the points
``(gamma + m) D`` with weights ``(1-b) b**m``. The derivative of the expected cost has the sign of the *balance*
``(gamma + c) l(gamma) - N(gamma)``. The balance never falls, because l never falls, so the optimum is where the balance turns
positive. On the integers ``r + 1`` is better than r while the balance, with ``gamma = (r - 1/2)/D`` and the points ``r + mD``,
is negative. For ``|x|**p``,

    balance ~ (p+1) (gamma + c) Phi(b, -p, gamma) - Phi(b, -p-1, gamma).

Both terms grow as ``eps**(-p-2)`` and nearly cancel at small eps, so the difference is computed analytically.

References
----------
.. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186:
   optimality of staircases for every cost that does not fall with \|x\|.
"""

from __future__ import annotations

import numpy as np

from stairnoise._parameters import Real
from stairnoise._types import Bools, Floats, Ints
from stairnoise.distributions.moments import odds
from stairnoise.mechanisms.staircase.calibration import gamma_l1
from stairnoise.numerics.elementwise import in_chunks
from stairnoise.numerics.lerch import FEW_STAIRS, even_bernoulli, excess, gamma_function, outer_stairs, stair_count, step_sum
from stairnoise.numerics.roots import least_integers, newton

LEAST_POWER = 2.0**-10
MOST_POWER = 2.0**6

_CHUNK = 256
_LAST_STEP = 1e-8
_TINY = float(np.finfo(np.float64).tiny)
# In every comparison the discrete optimum was within 1 of the rounded continuous one.
_NEIGHBOURS = np.arange(-3.0, 4.0)


def gamma_power(p: Real, eps: Real) -> Floats:
    """Shape gamma with the least E|X|**p of the continuous staircase."""
    with np.errstate(all="ignore"):
        return in_chunks(_gamma, _CHUNK, p, eps)


def r_power(p: Real, eps: Real, D: Real) -> Ints:
    """Smallest r in 1..D with the least E|X|**p of the discrete staircase."""
    with np.errstate(all="ignore"):
        return in_chunks(_r, _CHUNK, p, eps, D, dtype=np.int64)


def _gamma(p: Floats, eps: Floats) -> Floats:
    gamma = np.empty_like(p)
    small = eps < FEW_STAIRS
    if np.any(small):
        p_small, eps_small = p[small], eps[small]
        # Starts between the optimum for p = 1 and the limit for large p.
        first, last = gamma_l1(eps_small), 0.5 - _shift(eps_small, 0.5) / eps_small
        start = last + (first - last) / np.maximum(p_small, 1)
        gamma[small] = newton(lambda g: _many_stairs(p_small, eps_small, g), start, 0.0, 1.0, _LAST_STEP)
    if not np.all(small):
        p_large, eps_large = p[~small], eps[~small]
        # Starts from the limits of the optimum for large eps and for large p.
        start = np.minimum(-(eps_large + np.log(p_large)) / (p_large + 1), np.log(1 / eps_large - odds(eps_large)))
        logarithm = newton(lambda t: _few_stairs(p_large, eps_large, t), start, -2 * eps_large - 50, 0.0, _LAST_STEP)
        gamma[~small] = np.exp(logarithm)
    return np.maximum(gamma, _TINY)


def _many_stairs(p: Floats, eps: Floats, gamma: Floats) -> tuple[Floats, Floats]:
    """Return the balance over its scale Gamma(p+2), and its slope, for eps below `FEW_STAIRS`."""
    n = p.size
    orders = np.concatenate([p - 1, p, p + 1])
    e = excess(orders, np.tile(eps, 3), np.tile(gamma, 3), np.full(3 * n, np.inf))
    base = gamma_function(p)
    shift = _shift(eps, gamma)
    value = shift + ((p + 1) * (1 + shift) * e[n : 2 * n] - e[2 * n :]) / (p * (p + 1) * base)
    return value, (1 + shift) * eps * (1 + e[:n] / base)


def _shift(eps: Floats, gamma: Real) -> Floats:
    """``eps (gamma + c) - 1`` by the series of coth, which has no cancellation."""
    powers = eps[:, None] ** np.arange(2, 2 * len(even_bernoulli()), 2)
    return np.asarray(eps * (gamma - 0.5) + powers @ even_bernoulli()[1:])


def _few_stairs(p: Floats, eps: Floats, logarithm: Floats) -> tuple[Floats, Floats]:
    """Return ln(positive terms/negative terms) of the balance, and its slope in the logarithm of gamma.

    For eps from `FEW_STAIRS` on. The balance over p b is
    ``sum_m b**(m-1) ((gamma+m)**p (gamma+c) + (c-m) ((gamma+m)**p - 1)/p)``. The mean of c - m is 0, so subtracting 1 changes
    nothing but avoids cancellation for small p. The logarithm is nearly linear.
    """
    gamma, c, rise = np.exp(logarithm), odds(eps), 1 / -np.expm1(-eps)
    steep, flat = np.exp((p + 1) * logarithm + eps), rise * np.exp(p * logarithm)
    m = np.arange(1, stair_count(p.max() + 1, eps.min()))
    weight, order, centre = np.exp(-eps[:, None] * (m - 1)), p[:, None], (gamma + c)[:, None]
    x = gamma[:, None] + m
    power = x**order
    term = weight * (power * centre + (c[:, None] - m) * np.expm1(order * np.log(x)) / order)
    slope = weight * power / x * ((order + 1) * centre * gamma[:, None])
    positive, outer = term > 0, np.sum(term, axis=1)
    above = steep + flat * (1 + 1 / p) + np.sum(term, axis=1, where=positive)
    below = rise / p - np.sum(term, axis=1, where=~positive)
    balance = steep + flat + rise * np.expm1(p * logarithm) / p + outer
    rising = (p + 1) * (steep + flat) + np.sum(slope, axis=1, where=positive)
    return np.log1p(balance / below), rising / above + np.sum(slope, axis=1, where=~positive) / below


def _r(p: Floats, eps: Floats, D: Floats) -> Ints:
    around = np.clip(np.ceil(D * _gamma(p, eps))[:, None] + _NEIGHBOURS, 1, D[:, None])
    columns = np.broadcast_arrays(p[:, None], eps[:, None], D[:, None], around)
    enough = _stays(*(column.ravel() for column in columns)).reshape(around.shape) | (around == D[:, None])
    r = around[np.arange(len(p)), np.argmax(enough, axis=1)]
    found = (~enough[:, 0] | (around[:, 0] == 1)) & enough[:, -1]
    if not np.all(found):
        p, eps, D = p[~found], eps[~found], D[~found]
        r[~found] = least_integers(lambda r: _stays(p, eps, D, r), np.zeros_like(D), D)
    return np.asarray(r, np.int64)


def _stays(p: Floats, eps: Floats, D: Floats, r: Floats) -> Bools:
    """Whether r is at least as good as r + 1."""
    stays = np.empty(p.shape, bool)
    small = eps < FEW_STAIRS
    for balance, where in ((_many_stairs_discrete, small), (_few_stairs_discrete, ~small)):
        if np.any(where):
            stays[where] = balance(p[where], eps[where], D[where], r[where]) >= 0
    return stays


def _many_stairs_discrete(p: Floats, eps: Floats, D: Floats, r: Floats) -> Floats:
    gamma = (r - 0.5) / D
    shift, half_cell = _shift(eps, gamma), np.expm1(eps / (2 * D))
    growth = shift + half_cell + shift * half_cell
    base = gamma_function(p + 1)
    outside = excess(p, eps, r / D, np.full_like(p, np.inf)) / base
    return growth + (1 + growth) * outside - excess(p + 1, eps, gamma, D) / ((p + 1) * base)


def _few_stairs_discrete(p: Floats, eps: Floats, D: Floats, r: Floats) -> Floats:
    gamma, x = (r - 0.5) / D, r / D
    level = (p + 1) * (gamma + odds(eps))
    inner = step_sum((p + 1)[:, None], gamma[:, None], D[:, None])[:, 0]
    first = np.exp(p * np.log(x) + eps) * (level - inner / x**p)
    return np.asarray(first + level * outer_stairs(p, eps, x, np.full_like(p, np.inf)) - outer_stairs(p + 1, eps, gamma, D))
