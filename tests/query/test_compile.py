"""A compiled statement has the true answers in whatever client runs it, and no answers that it cannot have are taken.

Evidence: SQLGlot's translation of each warehouse's statement, run by DuckDB against a plain program. The warehouses themselves
are not run here; `snapshots` holds a statement of each, so that a change is seen.
"""

import datetime
import decimal
import math
import os
import random
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.question import Question
from stairnoise.query.sources.statement import answers_of
from stairnoise.query.sources.warehouses import Described
from stairnoise.query.statistics import Count, Mean, Median, Quantile, Sum
from tests.combinations import in_turn, rest_long
from tests.query.conditions import COLUMNS, GOOD, ROWS
from tests.query.oracle import answers, histograms

SNAPSHOTS = Path(__file__).parent / "snapshots"
# The types of the tests' columns, by each warehouse's own names.
SPARK = {"integer": "int", "bigint": "bigint", "text": "string", "double": "double", "boolean": "boolean", "date": "date"}
TYPES = {
    "bigquery": {"integer": "INT64", "bigint": "INT64", "text": "STRING", "double": "FLOAT64", "boolean": "BOOL", "date": "DATE"},
    "databricks": SPARK,
    "snowflake": SPARK | {"integer": "NUMBER(38,0)", "bigint": "NUMBER(38,0)", "text": "VARCHAR"},
    "spark": SPARK,
    "trino": SPARK | {"integer": "integer", "text": "varchar"},
}
TABLE = {"who": "text", "g": "text", "h": "integer", "d": "date", "v": "bigint", "w": "double"}
TYPES_HERE = {"text": "varchar"}
# Functions that DuckDB does not have, for SQLGlot's translations.
MACROS = (
    "create macro try_sum(x) as sum(x)",
    "create macro collated(x, y) as x",
    *(
        f"create macro {name}_{does}(x, y) as x {sign} y"
        for name in ("safe", "try")
        for does, sign in (("add", "+"), ("subtract", "-"), ("multiply", "*"))
    ),
)

pytestmark = pytest.mark.filterwarnings("ignore:the client that runs the statement")


def schema(dialect, columns=TABLE):
    return {name: TYPES[dialect][kind] for name, kind in columns.items()}


ASKED = {
    "by": ["g", "d"],
    "groups": {"g": ["Paris", "O'Hare", "é", None]},
    "count": True,
    "sum": {"v": (0, 5)},
    "mean": {"w": (-1.5, 1)},
    "where": "w < 1000.5 and g not like '%x%' and year(d) > 1900 and h * h + 1 <> 7",
    "person": "who",
    "max_groups": 2,
    "eps": 1,
    "delta": 1e-6,
}


def compiled(dialect, **changed):
    asked = ASKED | changed
    return query.compile(
        asked.pop("table", "shop.visits"), dialect=dialect, schema=asked.pop("schema", None) or schema(dialect), **asked
    )


GROUPINGS = {
    "by": ["quarter(d)", "week(d)", "weekday(d)"],
    "groups": {"quarter(d)": "2025-Q4..2026-Q1"},
    "bins": {"v": [0, 18, 65.5], "w": [-0.5, 0.1]},
    "mean": {"v": (0, 5)},
    "count": False,
    "sum": None,
    "where": None,
}


@pytest.mark.parametrize(("name", "changed"), [("", {}), ("_groupings", GROUPINGS)])
@pytest.mark.parametrize("dialect", TYPES)
def test_statements_are_those_of_the_snapshots(dialect, name, changed, monkeypatch):
    """With STAIRNOISE_SNAPSHOTS=write in the environment, the snapshots are written anew."""
    monkeypatch.setattr("secrets.token_bytes", bytes)
    text = compiled(dialect, **changed).sql.replace(" from ", "\nfrom ").replace(", case ", ",\n  case ") + "\n"
    require_snapshot(f"{dialect}{name}", text)


@pytest.mark.parametrize("dialect", TYPES)
def test_statements_about_quantiles_are_those_of_the_snapshots(dialect, monkeypatch):
    monkeypatch.setattr("secrets.token_bytes", bytes)
    made = compiled(dialect, count=False, sum=None, mean=None, median={"v": (0, 100)}, quantile={("w", 0.9): (-1.5, 1)})
    texts = [text.replace(" from ", "\nfrom ") for text, _ in made.statements[1:]]
    require_snapshot(f"{dialect}_quantiles", ";\n".join(texts) + "\n")


