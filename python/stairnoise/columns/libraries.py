"""The library that a value comes from, by modules and names of its type's classes.

Nothing is imported, and values are not inspected. Only those of xarray are asked whether they stand for a computation of Dask.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from stairnoise._errors import LazyError

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
