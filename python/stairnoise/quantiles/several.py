"""Several quantiles of the same values (Kaplan, Schnapp and Stemmer 2022).

The middle quantile is selected first. It divides the values, so one person's value counts on one side only, and the other
quantiles are selected there in the same way. k quantiles need ⌈log₂(k + 1)⌉ levels, and each level has the same part of ε.

Values equal to a selected candidate would fall out. So every value has 12 random lower digits, which differ for nearly all equal
values, and results lose them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._types import Floats
from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.quantiles.ranks import Target
from stairnoise.rng import Rng

_DIGITS = 12
_SIZE = 1 << _DIGITS
# Selects any of several candidates with equal probability.
_UNIFORM = ExponentialMechanism(1.0, 1.0)


class _Part(NamedTuple):
    """Sorted values, and the candidates from `low` to `high` for their quantiles."""

    values: NDArray[np.int64]
    low: int
    high: int


def levels(k: int) -> int:
    """Return how often one person's value counts for k quantiles: ⌈log₂(k + 1)⌉."""
    return k.bit_length()


def several(
    places: NDArray[np.int64], candidates: int, ranks: list[int], r: int, eps: float, rows: int, rng: Rng | None
) -> list[int]:
    """Return a candidate for each quantile rank/r, in increasing order; `places` are the candidates of the values.

    `eps` is that of one level.
    """
    lower = _UNIFORM.select(np.zeros(_SIZE), len(places), rng=rng)
    whole = _Part(np.sort(places * _SIZE + lower), 0, candidates * _SIZE - 1)
    return [found >> _DIGITS for found in _selected(whole, ranks, r, eps, rows, rng)]


def _selected(part: _Part, ranks: list[int], r: int, eps: float, rows: int, rng: Rng | None) -> list[int]:
    if not ranks:
        return []
    middle = len(ranks) // 2
    p = ranks[middle]
    found = _one(part, Target(p, r), eps, rows, rng)
    start, stop = np.searchsorted(part.values, [found, found + 1]).tolist()
    left = _selected(_Part(part.values[:start], part.low, found), ranks[:middle], p, eps, rows, rng)
    later = [rank - p for rank in ranks[middle + 1 :]]
    right = _selected(_Part(part.values[stop:], found, part.high), later, r - p, eps, rows, rng)
    return [*left, found, *right]


def _one(part: _Part, target: Target, eps: float, rows: int, rng: Rng | None) -> int:
    """Select one candidate."""
    starts, sizes, costs = _runs(part, target)
    mechanism = ExponentialMechanism(eps, float(target.sensitivity("add_remove", rows)), target.monotonic)
    index = int(mechanism.select(costs, multiplicities=sizes, rng=rng))
    return int(starts[index]) + _uniform(int(sizes[index]), rng)


def _runs(part: _Part, target: Target) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return runs of candidates of one cost: where they start, how many they are, and that cost.

    Runs alternate: the candidates below a value, and that value.
    """
    # The values are sorted: `np.unique` would sort them again.
    below = np.flatnonzero(np.diff(part.values, prepend=-1))
    upto = np.append(below[1:], len(part.values))[: len(below)]
    distinct = part.values[below]
    starts = np.empty(2 * len(distinct) + 1, np.int64)
    starts[1::2], starts[0] = distinct, part.low
    starts[2::2] = distinct + 1
    sizes = np.diff(starts, append=part.high + 1)
    ends = np.zeros((2, len(starts)), np.int64)
    ends[:, 2::2] = upto
    ends[0, 1::2], ends[1, 1::2] = below, upto
    return starts, sizes, target.costs(ends[0], ends[1], len(part.values))


def _uniform(size: int, rng: Rng | None) -> int:
    """Return a number below `size`: its block, and its place there."""
    blocks = np.full(-(-size // _SIZE), _SIZE)
    blocks[-1] -= len(blocks) * _SIZE - size
    block = int(_UNIFORM.select(np.zeros(len(blocks)), multiplicities=blocks, rng=rng))
    return block * _SIZE + int(_UNIFORM.select(np.zeros(int(blocks[block])), rng=rng))
