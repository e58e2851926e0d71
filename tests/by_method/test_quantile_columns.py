"""Quantiles of columns of pandas, Polars and PyArrow are those of their numbers; nulls are refused."""

import numpy as np
import pytest

import stairnoise as sn

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

VALUES = [3, 1, 2, 2, 9]
COLUMNS = {
    "pandas": pd.Series(VALUES),
    "pandas Int64": pd.Series(VALUES, dtype="Int64"),
    "pandas float": pd.Series(VALUES, dtype=float),
    "pandas of Arrow": pd.Series(VALUES, dtype="int64[pyarrow]"),
    "Polars": pl.Series(VALUES),
    "Polars UInt8": pl.Series(VALUES, dtype=pl.UInt8),
    "Polars Float32": pl.Series(VALUES, dtype=pl.Float32),
    "Arrow": pa.array(VALUES),
    "Arrow chunks": pa.chunked_array([VALUES[:2], VALUES[2:]]),
}
NULLS = {
    "pandas": pd.Series([1.0, None, 3.0, None]),
    "pandas Int64": pd.Series([1, None, 3, None], dtype="Int64"),
    "Polars": pl.Series([1, None, 3, None]),
    "Polars NaN": pl.Series([1.0, None, 3.0, None]).fill_null(float("nan")),
    "Arrow": pa.array([1, None, 3, None]),
    "Arrow chunks": pa.chunked_array([[1, None], [3, None]]),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_columns_are_read_as_arrays(column):
    for q in (0.5, [0.25, 0.5, 0.75]):
        asked = {"bounds": (0, 10), "step": 1, "eps": 1}
        found, expected = (
            sn.quantile(one, q, **asked, rng=sn.SeededRng(4, allow_release=True)) for one in (column, np.array(VALUES))
        )
        assert np.array_equal(found.value, expected.value)


@pytest.mark.parametrize("column", NULLS.values(), ids=NULLS)
def test_nulls_are_refused_by_their_place(column):
    with pytest.raises(
        sn.ParameterError, match=r"^values must be numbers, got one that is null or NaN at index 1: leave such out"
    ):
        sn.quantile(column, 0.5, bounds=(0, 10), eps=1)


def test_unsigned_integers_keep_their_size():
    column = pa.array([2**63 + 2**62] * 60, pa.uint64())
    assert sn.quantile(column, 0.5, candidates=[0, 2.0**63, 2.0**63 + 2.0**62], eps=9).value == 2.0**63 + 2.0**62


@pytest.mark.parametrize("values", [pd.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]})])
def test_frames_are_refused(values):
    with pytest.raises(sn.ParameterError, match="values must be a single column, got a value of type"):
        sn.quantile(values, 0.5, bounds=(0, 10), eps=1)


@pytest.mark.parametrize("column", [pd.Series(["secret"]), pl.Series([True]), pa.array(["secret"])])
def test_other_columns_are_refused(column):
    with pytest.raises(sn.ParameterTypeError, match="values must be a column of real numbers, got a") as caught:
        sn.quantile(column, 0.5, bounds=(0, 10), eps=1)
    assert "secret" not in str(caught.value)
