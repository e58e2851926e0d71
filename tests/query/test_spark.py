"""Frames and sessions of Spark are asked as every engine is, in both of its modes; no row of a frame can be seen in an error.

Evidence: hundreds of random tables, joined into one and asked at once, against a plain program; the same with a wrong order.
Needs pyspark and Java.
"""

import contextlib
import datetime
import decimal
import itertools
import math
import random

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.cli import main
from stairnoise.query.question import Question
from stairnoise.query.sources import open_source
from stairnoise.query.sources import statement as statements
from stairnoise.query.statistics import Count, Mean, Sum
from tests.query.oracle import answers_to

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]

TABLES = 200
SCHEMA = "t int, who string, g string, h int, v bigint, w double"
LISTED = (tuple(range(TABLES)), ("x", "X", "x ", "", "é", "e\u0301", None), (1, 2, None))
PEOPLE = ["p", "P", "é", "", "o'x", "a\\b", "ß", None]
V = [0, 1, -1, 5, 100, 2**31, -(2**33), 2**63 - 1, -(2**63), None]
W = [0.0, -0.0, 0.1, 2.5, -2.25, 5e-324, 1e300, -1e300, math.inf, -math.inf, math.nan, None]
STATISTICS = {
    "counts and sums": (Count(), Sum("v", (-3.0, 5.0)), Sum("w", (2.0, 7.0))),
    "sums": (Sum("v", (0.0, 2.0**33)), Sum("w", (-6.5, -0.25))),
    "means": (Mean("v", (2.0, 7.0)), Mean("w", (-3.0, 5.0))),
}


def random_tables(draw):
    """Return rows of many small tables; a person is in one of them."""
    rows = []
    for table in range(TABLES):
        for _ in range(draw.randrange(30)):
            person = draw.choice(PEOPLE)
            named = None if person is None else f"{table}/{person}"
            group = draw.choice([*LISTED[1], "y"]), draw.choice([*LISTED[2], 3])
            rows.append((table, named, *group, draw.choice(V), draw.choice(W)))
    return rows


def frame(spark, rows, schema=SCHEMA):
    return spark.createDataFrame(rows, schema)


def answered(data, question, key=bytes(32)):
    with open_source(data) as source:
        return source.answers(question, order=key)


def expected(rows, question, units, key=bytes(32)):
    people = [(row[1], (row[0], *row[2:4]), row[4:]) for row in rows]
    return answers_to(question, units, people, LISTED, "vw", key=key)


def asked(statistics, max_groups=2, person="who"):
    return Question(None, ("t", "g", "h"), dict(zip("tgh", LISTED, strict=True)), statistics, None, person, max_groups)


def changes(with_person, without):
    """Return the largest change of a count, and how many groups of one small table change."""
    moved = (with_person.counts != without.counts) | (with_person.sums != without.sums).any(axis=0)
    return np.abs(with_person.counts - without.counts).max(), moved.reshape(TABLES, -1).sum(axis=1).max()


@pytest.mark.parametrize("statistics", STATISTICS.values(), ids=STATISTICS)
def test_random_tables(spark, statistics):
    draw = random.Random(repr(statistics))
    rows, question, key = random_tables(draw), asked(statistics), draw.randbytes(32)
    gone = {f"{table}/{draw.choice(PEOPLE)}" for table in range(TABLES)}
    found = []
    for remaining in (rows, [row for row in rows if row[1] not in gone]):
        answer = answered(frame(spark, remaining), question, key)
        assert (answer.counts.tolist(), answer.sums.tolist()) == expected(remaining, question, answer.units, key)
        found.append(answer)
    # A person adds to at most one count of a group, and to at most two groups.
    assert changes(*found) == (1, 2)
    for one, unit, change in zip(question.summed, found[0].units, np.abs(found[0].sums - found[1].sums), strict=True):
        assert 0 < change.max() * unit <= max(map(abs, one.bounds))


def test_every_row_is_a_person(spark):
    rows = random_tables(random.Random(5))
    question = asked(STATISTICS["counts and sums"], 1, None)
    answer = answered(frame(spark, rows), question)
    assert (answer.counts.tolist(), answer.sums.tolist()) == expected(rows, question, answer.units)


