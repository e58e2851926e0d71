"""The least parameter that is enough, among numbers of 16 significant bits (docs/contract.md, section 12)."""

from __future__ import annotations

import math
from collections.abc import Callable

from stairnoise.numerics.roots import least_integer

# Candidates in an octave: 2**15 <= m < 2**16.
_TO_AN_OCTAVE = 2**15


def least(enough: Callable[[float], bool], log2_least: int, log2_most: int) -> float:
    """Return the least candidate from 2**log2_least to 2**log2_most that is enough; inf if the last one is not.

    Where a candidate above it is not enough, bisection may end at one that is enough and not the least.
    """

    def holds(index: int) -> bool:
        return enough(_candidate(index))

    first, last = log2_least * _TO_AN_OCTAVE, log2_most * _TO_AN_OCTAVE
    if holds(first):
        return _candidate(first)
    if not holds(last):
        return math.inf
    return _candidate(least_integer(holds, first, last))


def _candidate(index: int) -> float:
    octave, place = divmod(index, _TO_AN_OCTAVE)
    return math.ldexp(1 + place / _TO_AN_OCTAVE, octave)
