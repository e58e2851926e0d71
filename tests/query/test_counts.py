"""The answers cover the cross product of the listed groups, zeros included, or the groups that the data have.

Evidence: small tables whose answers can be counted by hand.
"""

import datetime

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.query.question import Question

DAY = datetime.date(2026, 11, 23)
COLUMNS = {"g": "text", "n": "bigint", "d": "date", "ok": "boolean", "w": "double"}
ROWS = [
    ("a", 1, DAY, True, 0.5),
    ("a", 1, DAY, False, 0.5),
    ("A", 2, None, None, 2.0),
    ("b", None, DAY, True, 0.1),
    (None, 2**53 + 1, datetime.date(1969, 12, 31), True, None),
    ("a ", 3, DAY, None, -1.0),
    ("1", 4, DAY, None, -1.0),
]


@pytest.fixture
def table(engine):
    rows = ROWS
    if engine.name == "SQLite":
        rows = [tuple(value.isoformat() if isinstance(value, datetime.date) else value for value in row) for row in ROWS]
    engine.table("t", COLUMNS, rows)
    return engine


def asked(groups, by=None, **others):
    return Question("t", tuple(groups) if by is None else by, groups, **others)


def counts_by_group(engine, question):
    answers = engine.answers(question)
    assert answers.counts.dtype == np.int64
    assert answers.sums.size == 0
    return dict(zip(answers.groups, answers.counts.tolist(), strict=True))


def test_the_cross_product_in_the_order_given(table):
    found = table.answers(asked({"g": ("b", "a", "zzz"), "ok": (True, None)}))
    assert found.groups == [("b", True), ("b", None), ("a", True), ("a", None), ("zzz", True), ("zzz", None)]
    assert found.counts.tolist() == [1, 0, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("g", {"a": 2, "A": 1, None: 1, "a ": 1, "": 0, "1": 1}),
        ("g", {"o'brien; --": 0, "%s": 0, "?": 0, "\\": 0}),
        ("n", {1: 2, 2**53: 0, 2**53 + 1: 1, None: 1, -1: 0, 10**18: 0}),
        ("d", {DAY: 5, None: 1, datetime.date(1969, 12, 31): 1, datetime.date(9999, 12, 31): 0}),
        ("ok", {True: 3, False: 1, None: 3}),
        ("w", {0.5: 2, 2: 1, None: 1, 0.1: 1, 1e300: 0, -1: 2}),
    ],
)
def test_values_are_compared_by_type(table, column, expected):
    assert counts_by_group(table, asked({column: tuple(expected)})) == {(value,): count for value, count in expected.items()}


def test_numbers_of_numpy_are_groups(table):
    assert table.answers(asked({"n": (np.int64(1), np.int32(2))})).counts.tolist() == [2, 1]


def test_no_column_is_one_cell(table):
    assert counts_by_group(table, asked({})) == {(): 7}
    assert counts_by_group(table, asked({}, where="n > 1000")) == {(): 1}


def test_an_empty_table_has_all_cells(engine):
    engine.table("t", COLUMNS, [])
    assert counts_by_group(engine, asked({"g": ("a", None), "n": (1, 2)})) == dict.fromkeys(
        [("a", 1), ("a", 2), (None, 1), (None, 2)], 0
    )
    assert counts_by_group(engine, asked({}, by=("g",))) == {}
    assert counts_by_group(engine, asked({}, person="g")) == {(): 0}


def test_found_groups_are_in_an_order_of_their_values(table):
    found = table.answers(asked({}, by=("g",)))
    assert found.groups == [(None,), ("1",), ("A",), ("a",), ("a ",), ("b",)]
    assert found.counts.tolist() == [1, 1, 1, 2, 1, 1]


def test_found_and_listed_groups_together(table):
    found = table.answers(asked({"ok": (True, False)}, by=("g", "ok")))
    assert found.groups == [(None, True), ("a", True), ("a", False), ("b", True)]
    assert found.counts.tolist() == [1, 1, 1, 1]


def test_found_values_have_the_columns_type(table):
    days = [datetime.date(1969, 12, 31), DAY]
    assert table.answers(asked({}, by=("n",))).groups == [(None,), (1,), (2,), (3,), (4,), (2**53 + 1,)]
    found = table.answers(asked({}, by=("d",))).groups
    assert found == [(None,), *((day.isoformat() if table.name == "SQLite" else day,) for day in days)]


