"""Ten million rows of two million people: counts, sums and quantiles keep one person's bound.

Evidence: totals against the engine's own statements, and the answers without one of the people. Spark needs pyspark and Java.
"""

from dataclasses import replace

import numpy as np
import pytest

from stairnoise.query.question import Question
from stairnoise.query.sources import open_source
from stairnoise.query.statistics import Count, Median, Sum

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]

ROWS, PEOPLE, GROUPS, K = 10**7, 2 * 10**6, 20, 2
# Columns of mixed whole numbers: a person has up to twenty rows in different groups.
COLUMNS = f"id * 7919 % {PEOPLE} as p, id * id % 9973 % {GROUPS} as g, id % 1001 as v"
QUESTION = Question(
    "visits",
    ("g",),
    {"g": tuple(range(GROUPS))},
    (Count(), Sum("v", (0.0, 500.0)), Median("v", (0.0, 1000.0), step=10.0)),
    person="p",
    max_groups=K,
)


def duckdb_session():
    con = pytest.importorskip("duckdb").connect()
    con.execute(f"create table visits as select {COLUMNS} from (select cast(range as bigint) as id from range({ROWS}))")
    con.execute("create table fewer as select * from visits where p <> 12345")
    return con, lambda text: con.execute(text).fetchall()


@pytest.fixture(params=["DuckDB", "Spark"])
def engine(request):
    """A source, and a function that returns the rows of a statement."""
    if request.param == "DuckDB":
        yield duckdb_session()
        return
    spark = request.getfixturevalue("spark")
    spark.range(ROWS).selectExpr(*COLUMNS.split(", ")).createOrReplaceTempView("visits")
    spark.sql("select * from visits where p <> 12345").createOrReplaceTempView("fewer")
    yield spark, lambda text: list(map(tuple, spark.sql(text).collect()))


def answers(source, table):
    with open_source(source) as opened:
        return opened.answers(replace(QUESTION, table=table), order=bytes(32))


def test_one_of_two_million_people_changes_two_groups(engine):
    source, rows = engine
    every, fewer = answers(source, "visits"), answers(source, "fewer")
    ((expected,),) = rows(f"select sum(least(n, {K})) from (select p, count(distinct g) as n from visits group by p) as people")
    assert every.counts.sum() == expected
    weights = [int(weights.sum()) for _, weights in every.histograms[0]]
    assert len(set(np.array(weights) / every.counts)) == 1
    moved = every.counts - fewer.counts
    assert (moved >= 0).all()
    assert moved.max() == 1
    assert moved.sum() == K
    sums = (every.sums - fewer.sums)[0] * every.units[0]
    assert (sums[moved == 0] == 0).all()
    assert 0 < sums.max() <= 500
    changed = [
        not all(map(np.array_equal, one, other))
        for one, other in zip(*(found.histograms[0] for found in (every, fewer)), strict=True)
    ]
    assert np.array_equal(changed, moved == 1)
