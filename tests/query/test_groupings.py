"""Groups that are computed from a column: bins of numbers and dates.

Evidence: a plain program with exact fractions on random tables, in every engine and kind of file and frame; people added and
removed; statements of warehouses, translated and run by DuckDB.
"""

import contextlib
import csv
import datetime
import math
import random
import sqlite3
import struct
from fractions import Fraction
from itertools import pairwise

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.cli import main
from stairnoise.query.groupings import bins_of
from stairnoise.query.question import question as asked_of
from stairnoise.query.sources import groups as of_groups
from stairnoise.query.sources import open_source
from tests.query import oracle
from tests.query.engines import ENGINES
from tests.query.test_compile import answered, duck
from tests.query.test_person import require_few_changes

# The columns of numbers by engine's type, with the values that they can hold in every engine.
NUMBERS = {
    "i": ("integer", [-(2**31), -1, 0, 17, 18, 64, 65, 2**31 - 1]),
    "b": ("bigint", [-(2**63), 2**53 + 1, 2**63 - 1, -1, 0, 17, 18, 65]),
    "w": ("double", [0.1, 0.7, -0.0, 17.999999999999996, 18.0, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan]),
    "d": ("decimal(10,2)", ["0.10", "0.70", "17.99", "18.00", "-99999999.99", "99999999.99"]),
}
EDGES = [
    [0, 18, 65, 120],
    [-0.5, 0.1, 0.7, 17.995, 18],
    [-(2**63), -(2**31), 2**53 + 1, 2**63 - 1],
    [-(2.0**200), -5e-324, 5e-324, 1e300, 2.0**1000],
    [10**30, 10**31],
    [0.15, 0.2, 0.25, 18.2, 18.9],
    sorted([*(2**n for n in range(200)), *(-(2**n) for n in range(200)), 0]),
]