def require_snapshot(name, text):
    path = SNAPSHOTS / f"{name}.sql"
    if os.environ.get("STAIRNOISE_SNAPSHOTS") == "write":
        path.write_text(text)
    assert path.read_text() == text


def translated(dialect, text):
    """Return DuckDB's SQL.

    DuckDB's casts of doubles round, those between texts and bytes escape some bytes, and it has no function `collate`.
    """
    sqlglot = pytest.importorskip("sqlglot")

    def plain(node):
        if isinstance(node, sqlglot.exp.Cast) and node.to.is_type("binary", "varbinary"):
            return sqlglot.exp.Anonymous(this="encode", expressions=[node.this.transform(plain)])
        if dialect == "trino" and isinstance(node, sqlglot.exp.Div) and node.find(sqlglot.exp.Column).name in ("upto", "k"):
            return sqlglot.exp.IntDiv(this=node.this, expression=node.expression)
        if isinstance(node, sqlglot.exp.TryCast) and isinstance(node.this, (sqlglot.exp.Add, sqlglot.exp.Sub)):
            return sqlglot.exp.TryCast(this=sqlglot.exp.Anonymous(this="trunc", expressions=[node.this]), to=node.to)
        if isinstance(node, sqlglot.exp.Cast) and isinstance(node.this, (sqlglot.exp.Unhex, sqlglot.exp.HexString)):
            return sqlglot.exp.Anonymous(this="decode", expressions=[node.this])
        return node

    tree = sqlglot.parse_one(text.replace("collate(", "collated("), read=dialect)
    return tree.transform(plain).sql("duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)


@cache
def duck_with_macros():
    con = pytest.importorskip("duckdb").connect(config={"threads": "1"})
    for macro in MACROS:
        con.execute(macro)
    return con


def duck(columns, rows):
    """Return a connection whose table `t` has these rows: one for all tests, because opening takes longer than a test."""
    con, row = duck_with_macros(), f"({', '.join('?' * len(columns))})"
    rows = rows or [[None] * len(columns)]
    described = ", ".join(f"{name} {TYPES_HERE.get(kind, kind)}" for name, kind in columns.items())
    con.execute(f"create or replace table t ({described})")
    con.execute(f"insert into t values {', '.join([row] * len(rows))}", [value for one in rows for value in one])
    return con


def answered(con, dialect, question, columns, key=bytes(32)):
    source = Described(dialect, "t", schema(dialect, columns))
    asked = source.checked(question)
    results = []
    for text, parameters in source.statements(asked, key):
        assert parameters == []
        results.append(con.execute(translated(dialect, text)).fetchall())
    return answers_of(asked, results)


def rows_of(draw):
    people = ["p", "P", "é", "", "o'x", None]
    day = datetime.date(2020, 2, 29)
    return [
        (
            draw.choice(people),
            draw.choice(["x", "X", "o'x", "é", "", None, "y"]),
            draw.choice([1, 2, None]),
            draw.choice([day, None]),
            draw.choice([0, -7, 5, 100, 2**40, -(2**62), None]),
            draw.choice([0.0, -0.0, 0.1, 2.5, -2.25, 5e-324, 1e300, -1e300, math.inf, -math.inf, math.nan, None]),
        )
        for _ in range(draw.randrange(60))
    ]


@pytest.mark.parametrize("dialect", TYPES)
def test_translations_have_the_answers_of_a_plain_program(dialect):
    draw = random.Random(dialect)
    listed = {"g": ("x", "X", "o'x", "é", "", None), "h": (1, 2), "d": (datetime.date(2020, 2, 29), None)}
    several = Count(), Sum("v", (-3.0, 5.0)), Sum("w", (2.0, 7.0))
    for statistics in (several, (Mean("v", (2.0, 7.0)),), (Sum("w", (-0.5, 2.0)),)):
        for person in ("who", None):
            rows = rows_of(draw)
            question = Question("t", tuple(listed), listed, statistics, None, person, 2 if person else 1)
            own = {name.upper() if dialect == "snowflake" else name: kind for name, kind in TABLE.items()}
            found = answered(duck(own, rows), dialect, question, TABLE)
            place = {"v": 0, "w": 1}
            expected = answers(
                [(row[0], row[1:4], row[4:]) for row in rows],
                listed.values(),
                sums=[(place[one.column], one.bounds, unit) for one, unit in zip(question.summed, found.units, strict=True)],
                counted=isinstance(statistics[0], Count),
                complete={place[one.column] for one in statistics if isinstance(one, Mean)},
                max_groups=2 if person else None,
            )
            assert (found.counts.tolist(), found.sums.tolist()) == expected


@pytest.mark.parametrize("dialect", TYPES)
def test_translations_count_people_at_candidates_as_a_plain_program_does(dialect):
    draw = random.Random(f"{dialect} quantiles")
    listed = {"g": ("x", "X", "o'x", "é", "", None), "h": (1, 2)}
    statistics = Count(), Median("v", (-3.0, 5.0), step=1.0), Quantile("w", (-2.5, 7.0), Fraction(9, 10), 0.5)
    for person in ("who", None, "who"):
        rows = rows_of(draw)
        rows += [
            (row[0], *row[1:4], draw.choice([1, 2, 3]), draw.choice([0.5, 1.25, 4.0])) for row in rows[:9] for _ in range(17)
        ]
        question = Question("t", tuple(listed), listed, statistics, None, person, 2 if person else 1)
        own = {name.upper() if dialect == "snowflake" else name: kind for name, kind in TABLE.items()}
        found = answered(duck(own, rows), dialect, question, TABLE)
        for place, points in enumerate(([float(x) for x in range(-3, 6)], [x / 2 for x in range(-5, 15)])):
            expected = histograms(
                [(row[0], row[1:3], row[4:]) for row in rows],
                listed.values(),
                place,
                points,
                max_groups=2 if person else None,
                person=720_720 if person else 1,
            )
            assert [dict(zip(*map(list, one), strict=True)) for one in found.histograms[place]] == expected


@pytest.mark.parametrize("dialect", TYPES)
def test_conditions_select_what_they_say(dialect):
    own = {name.upper() if dialect == "snowflake" else name: kind for name, kind in COLUMNS.items()}
    con = duck(own, ROWS)
    found = {where: int(answered(con, dialect, Question("t", (), {}, where=where), COLUMNS).counts[0]) for where in GOOD}
    assert found == {where: sum(map(bool, map(GOOD[where], ROWS))) for where in GOOD}


def plan(**changed):
    asked = {"by": ["g", "h"], "groups": {"g": ["x", None]}, "where": None, "mean": None}
    return compiled("snowflake", **asked | changed)


DAY = datetime.date(2020, 2, 29)
ROWS_OF_PLAN = [(0, 1, 40, 70), (1, None, 500, None), (0, 2, 900, 4)]


FOUND_BOUNDS = {"v": (2, 128), "w": (-1024, 0.5)}


@pytest.mark.parametrize(("dialect", "column"), rest_long(in_turn(TYPES, FOUND_BOUNDS), product(TYPES, FOUND_BOUNDS)))
def test_bounds_are_found_from_the_rows_of_a_client(dialect, column):
    """Evidence: the translation in DuckDB, with bounds that a reader can see; nearly no noise."""
    columns = {"who": "text", "v": "bigint", "w": "double"}
    rows = [("a", 3, 0.25), ("a", 3, -900.0), ("b", 100, math.nan), ("c", None, math.inf), (None, 2**40, 1.0)]
    asked = {"dialect": dialect, "schema": schema(dialect, columns), "person": "who", "max_groups": 2, "eps": 1e9}
    own = {name.upper() if dialect == "snowflake" else name: kind for name, kind in columns.items()}
    made = query.compile_bounds("t", column=column, **asked)
    found = query.finish(made, duck(own, rows).execute(translated(dialect, made.sql)).fetchall())
    assert isinstance(found, query.PrivateBounds)
    assert found.bounds == FOUND_BOUNDS[column]
    assert sum(count for _, count, _ in found.histogram) == 2
    with pytest.raises(sn.ParameterError, match=r"^column must be of numbers; it is declared as"):
        query.compile_bounds("t", column="who", **asked)


def test_a_plan_is_finished_once():
    first = plan(rng=sn.KeyedRng(bytes(32), "july"), by=["g"], groups={"g": ["x", None]}, delta=None)
    rows = [(0, decimal.Decimal(40), 70.0), (1, 500, None)]
    table = query.finish(first, rows)
    assert table.columns == ("G", "count", "count_error_bound", "sum_V", "sum_V_error_bound")
    assert [row[0] for row in table] == ["x", None]
    with pytest.raises(sn.ParameterError, match="plan must not be finished before"):
        query.finish(first, rows)
    assert table.about["schema"]["dialect"] == "snowflake"
    assert "the exact answers that the statement's client has seen" in table.about["not_protected"]


def test_frames_and_rows_are_the_same():
    pandas, arrow, polars = map(pytest.importorskip, ("pandas", "pyarrow", "polars"))
    rng, columns = sn.KeyedRng(bytes(32), "july"), ["g0", "people", "sum0"]
    rows = [(0, 40, 70), (1, 500, None)]
    data = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
    kinds = (rows, pandas.DataFrame(data), arrow.table(data), polars.DataFrame(data), map(list, rows))
    own = [list(query.finish(plan(rng=rng, by="g", groups=["x", None], delta=None), answers)) for answers in kinds]
    assert own == [own[0]] * len(own)


WEIGHED = [(0, 3, 720_720), (0, 7, 720_720 * 39), (1, 0, 720_720)]


def with_median(**changed):
    asked = {"by": ["g"], "groups": {"g": ["x", None]}, "where": None, "mean": None, "delta": None, "median": {"w": (0, 7)}}
    return compiled("snowflake", **asked | {"steps": {"w": 1}} | changed)


def test_quantiles_have_statements_of_their_own():
    pandas = pytest.importorskip("pandas")
    made = with_median(eps=1e6)
    assert [columns for _, columns in made.statements] == [["g0", "people", "sum0"], ["g0", "c", "weight"]]
    assert made.statements[0] == (made.sql, made.columns)
    frame = pandas.DataFrame(WEIGHED, columns=["G0", "C", "WEIGHT"])
    table = query.finish(made, [[(0, 40, 70), (1, 5, None)], frame])
    assert [(row[0], row[-1]) for row in table] == [("x", 7), (None, 0)]
    alone = with_median(count=False, sum=None, eps=1e6)
    assert alone.columns == ["g0", "c", "weight"]
    assert [row[-1] for row in query.finish(alone, WEIGHED)] == [7, 0]
    whole = with_median(by=(), groups=None, count=False, sum=None, eps=1e6)
    assert list(query.finish(whole, [(4, 720_720)])) == [(4,)]
    assert len(query.finish(with_median(by=(), groups=None, count=False, sum=None), [])) == 1


REFUSED_WEIGHTS = {
    "must be a list of 2 results, one for each statement": [(0, 40, 70)],
    "a whole number as c, got a value of type float in row 0": [[], [(0, 0.5, 720_720)]],
    "must be candidates of the plan": [[], [(0, 8, 720_720)]],
    "a whole number as weight, got a value of type int in row 0": [[], [(0, 1, 0)]],
    "every candidate of a group once": [[], [(0, 1, 720_720), (0, 1, 720_720)]],
    "weights of whole people in each group": [[], [(0, 1, 720_720), (0, 2, 1)]],
    "weights of whole people": [[], [(0, place, 720_720 * 10**12 * 9) for place in range(3)]],
}


@pytest.mark.parametrize("why", REFUSED_WEIGHTS)
def test_other_weights_are_refused(why):
    made = with_median()
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match="answers must") as error:
        query.finish(made, REFUSED_WEIGHTS[why])
    assert why in str(error.value)
    query.finish(made, [[(0, 40, 70)], WEIGHED])


