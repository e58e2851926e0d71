"""Values as weights of candidates, and the runs of candidates of one cost.

A value of an array has the weight 1, or in a query the part of a person that a row stands for. So the same selections serve both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._types import Floats
from stairnoise.quantiles.ranks import Target

Whole = NDArray[np.int64]


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
