"""Labels of every type, stored in every way that an engine has, get the noise of the label, or the engine refuses.

Evidence: equality with `release` of Python's own values. A label that is read as another type has other noise, which is
equal by chance with a probability of 5e-4.
"""

import datetime
import functools
import re
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

import stairnoise as sn
from stairnoise.engines import add_to_duckdb, add_to_sqlite, polars_expr, release_part
from tests.combinations import looped, pairs
from tests.engines.table import KEYED, STATISTIC

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

MECHANISM = sn.DiscreteLaplace(0.001)
LABELS: dict[str, list[Any]] = {
    "text": ["", "a", "Zürich", "é", "e\u0301", "2026-01-02", "1", "0", "true", "True", "o'brien"],
    "integer": [0, 1, -1, 2, 255, -(2**31), 2**53, -(2**63), 2**63 - 1],
    "boolean": [True, False],
    "date": [datetime.date(1582, 10, 4), datetime.date(1969, 12, 31), datetime.date(1970, 1, 1), datetime.date(2026, 1, 2)],
    "bytes": [b"", b"a", b"1", b"true", b"\0\xff"],
}
# How programs represent labels: a conversion of Python values, and the label types for which the conversion has a meaning.
STORED: dict[str, tuple[set[str], Callable[[Any], Any]]] = {
    "itself": ({*LABELS}, lambda label: label),
    "text": ({"integer", "boolean", "date"}, str),
    "bytes": ({"text"}, str.encode),
    "integer": ({"boolean"}, int),
    "float": ({"integer", "boolean"}, float),
    "decimal": ({"integer", "boolean"}, lambda label: Decimal(int(label))),
    "decimal with digits": ({"integer", "boolean"}, lambda label: Decimal(f"{int(label)}.00")),
    "time": ({"date"}, lambda label: datetime.datetime.combine(label, datetime.time())),
}
ARROW_OF_PANDAS = ["string[pyarrow]", "int64[pyarrow]", "bool[pyarrow]", "date32[pyarrow]", "binary[pyarrow]"]
DTYPES = {
    "pandas": [None, "object", "category", "string", "Int64", "uint8", "float64", "boolean", "M8[ns]", "M8[s]", *ARROW_OF_PANDAS],
    "Polars": [None, "String", "Categorical", "Int64", "Float64", "Boolean", "Date", "Datetime", "Binary", "Object"],
    "Arrow": [None, "string", "large_string", "string_view", "int8", "int64", "float64", "bool_", "date32", "date64", "binary"],
}


def of_pandas(stored: list[Any], dtype: str | None) -> Any:
    return pd.DataFrame({"g": pd.Series(stored, dtype=dtype), "n": [12] * len(stored)})


def of_dask(stored: list[Any], dtype: str | None) -> Any:
    return dd.from_pandas(of_pandas(stored, dtype), npartitions=1)


def of_dask_without_its_texts(stored: list[Any], dtype: str | None) -> Any:
    with dask.config.set({"dataframe.convert-string": False}):
        return of_dask(stored, dtype)


def of_polars(stored: list[Any], dtype: str | None) -> Any:
    column = pl.Series("g", stored, None if dtype is None else getattr(pl, dtype))
    return pl.DataFrame([column, pl.Series("n", [12] * len(stored))])


def of_arrow(stored: list[Any], dtype: str | None) -> Any:
    column = pa.array(stored, None if dtype is None else getattr(pa, dtype)())
    return pa.table({"g": column, "n": [12] * len(stored)})


@functools.cache
def connection() -> Any:
    con = duckdb.connect(config={"threads": 1})
    for label_type in LABELS:
        add_to_duckdb(con, f"noisy_{label_type}", MECHANISM, KEYED, STATISTIC, label_type=label_type)
    return con


def of_duckdb(stored: list[Any], dtype: str | None) -> Any:
    con = connection()
    con.register("t", of_arrow(stored, dtype))
    con.execute("create or replace table stored as select g, n from t")
    return con


