"""Frames of pandas, Polars and PyArrow, and relations of DuckDB: their dtypes decide nothing.

Evidence: the answers of a plain program; frames that Hypothesis chooses, with and without one person, whose values give columns
other dtypes; a rule that takes dtypes as the schema, which fails here.
"""

import datetime
import io
import traceback
from dataclasses import replace
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise import query
from stairnoise.query import SourceError
from stairnoise.query.groupings import bins_of
from stairnoise.query.question import Question
from stairnoise.query.reading import reading
from stairnoise.query.sources import open_source
from stairnoise.query.sources.dialect import Column
from stairnoise.query.sources.frame import Frame
from stairnoise.query.sources.statement import statement
from stairnoise.query.statistics import Count, Mean, Sum
from tests.combinations import in_turn, rest_long
from tests.interface.canaries import NUMBER, TEXT, leaks
from tests.query.oracle import answers, md5_number
from tests.query.test_person import require_few_changes

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

NAMES = ["who", "g", "v", "w"]
PHASES = [Phase.explicit, Phase.generate]
few_or_many = pytest.mark.parametrize("examples", [3, pytest.param(100, marks=pytest.mark.long)])
DAY = datetime.date(2026, 1, 2)


def of_pandas(rows):
    return pd.DataFrame(rows, columns=NAMES)


def of_csv(rows):
    lines = [",".join("" if value is None else str(value) for value in row) for row in rows]
    return pd.read_csv(io.StringIO("\n".join([",".join(NAMES), *lines]) + "\n"))


def of_relation(rows):
    con = duckdb.connect()
    con.register("t", of_pandas(rows).astype({"g": object, "v": object}))
    return con.sql("select * from t")


# From values that Python's own types hold.
EXACT = {
    "pandas": of_pandas,
    "objects": lambda rows: of_pandas(rows).astype(object),
    "categories": lambda rows: of_pandas(rows).astype("category"),
    "nullable": lambda rows: of_pandas(rows).convert_dtypes(),
    "arrow": lambda rows: pa.table(dict(_arrows(rows))),
    "batch": lambda rows: pa.RecordBatch.from_pydict(dict(_arrows(rows))),
}
# From one type in a column, as these libraries need it.
TYPED = EXACT | {
    "csv": of_csv,
    "dictionary": lambda rows: pa.table({name: column.dictionary_encode() for name, column in _arrows(rows)}),
    "polars": lambda rows: pl.DataFrame(rows, schema=NAMES, orient="row", infer_schema_length=None),
    "lazy": lambda rows: pl.DataFrame(rows, schema=NAMES, orient="row", infer_schema_length=None).lazy(),
    "relation": of_relation,
}

OTHERS = [name for name in TYPED if name not in EXACT]


