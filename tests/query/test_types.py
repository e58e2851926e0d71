"""The column types of a private table follow from the question, whatever the rows are.

Evidence: tables with rows, without rows and with nulls have equal types, in every engine and library.
"""

import datetime
import pickle
import sqlite3
from decimal import Decimal

import pytest

import stairnoise as sn
from stairnoise import query
from tests.query.engines import ENGINES

DAY = datetime.date(2026, 1, 2)
MANY = 400
# For each column type: a value, and the types in Arrow, Polars and pandas.
FOUND = {
    "bigint": (5, "int64", "Int64", "Int64"),
    "text": ("a", "string", "String", "object"),
    "boolean": (True, "bool", "Boolean", "boolean"),
    "date": (DAY, "date32[day]", "Date", "object"),
}
LISTED = {
    "double": ([1, 2.5, None], "double", "Float64", "Float64"),
    "decimal(10,2)": ([Decimal("0.10"), 3, None], "decimal128(10, 2)", "Decimal(precision=10, scale=2)", "object"),
}


def types(table):
    """Return the types of a table's columns in every library."""
    arrow, polars, pandas = table.to_arrow(), table.to_polars(), table.to_pandas()
    return (
        [str(field.type) for field in arrow.schema],
        [str(dtype) for dtype in polars.dtypes],
        [str(dtype) for dtype in pandas.dtypes],
    )


def counted(engine, kind, rows, **options):
    engine.table("typed", {"g": kind}, [(value,) for value in rows])
    return query.count(engine.data, "typed", by="g", row_is_person=True, eps=2, **options)


@pytest.mark.parametrize("kind", FOUND)
def test_found_groups(engine, kind):
    value, arrow, polars, pandas = FOUND[kind]
    if engine.name == "SQLite" and kind == "date":
        value, arrow, polars = DAY.isoformat(), "string", "String"
    expected = [arrow, "int64", "int64"], [polars, "Int64", "Int64"], [pandas, "int64", "int64"]
    for rows in ([], [value] * MANY, [None] * MANY, [value, None] * MANY):
        table = counted(engine, kind, rows, delta=1e-9)
        assert {row[0] for row in table} == set(rows)
        assert types(table) == expected
        assert types(pickle.loads(pickle.dumps(table))) == expected


@pytest.mark.parametrize("kind", [*FOUND, *LISTED])
def test_listed_groups(engine, kind):
    groups, arrow, polars, pandas = (
        [one[0], None] if (one := FOUND.get(kind)) else LISTED[kind][0],
        *(FOUND | LISTED)[kind][1:],
    )
    if engine.name == "SQLite" and kind.startswith("decimal"):
        arrow, polars = "string", "String"
    expected = [arrow, "int64", "int64"], [polars, "Int64", "Int64"], [pandas, "int64", "int64"]
    for listed in (groups, groups[:-1]):
        table = counted(engine, kind, [], groups=listed)
        assert types(table) == expected
        found = [*table.to_arrow()["g"].to_pylist()], table.to_polars()["g"].to_list(), [row[0] for row in table]
        if arrow != "string" or kind == "text":
            assert found == (listed,) * 3


def test_numbers(engine):
    engine.table("typed", {"g": "text", "n": "bigint", "x": "double"}, [("a", 1, 0.5)] * MANY)
    asked = {"by": "g", "row_is_person": True, "eps": 2}
    for groups in ({"groups": ["a", "b"]}, {"delta": 1e-9}):
        for column, bounds, kind in (("n", (0, 5), "int64"), ("n", (0, 2**40), "double"), ("x", (0, 5), "double")):
            table = query.sum(engine.data, "typed", column=column, bounds=bounds, **asked, **groups)
            assert types(table)[0] == ["string", kind, kind]
            table = query.mean(engine.data, "typed", column=column, bounds=bounds, **asked, **groups)
            assert types(table)[0] == ["string", *["double"] * 4, "bool"]


