"""Several quantiles of the same values (Kaplan, Schnapp and Stemmer 2022).

The middle quantile is selected first. It divides the values, so one person's value counts on one side only, and the other
quantiles are selected there in the same way. k quantiles need ⌈log₂(k + 1)⌉ levels, and each level has the same part of ε.

Values equal to a selected candidate would fall out. So every value has 12 random lower digits, which differ for nearly all equal
values, and results lose them. Of weights, each part as heavy as a person has its digits: one person more adds weight, and moves
none. So time and memory grow with the number of people, by 50 to 100 bytes each.
"""

from __future__ import annotations

import numpy as np

from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.quantiles.ranks import Target
from stairnoise.quantiles.weights import Weights, Whole, gathered
from stairnoise.rng import Rng

_DIGITS = 12
_SIZE = 1 << _DIGITS
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
    lower = _UNIFORM.select(np.zeros(_SIZE), int(parts.sum()), rng=rng)
    sizes = np.full(len(lower), person)
    sizes[np.cumsum(parts) - 1] = weights - (parts - 1) * person
    whole = gathered(np.repeat(candidates, parts) * _SIZE + lower, sizes, among * _SIZE)
    return [found >> _DIGITS for found in _selected(whole, ranks, r, eps, person, rng)]


def _selected(values: Weights, ranks: list[int], r: int, eps: float, person: int, rng: Rng | None) -> list[int]:
    if not ranks:
        return []
    middle = len(ranks) // 2
    p = ranks[middle]
    found = _one(values, Target(p, r), eps, person, rng)
    left = _selected(values.below(found), ranks[:middle], p, eps, person, rng)
    later = [rank - p for rank in ranks[middle + 1 :]]
    right = _selected(values.above(found), later, r - p, eps, person, rng)
    return [*left, found, *right]


def _one(values: Weights, target: Target, eps: float, person: int, rng: Rng | None) -> int:
    """Select one candidate."""
    starts, sizes, costs = values.runs(target)
    mechanism = ExponentialMechanism(eps, float(target.sensitivity("add_remove", person)), target.monotonic)
    index = int(mechanism.select(costs, multiplicities=sizes, rng=rng))
    return int(starts[index]) + _uniform(int(sizes[index]), rng)


def _uniform(size: int, rng: Rng | None) -> int:
    """Return a number below `size`: its block, and its place there."""
    blocks = np.full(-(-size // _SIZE), _SIZE)
    blocks[-1] -= len(blocks) * _SIZE - size
    block = int(_UNIFORM.select(np.zeros(len(blocks)), multiplicities=blocks, rng=rng))
    return block * _SIZE + int(_UNIFORM.select(np.zeros(int(blocks[block])), rng=rng))
