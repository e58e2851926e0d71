"""A column as a release sees it, helpers for the files that make one, and the library that a value comes from.

A library is known by modules and names of a type's classes. Nothing is imported, and values are not inspected. Only those of
xarray are asked whether they stand for a computation of Dask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import LazyError, ParameterError, ParameterTypeError, received

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
    return (-(10**precision) + 1, 10**precision - 1) if precision <= _MOST_DIGITS else (_INT64.min, _INT64.max)


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


# Libraries

# By package: classes of columns, and classes of frames, which have named columns.
_COLUMNS = {
    "pandas": ({"Series", "Index", "ExtensionArray"}, {"DataFrame"}),
    "polars": ({"Series"}, {"DataFrame"}),
    "pyarrow": ({"Array", "ChunkedArray"}, {"Table", "RecordBatch"}),
}

# Classes that stand for a computation. None: all classes of the package.
_LAZY = {
    "dask": None,
    "dask_expr": None,
    "distributed": None,
    "duckdb": {"DuckDBPyConnection", "DuckDBPyRelation", "Expression"},
    "ibis": None,
    "polars": {"Expr", "LazyFrame", "LazyGroupBy"},
    "pyarrow": {"Dataset", "RecordBatchReader", "Scanner"},
    "pyspark": {"Column", "DataFrame", "Frame", "GroupedData", "Index", "RDD", "Series"},
}
# Classes that hold either numbers or a graph of tasks for Dask.
_PERHAPS_LAZY = {"xarray": {"DataArray", "Dataset", "Variable"}}

# The most frequent types, which need no search.
_PLAIN = frozenset({bool, int, float, list, tuple, np.ndarray})


def library(value: object) -> tuple[str, Literal["column", "frame"]] | None:
    """Return the package of a column or a frame, and which of the two it is; None for everything else."""
    kind = type(value)
    if kind in _PLAIN:
        return None
    for package, name in _origins(kind):
        columns, frames = _COLUMNS.get(package, ((), ()))
        if name in columns:
            return package, "column"
        if name in frames:
            return package, "frame"
    return None


def refuse_lazy(value: Any, name: str) -> None:
    """Refuse a value that stands for a computation: reading it would run the computation, and each run would be a release."""
    kind = type(value)
    if kind in _PLAIN:
        return
    for package, class_name in _origins(kind):
        names = _LAZY.get(package, ())
        perhaps = class_name in _PERHAPS_LAZY.get(package, ())
        if names is None or class_name in names or (perhaps and value.__dask_graph__() is not None):
            raise LazyError(
                f"{name} must be in memory, got a lazy value of type {kind.__name__} of {package}: "
                "collect it first, because each of its evaluations would be another release"
            )


def _origins(kind: type) -> list[tuple[str, str]]:
    """Return package and name of a type and of its bases; ``_duckdb`` is part of ``duckdb``."""
    modules = [(str(base.__module__), base.__name__) for base in kind.__mro__]
    return [(module.partition(".")[0].lstrip("_"), name) for module, name in modules]
