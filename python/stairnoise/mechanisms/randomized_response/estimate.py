r"""Frequencies of the true categories, from the counts of released ones.

A person of category i is counted in it with probability :math:`p = e^ε/(e^ε + k - 1)`, and everybody else with
:math:`q = 1/(e^ε + k - 1)`. If a share f of n people has the category, n π of them are expected in its count, where

.. math:: π = q + (p - q) f.
"""

from __future__ import annotations

import math

import numpy as np

from stairnoise._types import AnyArray, Floats
from stairnoise.numerics import binomial

# For 2**32 people, |ln(p/(1 - p))| of a bound is smaller than the first number. The others are the start of a search in standard
# deviations, its resolution, and its most steps.
_FAR, _START, _NEAR, _MOST_STEPS = 700.0, 2.0, 1e-12, 200
# More than the relative errors of a root.
_OFF = 1e-10


def kept(eps: float, k: int) -> float:
    """Return p, the probability that a category is kept."""
    return 1 / (1 + (k - 1) * math.exp(-eps))


def frequencies(eps: float, k: int, counts: AnyArray, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Return f without bias for each count, and the ends of its interval, by Clopper and Pearson's interval for π."""
    n = int(counts.sum())
    p = kept(eps, k)
    q, between = p * math.exp(-eps), -p * math.expm1(-eps)
    # Many categories have equal counts.
    different, places = np.unique(counts, return_inverse=True)
    ends = np.array([_proportion(int(count), n, confidence) for count in different.tolist()])
    low, high = np.clip((ends[places] - q) / between, 0.0, 1.0).T
    return (counts / n - q) / between, low.copy(), high.copy()


def _proportion(count: int, n: int, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for a probability, from `count` of `n`."""
    beyond = (1 - confidence) / 2
    return _least(count, n, beyond)[0], _least(n - count, n, beyond)[1]


def _least(count: int, n: int, level: float) -> tuple[float, float]:
    """Return the p at which `count` or more of `n` have the probability `level`, rounded down, and 1 - p, rounded up.

    Newton's method finds the root of the logarithm of that probability in ln(p/(1 - p)). A step that leaves the bracket is
    replaced by bisection.
    """
    if count == 0:
        return 0.0, 1.0
    if count == n:
        return math.exp(math.log(level) / n) * (1 - _OFF), -math.expm1(math.log(level) / n) * (1 + _OFF)
    low, high = -_FAR, math.log(count / (n - count))
    y = high - _START / math.sqrt(count * (1 - count / n))
    for _ in range(_MOST_STEPS):
        p, q = 1 / (1 + math.exp(-y)), 1 / (1 + math.exp(y))
        # Terms beyond `last` are below e**-70 times the first one.
        last = min(n, count + int(12 * math.sqrt(n * p * q)) + 50)
        x = np.arange(count, last + 1.0)
        # The smaller of p and q has the smaller rounding error.
        terms = np.exp(binomial.log_pmf(x, n, p, q) if y < 0 else binomial.log_pmf(n - x, n, q, p))
        tail, first = float(terms.sum()), float(terms[0])
        above = tail >= level
        low, high = (low, y) if above else (y, high)
        new = y - math.log(tail / level) * tail / (count * q * first) if first > 0 else low
        if not low < new < high:
            new = (low + high) / 2
        if abs(new - y) <= _NEAR:
            break
        y = new
    return p * (1 - _OFF), q * (1 + _OFF)
