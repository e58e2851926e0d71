"""The sum of k independent two-sided geometric variables, in closed form.

With ``q = exp(-rate)`` one variable has P(X = i) proportional to ``q**|i|``, and the sum has

    P(S >= n) = P(J + B <= k - 1),   J ~ NB(k, 1/(1+q)),  B ~ Bin(n + k - 1, 1 - q),  n >= 0

with J and B independent, J counting failures. This follows by Pfaff's transformation from the coefficients of
``((1-q)**2/((1-q z)(1-q/z)))**k``, which are hypergeometric functions. Every term is positive. The limit q -> 1 is the
sum of Laplace variables: J ~ NB(k, 1/2) and B Poisson.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from stairnoise._types import Floats
from stairnoise.numerics.roots import least_integer
from stairnoise.numerics.sums import EXPONENTS, chernoff_bounds

_ROUNDING = 2.0**-52


@lru_cache(maxsize=1024)
def error_bound(rate: float, k: int, alpha: float) -> int:
    """Smallest t >= 0 with P(|S| > t) <= alpha.

    The tail is multiplied by 1 plus a bound of its rounding errors (1e-12 at k = 10, 1e-8 at k = 10**9), so that the
    inequality holds for the distribution itself. If the tail is that near to alpha, t is too large by one.

    Parameters
    ----------
    rate : float
        Exponent per integer, positive.
    k : int
        Number of variables, from 1 to 10**9. Time and memory grow as its square root.
    alpha : float
        At least 2**-60: probabilities beyond 2**-140 are left out.
    """
    survival = Survival(rate, k)
    level = alpha / (2 * (1 + survival.error))
    most = math.ceil(chernoff_bounds(k * _cumulant(rate, EXPONENTS), EXPONENTS * rate, alpha).min()) + 1
    return least_integer(lambda t: survival(t + 1) <= level, -1, most)


class Survival:
    """n -> P(S >= n), for integers n >= 0."""

    def __init__(self, rate: float, k: int) -> None:
        self._k = k
        self._odds = math.expm1(rate) if rate < 700 else math.inf
        self._drop = -math.expm1(-rate)
        q = math.exp(-rate)
        share = q / (1 + q)
        self._first, failures = _window(k * q, k * q * (1 + q), lambda j: (k + j) / (j + 1) * share)
        self._cdf = np.concatenate([[0.0], np.cumsum(failures)])
        self.error = 8 * _ROUNDING * (failures.size + _reach(2.0 * k))
        """Bound of the relative error of ratios multiplied from the mode outwards, and of two sums."""

    def __call__(self, n: int) -> float:
        trials = n + self._k - 1
        mean = trials * self._drop
        odds = self._odds
        first, successes = _window(mean, mean * (1 - self._drop), lambda i: (trials - i) / (i + 1) * odds, trials)
        left = self._k - 1 - (first + np.arange(successes.size))
        place = np.clip(left - self._first + 1, 0, self._cdf.size - 1)
        return float(successes @ self._cdf[place])


def _reach(variance: float) -> int:
    """Return a distance from the mode of a (negative) binomial distribution, with less than 2**-140 beyond it (Bernstein)."""
    return math.ceil(16 * math.sqrt(variance)) + 200


def _window(mean: float, variance: float, ratio: object, most: float = math.inf) -> tuple[int, Floats]:
    """Probabilities of a unimodal distribution around its mean, from the ratios P(i + 1)/P(i); they add to 1."""
    reach = _reach(variance)
    centre = math.floor(mean)
    first, last = max(0, centre - reach), int(min(centre + reach, most))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = ratio(np.arange(first, last, dtype=np.float64))  # type: ignore[operator]
    middle = min(max(int(np.searchsorted(-ratios, -1.0)), 0), ratios.size)
    weights = np.empty(ratios.size + 1)
    weights[middle] = 1.0
    weights[middle + 1 :] = np.cumprod(ratios[middle:])
    weights[:middle] = np.cumprod(1 / ratios[:middle][::-1])[::-1]
    return first, weights / weights.sum()


def _cumulant(rate: float, u: Floats) -> Floats:
    """Ln E exp(u rate X) for 0 < u < 1."""
    if rate > 700:
        return np.zeros_like(u)
    return np.asarray(-np.log1p(-((np.sinh(u * rate / 2) / math.sinh(rate / 2)) ** 2)))
