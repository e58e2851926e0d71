"""A column as a release sees it, and helpers for the files that make one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, received

Nulls = NDArray[np.bool_] | None

_INT64 = np.iinfo(np.int64)
# 10**18 is the largest power of ten in int64.
_MOST_DIGITS = 18


class Chunks(NamedTuple):
    """Numbers in one array or several."""

    # At least one, all of one dtype of kind i, u or f.
    arrays: list[NDArray[Any]]
    # Places of nulls, which count as 0 whatever the arrays hold there; None if there is no null.
    nulls: Nulls = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the numbers."""
        return self.arrays[0].dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all of them."""
        return sum(map(len, self.arrays)), *self.arrays[0].shape[1:]

    def whole(self) -> NDArray[Any]:
        """Return all of them in one array, a copy only if needed; values of uint64 are capped at the largest int64."""
        whole = self.arrays[0]
        if len(self.arrays) > 1 or self.nulls is not None:
            whole = np.concatenate(self.arrays)
        if self.nulls is not None:
            whole[self.nulls] = 0
        return np.minimum(whole, _INT64.max).astype(np.int64) if whole.dtype == np.uint64 else whole


# Makes a column of the library from numbers and the places that become null.
Make = Callable[[NDArray[Any], Nulls], Any]


def unchanged(numbers: NDArray[Any], nulls: Nulls) -> NDArray[Any]:
    """Return the numbers themselves, for columns without nulls."""
    return numbers


class Column(NamedTuple):
    """Numbers with one axis, independent of their library."""

    chunks: Chunks
    # Takes released int64, float64 or float32.
    make: Make
    # Smallest and largest integer that a decimal's digits allow.
    ends: tuple[int, int] | None = None

    def within_ends(self, noisy: NDArray[Any]) -> NDArray[Any]:
        """Clip sums to the ends."""
        return noisy if self.ends is None or noisy.dtype.kind == "f" else np.clip(noisy, *self.ends, out=noisy)


class Frame(NamedTuple):
    """The named columns of a frame."""

    columns: list[Any]
    # Makes a frame in which these columns replace the named ones.
    replace: Callable[[list[Any]], Any]


def not_numbers(values: object, dtype: str) -> ParameterTypeError:
    """Return the error for a column of anything else; `dtype` names its type without content such as categories."""
    return ParameterTypeError(f"values must be a column of real numbers, got a {type(values).__name__} of dtype {dtype}")


def not_whole(values: object, dtype: str) -> ParameterError:
    """Return the error for decimals with digits after the point: float64 would round them."""
    return ParameterError(
        "values must be decimals of scale 0, or be converted to float64 or to integers of a smaller unit, "
        f"got a {type(values).__name__} of dtype {dtype}"
    )


def ends_of_decimal(precision: int) -> tuple[int, int]:
    """Return the smallest and the largest integer that fit both this many digits and int64."""
    if precision > _MOST_DIGITS:
        return _INT64.min, _INT64.max
    return -(10**precision) + 1, 10**precision - 1


def places(names: list[Any], find: Callable[[Any], list[int]]) -> list[int]:
    """Return the places of the named columns in their frame; `find` returns all places of one name."""
    found: list[int] = []
    for index, name in enumerate(names):
        where = find(name)
        if len(where) != 1:
            raise ParameterError(
                f"columns must name columns of the frame, got {received(name)} at index ({index},), "
                f"which {'names none' if not where else 'more than one has'}"
            )
        if where[0] in found:
            raise ParameterError(f"columns must name each column once, got {received(name)} again at index ({index},)")
        found += where
    return found