def of_sqlite(stored: list[Any], dtype: str | None) -> Any:
    con = sqlite3.connect(":memory:")
    con.execute(f"create table stored (g {dtype or ''}, n integer)")
    con.executemany("insert into stored values (?, 12)", [(one,) for one in stored])
    for label_type in LABELS:
        add_to_sqlite(con, f"noisy_{label_type}", MECHANISM, KEYED, STATISTIC, label_type=label_type)
    return con


def by_part(frame: Any, label_type: str) -> Any:
    return [*release_part(frame, MECHANISM, KEYED, "g", "n", STATISTIC, label_type=label_type)["n"]]


def by_dask(frame: Any, label_type: str) -> list[Any]:
    options = {"label_type": label_type, "meta": dict(frame.dtypes)}
    released = frame.map_partitions(release_part, MECHANISM, KEYED, "g", "n", STATISTIC, **options)
    return [*released.compute(scheduler="synchronous")["n"]]


def by_expression(frame: Any, label_type: str) -> list[Any]:
    return [*frame.select(polars_expr(MECHANISM, KEYED, "g", "n", STATISTIC, label_type=label_type))["n"]]


def by_sql(con: Any, label_type: str) -> list[Any]:
    return [answer for (answer,) in con.execute(f"select noisy_{label_type}(g, n) from stored order by rowid").fetchall()]


# How each engine stores a column (it can refuse some), with which types, and the function that releases the column.
ENGINES: dict[str, tuple[Any, list[str | None], Any]] = {
    "pandas": (of_pandas, DTYPES["pandas"], by_part),
    "Dask": (of_dask, [None, "category", "date32[pyarrow]", "bool[pyarrow]"], by_dask),
    "Dask without its texts": (of_dask_without_its_texts, [None, "category", "date32[pyarrow]", "bool[pyarrow]"], by_dask),
    "Polars": (of_polars, DTYPES["Polars"], by_expression),
    "Polars in parts": (of_polars, DTYPES["Polars"], by_part),
    "Arrow": (of_arrow, DTYPES["Arrow"], lambda *arguments: [one.as_py() for one in by_part(*arguments)]),
    "DuckDB": (of_duckdb, DTYPES["Arrow"], by_sql),
    "SQLite": (of_sqlite, [None, "text", "integer", "boolean", "date", "blob", "real"], by_sql),
}


# Our error, SQLite's replacement for it, and errors of Polars and Dask about objects and bytes.
REFUSED = "labels must be|user-defined function raised exception|nested objects are not allowed|codec can't decode"


def answered(engine: str, label_type: str, stored: str, dtype: str | None, *, nulls: bool) -> bool | None:
    """Return True if the engine's answers are right, False if it refuses, None if it cannot store such labels."""
    store, _, release = ENGINES[engine]
    labels = [*LABELS[label_type], *([None] if nulls else [])]
    expected = MECHANISM.release([12] * len(labels), labels=labels, statistic=STATISTIC, rng=KEYED).tolist()
    try:
        table = store([None if label is None else STORED[stored][1](label) for label in labels], dtype)
    except Exception:
        return None
    try:
        found = release(table, label_type)
    except Exception as error:
        if not re.search(REFUSED, str(error)):
            raise
        return False
    assert found == expected, f"a {label_type} stored as {stored}, dtype {dtype}, has other noise in {engine}"
    return True


def ways(label_type: str) -> list[str]:
    return [stored for stored, (types, _) in STORED.items() if label_type in types]


every = pytest.mark.parametrize("label_type", LABELS)


@every
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.filterwarnings("ignore")  # the libraries warn about conversions
def test_a_label_has_its_noise_or_is_refused(engine: str, label_type: str) -> None:
    for stored, dtype, nulls in pairs(ways(label_type), ENGINES[engine][1], (False, True)):
        answered(engine, label_type, stored, dtype, nulls=nulls)


# Types that an engine stores as another type, which the declared type recovers or which is lost.
OTHERWISE = {("SQLite", "boolean"): "integer", ("SQLite", "date"): "text"}
LOST = {("Dask", "date"), ("Dask", "bytes")}


