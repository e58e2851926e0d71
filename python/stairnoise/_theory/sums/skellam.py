"""The sum of k independent Skellam variables, which is a Skellam variable of k times the variance."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from stairnoise._theory.laws.skellam import log_pmf

# Summed from the far end until less than this part of the tail is left.
_SHORT = 45.0


@lru_cache(maxsize=256)
def sum_bound(mu: Fraction, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha for the sum S of k variables of variance `mu`: the smallest, up to rounding.

    Tails are summed from the far end, beyond an integer with P(|S| > t) <= alpha for certain: by Chernoff's bound,
    P(S >= t) <= exp(-t asinh(t/μ) + √(t² + μ²) - μ), which is at most exp(-t²/(2(μ + t))).
    """
    variance = float(mu * k)
    nepers = math.log(2 / alpha) + _SHORT
    end = math.ceil(nepers + math.sqrt(nepers * nepers + 2 * nepers * variance)) + 1
    # In stretches from the far end, because the sum of many variables may have many values.
    beyond, upper = 0.0, end
    while True:
        lower = max(upper - _STRETCH, 0)
        masses = np.exp(log_pmf(variance, np.arange(lower, upper, dtype=np.float64)))
        # Entry i: P(S >= lower + i).
        tails = beyond + np.cumsum(masses[::-1])[::-1]
        if 2 * float(tails[0]) > alpha or lower == 0:
            enough = 2 * np.append(tails, beyond) <= alpha
            # P(|S| > t) is twice P(S >= t + 1).
            return max(lower + int(np.argmax(enough)) - 1, 0)
        beyond, upper = float(tails[0]), lower


_STRETCH = 2**20
