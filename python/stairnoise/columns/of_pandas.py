"""pandas: series, indexes, one-dimensional extension arrays and data frames."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import dtype_name
from stairnoise.columns import of_arrow
from stairnoise.columns.column import Chunks, Column, Frame, Make, Nulls, not_numbers, places

# Types with a mask for missing values. That of bool is none of them.
_MASKED = [f"{kind}{bits}Dtype" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)] + ["Float32Dtype", "Float64Dtype"]
# The type of an array that only wraps one of NumPy's, by its names in pandas 2.1 and before.
_WRAPPED = ("NumpyEADtype", "PandasDtype")


def column(values: Any) -> Column:
    """Read a series, an index or an extension array."""
    pandas = sys.modules["pandas"]
    inner = _array(pandas, values)

    def make(released: NDArray[Any], nulls: Nulls) -> Any:
        data = inner.make(released, nulls)
        if issubclass(type(values), pandas.Series):
            # What pandas documents for subclasses, and how it passes on attrs and flags.
            made = values._constructor(data, index=values.index, name=values.name, copy=False)
            return made.__finalize__(values)
        if issubclass(type(values), pandas.Index):
            return pandas.Index(data, name=values.name, copy=False)
        return pandas.array(data, dtype=data.dtype, copy=False)

    return inner._replace(make=make)


def categories(values: Any, labels: tuple[Any, ...]) -> Make:
    """Return what makes a categorical column of these labels in the place of a series, an index or an extension array."""
    pandas = sys.modules["pandas"]
    dtype = pandas.CategoricalDtype(list(labels))

    def make(codes: NDArray[Any], nulls: Nulls) -> Any:
        data = pandas.Categorical.from_codes(codes if nulls is None else np.where(nulls, -1, codes), dtype=dtype)
        if issubclass(type(values), pandas.Series):
            return values._constructor(data, index=values.index, name=values.name, copy=False).__finalize__(values)
        return pandas.CategoricalIndex(data, name=values.name) if issubclass(type(values), pandas.Index) else data

    return make


def labels(values: Any) -> list[Any]:
    """Return the names of all columns of a data frame."""
    return list(values.columns)


def frame(values: Any, names: list[Any]) -> Frame:
    """Read the named columns of a data frame."""
    labels = values.columns

    def find(name: Any) -> list[int]:
        try:
            place = labels.get_loc(name)
        except Exception:  # KeyError, TypeError, or what a kind of index has of its own
            return []
        # A number, or for several columns a slice or a mask.
        return list(np.atleast_1d(np.arange(len(labels))[place]))

    found = places(names, find)

    def replace(released: list[Any]) -> Any:
        # Without arguments a copy that nobody else sees written to.
        made = values.assign()
        for place, new in zip(found, released, strict=True):
            made.isetitem(place, new)
        return made

    return Frame([values.iloc[:, place] for place in found], replace)


def _array(pandas: Any, values: Any) -> Column:
    """Read the array of a series or index, or an extension array; the column makes arrays of NumPy or pandas."""
    dtype = values.dtype
    if type(dtype).__name__ in _WRAPPED:
        dtype = dtype.numpy_dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind not in "iuf":
            raise not_numbers(values, dtype_name(dtype))
        return Column(Chunks([values.to_numpy()]), _unchanged)
    array = getattr(values, "array", values)
    if isinstance(dtype, tuple(getattr(pandas, name) for name in _MASKED)):
        return _masked(pandas, array)
    if isinstance(dtype, pandas.ArrowDtype):
        arrow = of_arrow.column(array.__arrow_array__())
        return arrow._replace(make=lambda released, nulls: type(array)(arrow.make(released, nulls)))
    if isinstance(dtype, pandas.SparseDtype) and dtype.kind in "iuf":
        return Column(Chunks([np.asarray(array)]), _unchanged)
    raise not_numbers(values, type(dtype).__name__)


def _unchanged(released: NDArray[Any], nulls: Nulls) -> NDArray[Any]:
    """Return the array itself, for types that have no null."""
    return released


def _masked(pandas: Any, array: Any) -> Column:
    nulls = array.isna()

    def make(released: NDArray[Any], nulls: Nulls) -> Any:
        kind = pandas.arrays.IntegerArray if released.dtype == np.int64 else pandas.arrays.FloatingArray
        return kind(released, np.zeros(len(released), np.bool_) if nulls is None else nulls)

    # What `to_numpy` copies, half the time of a release.
    numbers = getattr(array, "_data", None)
    dtype = array.dtype.numpy_dtype
    if not (type(numbers) is np.ndarray and numbers.dtype == dtype and numbers.shape == nulls.shape):
        numbers = array.to_numpy(dtype=dtype, na_value=0)
    return Column(Chunks([numbers], nulls if nulls.any() else None), make)