def test_a_wrong_order_of_groups_is_seen(spark, monkeypatch):
    """If other people's rows decide a person's groups, one person changes more groups, and the answers are others."""
    right = statements.statement

    def wrong(dialect, checked, key):
        text, parameters = right(dialect, checked, key)
        before, after = text.split("order by sha2(")
        return f"{before}order by count(*) over (partition by g0, g1, g2), sha2({after}", parameters

    draw = random.Random(3)
    rows, question = random_tables(draw), asked((Count(),), 1)
    gone = {f"{table}/{draw.choice(PEOPLE)}" for table in range(TABLES)}
    monkeypatch.setattr(statements, "statement", wrong)
    found = [answered(frame(spark, part), question) for part in (rows, [row for row in rows if row[1] not in gone])]
    assert changes(*found)[1] > 1
    assert found[0].counts.tolist() != expected(rows, question, ())[0]


def test_both_modes_have_the_same_answers(spark):
    rows = random_tables(random.Random(8))
    before, found = spark.conf.get("spark.sql.ansi.enabled"), []
    for ansi in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        answer = answered(frame(spark, rows), asked(STATISTICS["counts and sums"]))
        found.append((answer.counts.tolist(), answer.sums.tolist()))
    spark.conf.set("spark.sql.ansi.enabled", before)
    assert found[0] == found[1]


def test_groups_of_every_type(spark):
    """Texts with a collation are compared byte by byte, 0.1 is the number of the declared type, and NaN is in no group."""
    big, least = decimal.Decimal(10**38 - 1), decimal.Decimal(1 - 10**38)
    schema = "c string collate UTF8_LCASE, f float, r double, d decimal(38,0), b boolean, day date"
    first = ("a", 0.1, -0.0, big, True, day_of(2020))
    rows = [first, ("A", math.nan, 0.0, least, False, day_of(1)), (None, None, math.nan, None, None, None)]
    data = frame(spark, rows, schema)
    listed = {
        "c": ["A", "a"],
        "f": [0.1, None],
        "r": [0.0],
        "d": [big, least],
        "b": [False, None, True],
        "day": [day_of(2020), day_of(1)],
    }
    found = {name: answered(data, Question(None, (name,), {name: tuple(of)})).counts.tolist() for name, of in listed.items()}
    assert found == {"c": [1, 1], "f": [1, 1], "r": [2], "d": [1, 1], "b": [1, 1, 1], "day": [1, 1]}


def day_of(year):
    return datetime.date(year, 1, 1)


def test_found_groups(spark):
    """Texts that are no texts, and dates that Python does not have, are groups too."""
    data = spark.sql(
        "select * from values (cast(X'ff61' as string), date '2020-02-29'), ('a', date '-0044-03-15'), ('a', null), ('', null)"
        " as rows(g, d)"
    )
    assert answered(data, Question(None, ("g",), {})).groups == [("",), ("a",), ("\\xffa",)]
    found = answered(data, Question(None, ("d",), {}))
    assert (found.groups[0], found.counts.tolist()) == ((None,), [3, 1])


def test_a_person_of_a_collation_is_one(spark):
    """Spark takes a and A of this collation for one person, whose name is then the first of both by bytes."""
    data = frame(spark, [("a", "x"), ("A", "y"), ("b", "x")], "who string collate UTF8_LCASE, g string")
    question = Question(None, ("g",), {"g": ("x", "y")}, person="who", max_groups=1)
    assert {sum(answered(data, question, bytes([byte] * 32)).counts) for byte in range(4)} == {2}


def test_a_sum_beyond_64_bits_is_clipped(spark):
    """One person's total overflows; Spark's own sum would fail in ANSI mode."""
    data = spark.sql("select 'p' as who, cast(9e18 as bigint) as v from range(3)")
    question = Question(None, (), {}, (Sum("v", (0.0, 100.0)),), None, "who")
    assert answered(data, question).sums.tolist() == [[100]]
    dialect = sources_of(data)
    text = f"select {dialect.total.format('v')} from values (9223372036854775807), (9223372036854775807) as rows(v)"
    assert spark.sql(text).collect()[0][0] > 100
    assert spark.sql(f"select {dialect.total.format('v')} from values (cast(null as bigint)) as rows(v)").collect()[0][0] is None


def sources_of(data):
    with open_source(data) as source:
        return source.dialect


