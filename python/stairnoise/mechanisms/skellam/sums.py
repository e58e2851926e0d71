"""The sum of k independent Skellam variables, which is a Skellam variable of k times the variance."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from stairnoise.mechanisms.skellam.distribution import log_pmf

# In nepers beyond the quantile: the rest does not matter in a sum.
_SHORT = 45.0
# A standard deviation has at least this many bins, or one for every integer.
_BINS = 2**14


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
