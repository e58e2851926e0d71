"""The sum of k independent discrete Gaussian variables, which is nearly a discrete Gaussian of k times the variance."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from stairnoise.mechanisms.discrete_gaussian.distribution import DiscreteGaussianDistribution
from stairnoise.numerics.sums import LISTED, Summand, bound, rounded_up

# Below the margin of confidence intervals for rounding errors.
_CLOSE = 2.0**-40


@lru_cache(maxsize=256)
def sum_bound(sigma2: float, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha for the sum S of k variables: the smallest, up to rounding.

    P(S = s) differs from the probability under k sigma2 by a factor from exp(-e) to exp(e), e = 10 (k - 1) exp(-π² sigma2).
    Proof for one sum: the sum of ``exp(-i²/(2u) - (s-i)²/(2v))`` over all i is ``exp(-s²/(2(u+v)))`` times a theta function of
    variance uv/(u+v) >= sigma2/2, which stays within ``1 ± 2 exp(-π² sigma2) ± …`` of its mean. If e matters, sigma2 is small,
    so the few probabilities are listed.
    """
    with np.errstate(all="ignore"):
        if 10 * (k - 1) * math.exp(-(math.pi**2) * sigma2) < _CLOSE:
            return int(DiscreteGaussianDistribution(k * sigma2).error_bound(np.array([alpha]))[0])
        reach = math.ceil(math.sqrt(2 * LISTED * sigma2)) + 1
        weights = DiscreteGaussianDistribution(sigma2).pmf(np.arange(-reach, reach + 1.0))
        variable = Summand(-reach, weights, LISTED / reach, k)
        return bound(lambda h: rounded_up(variable, h), None, alpha)