def test_found_groups_come_as_digits():
    asked = compiled("trino", by="g", groups=None, where=None, mean=None, sum=None, max_groups=1)
    table = query.finish(asked, [(b"x\xff".hex(), 10**6), (None, 10**6), ("", 10**6)])
    assert {row[0] for row in table} == {"x\\xff", None, ""}


REFUSED = {
    "a list of rows or a frame": 7,
    "must be rows of 4 values": [(0, 1, 2)],
    "row 1 is none": [(0, 1, 40, 7), "secret"],
    "the index of a listed group as g0, got a value of type int in row 0": [(2, 1, 40, 7)],
    "the index of a listed group as g0, got a value of type bool in row 0": [(True, 1, 40, 7)],
    "a integer or null as g1, got a value of type str in row 0": [(1, "secret", 40, 7)],
    "a whole number as people, got a value of type float in row 0": [(1, 1, 0.5, 7)],
    "a whole number as people, got a value of type int in row 0": [(1, 1, 0, 0)],
    "a whole number as people, got a value of type NoneType": [(1, 1, None, 0)],
    "sums within the bounds of their people; row 1": [(0, 1, 40, 7), (1, 1, 40, 201)],
    "every group once": [(0, 1, 40, 7), (0, decimal.Decimal(1), 41, 7)],
}