def _arrow(values):
    """Return an array of the type that PyArrow infers, or of texts if there is none."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if value is None else str(value) for value in values])


def _arrows(rows):
    return [(name, _arrow([row[place] for row in rows])) for place, name in enumerate(NAMES)]


BINS = bins_of({"v": [0, 2.5, 9]})
QUESTIONS = [
    (Question(None, ("g",), {"g": (1, 2, None)}, (Sum("v", (0.0, 5.0)),), None, "who", 2), {}),
    (Question(None, ("g",), {"g": (1, 2, None)}, (Count(), Mean("v", (-3.0, 5.0))), "v * 3 < 20", None, 1), {"v": "integer"}),
    (Question(None, ("g",), {"g": ("1", "2")}, (Count(),), "w < 2", "who", 1), {"who": "integer"}),
    (Question(None, ("g",), {}, (Count(),), None, "who", 2), {}),
    (Question(None, ("year(g)",), {}, (Count(),), None, "who", 2), {}),
    (Question(None, ("v",), {"v": BINS["v"].groups}, (Count(),), None, "who", 1, groupings=BINS), {}),
    (Question(None, (), {}, (Sum("v", (0.0, 2.0**40)), Sum("w", (-1.5, 1.5))), "g = '1' or g is null", "who", 1), {}),
]
PLACES = range(len(QUESTIONS))
small = st.integers(-3, 9)
row = st.tuples(st.integers(1, 4), st.sampled_from([1, 2, 3, None]), small | st.none(), st.none() | st.floats(-3, 3, width=16))
rows = st.lists(row, max_size=9)
# What one person's row can hold: a value that changes the dtype of its column.
odd = st.sampled_from([None, 2.5, "unknown", "1", True, 2**70, -0.0, float("nan"), DAY, Decimal("1.50"), b"\xff", object()])
own = st.tuples(small | odd, small | odd, small | odd)


def asked(place):
    question, types = QUESTIONS[place]
    return replace(question, reading=reading(types, None))


def answered(frame, question):
    """Return the answers, and everything that may not depend on a row."""
    with open_source(frame, question.reading) as source:
        found = source.answers(question, order=bytes(32))
        checked = source.checked(question)
        return found, (statement(source.dialect, checked, bytes(32)), found.units, source.schema(checked), source.types(checked))


def over(groups, found):
    """Return answers for all of these groups."""
    places = [found.groups.index(group) if group in found.groups else None for group in groups]
    counts, *sums = ([0 if place is None else one[place] for place in places] for one in (found.counts, *found.sums))
    return replace(found, groups=[*groups], counts=np.array(counts), sums=np.array(sums).reshape(-1, len(places)))


def neighbours(make, rows, own, question):
    """Require that one person's rows change few answers, and nothing else."""
    who = "p" if question.person is None else 0
    with_person, without = (answered(make(one), question) for one in ([*rows, *((who, *one) for one in own)], rows))
    assert with_person[1] == without[1]
    groups = {**dict.fromkeys(with_person[0].groups), **dict.fromkeys(without[0].groups)}
    found = [over(groups, one) for one, _ in (with_person, without)]
    if question.unlisted:
        change = np.abs(found[0].counts - found[1].counts)
        assert change.max(initial=0) <= 1
        assert change.sum() <= question.max_groups
    else:
        require_few_changes(question, *found)


@few_or_many
@pytest.mark.parametrize(("name", "place"), rest_long(in_turn(EXACT, PLACES), product(EXACT, PLACES)))
def test_a_person_with_any_values(name, place, examples):
    question = asked(place)

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=PHASES)
    @given(rows, st.lists(own, min_size=1, max_size=3))
    def check(rows, own):
        neighbours(EXACT[name], rows, own if question.person else own[:1], question)

    check()


# What `read_csv` makes a column of texts or doubles of, and the other rows' values stay.
told = st.sampled_from([None, 2.5, "unknown", -4])


@few_or_many
@pytest.mark.parametrize(("name", "place"), rest_long(in_turn(OTHERS, PLACES), product(OTHERS, PLACES)))
def test_a_person_who_changes_a_dtype(name, place, examples):
    question = asked(place)

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=PHASES)
    @given(rows, st.lists(st.tuples(*[told] * 3), min_size=1, max_size=3))
    def check(rows, own):
        if name not in ("csv", "dictionary"):
            # Polars has one type for a column, which is that of the other rows.
            own = [tuple(value if type(value) in (int, type(None)) else None for value in one) for one in own]
        neighbours(TYPED[name], rows, own if question.person else own[:1], question)

    check()


@few_or_many
@pytest.mark.parametrize("name", TYPED)
def test_answers_of_a_plain_program(name, examples):
    """Answers equal those from plain Python, whose persons and groups are texts."""
    listed, bounds, question = ("1", "2", "3"), (-2.0, 5.0), asked(0)
    question = replace(question, groups={"g": listed}, statistics=(Count(), Sum("v", bounds)))

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=PHASES)
    @given(st.lists(row, min_size=1, max_size=20))
    def check(rows):
        found, (_, units, *_) = answered(TYPED[name](rows), question)
        records = [(str(who), (group if group is None else str(group),), (v,)) for who, group, v, _ in rows]
        expected = answers(records, [listed], sums=[(0, bounds, units[0])], max_groups=2, digest=md5_number)
        assert (found.counts.tolist(), found.sums.tolist()) == expected

    check()