REFUSED = {
    "no such column": (asked({"gg": ("a",)}), "by must name a column of 't', got 'gg'; did you mean 'g'"),
    "no such person": (asked({}, person="who"), "person must name a column of 't', got 'who'"),
    "no such table": (Question("tt", (), {}), "table must be a table or view of the source, got 'tt'; did you mean 't'"),
    "an empty list": (asked({"g": ()}), "groups of 'g' must be at least one"),
    "twice": (asked({"g": ("a", "b", "a")}), "groups of 'g' must be listed once each, got one of them twice"),
    "null twice": (asked({"g": (None, None)}), "groups of 'g' must be listed once each, got one of them twice"),
    "an integer for a text": (asked({"g": (1,)}), "groups of 'g' must be texts or None, because the column is declared as"),
    "a text for an integer": (asked({"n": ("1",)}), "groups of 'n' must be integers or None"),
    "a bool for an integer": (asked({"n": (True,)}), "groups of 'n' must be integers or None"),
    "an integer for a bool": (asked({"ok": (1,)}), "groups of 'ok' must be bools or None"),
    "not a number": (asked({"w": (float("nan"),)}), "groups of 'w' must be numbers or None"),
    "a list": (asked({"g": (["a"],)}), "groups of 'g' must be texts or None"),
    "found numbers": (asked({}, by=("w",)), "groups of 'w' must be listed, because the column is declared as"),
    "another column": (Question("t", ("g",), {"n": (1,)}), "groups must be of columns of by, got 'n'"),
    "too many": (asked({"n": tuple(range(10_001))}), "groups of 'n' must be at most 10000, got 10001"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(table, case):
    question, text = REFUSED[case]
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError)) as caught:
        table.answers(question)
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)


def test_many_groups(table):
    found = table.answers(asked({"n": tuple(range(5_000))}))
    assert found.counts[:5].tolist() == [0, 2, 1, 1, 1]
    assert found.counts.sum() == 5


@pytest.mark.parametrize("column", ["n", "d", "ok", "w", "g"])
def test_groups_of_a_command_line(table, column):
    texts = {
        "n": ["1", "-2", None],
        "d": ["2026-11-23", None],
        "ok": ["true", "FALSE", None],
        "w": ["0.5", "2", None],
        "g": ["a", "1", "", None],
    }[column]
    values = {"n": (1, -2, None), "d": (DAY, None), "ok": (True, False, None), "w": (0.5, 2, None), "g": ("a", "1", "", None)}
    with table.source() as source:
        found = source.read_groups("t", column, texts)
    if table.name == "SQLite" and column == "d":
        assert found == ("2026-11-23", None)
    else:
        assert found == values[column]
        assert list(map(type, found)) == list(map(type, values[column]))


@pytest.mark.parametrize(("column", "text"), [("n", "one"), ("ok", "yes"), ("d", "23.11.2026"), ("w", "x"), ("n", "1.5")])
def test_groups_of_a_command_line_that_are_refused(table, column, text):
    if table.name == "SQLite" and column == "d":
        pytest.skip("SQLite has no dates")
    message = f"groups of '{column}' must be .*, got another text at index 1"
    with table.source() as source, pytest.raises(sn.ParameterError, match=message) as caught:
        source.read_groups("t", column, [None, text])
    assert repr(text) not in str(caught.value)


@pytest.mark.parametrize("engine", ["SQLite"], indirect=True)
def test_a_column_of_sqlite_without_a_type(engine):
    """The number 5 and the text "5" are one group in such a column."""
    engine.table("t", {"g": ""}, [(5,), ("5",), (None,), ("x",), (b"\xff",), (5.5,)])
    assert counts_by_group(engine, asked({"g": (5, "x", None, 5.5)})) == {(5,): 2, ("x",): 1, (None,): 1, (5.5,): 1}
    with pytest.raises(sn.ParameterError, match="groups of 'g' must be listed once each, got one of them twice"):
        engine.answers(asked({"g": (5, "5")}))
    assert engine.answers(asked({}, by=("g",))).groups == [(None,), ("5",), ("5.5",), ("\\xff",), ("x",)]


def test_a_collation_does_not_choose_who_stands_for_a_group(engine):
    """With the column's own collation, a and A would be one group, and the first row would choose the group's name."""
    types = {"SQLite": "text collate nocase", "DuckDB": "varchar collate nocase", "PostgreSQL": "text"}
    types["Spark"] = "string collate UTF8_LCASE"
    engine.table("t", {"g": types[engine.name]}, [("a",), ("A",), ("a",)])
    assert counts_by_group(engine, asked({}, by=("g",))) == {("A",): 1, ("a",): 2}
    assert counts_by_group(engine, asked({"g": ("a", "A", "b")})) == {("a",): 2, ("A",): 1, ("b",): 0}


def test_a_collation_decides_who_is_one_person(engine):
    """If the database treats two names as equal, they are one person, who counts once."""
    if engine.name == "PostgreSQL":
        pytest.skip("this engine has no case-insensitive collation by default")
    collated = "collate nocase"
    engine.table("t", {"who": f"varchar {collated}", "g": "text"}, [("ann", "a"), ("ANN", "b"), ("Ann", "a"), ("bob", "a")])
    answer = engine.answers(asked({"g": ("a", "b")}, person="who"))
    assert answer.counts.sum() == 2


def test_names_that_need_quotes(engine):
    # Spark's views have plain names.
    table = "t" if engine.name == "Spark" else 'my "t" %s'
    engine.table(table, {'a "b" %s': "text", "select": "bigint"}, [("x", 1), ("y", 2)])
    question = Question(table, ('a "b" %s', "select"), {'a "b" %s': ("x", "%s"), "select": (1,)}, person="select")
    assert engine.answers(question).counts.tolist() == [1, 0]
    question = Question(table, (), {}, where='"select" * 1 = 2 and "a ""b"" %s" like \'%y%\'')
    assert engine.answers(question).counts.tolist() == [1]