@pytest.mark.parametrize("why", REFUSED)
def test_other_answers_are_refused_without_their_content(why):
    made = plan()
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match="answers must") as error:
        query.finish(made, REFUSED[why])
    assert why in str(error.value)
    assert "secret" not in str(error.value)
    # The plan can still be finished.
    query.finish(made, ROWS_OF_PLAN)


def test_columns_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS_OF_PLAN, columns=["g0", "g1", "sum0", "people"])
    with pytest.raises(sn.ParameterError, match="must have the columns g0, g1, people, sum0, in this order"):
        query.finish(plan(), frame)


def test_a_table_without_groups_is_one_row():
    made = compiled("spark", by=(), groups=None, delta=None)
    with pytest.raises(sn.ParameterError, match="must be one row, got 0"):
        query.finish(made, [])
    assert len(query.finish(made, [(0, None, None)])) == 1


def test_the_cost_is_counted_when_the_plan_is_made(tmp_path):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=1.5, delta=1e-5)
    plan(ledger=ledger)
    assert ledger.total() == 1
    with pytest.raises(sn.BudgetError):
        plan(ledger=ledger)


def test_a_warning_says_who_sees_the_answers():
    with pytest.warns(UserWarning, match="gets exact answers, which are not private"):
        plan()
    with pytest.warns(UserWarning, match="gets exact answers") as warned:
        query.compile_bounds("t", dialect="trino", schema={"w": "double"}, column="w", row_is_person=True, eps=1)
    assert warned[0].filename == __file__


