"""Chernoff's bound of the sum of k independent copies of a symmetric variable."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stairnoise._types import Floats

# Fractions of the largest exponent. Every exponent gives a valid bound, so a grid will do; 10**9 terms need 1e-5.
EXPONENTS: Floats = np.concatenate([np.geomspace(1e-7, 0.5, 400, endpoint=False), 1 - np.geomspace(0.5, 0.003, 100)])


def chernoff_bound(cumulant: Callable[[Floats], Floats], largest: float, k: int, alpha: float) -> tuple[float, float]:
    """Return t with P(|S| >= t) <= alpha, and the fraction of the largest exponent that proves it.

    Parameters
    ----------
    cumulant : callable
        u -> ln E exp(u largest X), of an array of fractions in (0, 1).
    largest : float
        Exponents are fractions of this one.
    k : int
        Number of copies.
    alpha : float
        Error probability of both tails together.
    """
    bounds = (k * cumulant(EXPONENTS) + math.log(2 / alpha)) / (EXPONENTS * largest)
    best = int(np.argmin(bounds))
    return float(bounds[best]), float(EXPONENTS[best])
