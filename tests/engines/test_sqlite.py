"""SQLite gives the answers that `release` of an array gives, however it computes a query.

Evidence: equality; negative controls, in which an unkeyed function with the same declaration fails the same check.
"""

import sqlite3

import pytest

import stairnoise as sn
from stairnoise.engines import add_to_sqlite
from tests.engines.sql import ABOVE, QUERIES, checked
from tests.engines.table import EXPECTED, KEYED, LABELS, MECHANISM, STATISTIC, above, answers, one_answer, persons, unkeyed

# The queries use `is not distinct from`, which both engines know.
pytestmark = pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 39), reason="SQLite is older than 3.39")


@pytest.fixture
def con():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table persons (g text)")
    connection.executemany("insert into persons values (?)", [(label,) for label in persons()])
    yield connection
    connection.close()


@pytest.mark.parametrize("query", QUERIES)
def test_every_plan_has_the_same_answers(con, query):
    add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    for _ in range(2):
        checked(query, con.execute(QUERIES[query]).fetchall())


# SQLite computes these expressions once by itself, but a second run of the query has other noise.
ONCE = {"cte", "cte materialized", "cte not materialized", "filter"}


@pytest.mark.parametrize("query", QUERIES)
def test_an_unkeyed_function_fails_the_same_check(con, query):
    noise = unkeyed()
    con.create_function("noisy", 2, lambda _, value: noise(value), deterministic=True)
    rows = con.execute(QUERIES[query]).fetchall()
    if query in ONCE:
        rows += con.execute(QUERIES[query]).fetchall()
    with pytest.raises(AssertionError, match=r"labels have several answers|should have been left out"):
        (above if query in ABOVE else one_answer)(rows)


def test_an_unkeyed_function_of_a_constant_has_one_noise_for_all_rows(con):
    """SQLite calls a deterministic function of a constant once, which reveals all differences of answers. A key prevents that."""
    noise = unkeyed()
    con.create_function("unkeyed", 1, noise, deterministic=True)
    add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    query = "select distinct g, unkeyed(100), noisy(g, 100) from persons"
    rows = con.execute(query).fetchall()
    assert len({shared for _, shared, _ in rows}) == 1
    assert {label: own for label, _, own in rows} == answers(values=[100] * len(LABELS))


@pytest.mark.parametrize(
    ("type_of_value", "mechanism", "kind"),
    [
        ("integer", MECHANISM, int),
        ("real", MECHANISM, float),
        ("integer", sn.Laplace(0.1, sensitivity=1), float),
        ("real", sn.Laplace(0.1, sensitivity=1), float),
    ],
)
def test_types_of_the_result(con, type_of_value, mechanism, kind):
    add_to_sqlite(con, "noisy", mechanism, KEYED, STATISTIC, label_type="text")
    query = f"select g, noisy(g, cast(count(*) as {type_of_value})) from persons group by g"
    found = one_answer(con.execute(query).fetchall())
    assert found == answers(mechanism)
    assert {type(answer) for answer in found.values()} == {kind}


def test_labels_of_every_type_and_several(con):
    kinds = {str: "text", int: "integer", bytes: "bytes", type(None): "date"}
    for labels in [("a",), (7,), (-(2**63),), (b"\0\xff",), (None,), ("a", 7), (None, None, "a"), tuple(range(8))]:
        add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type=[kinds[type(label)] for label in labels])
        places = ", ".join("?" * len(labels))
        found = con.execute(f"select noisy({places}, ?)", (*labels, 12)).fetchone()[0]
        label = labels[0] if len(labels) == 1 else labels
        assert found == MECHANISM.release([12], labels=[label], statistic=STATISTIC, rng=KEYED)


def test_null_is_no_answer(con):
    add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    assert con.execute("select noisy('a', null), noisy(null, null)").fetchone() == (None, None)


def test_a_condition_on_the_rows_before_does_not_matter(con):
    add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    rows = con.execute("select g, noisy(g, count(*)) from persons where g like 'city%' group by g limit 5").fetchall()
    assert len(rows) == 5
    assert set(rows) <= set(EXPECTED.items())


def test_partitions_are_those_of_release(con):
    add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text", max_partitions_contributed=3)
    expected = MECHANISM.release(12, labels="a", statistic=STATISTIC, rng=KEYED, max_partitions_contributed=3)
    assert con.execute("select noisy('a', 12)").fetchone()[0] == expected
    assert expected != MECHANISM.release(12, labels="a", statistic=STATISTIC, rng=KEYED)


def test_the_secret_is_fetched_once(con):
    fetched = []
    keyed = sn.KeyedRng(lambda: fetched.append(1) or bytes(32), "r")
    add_to_sqlite(con, "noisy", MECHANISM, keyed, STATISTIC, label_type="text")
    con.execute("select noisy(g, 1) from persons").fetchall()
    assert fetched == [1]


def test_the_function_is_declared_deterministic(con):
    """SQLite accepts only deterministic functions in an index."""
    add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    con.execute("create index released on persons (noisy(g, 12))")
    con.create_function("other", 2, lambda *_: 0)
    with pytest.raises(sqlite3.OperationalError, match="non-deterministic"):
        con.execute("create index broken on persons (other(g, 12))")


def test_a_wrong_number_of_arguments_is_sqlites_error(con):
    add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    with pytest.raises(sqlite3.OperationalError, match=r"wrong number of arguments to function noisy\(\)"):
        con.execute("select noisy(3)")
