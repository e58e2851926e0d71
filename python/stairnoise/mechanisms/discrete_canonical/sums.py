"""Sums of canonical noise on the integers: bounds of their distance from 0."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from stairnoise.mechanisms.discrete_canonical.distribution import Canonical
from stairnoise.mechanisms.truncated_staircase.sums import TILT, symmetric_bound


@lru_cache(maxsize=64)
def error_bound(eps: float, delta: float, end: int, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha for the sum S of k variables: the smallest for one, and nearly so for more."""
    distribution = Canonical(eps, delta, end)
    if k == 1:
        return int(distribution.error_bound(np.array(alpha)))
    return symmetric_bound(distribution, end, max(eps, TILT / end), k, alpha)
