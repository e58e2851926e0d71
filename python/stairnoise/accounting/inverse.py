"""The ε of a δ, for profiles without a closed inverse."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stairnoise._types import Floats
from stairnoise.numerics.roots import bisections

# Halvings of a bracket from 0 to a power of two: the rest is below rounding.
_HALVINGS = 64
_LARGEST = 2.0**1000


def least_eps(profile: Callable[[Floats], Floats], delta: Floats, guess: float) -> Floats:
    """Least t >= 0 with profile(t) <= delta, to rounding and from above; inf where there is none."""
    level = np.ravel(np.asarray(delta, np.float64))
    found = np.zeros(level.shape)
    open_ = np.flatnonzero(~(profile(np.zeros(1)) <= level))
    high = np.full(open_.size, max(guess, 2.0**-1000))
    while True:
        short = ~(profile(high) <= level[open_]) & (high < _LARGEST)
        if not short.any():
            break
        high = np.where(short, 2 * high, high)
    high = bisections(lambda t: profile(t) <= level[open_], np.zeros(open_.size), high, _HALVINGS)
    found[open_] = np.where(high >= _LARGEST / 2, math.inf, high)
    return found.reshape(np.shape(delta))