def test_values_of_another_type_than_sqlite_declares_are_null():
    """Such values do not change a column's type either."""
    con = sqlite3.connect(":memory:")
    con.execute("create table t (n integer, s text, b boolean, w numeric, u)")
    rows = [(1, "a", 1, 1, 1), ("x", b"a", 7, "x", "1"), (2.5, None, "no", 2.5, None), (b"y", b"z", None, b"z", 2)]
    con.executemany("insert into t values (?, ?, ?, ?, ?)", rows * MANY)
    found = {}
    for name in "nsbwu":
        table = query.count(con, "t", by=name, row_is_person=True, eps=2, delta=1e-9)
        found[name] = [row[0] for row in table], types(table)[0][0]
    assert found["n"] == ([None, 1], "int64")
    assert found["s"] == ([None, "a"], "string")
    assert found["b"] == ([None, True], "bool")
    assert found["w"][1] == found["u"][1] == "string"


@pytest.mark.parametrize("engine", ENGINES[1:], indirect=True)
def test_days_that_python_does_not_have_are_null(engine):
    name = engine.name
    past = {"PostgreSQL": "0044-03-15 BC", "DuckDB": "0044-03-15 (BC)", "Spark": "-0044-03-15"}[name]
    days = ["infinity", "10000-01-01", past, "9999-12-31"]
    if name == "Spark":
        days = ["+10001-01-01", "+10000-01-01", past, "9999-12-31"]
    table = counted(engine, "date", days * MANY, delta=1e-9)
    assert [row[0] for row in table] == [None, datetime.date(9999, 12, 31)]
    assert abs(table[0][1] - 3 * MANY) < 60
    assert table.to_arrow()["g"].to_pylist() == table.to_polars()["g"].to_list() == [row[0] for row in table]


def test_a_folder_of_files_is_one_table(tmp_path):
    """One of the files has no rows."""
    polars, dataset = pytest.importorskip("polars"), pytest.importorskip("pyarrow.dataset")
    con = sqlite3.connect(":memory:")
    con.execute("create table t (g integer, n integer)")
    asked = {"by": "g", "column": "n", "bounds": (0, 1), "row_is_person": True, "eps": 2, "delta": 1e-9}
    query.mean(con, "t", **asked).write(tmp_path / "a.parquet")
    con.executemany("insert into t values (?, 1)", [(7,)] * MANY)
    query.mean(con, "t", **asked).write(tmp_path / "b.parquet")
    assert polars.read_parquet(tmp_path / "*.parquet")["g"].to_list() == [7]
    assert dataset.dataset(tmp_path, format="parquet").to_table()["g"].to_pylist() == [7]


@pytest.mark.parametrize(("kind", "value", "arrow"), [("ubigint", 2**64 - 1, "uint64"), ("hugeint", 2**100, "string")])
def test_wide_integers_of_duckdb(kind, value, arrow):
    con = pytest.importorskip("duckdb").connect()
    con.execute(f"create table t (g {kind})")
    for rows in ([], [value] * MANY, [1] * MANY):
        con.execute("delete from t")
        if rows:
            con.execute(f"insert into t select {rows[0]} from range({MANY})")
        table = query.count(con, "t", by="g", row_is_person=True, eps=2, delta=1e-9)
        assert types(table)[0][0] == arrow
        assert types(table)[1][0].lower() == arrow
        assert [int(one) for one in table.to_arrow()["g"].to_pylist()] == rows[:1]


def test_sums_beyond_int64_are_floats_within_their_bounds():
    """At a unit of 2**20, a sum is its nearest float, and the bound includes the rounding."""
    con = sqlite3.connect(":memory:")
    con.execute("create table t (n integer)")
    con.executemany("insert into t values (?)", [(2**50,)] * 10_000)
    ((value, bound),) = query.sum(con, "t", column="n", bounds=(0, 2**51), row_is_person=True, eps=1, rng=_seeded())
    assert type(value) is type(bound) is float
    assert abs(value - 10_000 * 2**50) <= bound


def _seeded():
    return sn.SeededRng(3, allow_release=True)