def test_a_dtype_taken_as_the_type_of_a_column_is_noticed(monkeypatch):
    """The rule that this module refutes fails here: integers if the dtype is an integer, else numbers."""

    def described(self, table):
        kinds = [("integer", "BIGINT") if dtype == "int64" else ("real", "DOUBLE") for dtype in self._held.dtypes]
        return "stairnoise_frame", [Column(name, *kind) for name, kind in zip(self._places, kinds, strict=True)]

    monkeypatch.setattr(Frame, "_described", described)
    with pytest.raises(AssertionError):
        neighbours(of_pandas, [(1, 1, 1, 1.0)] * 3, [(1, None, 1.0)], asked(0))


def test_a_null_changes_nothing_that_is_published():
    """int64, Int64, float64, objects and categories of the same values: one statement, one unit, one schema, equal notes."""
    rows = [(who, who % 3, who % 5, 1.0) for who in range(40)]
    frame, tables = of_pandas(rows), []
    for kind in ("int64", "Int64", "float64", "category", object):
        own = frame.astype({"who": kind, "g": kind, "v": kind})
        asked_of = {"by": "g", "groups": [0, 1, 2], "person": "who", "rng": sn.KeyedRng(bytes(32), "r")}
        tables.append(query.sum(own, column="v", bounds=(0, 9), eps=1, types={"v": "integer"}, **asked_of))
    assert all(table == tables[0] and table.about == tables[0].about and table._types == tables[0]._types for table in tables)
    assert tables[0].about["schema"] == {"types": {"who": "text", "g": "integer", "v": "integer"}}
    assert tables[0].about["table"] == "frame"


def counted(frame, types=None, **asked):
    with open_source(frame, reading(types, None)) as source:
        found = source.answers(Question(None, ("a",), {}, reading=reading(types, None), **asked))
    return {group: count for (group,), count in zip(found.groups, found.counts.tolist(), strict=True)}


class Unspeakable:
    def __str__(self):
        raise ValueError(TEXT)

    __repr__ = __eq__ = __str__
    __hash__ = object.__hash__


VALUES = [
    1,
    "1",
    1.0,
    np.int8(1),
    Decimal("1.0"),
    True,
    "\ud800",
    Unspeakable(),
    [1],
    b"1",
    b"\xff",
    10**5000,
    float("nan"),
    pd.NaT,
]


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        (None, {None: 7, "1": 6, "true": 1}),
        ("integer", {None: 7, 1: 7}),
        ("boolean", {None: 7, True: 7}),
        ("date", {None: 14}),
    ],
)
def test_any_objects(type_, found):
    """A value that is not of a type is null, and no object raises an error."""
    frame = pd.DataFrame({"a": pd.Series(VALUES, dtype=object)})
    assert counted(frame, {"a": type_} if type_ else None) == found


def test_days_and_moments():
    days = [DAY, datetime.datetime(2026, 1, 2, 3), pd.Timestamp("2026-01-02"), "2026-01-02", "02.01.2026", 5]
    frame = pd.DataFrame({"a": pd.Series(days, dtype=object)})
    assert counted(frame, {"a": "date:%d.%m.%Y"}) == {None: 1, DAY: 5}
    assert counted(pd.DataFrame({"a": pd.to_datetime(["2026-01-02 03:04", None])}), {"a": "date"}) == {None: 1, DAY: 1}
    for unit in ("s", "ms", "us", "ns"):
        moments = pa.array([2**62, 0, -(2**62)], pa.int64()).view(pa.timestamp(unit))
        assert sum(counted(pa.table({"a": moments})).values()) == 3
        assert sum(counted(pa.table({"a": moments}), {"a": "date"}).values()) == 3


def test_texts_that_are_not_utf8():
    raw = pa.array([b"\xff", b"1", b"TRUE"], pa.binary())
    frame = pa.table({"a": pa.Array.from_buffers(pa.string(), 3, raw.buffers())})
    assert counted(frame)["1"] == 1
    for type_, found in (("integer", {None: 2, 1: 1}), ("boolean", {None: 1, True: 2})):
        assert counted(frame, {"a": type_}) == found
    assert counted(frame, {"a": "text"}, where="lower(a) = 'true'") == {"TRUE": 1}