def test_nothing_of_a_row_is_shown_if_a_frame_fails(spark, capfd):
    """The caller's own cast fails for one row."""
    data = spark.sql("select cast(g as int) as x from values ('1'), ('secret') as rows(g)")
    with pytest.raises(query.SourceError, match="could not answer") as raised:
        query.count(data, row_is_person=True, by="x", groups=[1], eps=1)
    assert (raised.value.__context__, raised.value.__cause__) == (None, None)
    assert "secret" not in str(raised.value) + "".join(capfd.readouterr())


def test_tables_of_a_session(spark):
    frame(spark, [(1, "x")], "who int, g string").createOrReplaceTempView("Visits")
    asked = {"row_is_person": True, "eps": 1, "by": "G", "groups": ["x"]}
    table = query.count(spark, "visits", **asked)
    assert (table.columns, table.about["table"]) == (("g", "count", "error_bound"), "visits")
    assert table.about["schema"] == {"types": {"g": "string"}, "lazy": "whether the frame or view can be computed"}
    with pytest.raises(sn.ParameterError, match="must be a table or view of the source, got 'visit'; did you mean 'visits'"):
        query.count(spark, "visit", **asked)
    with pytest.raises(sn.ParameterError, match="by must name a column of 'visits', got 'who2'; did you mean 'who'"):
        query.count(spark, "visits", **asked | {"by": "who2"})
    spark.catalog.dropTempView("visits")


def test_the_command_line_asks_the_active_session(spark, capsys):
    frame(spark, [(1, "x"), (2, "y")], "who int, g string").createOrReplaceTempView("visits")
    asked = ["query", "--spark", "visits", "--by", "g", "--groups", "g=x,y", "--count", "--person", "who", "--eps", "1", "--json"]
    assert main(asked) == 0
    assert '"table": "visits"' in capsys.readouterr().out
    spark.catalog.dropTempView("visits")


def test_a_condition_of_a_collated_column_is_bytewise(spark):
    data = frame(spark, [("a",), ("A",), (None,)], "g string collate UTF8_LCASE")
    for where, count in (("g = 'a'", 1), ("g in ('A', 'b')", 1), ("g like 'a%'", 1), ("g <> 'a'", 1), ("lower(g) = 'a'", 2)):
        assert answered(data, Question(None, (), {}, where=where)).counts.tolist() == [count], where
    with pytest.raises(sn.ParameterError, match="where must be"):
        answered(data, Question(None, (), {}, where="g > 5"))


def test_no_view_is_left(spark):
    before = spark.catalog.listTables()
    query.count(frame(spark, [(1,)], "x int"), row_is_person=True, eps=1)
    assert spark.catalog.listTables() == before


def test_what_cannot_be_asked_is_refused(spark):
    asked = {"row_is_person": True, "eps": 1}
    with pytest.raises(sn.ParameterError, match="that is no stream"):
        query.count(spark.readStream.format("rate").load(), **asked)
    with pytest.raises(sn.ParameterError, match="must name every column once"):
        query.count(spark.sql("select 1 as x, 2 as X"), **asked)
    with pytest.raises(sn.ParameterError, match="'m' is declared as map<int,int>"):
        query.count(spark.sql("select map(1, 2) as m"), by="m", groups=[1], **asked)
    other = spark.newSession()
    other.udf.register("sha2", lambda text, bits: text)
    with contextlib.ExitStack() as stack:
        # Newer versions of Spark prefer their own function.
        if "class: org.apache.spark.sql.catalyst" not in str(other.sql("describe function sha2").collect()).lower():
            stack.enter_context(pytest.raises(query.SourceError, match="has a function with the name of a built-in function"))
        query.count(frame(other, [(1,)], "x int"), **asked)


def test_the_same_by_frame_and_by_keyed_noise(spark):
    """A keyed release of a frame and of the same table in a session are the same, if their names are."""
    rng = sn.KeyedRng(bytes(range(32)), "july")
    rows = list(itertools.product(range(20), "xy"))
    found = [
        list(query.count(frame(spark, part, "who int, g string"), by="g", groups=["x", "y"], person="who", eps=1, rng=rng))
        for part in (rows, rows[::-1])
    ]
    assert found[0] == found[1]