def place(value, edges, to=Fraction):
    """Return the place of the interval in which a value is, or None; `to` reads edges as numbers of the column's type."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    number = Fraction(value)
    return next((at for at, (low, high) in enumerate(pairwise(map(to, edges))) if low <= number < high), None)


def written(edge):
    """An edge that a decimal fraction means exactly."""
    return Fraction(str(edge))


def nearest(edge):
    """An edge as the nearest double."""
    return Fraction(float(Fraction(str(edge))))


def reading_of(engine, column):
    whole = engine in ("DuckDB", "PostgreSQL", "Spark") and column != "w"
    return written if whole else lambda edge: Fraction(edge) if isinstance(edge, int) and abs(edge) < 2**63 else nearest(edge)


def binned(column, edges, **others):
    return asked_of([("count", None, None)], "t", (), None, bins={column: edges}, **({"row_is_person": True} | others))


@pytest.mark.parametrize("column", NUMBERS)
def test_bins_of_numbers(engine, column):
    kind, values = NUMBERS[column]
    draw = random.Random(column)
    rows = [(draw.choice("pqrs"), draw.choice([*values, None])) for _ in range(120)]
    engine.table("t", {"who": "text", column: kind}, rows)
    to = reading_of(engine.name, column)
    for edges in EDGES if column in "iw" else EDGES[:-1]:
        answer = engine.answers(binned(column, edges))
        # SQLite stores decimals as doubles.
        stored = [float(value) if engine.name == "SQLite" and isinstance(value, str) else value for _, value in rows]
        places = [place(value, edges, to) for value in stored]
        assert answer.counts.tolist() == [places.count(at) for at in range(len(edges) - 1)], edges
        if len(edges) > 9:
            continue
        question = binned(column, edges, person="who", row_is_person=False, max_groups=2)
        answer = engine.answers(question)
        people = [(who, (at,), ()) for (who, _), at in zip(rows, places, strict=True)]
        listed = [list(range(len(edges) - 1))]
        expected, _ = oracle.answers(people, listed, max_groups=2, digest=oracle.DIGESTS[engine.name])
        assert answer.counts.tolist() == expected


@pytest.mark.parametrize("engine", ENGINES[1:], indirect=True)
def test_floats_of_32_bits_are_compared_in_32_bits(engine):
    """0.7 is in the interval that begins with it, although a float of 32 bits is below the double."""
    engine.table("t", {"f": "float" if engine.name != "PostgreSQL" else "real"}, [(0.7,), (0.1,), (1e38,), (None,), (-1.0,)])
    answer = engine.answers(binned("f", [0, 1e-50, 0.1, 0.7, 1, 1e39]))
    assert struct.unpack("<f", struct.pack("<f", 0.7))[0] < 0.7
    assert answer.counts.tolist() == [0, 0, 1, 1, 1]


DAYS = [datetime.date(2026, 1, 1), datetime.date(2026, 1, 31), datetime.date(2026, 2, 1), datetime.date(1999, 12, 31), None]


def test_bins_of_dates(engine):
    edges = [datetime.date(2026, 1, 1), datetime.date(2026, 2, 1), datetime.date(2026, 3, 1)]
    rows = [(day if day is None or engine.name != "SQLite" else day.isoformat(),) for day in DAYS]
    engine.table("t", {"day": "date"}, rows)
    assert engine.answers(binned("day", edges)).counts.tolist() == [2, 1]


def test_one_person_changes_few_bins(engine, monkeypatch):
    """A person in many bins counts in two. Bins that overlap, which a comparison with <= makes, are noticed by the counts."""
    rows = [(who, value) for who in "abcd" for value in (0, 17, 18, 64, 65, None)]
    question = binned("age", [0, 18, 65, 120], person="who", row_is_person=False, max_groups=2)
    found = []
    for remaining in (rows, [row for row in rows if row[0] != "a"]):
        engine.table("t", {"who": "text", "age": "integer"}, remaining)
        found.append(engine.answers(question))
    require_few_changes(question, *found)
    assert [one.counts.sum() for one in found] == [8, 6]
    engine.table("t", {"age": "integer"}, [(value,) for _, value in rows])
    right, wrong = of_groups._interval, lambda *given: (right(*given)[0].replace(" < ", " <= "), right(*given)[1])
    counts = engine.answers(binned("age", [0, 18, 65, 120])).counts.tolist()
    monkeypatch.setattr(of_groups, "_interval", wrong)
    assert counts == [8, 8, 4] != engine.answers(binned("age", [0, 18, 65, 120])).counts.tolist()


AGES = [0, 17, 18, 64, 65, 119, 120, -1, None]
OF_FRAMES = ["pandas", "objects", "nullable", "category", "polars", "lazy", "arrow", "relation", "csv", "parquet"]


@contextlib.contextmanager
def held(kind, column, values, tmp_path):
    """Open a column of a frame or file."""
    types = {}
    pandas, polars, arrow, duckdb = map(pytest.importorskip, ("pandas", "polars", "pyarrow", "duckdb"))
    frame = pandas.DataFrame({column: values})
    if kind == "csv":
        made, types = tmp_path / "t.csv", {column: "date" if isinstance(values[0], datetime.date) else "real"}
        with made.open("w", newline="") as file:
            csv.writer(file).writerows([[column], *([value] for value in values)])
    elif kind == "parquet":
        made = tmp_path / "t.parquet"
        polars.DataFrame({column: values}, strict=False).write_parquet(made)
    elif kind in ("polars", "lazy"):
        made = polars.DataFrame({column: values}, strict=False)
        made = made.lazy() if kind == "lazy" else made
    elif kind == "arrow":
        made = arrow.table({column: values})
    elif kind == "relation":
        made = duckdb.connect().from_arrow(arrow.table({column: values}))
    else:
        made = {"pandas": lambda: frame, "objects": lambda: frame.astype(object), "nullable": frame.convert_dtypes}.get(
            kind, lambda: frame.astype("category")
        )()
    yield made, types


@pytest.mark.parametrize("kind", OF_FRAMES)
def test_bins_of_frames_and_files(kind, tmp_path):
    for edges, values in (([0, 18, 65, 120], AGES), ([DAYS[0], DAYS[2], datetime.date(2026, 3, 1)], DAYS)):
        with held(kind, "x", values, tmp_path) as (made, types):
            asked = asked_of([("count", None, None)], None, (), None, bins={"x": edges}, row_is_person=True, types=types)
            with open_source(made, asked.reading) as source:
                answer = source.answers(asked)
        days = isinstance(edges[0], datetime.date)
        places = [
            next((at for at, (low, high) in enumerate(pairwise(edges)) if value is not None and low <= value < high), None)
            for value in values
        ]
        assert answer.counts.tolist() == [places.count(at) for at in range(len(edges) - 1)], (kind, days)


WAREHOUSES = ("bigquery", "databricks", "snowflake", "spark", "trino")


@pytest.mark.parametrize("dialect", WAREHOUSES)
def test_bins_of_warehouses(dialect):
    columns = {"b": "bigint", "w": "double", "day": "date"}
    own = {name.upper() if dialect == "snowflake" else name: kind for name, kind in columns.items()}
    numbers, doubles = NUMBERS["b"][1], NUMBERS["w"][1]
    rows = [(numbers[at % len(numbers)], doubles[at % len(doubles)], DAYS[at % len(DAYS)]) for at in range(40)]
    con = duck(own, [*rows, (None, None, None)])
    for at, name in enumerate(("b", "w")):
        for edges in EDGES[:-1]:
            found = answered(con, dialect, binned(name, edges), columns)
            places = [place(row[at], edges, written if name == "b" else nearest) for row in rows]
            assert found.counts.tolist() == [places.count(at) for at in range(len(edges) - 1)], edges
    found = answered(con, dialect, binned("day", [DAYS[0], DAYS[2]]), columns)
    assert found.counts.tolist() == [sum(day in DAYS[:2] for *_, day in rows)]


def test_bins_are_groups_like_others():
    """Labels, notes, types, keys and the address of a question with bins."""
    con = sqlite3.connect(":memory:")
    con.execute("create table t (age integer, city text, pay integer)")
    con.executemany("insert into t values (?, ?, ?)", [(n % 130, "AB"[n % 2], n) for n in range(1000)])
    rng = sn.KeyedRng(bytes(32), "july")
    asked = {"by": ["city"], "groups": {"city": ["A", "B"]}, "row_is_person": True, "eps": 1, "rng": rng}
    tables = [query.count(con, bins={"AGE": edges}, **asked) for edges in ([0, 18, 65.0], [0, 18, 65], [0, 19, 65])]
    assert tables[0] == tables[1]
    assert [row[2] for row in tables[0]] != [row[2] for row in tables[2]]
    assert [row[:2] for row in tables[0]] == [(city, label) for city in "AB" for label in ("[0, 18)", "[18, 65)")]
    about = tables[0].about
    assert about["by"] == ["city", "age"]
    assert about["groups"]["age"] == ["[0, 18)", "[18, 65)"]
    assert about["counted"] == "all rows with age in [0, 65); a bin [a, b) contains a, but not b"
    means = query.mean(con, column="pay", bounds=(0, 1000), bins={"age": [0, 65]}, row_is_person=True, eps=1)
    assert means.about["counted"].startswith("rows with a number in pay, and age in [0, 65)")
    assert means.to_arrow().schema.field("age").type == "string"


LABELS = {
    (0, 18.5, 2**70): ("[0, 18.5)", "[18.5, 1.180591620717411303424E+21)"),
    (-0.0, 1e-7, 0.1): ("[0, 0.0000001)", "[0.0000001, 0.1)"),
    (datetime.date(2026, 1, 1), datetime.date(2026, 2, 1)): ("[2026-01-01, 2026-02-01)",),
}


@pytest.mark.parametrize("edges", LABELS)
def test_labels(edges):
    assert bins_of({"x": edges})["x"].groups == LABELS[edges]


REFUSED = {
    "bins must be a dict from columns to lists of edges": [0, 18],
    "bins of 'age' must be a list of edges, got '0,18'": {"age": "0,18"},
    "bins of 'age' must have from 2 to 10001 edges, got 1": {"age": [0]},
    "bins of 'age' must have edges in increasing order, got 18 before 18": {"age": [0, 18, 18.0]},
    "bins of 'age' must have edges that are numbers or dates, got True": {"age": [0, True]},
    "bins of 'age' must have edges that are numbers or dates, got '18'": {"age": [0, "18"]},
    "bins of 'age' must have finite edges within the range of float64, got inf": {"age": [0, math.inf]},
    "bins of 'age' must have finite edges": {"age": [0, 10**400]},
    "bins of 'age' must have edges that are all numbers or all dates, got both": {"age": [0, DAYS[0]]},
    "bins of 'age' must have edges that are numbers, because the column is declared as INTEGER": {"age": [DAYS[1], DAYS[2]]},
    "bins of 'city' must be of a column of numbers or dates; it is declared as TEXT: make a view": {"city": [0, 1]},
    "bins must name a column of 't', got 'aged'; did you mean 'age'?": {"aged": [0, 1]},
    "bins must name every column once, got 'AGE' twice": {"age": [0, 1], "AGE": [0, 1]},
    "groups of 'age' must be left out, because its bins are the groups": {"age": [0, 1]},
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_no_bins(why):
    con = sqlite3.connect(":memory:")
    con.execute("create table t (age integer, city text)")
    groups = {"age": [1]} if "left out" in why else None
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError)) as error:
        query.count(con, bins=REFUSED[why], groups=groups, row_is_person=True, eps=1)
    assert str(error.value).startswith(why)


def test_bins_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("age,day\n" + "".join(f"{n % 100},2026-01-{n % 28 + 1:02}\n" for n in range(500)))
    common = ["query", str(path), "--count", "--row-is-person", "--eps", "1"]
    types = ["--type", "age=integer,day=date"]
    main([*common, "--bins", "age=0,18,65.5", "--bins", "day=2026-01-01,2026-01-15", *types, "--explain"])
    said = " ".join(capsys.readouterr().out.split())
    assert "[18, 65.5) [2026-01-01, 2026-01-15)" in said
    assert "Counted: all rows with age in [0, 65.5) and day in [2026-01-01, 2026-01-15); a bin" in said
    for bins, why in {"age=0,x": "got 'x' in 'age=0,x'", "0,18": "given once for each column", "age=5,0": "5 before 0"}.items():
        assert main([*common, "--bins", bins])
        assert why in capsys.readouterr().err
    assert main([*common, "--bins", "age=0,18"])
    assert "--type age=real" in capsys.readouterr().err