def test_every_statement_has_a_new_salt():
    assert plan().sql != plan().sql


NOT_COMPILED = {
    "dialect must be one of 'spark', 'databricks', 'bigquery', 'snowflake', 'trino', got 'oracle'": {
        "dialect": "oracle",
        "schema": {"g": "text"},
    },
    "table must be a name of one to three parts": {"table": "a.b.c.d"},
    "schema must be a dict of the columns' types": {"schema": ["g"]},
    "schema must name every column once": {"schema": {"g": "text", "G": "text"}},
    "by must name a column of 'shop.visits', got 'g'": {"schema": {"x": "text"}},
    "names must not have ${": {"schema": {"${x}": "text"}},
    "and columns of type TIMESTAMP cannot be compared": {"schema": schema("trino") | {"h": "TIMESTAMP"}, "where": "h is null"},
    "groups of 'w' must be listed": {"by": ["g", "w"]},
    "person must be a column of integers, texts, decimals, bools or dates; 'w' is declared": {"person": "w"},
    "person must be a column of integers, texts, decimals, bools or dates; 'who' is": {
        "schema": schema("trino") | {"who": "json"}
    },
}


@pytest.mark.parametrize("why", NOT_COMPILED)
def test_what_has_no_safe_statement_is_refused(why, tmp_path):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=1.5, delta=1e-5)
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError)) as error:
        compiled(**{"dialect": "trino", "ledger": ledger} | NOT_COMPILED[why])
    assert why in str(error.value)
    assert ledger.total() == 0


def test_names_and_texts_cannot_leave_their_quotes():
    name = 'g" from t --'
    alone = {"where": None, "mean": None, "sum": None, "delta": None}
    made = compiled("trino", schema={"who": "varchar", name: "varchar"}, by=name, groups=["'; drop"], **alone)
    assert '"g"" from t --"' in made.sql
    assert "drop" not in made.sql
    with pytest.raises(sn.ParameterError, match="no backslash and no backtick"):
        compiled("bigquery", schema={"who": "STRING", "g`": "STRING"}, by="g`", groups=["x"], **alone)
