"""DuckDB gives the answers that `release` of an array gives, however it computes a query.

Evidence: equality; negative controls, in which an unkeyed function fails the same check.
"""

import datetime
import re

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.engines import add_to_duckdb
from tests.engines.sql import ABOVE, QUERIES, RELEASED, checked
from tests.engines.table import EXPECTED, KEYED, LABELS, MECHANISM, STATISTIC, above, answers, one_answer, persons, unkeyed

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")


@pytest.fixture(params=[1, 2], ids=["1 thread", "2 threads"])
def con(request):
    connection = duckdb.connect()
    connection.execute(f"set threads = {request.param}")
    connection.execute("create table persons as select unnest(?::varchar[]) g", [persons()])
    yield connection
    connection.close()


@pytest.mark.parametrize("query", QUERIES)
def test_every_plan_has_the_same_answers(con, query):
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    for _ in range(2):
        checked(query, con.execute(QUERIES[query]).fetchall())


# DuckDB computes these expressions once by itself, but a second run of the query has other noise.
ONCE = {"cte", "cte materialized", "filter"}


@pytest.mark.parametrize("query", QUERIES)
def test_an_unkeyed_function_fails_the_same_check(con, query):
    noise = unkeyed()

    def noisy(labels, values):
        return pa.array(noise(values.to_numpy()))

    con.create_function("noisy", noisy, ["VARCHAR", "BIGINT"], "BIGINT", type="arrow", null_handling="special", side_effects=True)
    rows = con.execute(QUERIES[query]).fetchall()
    if query in ONCE:
        rows += con.execute(QUERIES[query]).fetchall()
    with pytest.raises(AssertionError, match=r"labels have several answers|should have been left out"):
        (above if query in ABOVE else one_answer)(rows)


def test_a_relation_that_is_shown_and_fetched(con):
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    relation = con.sql(RELEASED)
    shown = [(label, int(answer)) for label, answer in re.findall(r"│ (city \d+) *│ *(-?\d+) │", str(relation))]
    assert shown
    assert one_answer([*EXPECTED.items(), *shown]) == EXPECTED
    assert one_answer([*relation.fetchall(), *relation.fetchall()]) == EXPECTED
    con.execute(f"create view released as {RELEASED}")
    assert one_answer([*con.execute("from released").fetchall(), *con.execute("from released").fetchall()]) == EXPECTED


def test_a_constant_has_the_noise_of_its_label(con):
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    assert one_answer(con.execute("select 'Chur', noisy('Chur', 12) from range(5)").fetchall()) == answers(
        labels=["Chur"], values=[12]
    )
    found = one_answer(con.execute("select distinct g, noisy(g, 100) from persons").fetchall())
    assert found == answers(values=[100] * len(LABELS))


@pytest.mark.parametrize("value", ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UBIGINT", "HUGEINT", "DECIMAL(18, 0)", "DOUBLE"])
@pytest.mark.parametrize("mechanism", [MECHANISM, sn.Laplace(0.1, sensitivity=1)], ids=["discrete", "continuous"])
def test_types_of_values(con, value, mechanism):
    add_to_duckdb(con, "noisy", mechanism, KEYED, STATISTIC, label_type="text")
    relation = con.sql(f"select g, noisy(g, count(*)::{value}) n from persons group by g")
    assert str(relation.types[1]) == ("BIGINT" if mechanism is MECHANISM else "DOUBLE")
    assert one_answer(relation.fetchall()) == answers(mechanism)


def test_sums_and_counts(con):
    """DuckDB's sums of integers are HUGEINT."""
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    found = con.execute("select g, noisy(g, sum(1)), noisy(g, count(*)) from persons group by g").fetchall()
    assert one_answer(found) == EXPECTED


@pytest.mark.parametrize(
    ("kind", "label_type", "labels"),
    [
        ("BIGINT", "integer", [0, -1, 2**62, None]),
        ("UTINYINT", "integer", [0, 255, None]),
        ("BOOLEAN", "boolean", [True, False, None]),
        ("DATE", "date", [datetime.date(1969, 12, 31), datetime.date(2026, 11, 22), None]),
        ("BLOB", "bytes", [b"", b"\0\xff", None]),
        ("ENUM ('a', 'Zürich')", "text", ["Zürich", "a", None]),
    ],
)
def test_types_of_labels(con, kind, label_type, labels):
    con.execute(f"create type label as {kind}")
    con.execute("create table t (g label)")
    con.executemany("insert into t values (?)", [[label] for label in labels])
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type=label_type)
    found = one_answer(con.execute("select g, noisy(g, 12) from t").fetchall())
    assert found == answers(labels=labels, values=[12] * len(labels))


