"""The privacy loss of a distribution that is a list of probabilities: the list against itself, shifted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.largest import Largest
from stairnoise.accounting.losses.listed import Listed
from stairnoise.distributions import infinitely_divisible as theory
from stairnoise.mechanisms.laplace.loss import Steps

# In nepers: where the list of a distribution ends.
_LISTED = 200.0


def symmetric(key: tuple[Any, ...], above: Floats, shift: int, eps: float) -> Listed:
    """Loss of the symmetric distribution with ln P(±k) = above[k] under a shift.

    Outcomes without a neighbour in the list count with the loss `eps`.
    """
    size = above.size
    k = np.arange(shift - size + 1, size)
    beyond = 2 * math.exp(float(np.logaddexp.reduce(above[size - shift :]))) if shift < size else 1.0
    return Listed((*key, shift), above[np.abs(k)], above[np.abs(k - shift)], eps, beyond)


def one_term(term: theory.Term, shift: int, eps: float) -> Listed | Steps:
    """Loss of one term: it falls from its mode, so that the largest shift is the worst."""
    if term.shape == 1:
        return Steps(np.array(eps), np.array(float(shift)))
    size = 1 + shift + math.ceil(theory.reach(term.shape, term.rate, _LISTED))
    return symmetric(("terms", term), theory.single(term.shape, term.rate, size), shift, eps)


def two_terms(terms: Sequence[theory.Term], shift: int, eps: float) -> Listed:
    """Loss of two terms of scale 1, whose sum falls from its mode as both do."""
    return symmetric(("terms", *terms), _finite(theory.log_pmf(terms, _LISTED)), shift, eps)


def outcomes_of_all_shifts(terms: Sequence[theory.Term], largest: int) -> int:
    """How many outcomes `all_shifts` would list."""
    return 2 * largest * (math.ceil(_LISTED * len(terms) / terms[0].rate) + largest)


def all_shifts(terms: Sequence[theory.Term], largest: int, eps: float) -> Listed | Largest:
    """Loss of terms of the scales 1, 2, …, whose sum may rise beside its mode: of the worst shift up to `largest`."""
    above = _finite(theory.log_pmf(terms, _LISTED))
    pairs = [symmetric(("terms", *terms), above, shift, eps) for shift in range(1, largest + 1)]
    return pairs[0] if largest == 1 else Largest(pairs)


def _finite(above: Floats) -> Floats:
    """Leave out the end of a list that has underflowed."""
    lost = np.flatnonzero(~np.isfinite(above))
    return above[: lost[0]] if lost.size else above
