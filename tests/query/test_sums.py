"""Sums are exact multiples of a unit that follows from the bounds, in any order of rows and at any size.

Evidence: exact fractions; the types of each engine; shuffled rows.
"""

import math
import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

import stairnoise as sn
from stairnoise.query.question import Question
from stairnoise.query.sources import open_source
from stairnoise.query.sources.dialect import units_of
from stairnoise.query.statistics import Mean, Sum
from tests.query.engines import ENGINES

KINDS = {
    "SQLite": ["bigint", "double", "numeric", ""],
    "DuckDB": ["tinyint", "integer", "bigint", "hugeint", "float", "double", "decimal(38,3)"],
    "PostgreSQL": ["smallint", "integer", "bigint", "real", "double precision", "numeric", "numeric(20,3)"],
    "Spark": ["tinyint", "smallint", "int", "bigint", "float", "double", "decimal(38,3)", "decimal(38,0)"],
}


def asked(bounds, statistic=Sum, **others):
    return Question("t", (), {}, (statistic("v", bounds),), **others)


def total(engine, question):
    found = engine.answers(question)
    return found.counts.tolist()[0], Fraction(int(found.sums[0, 0])) * Fraction(*found.units)


def kinds(engine):
    return KINDS[engine.name]


def test_every_numeric_type(engine):
    for kind in kinds(engine):
        engine.table("t", {"p": "integer", "v": kind}, [(1, 3), (1, 4), (2, -5), (3, None), (None, 9), (4, 100)])
        assert total(engine, asked((-4.0, 9.0))) == (5, 3 + 4 - 4 + 9 + 9), kind
        assert total(engine, asked((-4.0, 6.0), person="p")) == (3, 6 - 4 + 6), kind
        assert total(engine, asked((-4.0, 9.0), Mean, person="p", where="p < 3")) == (2, 7 - 4), kind


def test_an_unsigned_integer_beyond_the_signed_ones_counts_as_the_upper_bound():
    con = pytest.importorskip("duckdb").connect()
    con.execute("create table t as select unnest(['340282366920938463463374607431768211455', '1'])::uhugeint v")
    with open_source(con) as source:
        assert source.answers(asked((-10.0, 10.0))).sums.tolist() == [[11]]


def test_fractions_are_the_nearest_multiples_of_the_unit(engine):
    values = [0.1, -0.3, 2.5, 1e-12, -7.123456789, 3.0, 1e-300, 9.999999999]
    engine.table("t", {"v": "double"}, [(value,) for value in values])
    unit = Fraction(engine.answers(asked((-10.0, 10.0))).units[0])
    assert unit == Fraction(1, 2**27)
    expected = sum(math.copysign(1, value) * math.floor(abs(Fraction(value)) / unit + Fraction(1, 2)) for value in values)
    assert total(engine, asked((-10.0, 10.0))) == (len(values), Fraction(expected) * unit)


def test_the_order_of_rows_does_not_matter(engine):
    """In floating point the order would matter: 1e16 + 1 - 1e16 is 0."""
    values = [1e9, 0.1, -1e9, 0.7, 1 / 3] * 20
    found = set()
    for seed in range(3):
        random.Random(seed).shuffle(values)
        engine.table("t", {"p": "integer", "v": "double"}, [(1, value) for value in values])
        found.add(total(engine, asked((-30.0, 30.0), person="p")))
    assert len(found) == 1
    assert abs(found.pop()[1] - 20 * (Fraction(8, 10) + Fraction(1, 3))) < Fraction(1, 10**5)


def test_what_is_not_a_number_counts_nothing_and_infinity_is_clipped(engine):
    """No error reveals that such values exist. SQLite stores NaN as null."""
    values = [math.nan, math.inf, -math.inf, None, 1.0, 1e308, -5e-324]
    engine.table("t", {"v": "double"}, [(value,) for value in values])
    assert total(engine, asked((-2.0, 8.0))) == (5, 8 - 2 + 1 + 8 + 0)
    assert total(engine, asked((-(2.0**100), 2.0**100)))[1] == 2**100 + 0
    assert total(engine, asked((0.0, 2.0**-100))) == (5, Fraction(3, 2**100))


def test_the_largest_integers(engine):
    """Sums exceed 64 bits. SQLite's own `sum` would fail; other engines return doubles or wider integers."""
    values = [2**63 - 1] * 5 + [-(2**63)] * 2 + [1]
    engine.table("t", {"p": "integer", "v": "bigint"}, [(1, value) for value in values])
    assert total(engine, asked((-5.0, 7.0))) == (8, 5 * 7 - 2 * 5 + 1)
    assert total(engine, asked((-5.0, 7.0), person="p")) == (1, 7)
    assert total(engine, asked((-(2.0**63), 2.0**63), person="p")) == (1, 2**63)


@pytest.mark.parametrize("engine", ["PostgreSQL"], indirect=True)
def test_numerics_beyond_a_double(engine):
    values = [Decimal("1e400"), Decimal("-1e400"), Decimal("1e-400"), Decimal("NaN"), Decimal("Infinity"), Decimal("0.5"), None]
    engine.table("t", {"v": "numeric"}, [(value,) for value in values])
    assert total(engine, asked((-1.0, 4.0))) == (5, Fraction(4 - 1 + 4) + Fraction(1, 2))


