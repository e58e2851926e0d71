"""Polars: series and data frames."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._parameters import require
from stairnoise.columns import of_arrow
from stairnoise.columns.column import Chunks, Column, Frame, Make, Nulls, ends_of_decimal, not_numbers, not_whole, places

# The precision of a decimal that states none.
_MOST_PRECISE = 38
# Integers of 128 bits, for which NumPy has no type, and the part of their range within int64.
_LONG = {"Int128": (-(2**63), 2**63 - 1), "UInt128": (0, 2**63 - 1)}


def column(values: Any) -> Column:
    """Read a series."""
    polars = sys.modules["polars"]
    dtype = values.dtype
    chunks = _read(polars, values)
    ends = ends_of_decimal(dtype.precision or _MOST_PRECISE) if dtype.is_decimal() else None
    lengths = values.chunk_lengths()

    def make(released: NDArray[Any], nulls: Nulls) -> Any:
        # No public function of Polars adds nulls to numbers without a copy.
        lent = released if nulls is None else _native.ArrowArray(released, of_arrow.bits_of(nulls))
        series = polars.Series(lent).alias(values.name)
        if ends is not None and released.dtype == np.int64:
            series = series.cast(dtype)
        return series if len(lengths) < 2 else polars.concat(of_arrow.slices(series, lengths), rechunk=False)

    return Column(chunks, make, ends)


def categories(values: Any, labels: tuple[Any, ...]) -> Make:
    """Return a function that makes a series of these labels: an Enum for texts, and Int64 for integers, which have no Enum."""
    polars = sys.modules["polars"]
    known = polars.Series(labels, dtype=polars.Enum(labels) if isinstance(labels[0], str) else polars.Int64)

    def make(codes: NDArray[Any], nulls: Nulls) -> Any:
        places = polars.Series(codes if nulls is None else _native.ArrowArray(codes, of_arrow.bits_of(nulls)))
        return known.gather(places).alias(values.name)

    return make


def frame(values: Any, names: list[Any]) -> Frame:
    """Read the named columns of a data frame."""
    labels = values.columns
    found = places(names, lambda name: [labels.index(name)] if isinstance(name, str) and name in labels else [])
    return Frame([values.get_column(labels[place]) for place in found], values.with_columns)


def _read(polars: Any, values: Any) -> Chunks:
    """View the memory of a series, after a conversion to int64 if NumPy has no type for its integers."""
    dtype = values.dtype
    if dtype.is_decimal():
        if dtype.scale != 0:
            raise not_whole(values, str(dtype))
    elif not (dtype.is_integer() or dtype.is_float()):
        raise not_numbers(values, type(dtype).__name__)
    if str(dtype) in _LONG:
        values = values.clip(*_LONG[str(dtype)]).cast(polars.Int64)
    elif dtype.is_decimal():
        # A number that does not fit becomes null: an error of Polars would print the number.
        converted = values.cast(polars.Int64, strict=False)
        require("values", (converted.is_not_null() | values.is_null()).to_numpy(), "within int64")
        values = converted
    kind, lent = _native.arrow_chunks(values.__arrow_c_stream__(None))
    arrays = [numbers.view(kind) for numbers, _, _ in lent] or [np.empty(0, kind)]
    if not values.null_count():
        return Chunks(arrays)
    places = [
        np.zeros(len(array), np.bool_) if valid is None else of_arrow.nulls_of_bits(valid, skipped, len(array))
        for array, (_, valid, skipped) in zip(arrays, lent, strict=True)
    ]
    return Chunks(arrays, Chunks(places).whole())