@pytest.mark.parametrize("value", ["TINYINT", "INTEGER", "BIGINT", "HUGEINT"])
@pytest.mark.parametrize(
    ("label", "label_type"),
    [("i::integer", "integer"), ("i::hugeint", "integer"), ("i = 0", "boolean"), ("date '2026-01-01' + i::integer", "date")],
)
def test_sums_by_labels_that_are_no_texts(con, label, label_type, value):
    """Sums of integers are HUGEINT; the query has no casts."""
    con.execute(f"create table t as select {label} as g, n::{value} as n from range(3) l(i), range(5) r(n)")
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type=label_type)
    relation = con.sql("select g, sum(n) as total, noisy(g, sum(n)) as noisy from t group by g")
    assert str(relation.types[1]) == "HUGEINT"
    labels, totals, noisy = zip(*relation.fetchall(), strict=True)
    assert dict(zip(labels, noisy, strict=True)) == answers(labels=list(labels), values=list(totals))


def test_several_labels_are_a_tuple(con):
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type=["text", "date"])
    day = datetime.date(2026, 1, 2)
    found = con.execute("select g, noisy(g, date '2026-01-02', count(*)) from persons group by g").fetchall()
    expected = answers(labels=[(label, day) for label in LABELS])
    assert {(label, day): answer for label, answer in found} == expected


def test_null_is_no_answer(con):
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    query = "select g, noisy(g, case when count(*) % 2 = 0 then count(*) end) from persons group by g"
    for label, answer in con.execute(query).fetchall():
        assert answer in (None, EXPECTED[label])
    assert con.execute("select noisy('a', null::bigint), noisy(null::varchar, null::bigint)").fetchone() == (None, None)
    # Earlier versions have no literal of this type in Arrow.
    if int(duckdb.__version__.partition(".")[0]) >= 2:
        assert con.execute("select noisy('a', null), noisy(null, null)").fetchone() == (None, None)


def test_rows_of_many_batches(con):
    """More rows than DuckDB gives one thread at once."""
    n = 150_000
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="integer")
    found = con.execute(f"select i, noisy(i, i % 1000) n from range({n}) t(i)").fetchnumpy()
    expected = MECHANISM.release(np.arange(n) % 1000, labels=np.arange(n), statistic=STATISTIC, rng=KEYED)
    assert np.array_equal(found["n"][np.argsort(found["i"])], expected)


def test_integers_that_no_float_holds(con):
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    found = con.execute(f"select 'a', noisy('a', {2**60 + 1})").fetchall()
    assert one_answer(found) == answers(labels=["a"], values=[2**60 + 1])


def test_one_label_with_two_values_is_refused(con):
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    con.execute("select noisy(g, 12) from (values ('a'), ('a'), (null), (null)) t(g)")
    with pytest.raises(duckdb.InvalidInputException, match="labels must have one value each"):
        con.execute("select noisy(g, n) from (values ('a', 12), ('a', 13)) t(g, n)").fetchall()


def test_the_secret_is_fetched_once(con):
    fetched = []
    keyed = sn.KeyedRng(lambda: fetched.append(1) or bytes(32), "r")
    add_to_duckdb(con, "noisy", MECHANISM, keyed, STATISTIC, label_type="text", max_partitions_contributed=2)
    found = one_answer(row for _ in range(2) for row in con.execute("select g, noisy(g, 12) from persons").fetchall())
    assert fetched == [1]
    expected = MECHANISM.release([12] * len(LABELS), labels=LABELS, statistic=STATISTIC, rng=keyed, max_partitions_contributed=2)
    assert found == dict(zip(LABELS, expected.tolist(), strict=True))
