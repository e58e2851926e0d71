"""Public candidates for a quantile. A value counts as the nearest candidate, whatever the other values are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._digits import as_typed
from stairnoise._errors import ParameterError
from stairnoise._parameters import exact_array, number_array, positive, refuse, single
from stairnoise._types import Floats

MOST_CANDIDATES = 10**6
# Candidates of a default step, at most: the step limits the accuracy, and a selection among so many takes 11 ms.
_FINE = 100_001
_EXACT = 2**53


class Lattice(NamedTuple):
    """Candidates, in increasing order; `step` is None if they were listed."""

    points: Floats
    step: Fraction | None

    def nearest(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the candidate nearest to every value: of two, the one with an even index."""
        points = self.points
        if self.step is not None:
            # Rounding may move a value near a middle to the other side. That depends on this value alone.
            place = np.rint((np.clip(values, points[0], points[-1]) - points[0]) / float(self.step))
            return np.asarray(np.clip(place, 0, len(points) - 1), np.int64)
        right = np.clip(np.searchsorted(points, values), 1, max(len(points) - 1, 1))
        left = right - 1
        right = np.minimum(right, len(points) - 1)
        # Half of each, because a difference of two finite numbers may be infinite.
        to_left, to_right = values / 2 - points[left] / 2, points[right] / 2 - values / 2
        takes_right = (to_left > to_right) | ((to_left == to_right) & (right % 2 == 0))
        return np.asarray(np.where(takes_right, right, left), np.int64)


def lattice(bounds: object, step: object, candidates: object, *, whole: bool, most: int | None = None) -> Lattice:
    """Check the arguments that give candidates; `whole` says whether the values are integers by their type.

    A default step gives at most `most` candidates.
    """
    if candidates is not None:
        if bounds is not None or step is not None:
            raise ParameterError("candidates must be given without bounds and step, got both")
        return Lattice(_listed(candidates), None)
    if bounds is None:
        raise ParameterError("bounds must be given, chosen without looking at the values, which are private; got none")
    low, high = _bounds(bounds)
    width = _default_step(high - low, most, whole=whole) if step is None else as_typed(positive(step, "step"))
    count = (high - low) // width + 1
    if count > MOST_CANDIDATES:
        raise ParameterError(f"step must give at most {MOST_CANDIDATES} candidates between the bounds, got {float(width):g}")
    return Lattice(_spaced(low, width, int(count)), width)


def _listed(candidates: object) -> Floats:
    points = exact_array(candidates, "candidates")
    if points.ndim != 1 or not 1 <= len(points) <= MOST_CANDIDATES:
        raise ParameterError(f"candidates must be a list of 1 to {MOST_CANDIDATES} numbers, got shape {points.shape}")
    refuse("candidates", points, np.isfinite(points), "finite")
    refuse("candidates", points[1:], np.diff(points) > 0, "in increasing order")
    return np.array(points)


def _bounds(bounds: Any) -> tuple[Fraction, Fraction]:
    ends = number_array(bounds, "bounds")
    if ends.shape != (2,):
        raise ParameterError(f"bounds must be a lower and an upper number, got shape {ends.shape}")
    low, high = (single(end, "bounds") for end in ends.tolist())
    refuse("bounds", (low, high), -math.inf < low <= high < math.inf, "finite, the lower one first")
    return as_typed(low), as_typed(high)


def _default_step(span: Fraction, most: int | None, *, whole: bool) -> Fraction:
    """Return 1 for integers if that gives few enough candidates, else the finest 1, 2 or 5 times a power of ten that does."""
    if span == 0 or (whole and span < (most or MOST_CANDIDATES)):
        return Fraction(1)
    few = most or _FINE
    return next(step for step in _round_numbers(span / (few - 1)) if span // step < few)


def _round_numbers(least: Fraction) -> Iterator[Fraction]:
    """Return numbers such as 0.1, 0.2, 0.5 and 1, from one that is not above `least` on."""
    power = len(str(least.numerator)) - len(str(least.denominator)) - 1
    while True:
        yield from (digit * Fraction(10) ** power for digit in (1, 2, 5))
        power += 1


def _spaced(low: Fraction, step: Fraction, count: int) -> Floats:
    """Return low, low + step, ..., rounded once."""
    common = math.lcm(low.denominator, step.denominator)
    first, width = int(low * common), int(step * common)
    if max(abs(first), abs(first + count * width), common) < _EXACT:
        return np.asarray((first + width * np.arange(count)) / common, np.float64)
    return np.array([(first + width * place) / common for place in range(count)])
