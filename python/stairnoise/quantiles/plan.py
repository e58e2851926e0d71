"""Which quantiles are selected, how, and how accurately: of an array, or of each group of a query."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np

from stairnoise._digits import as_typed
from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._numpy_scalars import python_value
from stairnoise._parameters import number_array
from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.mechanisms.permute_and_flip.mechanism import PermuteAndFlip
from stairnoise.numerics.rounding import rounded_down
from stairnoise.quantiles import tree
from stairnoise.quantiles.ranks import Accuracy, Neighbours, Target, Weights, Whole, bound, gathered
from stairnoise.quantiles.several import SIZE, levels, off, several
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
    def alone(self) -> bool:
        """Whether every quantile is selected from all values: two of them have two levels in any case."""
        return len(self.ranks) <= self.levels

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
        shares = [Fraction(p, self.r) for p in self.ranks]
        bounds = self._bounds(candidates, 1 - confidence)
        needed = [t / min(share, 1 - share) if 0 < share < 1 else math.inf for t, share in zip(bounds, shares, strict=True)]
        return Accuracy(max(bounds), max(math.ceil(people) if people < math.inf else people for people in needed))

    def _bounds(self, candidates: int, chance: float) -> list[float]:
        """Return how far each quantile can be off; more has at most this chance."""
        if self.tree:
            half, ends = self.with_share(2).eps, {self.ranks[0], self.ranks[-1]}
            # It is convex in q, so one of the ends has the largest. Of 256 candidates a bound takes 10 ms.
            return [max(tree.bound(candidates, p / self.r, half, self._change, chance) for p in ends)] * len(self.ranks)
        # A quantile depends on one selection of each level, and sorting can exchange two.
        chance /= self.levels
        if not self.alone and self.neighbours == "replace":
            raise ParameterError('neighbours must be "add_remove" for more than two quantiles, got "replace"')

        def of_one(target: Target) -> float:
            rate = target.rate(self.level, self.neighbours, self.person)
            return bound(rate, candidates if self.alone else candidates * SIZE, chance, flips=self.alone and self.flips)

        if self.alone:
            return [max(of_one(Target(p, self.r)) for p in self.ranks)] * len(self.ranks)
        return off(self.ranks, self.r, self.person, of_one)

    def selected(self, candidates: Whole, weights: Whole, among: int, rng: Rng | None) -> list[int]:
        """Return a candidate for each quantile; `candidates` have the weights, and can be repeated."""
        if self.tree:
            shares = np.array(self.ranks) / self.r
            return tree.read(candidates, weights, among, shares, self.with_share(2).eps, self._change, rng)
        if not self.alone:
            return several(candidates, weights, among, self.ranks, self.r, self.level, self.person, rng)
        whole = gathered(candidates, weights, among)
        return sorted(self._one(whole, Target(p, self.r), rng) for p in self.ranks)

    def _one(self, whole: Weights, target: Target, rng: Rng | None) -> int:
        """Select one quantile from all values."""
        _, sizes, costs = whole.runs(target)
        select = PermuteAndFlip if self.flips else ExponentialMechanism
        mechanism = select(self.level, float(target.sensitivity(self.neighbours, self.person)), target.monotonic)
        return int(mechanism.select(np.repeat(costs, sizes), rng=rng))


def ranked(shares: Iterable[Fraction]) -> tuple[list[int], int]:
    """Return quantiles as p/r: the distinct p in increasing order, and a common r."""
    shares = set(shares)
    r = math.lcm(*(share.denominator for share in shares))
    if r > _LARGEST_DENOMINATOR:
        raise ParameterError(f"q must have a common denominator of at most {_LARGEST_DENOMINATOR}, got {received(r)}")
    return sorted(int(share * r) for share in shares), r


def shares_of(q: Any) -> tuple[list[Fraction], bool]:
    """Return quantiles as they were typed, and whether there was one that was not in a list."""
    q = python_value(q)
    if not isinstance(q, (list, tuple, str, Rational, float, Decimal)):
        q = number_array(q, "q").tolist()
    alone = not isinstance(q, (list, tuple))
    shares = [_share(item) for item in ([q] if alone else q)]
    if not 1 <= len(shares) <= _MOST_QUANTILES:
        raise ParameterError(f"q must have 1 to {_MOST_QUANTILES} quantiles, got {len(shares)}")
    return shares, alone


def _share(value: Any) -> Fraction:
    value = python_value(value)
    # A timedelta of NumPy calls itself a number, and a signalling NaN cannot be compared.
    wrong = isinstance(value, (bool, np.generic)) or (isinstance(value, Decimal) and value.is_nan())
    if wrong or not isinstance(value, (Rational, float, Decimal)):
        raise ParameterTypeError(f"q must be a number from 0 to 1, got {outline(value)}")
    size: Any = value
    if not 0 <= size <= 1:
        hint = f": for percentile {float(size):g} write {float(size) / 100:g}" if 1 < size <= 100 else ""
        raise ParameterError(f"q must be from 0 to 1, got {received(value)}{hint}")
    return as_typed(value) if isinstance(value, float) else Fraction(value)
