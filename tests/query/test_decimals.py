"""Listed groups of a DECIMAL column are the numbers that were written, digit by digit.

Evidence: small tables whose answers can be counted by hand.
"""

import csv
import json
from decimal import Decimal

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.question import Question

CODE = 2**53
COLUMNS = {"code": "decimal(20,0)", "price": "decimal(6,2)"}
ROWS = [(Decimal(CODE), Decimal("0.10"))] * 1 + [(Decimal(CODE + 1), Decimal("-3.00"))] * 3


@pytest.fixture
def table(engine):
    if engine.name == "SQLite":
        engine.table("t", COLUMNS, [(int(code), float(price)) for code, price in ROWS])
    else:
        engine.table("t", COLUMNS, ROWS)
    return engine


def listed(name, values):
    return Question("t", (name,), {name: tuple(values)})


def read(engine, name, texts):
    with engine.source() as source:
        return source.read_groups("t", name, texts)


@pytest.mark.parametrize("make", [int, Decimal, str])
def test_numbers_beyond_2_53_are_apart(table, make):
    """Groups from a command line are texts."""
    values = [CODE + 1, CODE, CODE - 1]
    groups = read(table, "code", map(str, values)) if make is str else map(make, values)
    found = table.answers(listed("code", groups))
    assert found.counts.tolist() == [3, 1, 0]
    assert [str(value) for (value,) in found.groups] == list(map(str, values))


def test_the_spelling_is_the_callers(table):
    texts = ["0.10", "-3", "1", "1.5", None]
    groups = read(table, "price", texts)
    assert [None if value is None else str(value) for value in groups] == texts
    assert table.answers(listed("price", groups)).counts.tolist() == [1, 3, 0, 0, 0]
    groups = (Decimal("0.10"), -3, 1.5)
    found = table.answers(listed("price", groups))
    assert [(type(value), value) for (value,) in found.groups] == [(type(value), value) for value in groups]
    assert found.counts.tolist() == [1, 3, 0]


def test_one_number_in_two_spellings_is_one_group(table):
    if table.name == "SQLite":
        pytest.skip("SQLite has no decimals")
    for groups in ((Decimal("0.10"), 0.1), (3, Decimal("3.00")), (1.5, Decimal("1.50"))):
        with pytest.raises(sn.ParameterError, match="groups of 'price' must be listed once each, got one of them twice"):
            table.answers(listed("price", groups))
    with pytest.raises(sn.ParameterError, match=r"groups of 'price' must be values that its type .* can hold"):
        table.answers(listed("price", (Decimal("0.101"),)))


def test_what_is_no_number_is_refused(table):
    if table.name == "SQLite":
        pytest.skip("SQLite has no decimals")
    for text in ("NaN", "sNaN", "Infinity", "-inf", "x", "", "1,5", "0x10"):
        with pytest.raises(sn.ParameterError, match="groups of 'price' must be numbers, because the column is declared as"):
            read(table, "price", [text])


def test_decimals_that_are_not_finite_are_refused_without_the_data(table):
    for value in (Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")):
        with pytest.raises(sn.ParameterTypeError, match="groups of 'price' must be finite, got an infinite or NaN decimal at"):
            query.count(table.con, "t", by="price", groups=[value], row_is_person=True, eps=1)


def test_decimals_of_other_columns(engine):
    """A float column compares the nearest float; a PostgreSQL numeric of no declared scale compares all digits of the list."""
    engine.table("t", {"x": "double"}, [(0.1,), (0.1,), (2.0,)])
    assert engine.answers(listed("x", (Decimal("0.10"), Decimal(2), 5))).counts.tolist() == [2, 1, 0]
    with pytest.raises(sn.ParameterError, match="must be listed once each"):
        engine.answers(listed("x", (2**53, 2**53 + 1)))
    if engine.name == "PostgreSQL":
        engine.table("t", {"x": "numeric"}, [(Decimal("1e-30"),)])
        question = listed("x", (Decimal("1e-30"), 3, 0.25))
        assert engine.answers(question).counts.tolist() == [1, 0, 0]
        with engine.source() as source:
            assert source.types(source.checked(question))[0][:3] == ("decimal", 38, 30)
            assert source.types(source.checked(listed("x", (Decimal("1e-30"), 10**20))))[0].holds == "text"


def test_keyed_releases_and_files(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    con.execute("create table t (price decimal(6,2), x double)")
    con.execute("insert into t values (0.10, 0.5), (0.10, 0.5), (3, 2)")
    keyed = sn.KeyedRng(bytes(32), "decimals")
    for name, groups in (("price", [Decimal("0.10"), Decimal(3), 5, 1.5]), ("x", [0.5, 2, 1e300])):
        asked = {"by": name, "groups": groups, "row_is_person": True, "eps": 1, "rng": keyed}
        table = query.count(con, "t", **asked)
        assert table == query.count(con, "t", **asked)
        table.write(tmp_path / f"{name}.csv")
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            assert [row[0] for row in csv.reader(file)] == [name, *map(str, groups)]
        assert len(json.loads(table.to_json())["rows"]) == len(groups)
