"""Polars: series and data frames."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._columns.column import Column, Frame, Nulls, ends_of_decimal, not_numbers, not_whole, places
from stairnoise._values import require


def column(values: Any) -> Column:
    """Read a series."""
    polars = sys.modules["polars"]
    dtype = values.dtype
    nulls = values.is_null().to_numpy() if values.null_count() else None
    numbers = _numbers(polars, values, nulls)
    lengths = values.chunk_lengths()
    ends = ends_of_decimal(dtype.precision or _MOST_PRECISE) if dtype.is_decimal() else _ENDS.get(str(dtype))

    def make(released: NDArray[Any], nulls: Nulls) -> Any:
        series = polars.Series(values.name, released)
        # Integers that NumPy has no type for were read as int64.
        if released.dtype == numbers.dtype and series.dtype != dtype:
            series = series.cast(dtype)
        if nulls is not None:
            series = series.set(polars.Series(nulls), None)
        if len(lengths) < 2:
            return series
        starts = np.cumsum([0, *lengths]).tolist()
        return polars.concat([series.slice(a, n) for a, n in zip(starts[:-1], lengths, strict=True)], rechunk=False)

    return Column(numbers, nulls, make, ends)


def frame(values: Any, names: list[Any]) -> Frame:
    """Read the named columns of a data frame."""
    labels = values.columns
    found = places(names, lambda name: [labels.index(name)] if name in labels else [])
    return Frame([values.get_column(labels[place]) for place in found], values.with_columns)


_MOST_PRECISE = 38
_ENDS = {"UInt128": (0, 2**63 - 1)}


def _numbers(polars: Any, values: Any, nulls: Nulls) -> NDArray[Any]:
    """Return the numbers with 0 for null, as int64 if NumPy has no type for them."""
    dtype = values.dtype
    if dtype.is_decimal():
        if dtype.scale != 0:
            raise not_whole(values, str(dtype))
    elif not (dtype.is_integer() or dtype.is_float()):
        raise not_numbers(values, type(dtype).__name__)
    filled = values if nulls is None else values.fill_null(0)
    if dtype.is_decimal() or str(dtype) in ("Int128", "UInt128"):
        # A number that does not fit becomes null. The other way, an error, would print numbers.
        filled = filled.cast(polars.Int64, strict=False)
        if filled.null_count():
            require("values", filled.is_not_null().to_numpy(), "within int64")
    numbers: NDArray[Any] = filled.to_numpy()
    return numbers
