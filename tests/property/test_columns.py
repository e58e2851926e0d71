"""Columns of any library, type, length, slice and chunks, with nulls anywhere, give the equal array's release, in their form.

Metamorphic evidence: the reference is the package itself on plain arrays, which other tests compare with oracles. Numbers are
clipped here in Python's integers.
"""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stairnoise as sn

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

INT64 = np.iinfo(np.int64)
WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
REAL = ["float32", "float64"]
MECHANISMS = [
    sn.DiscreteLaplace(0.5, 1),
    sn.DiscreteStaircase(1, 50),
    sn.Laplace(0.5, sensitivity=1),
    sn.DiscreteGaussian(1e6),
    sn.DiscreteLaplace(1, 2**40),
]


def polars_type(dtype: str) -> Any:
    if dtype == "decimal":
        return pl.Decimal(38, 0)
    return getattr(pl, dtype.replace("uint", "UInt").replace("int", "Int") if "u" in dtype else dtype.capitalize())


def arrow_type(dtype: str) -> Any:
    return pa.decimal128(38, 0) if dtype == "decimal" else getattr(pa, dtype)()


def of_pandas(values: list[Any], dtype: str, form: str) -> Any:
    if form == "ArrowDtype":
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([values], type=arrow_type(dtype))))
    if form == "nullable":
        return pd.Series(values, dtype=dtype.replace("uint", "UInt").capitalize() if "u" not in dtype else f"UInt{dtype[4:]}")
    return pd.Series(values, dtype=dtype)


@st.composite
def cases(draw: Any) -> tuple[Any, list[Any], str, Any]:
    """Draw a column, its content, its type, and a function that lists it."""
    library = draw(st.sampled_from(["pandas", "polars", "arrow", "chunked"]))
    form = draw(st.sampled_from(["numpy", "nullable", "ArrowDtype"]))
    dtype = draw(st.sampled_from([*WHOLE, *REAL, *([] if library == "pandas" and form != "ArrowDtype" else ["decimal"])]))
    if dtype in REAL:
        items: Any = st.floats(-1e6, 1e6, width=32)
    elif dtype == "decimal":
        items = st.integers(INT64.min, INT64.max).map(Decimal)
    else:
        ends = np.iinfo(dtype)
        top = min(ends.max, INT64.max)
        items = st.integers(ends.min, top) | st.sampled_from([ends.min, top, 0, 1])
    if not (library == "pandas" and form == "numpy"):
        items = st.none() | items
    parts = draw(st.lists(st.lists(items, max_size=12), min_size=1, max_size=4))
    values = [value for part in parts for value in part]
    if library == "pandas":
        column = of_pandas(values, dtype, form)
    elif library == "polars":
        column = pl.concat([pl.Series("n", part, dtype=polars_type(dtype)) for part in parts], rechunk=False)
    elif library == "arrow":
        column = pa.array(values, type=arrow_type(dtype))
    else:
        column = pa.chunked_array(parts, type=arrow_type(dtype))
    start = draw(st.integers(0, len(values)))
    stop = draw(st.integers(start, len(values)))
    return column[start:stop], values[start:stop], dtype


def listed(column: Any) -> list[Any]:
    items = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return [None if item is pd.NA else int(item) if isinstance(item, Decimal) else item for item in items]


@given(cases(), st.sampled_from(MECHANISMS), st.sampled_from(["zero", "keep"]), st.integers(1, 3))
def test_a_column_is_released_as_the_equal_array(case, mechanism, nulls, k):
    column, values, dtype = case
    options = {"max_partitions_contributed": k}
    plain = np.array([value or 0 for value in values], np.int64 if dtype in ("decimal", "uint64") else dtype)
    exact = mechanism.release(plain, rng=sn.SeededRng(5, allow_release=True), **options)
    found = mechanism.release(column, nulls=nulls, rng=sn.SeededRng(5, allow_release=True), **options)
    assert isinstance(found, pa.Array) if isinstance(column, pa.Array) else type(found) is type(column)
    whole = exact.dtype == np.int64
    numbers = exact.tolist()
    kept = [None if nulls == "keep" and value is None else number for value, number in zip(values, numbers, strict=True)]
    assert listed(found) == kept
    old, new = (str(one.type if hasattr(one, "type") else one.dtype) for one in (column, found))
    if whole and dtype in WHOLE:
        assert new.lower().startswith("int64")
    else:
        assert (old == new) or not (whole or dtype in REAL)
    if hasattr(column, "chunks"):
        assert [len(chunk) for chunk in found.chunks] == [len(chunk) for chunk in column.chunks]
    if hasattr(column, "chunk_lengths"):
        assert found.chunk_lengths() == column.chunk_lengths()
    if isinstance(column, pd.Series):
        assert found.index.equals(column.index)


@given(cases())
def test_the_first_null_is_named(case):
    column, values, _ = case
    rng = sn.SeededRng(5, allow_release=True)
    if None not in values:
        sn.Laplace(1, sensitivity=1).release(column, rng=rng)
        return
    with pytest.raises(sn.ParameterError) as caught:
        sn.Laplace(1, sensitivity=1).release(column, rng=rng)
    assert str(caught.value).endswith(f"got a null at index ({values.index(None)},)")
    assert rng._stream.fill_count == 0
