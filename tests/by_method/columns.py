"""Columns of every library, for tests of their release."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import stairnoise as sn

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

# Its noise is nonzero with a probability of 2 e^-60 a value.
SILENT = sn.DiscreteLaplace(60.0, sensitivity=1)
BEYOND = 2**53 + 1
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
POLARS = {name: getattr(pl, name.replace("u", "U").replace("int", "Int")) for name in INTEGERS}
NULLABLE = {name: name.replace("u", "U").replace("int", "Int") for name in INTEGERS}


def seeded() -> sn.SeededRng:
    return sn.SeededRng(4, allow_release=True)


def listed(column: Any) -> list[Any]:
    """Return the column as Python numbers, with None for null."""
    items = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return [None if item is None or item is pd.NA else int(item) if isinstance(item, Decimal) else item for item in items]


Make = Callable[[list[Any], str], Any]

# Each library's columns of integers of a type.
HOLDERS: dict[str, Make] = {
    "Series": lambda v, t: pd.Series(v, dtype=t, index=range(10, 10 + len(v)), name="n"),
    "nullable Series": lambda v, t: pd.Series(v, dtype=NULLABLE[t], index=range(10, 10 + len(v)), name="n"),
    "Arrow Series": lambda v, t: pd.Series(v, dtype=f"{t}[pyarrow]", index=range(10, 10 + len(v)), name="n"),
    "NumPy extension array": lambda v, t: pd.array(np.array(v, t), dtype=np.dtype(t)),
    "nullable array": lambda v, t: pd.array(v, dtype=NULLABLE[t]),
    "Arrow extension array": lambda v, t: pd.array(v, dtype=f"{t}[pyarrow]"),
    "Index": lambda v, t: pd.Index(v, dtype=t, name="n"),
    "Polars": lambda v, t: pl.Series("n", v, dtype=POLARS[t]),
    "Polars chunks": lambda v, t: pl.concat([pl.Series("n", part, dtype=POLARS[t]) for part in (v[:1], v[1:])], rechunk=False),
    "Arrow": lambda v, t: pa.array(v, type=getattr(pa, t)()),
    "Arrow slice": lambda v, t: pa.array([1, *v, 1], type=getattr(pa, t)())[1:-1],
    "Arrow chunks": lambda v, t: pa.chunked_array([v[:1], [], v[1:]], type=getattr(pa, t)()),
    "no chunks": lambda v, t: pa.chunked_array([v] if v else [], type=getattr(pa, t)()),
}
# The libraries whose columns can have nulls.
WITH_NULLS = [name for name in HOLDERS if name not in ("Series", "NumPy extension array", "Index")]


def wide(holder: str) -> tuple[type, Any]:
    """Return the class and type of this library's signed 64-bit integers."""
    column = HOLDERS[holder]([1], "int64")
    return type(column), kind(column)


def kind(column: Any) -> Any:
    return column.type if hasattr(column, "type") else column.dtype
