"""The sum of k independent variables from a list of probabilities: how far it is from 0, at most.

The list is tilted towards the quantile in question and transformed, as `tilted` has it. Where the sum would have too many
integers, the list is replaced by one of wider bins, whose sum is larger:

* A symmetric distribution that falls from its mode is spread evenly over the bins. It is larger in the peakedness order,
  which passes to sums (see `staircase`).
* Any other distribution is larger outcome by outcome: every value is rounded up to the end of its bin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._types import Floats
from stairnoise.numerics.roots import least_integer
from stairnoise.numerics.tilted import (
    LONGEST,
    ROUNDING,
    Extent,
    extent,
    fast_length,
    spread_bound,
    transformed,
    upper_tail,
)

# In nepers: where a list may end. 10**9 variables lack less than 1e-34 together.
LISTED = 100.0
# Bins of a list on either side of 0, where the distribution has more integers than that.
BINS = 2**16
# Fractions of the largest exponent; every exponent gives a valid bound.
_EXPONENTS: Floats = np.concatenate([np.geomspace(1e-7, 0.5, 56, endpoint=False), 1 - np.geomspace(0.5, 0.003, 8)])


class Summand(NamedTuple):
    """One variable: P(X = first + i) = weights[i], in bins."""

    first: int
    weights: Floats
    decay: float
    """Upper limit of useful tilts: at it a tail without end has no moment."""
    k: int
    spread: bool = False
    """Whether each variable is spread evenly over its bin."""

    @property
    def places(self) -> NDArray[np.int64]:
        """The integers of the list."""
        return np.arange(self.first, self.first + self.weights.size)


# A variable on bins of h steps, h odd.
OnBins = Callable[[int], Summand]


def bound(upper: OnBins, lower: OnBins | None, alpha: float, least: int = 1) -> int:
    """Bound of |S| in steps, by the finest bins that fit, of `least` steps or more.

    `upper` is the variable, and `lower` the mirrored one unless the distribution is symmetric. On wider bins either is spread or
    rounded up.
    """
    h = least
    while True:
        variable = upper(h)
        needed = _extent(variable, alpha).length
        if needed <= LONGEST:
            break
        h *= max(2, math.ceil(needed / LONGEST))
        h += 1 - h % 2
    if variable.spread:
        tail = _Tail(variable, alpha)
        n = least_integer(lambda n: 2 * tail(n) <= alpha, -1, tail.end)
        return math.floor(h * spread_bound(lambda n: 2 * tail(n), n, alpha) * (1 + 4 * ROUNDING))
    above = _Tail(variable, alpha)
    below = above if lower is None else _Tail(lower(h), alpha)
    return h * least_integer(lambda n: above(n) + below(n) <= alpha, -1, max(above.end, below.end))


def widened(variable: Summand, h: int) -> Summand:
    """Join h bins, an odd number, symmetrically about 0, and spread them.

    For symmetric distributions that fall from their mode.
    """
    if h == 1:
        return variable
    m = -(-(-variable.first - h // 2) // h)
    weights = np.zeros((2 * m + 1) * h)
    start = m * h + h // 2 + variable.first
    weights[start : start + variable.weights.size] = variable.weights
    return Summand(-m, weights.reshape(-1, h).sum(axis=1), variable.decay * h, variable.k, spread=True)


def rounded_up(variable: Summand, h: int) -> Summand:
    """Join h bins: every value goes to the upper end of its bin, a multiple of h."""
    places = -(-variable.places // h)
    first = int(places[0])
    return Summand(first, np.asarray(np.bincount(places - first, variable.weights), np.float64), variable.decay * h, variable.k)


class _Tail:
    """P(S > n) at the integers n >= 0, in bins, plus a bound of the rounding errors."""

    def __init__(self, variable: Summand, alpha: float) -> None:
        where = _extent(variable, alpha)
        size = fast_length(where.length)
        one = transformed(variable.places, variable.weights, where.tilt, size)
        self._start, self._values = upper_tail(one, variable.k, where, size, spread=variable.spread)
        self.end = max(where.last, 1)

    def __call__(self, n: int) -> float:
        """P(S > n), or 1 below the first place, where the tail is not known."""
        place = n + 1 - self._start
        if place < 0:
            return 1.0
        return float(self._values[place]) if place < self._values.size else 0.0


def _extent(variable: Summand, alpha: float) -> Extent:
    ends = variable.k * variable.first, variable.k * (variable.first + variable.weights.size - 1)
    return extent(variable, lambda tilts: _cumulant(variable, tilts), _EXPONENTS, variable.decay, alpha, ends)


def _cumulant(variable: Summand, tilts: Floats) -> Floats:
    """Ln E exp(tilt X)."""
    used = variable.weights > 0
    places, logs = variable.places[used].astype(np.float64), np.log(variable.weights[used])
    found = np.empty(tilts.shape)
    for i, tilt in enumerate(tilts.tolist()):
        exponents = logs + tilt * places
        largest = float(exponents.max())
        found[i] = largest + math.log(float(np.exp(exponents - largest).sum()))
    return found