def test_a_number_has_one_text():
    numbers = [5, -0.0, 2.0**53, 1e16, 2.0**63, 1e22, 0.1, 5e-324, float("inf")]
    texts = {"5": 1, "0": 1, "9007199254740992": 1, "10000000000000000": 1, "9.223372036854776e+18": 1, "1e+22": 1}
    texts |= {"0.1": 1, "5e-324": 1, "inf": 1}
    assert counted(pd.DataFrame({"a": numbers})) == counted(pd.DataFrame({"a": numbers}, dtype=object)) == texts
    assert counted(pd.DataFrame({"a": [2**53, 10**16]})) == {"9007199254740992": 1, "10000000000000000": 1}


def test_integers_beyond_2_53_are_different_people():
    frame = pd.DataFrame({"who": [2**60, 2**60 + 1], "g": "a"})
    with open_source(frame) as source:
        assert source.answers(Question(None, ("g",), {"g": ("a",)}, person="who")).counts.tolist() == [2]


UNREADABLE = {
    "period": pd.DataFrame({"a": pd.period_range("2026", periods=1, freq="M"), "b": ["x"]}),
    "category of interval": pd.DataFrame({"a": pd.cut(pd.Series([1, 2, 3]), 2), "b": ["x"] * 3}),
    "Sparse": pd.DataFrame({"a": pd.arrays.SparseArray([1, 0]), "b": ["x"] * 2}),
    "complex128": pd.DataFrame({"a": [1j], "b": ["x"]}),
    "timedelta64": pd.DataFrame({"a": pd.to_timedelta([1]), "b": ["x"]}),
    "datetime64.*UTC": pd.DataFrame({"a": pd.to_datetime(["2026-01-02 00:00Z"]), "b": ["x"]}),
    "Object": pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object), "b": ["x"]}),
    "Int128": pl.DataFrame({"a": pl.Series([1], dtype=pl.Int128), "b": ["x"]}),
    "decimal256": pa.table({"a": pa.array([Decimal(1)], pa.decimal256(50, 2)), "b": ["x"]}),
    "list": pa.table({"a": [[1]], "b": ["x"]}),
    "halffloat": pa.table({"a": pa.array([np.float16(1)], pa.float16()), "b": ["x"]}),
}


@pytest.mark.parametrize("dtype", UNREADABLE)
def test_dtypes_that_cannot_be_read(dtype):
    """They are refused by name of the column and dtype, and only if the question uses the column."""
    frame = UNREADABLE[dtype]
    with pytest.raises(sn.ParameterError, match=f"in 'a', got the dtype {dtype}") as caught:
        counted(frame)
    assert "\n" not in str(caught.value)
    with open_source(frame) as source:
        assert source.answers(Question(None, ("b",), {"b": ("x",)})).counts.tolist() == [len(frame)]
        assert source.answers(Question(None, (), {})).counts.tolist() == [len(frame)]


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "differ by more than the case of letters, got 'a' and 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", "A"]), "differ by more than the case of letters, got 'a' and 'A'"),
        (pa.table([[1], [2]], names=["a", "a"]), "differ by more than the case of letters"),
        (pd.DataFrame([[1]]), "texts as names of columns, got a value of type int at column 0"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "texts as names of columns, got .* tuple"),
        (pd.DataFrame(index=[1, 2]), "must have columns, got a frame without any"),
        (pd.Series([1]), "a data frame, got a value of type Series"),
        (pa.table({"a": [1]}).to_reader(), "RecordBatchReader; pass its read_all"),
    ],
)
def test_what_is_no_table(frame, why):
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=why):
        counted(frame)


def test_empty_frames():
    for frame in (pd.DataFrame({"a": []}), pd.DataFrame(columns=["a"]), pl.DataFrame({"a": []}), pa.table({"a": pa.nulls(0)})):
        for types in (None, {"a": "integer"}):
            assert counted(frame, types) == {}


def test_a_frame_stays_as_it_is():
    """The index is no column, the frame is not changed, and the table has the caller's name."""
    frame = pd.DataFrame({"a": ["x", 1]}, index=pd.Index([7, 7], name="i"))
    before = frame.copy(deep=True)
    table = query.count(frame, "visits", by="a", groups=["x", "1"], row_is_person=True, eps=64)
    assert [row[:2] for row in table] == [("x", 1), ("1", 1)]
    assert table.about["table"] == "visits"
    pd.testing.assert_frame_equal(frame, before)
    with pytest.raises(sn.ParameterError, match="by must name a column of 'frame', got 'i'"):
        query.count(frame, by="i", groups=["x"], row_is_person=True, eps=1)


