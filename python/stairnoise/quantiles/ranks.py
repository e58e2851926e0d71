"""How far candidates are from a quantile, counted in ranks.

Of n values, a candidate c covers the ranks from #{x < c} to #{x ≤ c}. Its cost for the quantile q is the distance of q·n from
this interval: 0 exactly if c is a q-quantile, however many values are equal. With q = p/r, r times the cost is a whole number.

Adding or removing a value moves both ends of the interval less q·n by 1 - q or by -q, and only widens the interval where c is the
value. So a cost changes by at most max(q, 1 - q), and neither that nor the factor 2 of a selection can be smaller. Replacing a
value changes a cost by at most 1. For q = 0 and q = 1 all costs move in one direction.

Values are weights of candidates. A value of an array has the weight 1, or in a query the part of a person that a row stands for.
So the same selections serve both.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._types import Floats

Neighbours = Literal["add_remove", "replace"]
Whole = NDArray[np.int64]

# Larger costs count as this one, which float64 holds: that brings no two of them farther apart.
_LARGEST = 2**53


class Target(NamedTuple):
    """The quantile p/r."""

    p: int
    r: int

    @property
    def monotonic(self) -> bool:
        """Whether one person moves all costs in one direction."""
        return self.p in (0, self.r)

    def sensitivity(self, neighbours: Neighbours, rows: int) -> int:
        """Return the largest change of r times a cost by a person of so many rows."""
        return rows * (self.r if neighbours == "replace" else max(self.p, self.r - self.p))

    def costs(self, below: NDArray[np.int64], upto: NDArray[np.int64], n: int) -> Floats:
        """Return r times the cost of candidates with so many values below and up to them."""
        whole, rest = divmod(self.p * n, self.r)
        # Products of 64 bits could overflow; what is farther has the largest cost.
        most = _LARGEST // self.r + 2
        over, under = self.r * np.clip(below - whole, -most, most) - rest, rest - self.r * np.clip(upto - whole, -most, most)
        return np.clip(np.maximum(over, under), 0, _LARGEST).astype(np.float64)

    def rate(self, eps: float, neighbours: Neighbours, rows: int) -> float:
        """Return by which power of e a rank more makes a candidate less likely."""
        return eps / self.sensitivity(neighbours, rows) / (1 if self.monotonic else 2) * self.r


class Accuracy(NamedTuple):
    """What to expect of a private quantile.

    Attributes
    ----------
    rank_bound : float
        The selected candidate is within so many ranks of the quantile, with the probability that was asked for.
    people_needed : float
        With fewer values, a candidate outside all of them may be within the bound; infinite for q = 0 and 1.
    """

    rank_bound: float
    people_needed: float


def bound(rate: float, candidates: int, chance: float, *, flips: bool) -> float:
    """Return the least t for which one selection has a cost of t or more with at most this chance."""
    if not rate:
        return math.inf
    # For this t, candidates · e^(-rate·t) is the chance.
    low, high = 0.0, max(math.log(candidates / chance), 0.0) / rate
    tail = _flipped if flips else _exponential
    # Half the time of `numerics.roots.bisection`, which calls two functions in each step.
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if tail(math.exp(-rate * middle), candidates) <= chance else (middle, high)
    return high


def _flipped(a: float, candidates: int) -> float:
    """Return the chance of permute-and-flip to take one of the candidates but the best, if each has a coin of probability a.

    With fewer coins, or smaller ones, it is less: no row of costs has more.
    """
    if candidates * a < 1e-4:
        return (candidates - 1) * a / 2  # the first term of an alternating series
    none = candidates * math.log1p(-a) if a < 1 else -math.inf
    return 1 + math.expm1(none) / (candidates * a)


def _exponential(a: float, candidates: int) -> float:
    """Return the same chance for the exponential mechanism."""
    return (candidates - 1) * a / (1 + (candidates - 1) * a)


class Weights(NamedTuple):
    """The weights of candidates from `low` to `high`: only of those that have one, in increasing order."""

    candidates: Whole
    weights: Whole
    low: int
    high: int

    def below(self, candidate: int) -> Weights:
        """Return the values below a candidate, with which it is one of theirs."""
        stop = int(np.searchsorted(self.candidates, candidate))
        return Weights(self.candidates[:stop], self.weights[:stop], self.low, candidate)

    def above(self, candidate: int) -> Weights:
        """Return the values above a candidate, with which it is one of theirs."""
        start = int(np.searchsorted(self.candidates, candidate, side="right"))
        return Weights(self.candidates[start:], self.weights[start:], candidate, self.high)

    def runs(self, target: Target, besides: int = 0) -> tuple[Whole, Whole, Floats]:
        """Return runs of candidates of one cost: where they start, how many they are, and that cost.

        Of the weights, so much is `besides` those of which a quantile is wanted.

        Runs alternate: the candidates below a value, and that value.
        """
        upto = np.cumsum(self.weights)
        starts = np.empty(2 * len(upto) + 1, np.int64)
        starts[1::2], starts[0] = self.candidates, self.low
        starts[2::2] = self.candidates + 1
        sizes = np.diff(starts, append=self.high + 1)
        ends = np.zeros((2, len(starts)), np.int64)
        ends[:, 2::2] = upto
        ends[0, 1::2], ends[1, 1::2] = upto - self.weights, upto
        return starts, sizes, target.costs(ends[0], ends[1], (int(upto[-1]) if len(upto) else 0) - besides)


def gathered(candidates: Whole, weights: Whole, among: int) -> Weights:
    """Return the weights of candidates that may be repeated, and in any order."""
    order = np.argsort(candidates)
    ordered = candidates[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    summed = np.add.reduceat(weights[order], starts) if len(starts) else np.empty(0, np.int64)
    return Weights(ordered[starts], summed, 0, among - 1)