@every
@pytest.mark.parametrize("engine", ENGINES)
def test_each_engine_has_each_type(engine: str, label_type: str) -> None:
    stored = OTHERWISE.get((engine, label_type), "itself")
    assert answered(engine, label_type, stored, None, nulls=False) is ((engine, label_type) not in LOST)


@pytest.mark.parametrize(("label_type", "dtype"), [("date", "date32[pyarrow]"), ("boolean", "bool[pyarrow]")])
def test_columns_of_arrow_types_keep_their_type_in_dask(label_type: str, dtype: str) -> None:
    assert answered("Dask", label_type, "itself", dtype, nulls=True)


@looped("engine", [engine for engine in ENGINES if engine != "SQLite"])
@looped(
    ("label_type", "stored"),
    [("date", "text"), ("date", "time"), ("boolean", "integer"), ("integer", "text"), ("integer", "float")],
)
def test_a_column_of_another_type_is_refused(engine: str, label_type: str, stored: str) -> None:
    assert answered(engine, label_type, stored, None, nulls=False) is False


@looped(
    ("label_type", "value"),
    [
        *[("date", text) for text in ("", "2026-1-2", "20260102", "2026-W01-5", "2026-02-30", "2026-01-02 00:00", " 2026-01-02")],
        *[("date", number) for number in (20455, 2461042.5, 1767312000)],
        *[("boolean", value) for value in (2, -1, 1.0, "1", "true", b"\1")],
        *[("integer", value) for value in (1.0, 2.0**63, "1", b"1")],
        *[("text", value) for value in (1, 1.0, b"a")],
        *[("bytes", value) for value in (1, 1.0, "a")],
    ],
)
def test_one_spelling_of_a_label_in_sqlite(label_type: str, value: Any) -> None:
    con = of_sqlite([value], None)
    with pytest.raises(sqlite3.OperationalError, match="user-defined function raised exception"):
        by_sql(con, label_type)


def test_several_labels_have_a_type_each() -> None:
    day = datetime.date(2026, 1, 2)
    expected = MECHANISM.release([12], labels=[("a", day, True)], statistic=STATISTIC, rng=KEYED).tolist()
    types = ["text", "date", "boolean"]
    con = sqlite3.connect(":memory:")
    add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type=types)
    assert [*con.execute("select noisy('a', '2026-01-02', true, 12)").fetchone()] == expected
    con = duckdb.connect()
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type=types)
    assert [*con.execute("select noisy('a', date '2026-01-02', true, 12)").fetchone()] == expected
    with pytest.raises(duckdb.Error, match=r"labels must be of label_type='date', got one of another type at index \(0,\)"):
        con.execute("select noisy('a', '2026-01-02', true, 12)").fetchone()
    frame = pl.DataFrame({"g": ["a"], "day": [day], "b": [True], "n": [12]})
    assert part_of_three(frame, types) == frame.select(expr_of_three(types))["n"].to_list() == expected
    for wrong in (["text", "date"], "text"):
        with pytest.raises(sn.ParameterError, match=r"label_type must have one type for each label, 3, got [12]"):
            part_of_three(frame, wrong)
        with pytest.raises(sn.ParameterError, match=r"label_type must have one type for each label, 3, got [12]"):
            expr_of_three(wrong)


def part_of_three(frame: Any, types: Any) -> list[Any]:
    return [*release_part(frame, MECHANISM, KEYED, ["g", "day", "b"], "n", STATISTIC, label_type=types)["n"]]


def expr_of_three(types: Any) -> Any:
    return polars_expr(MECHANISM, KEYED, ["g", "day", "b"], "n", STATISTIC, label_type=types)


def test_intervals_and_records_are_no_tuples() -> None:
    """An Arrow interval, for example from DuckDB, is a tuple of three numbers in Python."""
    interval = pa.array([pa.MonthDayNano((1, 2, 3))])
    for labels in (interval, [interval[0]], interval.to_pylist()):
        with pytest.raises(sn.ParameterTypeError, match=r"labels must be strings, integers, .* got a value of type MonthDayNano"):
            MECHANISM.release([12], labels=labels, statistic=STATISTIC, rng=KEYED)
