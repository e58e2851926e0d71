"""pandas: series, indexes, one-dimensional extension arrays and data frames."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import dtype_name
from stairnoise.columns import of_arrow
from stairnoise.columns.column import Chunks, Column, Frame, Make, Nulls, not_numbers, places, unchanged

# Types with a mask for missing values, except that of bool.
_MASKED = [f"{kind}{bits}Dtype" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)] + ["Float32Dtype", "Float64Dtype"]
# The type of an array that only wraps a NumPy array, by its names since pandas 2.1 and before.
_WRAPPED = ("NumpyEADtype", "PandasDtype")


def column(values: Any) -> Column:
    """Read a series, an index or an extension array."""
    inner = _array(sys.modules["pandas"], values)

    return inner._replace(make=lambda released, nulls: _like(values, inner.make(released, nulls)))


def _like(values: Any, data: Any) -> Any:
    """Return an array as a series, an index or an extension array, as `values` is."""
    pandas = sys.modules["pandas"]
    if issubclass(type(values), pandas.Series):
        # As pandas documents for subclasses; `__finalize__` passes on attrs and flags.
        return values._constructor(data, index=values.index, name=values.name, copy=False).__finalize__(values)
    if issubclass(type(values), pandas.Index):
        return pandas.Index(data, name=values.name, copy=False)
    return pandas.array(data, dtype=data.dtype, copy=False)


def categories(values: Any, labels: tuple[Any, ...]) -> Make:
    """Return a function that makes a categorical column of these labels, of the class of `values`."""
    pandas = sys.modules["pandas"]
    dtype = pandas.CategoricalDtype(list(labels))

    def make(codes: NDArray[Any], nulls: Nulls) -> Any:
        return _like(values, pandas.Categorical.from_codes(codes if nulls is None else np.where(nulls, -1, codes), dtype=dtype))

    return make


def frame(values: Any, names: list[Any]) -> Frame:
    """Read the named columns of a data frame."""
    labels = values.columns

    def find(name: Any) -> list[int]:
        try:
            place = labels.get_loc(name)
        except Exception:  # KeyError, TypeError, or what a kind of index has of its own
            return []
        # A number; for several columns of one name a slice or a mask.
        return list(np.atleast_1d(np.arange(len(labels))[place]))

    found = places(names, find)

    def replace(released: list[Any]) -> Any:
        # Without arguments `assign` returns a copy, so writing to it changes nobody else's frame.
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
        return Column(Chunks([values.to_numpy()]), unchanged)
    array = getattr(values, "array", values)
    if isinstance(dtype, tuple(getattr(pandas, name) for name in _MASKED)):
        return _masked(pandas, array)
    if isinstance(dtype, pandas.ArrowDtype):
        arrow = of_arrow.column(array.__arrow_array__())
        return arrow._replace(make=lambda released, nulls: type(array)(arrow.make(released, nulls)))
    if isinstance(dtype, pandas.SparseDtype) and dtype.kind in "iuf":
        return Column(Chunks([np.asarray(array)]), unchanged)
    raise not_numbers(values, type(dtype).__name__)


def _masked(pandas: Any, array: Any) -> Column:
    nulls = array.isna()

    def make(released: NDArray[Any], nulls: Nulls) -> Any:
        kind = pandas.arrays.IntegerArray if released.dtype == np.int64 else pandas.arrays.FloatingArray
        return kind(released, np.zeros(len(released), np.bool_) if nulls is None else nulls)

    # `to_numpy` would copy this, which is half the time of a release.
    numbers = getattr(array, "_data", None)
    dtype = array.dtype.numpy_dtype
    if not (type(numbers) is np.ndarray and numbers.dtype == dtype and numbers.shape == nulls.shape):
        numbers = array.to_numpy(dtype=dtype, na_value=0)
    return Column(Chunks([numbers], nulls if nulls.any() else None), make)
