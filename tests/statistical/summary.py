"""Statistics of many draws for the checks, gathered chunk by chunk."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tests.oracles import moments
from tests.oracles.survival import Geometric, Staircase, magnitude

MAX_SINGLE_BINS = 16  # up to this many integers, each has its own bin
PARTS = 8
RARE = Fraction(1, 2**20)

ExactMechanism = Geometric | Staircase


class Grid:
    """Bins of integers that a shift by D and a change of sign map onto bins.

    Bin k is edges[k-1] <= X < edges[k], the first and last are unbounded. Edges repeat every D, and with e the set contains
    1 - e, because the mirror image of [a, b) is [1 - b, 1 - a).
    """

    def __init__(self, mechanism: ExactMechanism, least_tail: float) -> None:
        sensitivity_steps = mechanism.sensitivity_steps
        parts = (
            range(sensitivity_steps)
            if sensitivity_steps <= MAX_SINGLE_BINS
            else [sensitivity_steps * part // PARTS for part in range(PARTS)]
        )
        stair = [mechanism.r] if isinstance(mechanism, Staircase) else []
        offsets = {offset % sensitivity_steps for edge in (*parts, *stair) for offset in (edge, 1 - edge)}
        self.period = len(offsets)
        reach = magnitude(mechanism, Fraction(least_tail)) // sensitivity_steps + 1
        edges = {turn * sensitivity_steps + offset for turn in range(-reach - 1, reach + 1) for offset in offsets}
        edges = {edge for edge in edges if 1 - edge in edges}
        self.edges = np.array(sorted(edges), dtype=np.int64)
        tails = [moments.tail(mechanism, int(edge)) for edge in self.edges]
        self.probabilities = np.array([float(a - b) for a, b in zip([1, *tails], [*tails, 0], strict=True)])

    def count(self, draws: NDArray[np.int64]) -> NDArray[np.int64]:
        bins = np.searchsorted(self.edges, draws, side="right")
        return np.bincount(bins, minlength=len(self.edges) + 1)


@dataclass
class Summary:
    """Counts and sums of `total` integers that should follow `mechanism`."""

    mechanism: ExactMechanism
    total: int

    def __post_init__(self) -> None:
        self.grid = Grid(self.mechanism, 50 / self.total)
        self.counts = np.zeros(len(self.grid.probabilities), dtype=np.int64)
        self.far = magnitude(self.mechanism, RARE)  # S(far) > 2^-20 >= S(far + 1)
        self.beyond = 0
        self.zeros = 0
        self.sums = np.zeros(2)

    def gather(self, chunks: Iterable[NDArray[np.int64]]) -> "Summary":
        for draws in chunks:
            self.counts += self.grid.count(draws)
            sizes = np.abs(draws)
            self.beyond += int(np.count_nonzero(sizes >= self.far))
            self.zeros += int(np.count_nonzero(draws == 0))
            scaled = sizes / self.mechanism.sensitivity_steps
            self.sums += scaled.sum(), np.square(scaled).sum()
        assert self.counts.sum() == self.total
        return self

    def mean(self, power: int) -> float:
        """The mean of (|X|/D)^power, power 1 or 2."""
        return float(self.sums[power - 1]) / self.total

    def expectation(self, power: int) -> float:
        return float(moments.absolute_moment(self.mechanism, power)) / float(self.mechanism.sensitivity_steps) ** power

    def standard_error(self, power: int) -> float:
        variance = self.expectation(2 * power) - self.expectation(power) ** 2
        return float(np.sqrt(variance / self.total))

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Counts of bins D apart, lower bin first, and whether the lower bin has no negative number."""
        period = self.grid.period
        inner = self.counts[1:-1]
        return inner[:-period], inner[period:], self.grid.edges[: -period - 1] >= 0
