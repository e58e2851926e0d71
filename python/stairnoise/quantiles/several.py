"""Several quantiles of the same values (Kaplan, Schnapp and Stemmer 2022).

The middle quantile is selected first. It divides the values, so one person's value counts on one side only, and the other
quantiles are selected there in the same way. k quantiles need ⌈log₂(k + 1)⌉ levels, and each level has the same part of ε.

Values equal to a selected candidate would fall out. So every value has 20 random lower digits, which differ for nearly all equal
values, and results lose them. Of weights, each part as heavy as a person has its digits: one person more adds weight, and moves
none. So time and memory grow with the number of people: 10 million take 6 seconds and 1.7 GB.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.quantiles.ranks import Target, Weights, Whole, gathered
from stairnoise.rng import Rng

# With 12, so many of a million equal values would fall out with a candidate that the quantiles beside it were off by dozens.
_DIGITS = 20
SIZE = 1 << _DIGITS
# Digits that one selection draws.
_DRAWN = 10
# Selects any of several candidates with equal probability.
_UNIFORM = ExponentialMechanism(1.0, 1.0)


def levels(k: int) -> int:
    """Return how often one person's value counts for k quantiles: ⌈log₂(k + 1)⌉."""
    return k.bit_length()


def several(
    candidates: Whole, weights: Whole, among: int, ranks: list[int], r: int, eps: float, person: int, rng: Rng | None
) -> list[int]:
    """Return a candidate for each quantile rank/r, in increasing order; `candidates` have the weights, and can be repeated.

    `eps` is that of one level, and `person` the weight of one person.
    """
    parts = -(-weights // person)
    high, low = _UNIFORM.select(np.zeros(1 << _DRAWN), (2, int(parts.sum())), rng=rng)
    lower = (high << _DRAWN) + low
    sizes = np.full(len(lower), person)
    sizes[np.cumsum(parts) - 1] = weights - (parts - 1) * person
    whole = gathered(np.repeat(candidates, parts) * SIZE + lower, sizes, among * SIZE)
    return [found >> _DIGITS for found in _selected(whole, ranks, r, eps, person, rng)]


def _selected(whole: Weights, ranks: list[int], r: int, eps: float, person: int, rng: Rng | None) -> list[int]:
    def select(values: Weights, target: Target) -> tuple[int, Weights, Weights]:
        found = _one(values, target, eps, person, rng)
        return found, values.below(found), values.above(found)

    return _middle_first(ranks, r, whole, select)


def off(ranks: list[int], r: int, person: int, of_one: Callable[[Target], float]) -> list[float]:
    """Return how far each quantile can be off; `of_one` bounds a selection.

    The target moves with the ends of its part. The selected candidate, of which one person's values can be those that no side
    has, is an end of the next parts.
    """

    def bound(ends: tuple[float, float], target: Target) -> tuple[float, tuple[float, float], tuple[float, float]]:
        low, high = ends
        found = ((target.r - target.p) * low + target.p * high) / target.r + of_one(target)
        return found, (low, found + person), (found + person, high)

    return _middle_first(ranks, r, (0.0, 0.0), bound)


def _middle_first(ranks: list[int], r: int, part: Any, of_one: Callable[[Any, Target], tuple[Any, Any, Any]]) -> list[Any]:
    """Return what `of_one` finds for each quantile in a part; it returns the parts on both sides too."""
    if not ranks:
        return []
    middle = len(ranks) // 2
    p = ranks[middle]
    found, below, above = of_one(part, Target(p, r))
    left = _middle_first(ranks[:middle], p, below, of_one)
    return [*left, found, *_middle_first([rank - p for rank in ranks[middle + 1 :]], r - p, above, of_one)]


def _one(values: Weights, target: Target, eps: float, person: int, rng: Rng | None) -> int:
    """Select one candidate."""
    starts, sizes, costs = values.runs(target)
    mechanism = ExponentialMechanism(eps, float(target.sensitivity("add_remove", person)), target.monotonic)
    index = int(mechanism.select(costs, multiplicities=sizes, rng=rng))
    return int(starts[index]) + _uniform(int(sizes[index]), rng)


def _uniform(size: int, rng: Rng | None) -> int:
    """Return a number below `size`: its block, and its place there."""
    width = 1 << max((size - 1).bit_length() - 1, 0) // _DRAWN * _DRAWN
    blocks = np.full(-(-size // width), width)
    blocks[-1] -= len(blocks) * width - size
    block = int(_UNIFORM.select(np.zeros(len(blocks)), multiplicities=blocks, rng=rng))
    return block * width + (_uniform(int(blocks[block]), rng) if width > 1 else 0)