@pytest.mark.parametrize("engine", ["SQLite"], indirect=True)
def test_texts_among_the_numbers_of_sqlite(engine):
    """An integer column of SQLite can hold a text, which counts as no number. An untyped column converts texts as `sum` does."""
    rows = [(5,), ("abc",), ("7",), (b"9",), (2.4,)]
    engine.table("t", {"v": "integer"}, rows)
    assert total(engine, asked((0.0, 10.0))) == (3, 5 + 7 + 2)
    engine.table("t", {"v": ""}, rows)
    count, found = total(engine, asked((0.0, 10.0)))
    assert count == 5
    assert abs(found - Fraction(5 + 0 + 7 + 9) - Fraction(24, 10)) < Fraction(1, 10**6)


@pytest.mark.parametrize("declared", ["DATE", "TIMESTAMP", "datetime", "Time", "timestamp with time zone"])
@pytest.mark.parametrize("statistic", [Sum, Mean])
@pytest.mark.parametrize("engine", ["SQLite"], indirect=True)
def test_columns_that_sqlite_declares_as_times_are_no_numbers(engine, declared, statistic):
    """The declared type decides, whatever the rows are; SQLite by itself would read the year of a date as a number."""
    for rows in ([], [("2024-01-02",)], [(5,)]):
        engine.table("t", {"v": declared}, rows)
        with pytest.raises(sn.ParameterError, match=f"column must be of numbers; 'v' is declared as {declared}: make a"):
            engine.answers(asked((0.0, 10.0), statistic))
        assert engine.answers(Question("t", ("v",), {})).counts.sum() == len(rows)
    engine.con.execute("drop view if exists seen")
    engine.con.execute("create view seen as select cast(v as real) as v from t")
    assert engine.answers(replace(asked((0.0, 10.0), statistic), table="seen")).counts.tolist() == [1]


@pytest.mark.parametrize("engine", ENGINES[1:], indirect=True)
def test_many_people(engine):
    """Sums and counts of a hundred thousand people at the bound are exact. SQLite would take long."""
    if engine.name == "Spark":
        engine.con.sql("select id as p, 12345.678D as v from range(100000)").createOrReplaceTempView("t")
        found = engine.answers(asked((0.0, 12345.678), person="p"))
        assert found.counts.tolist() == [100_000]
        return
    series = "range(100000) as s(i)" if engine.name == "DuckDB" else "generate_series(0, 99999) as s(i)"
    engine.table("t", {"p": "bigint", "v": "double"}, [])
    engine.con.execute(f"insert into t select i, 12345.678 from {series}")
    engine.con.commit()
    found = engine.answers(asked((0.0, 12345.678), person="p"))
    assert found.counts.tolist() == [100_000]
    assert int(found.sums[0, 0]) == 100_000 * math.floor(Fraction(12345.678) / Fraction(*found.units))


@pytest.mark.parametrize(
    ("bounds", "whole", "unit", "low", "high"),
    [
        ((0.0, 100.0), True, 1.0, 0, 100),
        ((-3.0, 2.0), True, 1.0, -3, 2),
        ((0.0, 100.0), False, 2.0**-24, 0, 100 * 2**24),
        ((0.0, 1.0), False, 2.0**-30, 0, 2**30),
        ((0.5, 2.5), True, 2.0**-29, 2**28, 5 * 2**28),
        ((0.0, 2.0**40), True, 2.0**10, 0, 2**30),
        ((0.0, 0.1), False, 2.0**-34, 0, 1717986918),
    ],
)
def test_units(bounds, whole, unit, low, high):
    found = units_of(bounds, whole=whole)
    assert (found.unit, found.low, found.high) == (unit, low, high)


def test_bounds_in_units_never_exceed_the_bounds():
    """The promised sensitivity holds for 2000 random bounds of all sizes, in exact fractions."""
    rng = random.Random(3)
    for _ in range(2000):
        low, high = sorted(math.ldexp(rng.uniform(-1, 1), rng.randrange(-90, 90)) for _ in range(2))
        found = units_of((low, high), whole=rng.random() < 0.5)
        assert Fraction(low) <= found.low * Fraction(found.unit)
        assert found.high * Fraction(found.unit) <= Fraction(high)
        assert max(abs(found.low), abs(found.high)) <= 2**31


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ((1.0, 0.0), "bounds must be a lower and an upper number"),
        ((math.nan, 1.0), "bounds must be a lower and an upper number"),
        ((0.0, math.inf), "bounds must be a lower and an upper number"),
        ((0.0, 0.0), "bounds must be 0 or between 2"),
        ((0.0, 1e40), "bounds must be 0 or between 2"),
        ((1e-40, 1e-39), "bounds must be 0 or between 2"),
        ((1.0, math.nextafter(1.0, 2)), None),
        ((math.nextafter(1.0, 2), math.nextafter(1.0, 3)), "bounds must have a multiple of"),
    ],
)
def test_bounds_that_are_refused(bounds, text):
    if text is None:
        assert units_of(bounds, whole=False).low == units_of(bounds, whole=False).high
        return
    with pytest.raises(sn.ParameterError) as caught:
        units_of(bounds, whole=False)
    assert str(caught.value).startswith(text)


def test_columns_that_cannot_be_summed(engine):
    for kind in ("text", "date"):
        engine.table("t", {"v": kind}, [])
        if engine.name == "SQLite" and kind == "date":
            continue
        with pytest.raises(sn.ParameterError, match="column must be of numbers; 'v' is declared as"):
            engine.answers(asked((0.0, 1.0)))
