"""Polars: series and data frames."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._columns.column import Chunks, Column, Frame, Nulls, ends_of_decimal, not_numbers, not_whole, places
from stairnoise._values import require

# Longer columns are read in blocks: Polars gives back the memory of one before it takes that of the next. New memory for all of
# a long column takes up to three times as long as reading it, and for a short column blocks do.
_SHORT = 2**20
_BLOCK = 2**18
# The precision of a decimal that states none.
_MOST_PRECISE = 38
# Integers of 128 bits, for which NumPy has no type, and the part of them that int64 holds.
_LONG = {"Int128": None, "UInt128": (0, 2**63 - 1)}


def column(values: Any) -> Column:
    """Read a series."""
    polars = sys.modules["polars"]
    dtype = values.dtype
    numbers, nulls = _read(polars, values)
    ends = ends_of_decimal(dtype.precision or _MOST_PRECISE) if dtype.is_decimal() else _LONG.get(str(dtype))
    lengths = values.chunk_lengths()

    def make(released: NDArray[Any], nulls: Nulls) -> Any:
        series = polars.Series(values.name, released)
        # Only integers that were read as int64 are of another type here.
        if released.dtype == numbers.dtype and series.dtype != dtype:
            series = series.cast(dtype)
        if nulls is not None:
            series = series.zip_with(polars.Series(~nulls), polars.Series([None], dtype=series.dtype))
        if len(lengths) < 2:
            return series
        starts = np.cumsum([0, *lengths]).tolist()
        slices = [series.slice(start, length) for start, length in zip(starts[:-1], lengths, strict=True)]
        return polars.concat(slices, rechunk=False)

    return Column(Chunks([numbers], nulls), make, ends)


def frame(values: Any, names: list[Any]) -> Frame:
    """Read the named columns of a data frame."""
    labels = values.columns
    found = places(names, lambda name: [labels.index(name)] if isinstance(name, str) and name in labels else [])
    return Frame([values.get_column(labels[place]) for place in found], values.with_columns)


def _read(polars: Any, values: Any) -> tuple[NDArray[Any], Nulls]:
    """Return numbers with 0 for null, as int64 if NumPy has no type for them, and the places of nulls."""
    dtype = values.dtype
    if dtype.is_decimal():
        if dtype.scale != 0:
            raise not_whole(values, str(dtype))
    elif not (dtype.is_integer() or dtype.is_float()):
        raise not_numbers(values, type(dtype).__name__)
    nulls = _nulls(values)
    if dtype.is_decimal() or str(dtype) in _LONG:
        # A number that does not fit becomes null. An error of Polars would print it.
        values = values.fill_null(0).cast(polars.Int64, strict=False)
        require("values", _in_blocks(values, lambda part: part.is_not_null()), "within int64")
    elif nulls is not None:
        zero = polars.Series([0], dtype=dtype)
        # Takes two thirds of the time of `fill_null`.
        return _in_blocks(values, lambda part: part.zip_with(part.is_not_null(), zero)), nulls
    return (values.to_numpy() if values.n_chunks() == 1 else _in_blocks(values, lambda part: part)), nulls


def _nulls(values: Any) -> Nulls:
    if not values.null_count():
        return None
    nulls = np.zeros(len(values), np.bool_)
    nulls[values.is_null().arg_true().to_numpy()] = True  # half the time of an array of Polars' bits
    return nulls


def _in_blocks(values: Any, read: Callable[[Any], Any]) -> NDArray[Any]:
    """Return an array of what `read` makes of a series."""
    length = len(values)
    if length <= _SHORT:
        numbers: NDArray[Any] = read(values).to_numpy()
        return numbers
    whole = np.empty(length, read(values.head(0)).to_numpy().dtype)
    for start in range(0, length, _BLOCK):
        whole[start : start + _BLOCK] = read(values.slice(start, _BLOCK)).to_numpy()
    return whole
