"""Sums of noise by its weights: bounds of their distance from 0."""

from __future__ import annotations

import math

import numpy as np

from stairnoise._types import Floats
from stairnoise.mechanisms.lattice_noise.distribution import Weights, functions
from stairnoise.numerics import sums as listed

# Useful tilts of a bounded variable, in nepers from the centre to the end.
_TILT = 30.0
# Relative error of the probabilities: many times their rounding error.
_ERROR = 1e-13
# Larger integers may be rounded to float64.
_EXACT = 2**52


def error_bound(weights: Weights, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha, in steps, for the sum S of k variables: the smallest for one, nearly so for more."""
    if k == 1:
        t = float(functions(weights, 1.0).error_bound(np.array(alpha)))
        return math.ceil(t if t < _EXACT else t * (1 + 2.0**-50))
    end, masses = _listed(weights)
    decay = -weights.log_ratio if weights.ratio is not None else _TILT / end
    variable = listed.Summand(-end, masses, decay, k)
    mirrored = None if np.array_equal(masses, masses[::-1]) else variable._replace(weights=masses[::-1])
    return listed.bound(
        lambda h: listed.rounded_up(variable, h),
        None if mirrored is None else lambda h: listed.rounded_up(mirrored, h),
        alpha * math.exp(-_ERROR * k),
    )


def _listed(weights: Weights) -> tuple[int, Floats]:
    """Probabilities of the integers around 0, the same number on both sides."""
    logs = weights.log_probabilities
    if weights.ratio is None:
        used = np.flatnonzero(weights.scaled) - weights.reach
        end = int(np.abs(used).max())
        return end, np.exp(logs[weights.reach - end : weights.reach + end + 1])
    beyond = weights.log_ratio * np.arange(1, math.ceil(listed.LISTED / -weights.log_ratio) + 1)
    logs = np.concatenate([logs[0] + beyond[::-1], logs, logs[-1] + beyond])
    return logs.size // 2, np.exp(logs)
