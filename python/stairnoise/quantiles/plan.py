"""Which quantiles are selected, how, and how accurately: of an array, or of each group of a query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np

from stairnoise._digits import as_typed
from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._numpy_scalars import python_value
from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.mechanisms.permute_and_flip.mechanism import PermuteAndFlip
from stairnoise.numerics.rounding import rounded_down
from stairnoise.quantiles import tree
from stairnoise.quantiles.ranks import Accuracy, Neighbours, Target, accuracy
from stairnoise.quantiles.several import levels, several
from stairnoise.quantiles.weights import Whole, gathered
from stairnoise.rng import Rng

_LARGEST_DENOMINATOR = 10**6
_MOST_QUANTILES = 1000


class Plan(NamedTuple):
    """Distinct quantiles p/r for all p of `ranks`, in increasing order, and what one person may change."""

    ranks: list[int]
    r: int
    # Of all quantiles together.
    eps: float
    # The weight of one person.
    person: int = 1
    neighbours: Neighbours = "add_remove"
    # Whether permute-and-flip selects a single quantile.
    flips: bool = True
    # Whether the quantiles are read from a tree of counts.
    tree: bool = False

    @property
    def levels(self) -> int:
        """How many selections one person's values count in."""
        return levels(len(self.ranks))

    @property
    def level(self) -> float:
        """ε of one level."""
        return rounded_down(Fraction(self.eps) / self.levels)

    def among(self, candidates: int) -> Plan:
        """Return the better plan for so many candidates."""
        few = candidates <= tree.MOST_CANDIDATES and len(self.ranks) >= tree.LEAST_QUANTILES
        return self._replace(tree=few and self.eps >= tree.LEAST_EPS * self._change)

    @property
    def _change(self) -> int:
        """By how much a person changes all counts of a level together."""
        return self.person * (2 if self.neighbours == "replace" else 1)

    def with_share(self, parts: int) -> Plan:
        """Return a plan with one of so many equal parts of ε."""
        return self._replace(eps=rounded_down(Fraction(self.eps) / parts))

    def accuracy(self, candidates: int, confidence: float) -> Accuracy:
        """Return the bound of each quantile, in the unit of weights."""
        target, ends = Target(self.ranks[0], self.r), (self.ranks[0], self.ranks[-1])
        if self.tree:
            # Chernoff's bounds are convex in q, so one of the ends has the largest.
            half = self.with_share(2).eps
            bound = max(tree.bound(candidates, p / self.r, half, self._change, 1 - confidence) for p in ends)
            return self._accuracy(bound)
        if len(self.ranks) == 1:
            rate = target.rate(self.eps, self.neighbours, self.person)
            return accuracy(target, rate, candidates, confidence, flips=self.flips)
        if self.neighbours == "replace":
            raise ParameterError('neighbours must be "add_remove" for several quantiles, got "replace"')
        # Ranks that one level is off by move the quantiles of the later ones as far. The least rate is that of a middle.
        rate = self.level / (2 * self.person)
        least = accuracy(target, rate, candidates * 2**12, 1 - (1 - confidence) / self.levels, flips=False)
        return self._accuracy(self.levels * least.rank_bound)

    def _accuracy(self, bound: float) -> Accuracy:
        share = Fraction(min(self.ranks[0], self.r - self.ranks[-1]), self.r)
        return Accuracy(bound, math.ceil(bound / share) if share else math.inf)

    def selected(self, candidates: Whole, weights: Whole, among: int, rng: Rng | None) -> list[int]:
        """Return a candidate for each quantile; `candidates` have the weights, and can be repeated."""
        if self.tree:
            shares = np.array(self.ranks) / self.r
            return tree.read(candidates, weights, among, shares, self.with_share(2).eps, self._change, rng)
        if len(self.ranks) > 1:
            return several(candidates, weights, among, self.ranks, self.r, self.level, self.person, rng)
        target = Target(self.ranks[0], self.r)
        _, sizes, costs = gathered(candidates, weights, among).runs(target)
        select = PermuteAndFlip if self.flips else ExponentialMechanism
        mechanism = select(self.eps, float(target.sensitivity(self.neighbours, self.person)), target.monotonic)
        return [int(mechanism.select(np.repeat(costs, sizes), rng=rng))]


def ranked(shares: Iterable[Fraction]) -> tuple[list[int], int]:
    """Return quantiles as p/r: the distinct p in increasing order, and a common r."""
    shares = set(shares)
    r = math.lcm(*(share.denominator for share in shares))
    if r > _LARGEST_DENOMINATOR:
        raise ParameterError(f"q must have a common denominator of at most {_LARGEST_DENOMINATOR}, got {r}")
    return sorted(int(share * r) for share in shares), r


def shares_of(q: Any) -> tuple[list[Fraction], bool]:
    """Return quantiles as they were typed, and whether there was one that was not in a list."""
    q = q.tolist() if isinstance(q, np.ndarray) else q
    alone = not isinstance(q, Sequence) or isinstance(q, str)
    shares = [_share(item) for item in ([q] if alone else q)]
    if not 1 <= len(shares) <= _MOST_QUANTILES:
        raise ParameterError(f"q must have 1 to {_MOST_QUANTILES} quantiles, got {len(shares)}")
    return shares, alone


def _share(value: Any) -> Fraction:
    value = python_value(value)
    if isinstance(value, bool) or not isinstance(value, (Rational, float)):
        raise ParameterTypeError(f"q must be a number from 0 to 1, got {outline(value)}")
    size = float(value)
    if not 0 <= size <= 1:
        hint = f": for percentile {size:g} write {size / 100:g}" if 1 < size <= 100 else ""
        raise ParameterError(f"q must be from 0 to 1, got {received(value)}{hint}")
    return as_typed(value) if isinstance(value, float) else Fraction(value)