CONDITIONS = {
    "age >= 18": ({"age": "real"}, 1),
    "age = 1": ({"age": "real"}, 0),
    "age * 2 > b + 30 and city = 'Bern'": ({"age": "real", "b": "real", "city": "text"}, 1),
    "lower(city) like 'b%'": ({"city": "text"}, 1),
    "day >= date '2026-01-02'": ({"day": "date"}, 2),
    "extract(year from day) = 2026": ({"day": "date"}, 3),
    "not paid": ({"paid": "boolean"}, 1),
    "paid = 'true'": ({"paid": "text"}, 1),
}
PEOPLE = {
    "age": [17, 18, None],
    "b": [1, 1, 1],
    "city": ["Chur", "Bern", None],
    "day": [datetime.date(2026, 1, n) for n in (1, 2, 3)],
    "paid": [True, False, None],
}


@pytest.mark.parametrize("where", CONDITIONS)
def test_the_only_type_that_fits_a_condition(where):
    types, count = CONDITIONS[where]
    for frame in (pd.DataFrame(PEOPLE), pd.DataFrame(PEOPLE, dtype=object), pa.table(PEOPLE), pd.DataFrame(columns=[*PEOPLE])):
        question = Question(None, (), {}, where=where)
        with open_source(frame) as source:
            assert source.schema(source.checked(question))["types"] == types
            assert source.answers(question).counts.tolist() == [count if len(frame) else 0]


@pytest.mark.parametrize("where", ["age is null", "age < b", "day > '2026-01-01'", "age = 1 and b = 1 and city = 'x' and paid"])
def test_a_condition_that_does_not_decide_a_type(where):
    frame = pd.DataFrame(PEOPLE)
    with pytest.raises(sn.ParameterError, match=r"types must have '(age|day)', because where does not decide it"):
        answered(frame, Question(None, (), {}, where=where))
    types = reading({"age": "integer", "day": "date", "b": "real"}, None)
    answered(frame, Question(None, (), {}, where=where, reading=types))
    with pytest.raises(sn.ParameterError, match="text"):
        answered(frame, Question(None, (), {}, where="city > 5 and city = 'x'"))


FAILING = {
    "lazy": lambda: pl.DataFrame({"a": [TEXT, str(NUMBER)]}).lazy().select(pl.col("a").str.to_integer()),
    "no such column": lambda: pl.DataFrame({"a": [TEXT]}).lazy().select(TEXT),
    "relation": lambda: duckdb.sql(f"select cast(x as integer) as a from (values ('1'), ('{TEXT}')) t(x)"),
}


@pytest.mark.parametrize("name", FAILING)
def test_no_error_of_a_computed_frame_is_shown(name):
    """The failure depends on a row, and notes of such frames say so."""
    with pytest.raises(SourceError, match=r"what .* says is not shown") as caught:
        query.count(FAILING[name](), by="a", groups=["1"], row_is_person=True, eps=1)
    assert not leaks("".join(traceback.format_exception(caught.value)))
    computed = {"lazy": pl.DataFrame({"a": ["x"]}).lazy(), "relation": duckdb.sql("select 'x' as a")}
    for name, frame in computed.items():
        said = query.count(frame, by="a", groups=["x"], row_is_person=True, eps=1).about["not_protected"]
        assert {"lazy": "whether the LazyFrame can be computed", "relation": "whether the relation can be computed"}[name] in said


def test_a_relation_of_a_connection_in_use():
    con = duckdb.connect()
    relation = con.sql("select 'x' as a")
    con.execute("select * from range(5000)").fetchone()
    with pytest.raises(SourceError, match="has a result: fetch all its rows first"):
        counted(relation)
    assert con.fetchone() == (1,)
    con.execute("begin")
    con.execute("create table t as select 'y' as a")
    assert counted(con.table("t")) == {"y": 1}
    con.rollback()


def test_a_name_is_no_python_variable():
    secret = pd.DataFrame({"a": ["x"]})
    with open_source(secret) as source, pytest.raises(SourceError):
        source._ask("select * from secret")
