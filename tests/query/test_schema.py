"""One person's rows influence neither how other rows are read nor what is published beside the answers.

Evidence: files that Hypothesis chooses, with and without the rows of one person, which can be any bytes; published answers of the
kinds that once differed. Answers may differ by at most a bound; everything else must be equal.
"""

import datetime
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise import query
from stairnoise.query.question import Question
from stairnoise.query.reading import reading
from stairnoise.query.sources import open_source
from stairnoise.query.statistics import Count, Mean, Sum
from tests.combinations import in_turn, rest_long

pytest.importorskip("duckdb")

few_or_many = pytest.mark.parametrize("examples", [2, pytest.param(100, marks=pytest.mark.long)])
TYPES = {"v": "integer", "w": "real", "day": "date:%d.%m.%Y", "ok": "boolean"}
CITIES = ("Bern", "Chur", None, "")
DAYS = (datetime.date(2026, 1, 2), datetime.date(2026, 2, 1))
QUESTIONS = [
    {"by": ("city",), "groups": {"city": CITIES}},
    {"by": ("day", "ok"), "groups": {"day": DAYS, "ok": (True, False, None)}},
    {"statistics": (Sum("v", (0.0, 5.0)),), "by": ("city",), "groups": {"city": CITIES}},
    {"statistics": (Mean("w", (-3.0, 5.0)),), "by": (), "groups": {}},
    {"by": (), "groups": {}, "where": "age > '9' and v * v < 50 or w is null"},
    {"by": ("city",), "groups": {}},
    {"by": ("city",), "groups": {"city": CITIES}, "statistics": (Count(), Mean("v", (1.0, 5.0)), Sum("w", (2.0, 3.0)))},
]
# Values as people write them, rightly and wrongly.
cell = st.sampled_from(
    [
        "Bern",
        "Chur",
        "",
        '""',
        "1",
        "2",
        "12.5",
        "12e5",
        "01.02.2026",
        "13.01.2026",
        "true",
        "unknown",
        "NULL",
        "99999999999999999999",
    ]
) | st.text("ab\"',;\t|\\ 0é", max_size=6)
raw = st.binary(max_size=12) | cell.map(str.encode)


def line(fields):
    return ",".join(fields).encode()


lines = st.lists(st.lists(cell, min_size=7, max_size=7).map(line), max_size=8)
# No line break, because two lines would be two rows.
rows = st.lists(raw, max_size=9).map(b",".join).map(lambda one: one.replace(b"\n", b" "))
HEADER = b"who,city,v,w,day,ok,age\n"


def asked(person, max_groups, types=TYPES, **question):
    return Question("t", person=person, max_groups=max_groups, reading=reading(types, None), **question)


def answered(path, question):
    """Return the answers from a file, and what is published beside them."""
    with open_source(path, question.reading) as source:
        found = source.answers(question, order=bytes(32))
        return found, source.schema(source.checked(question))


def require_few_changes(question, with_person, without):
    """Require that at most `max_groups` answers change, by at most one person's bound; schema and unit stay equal."""
    (found, schema), (before, schema_before) = with_person, without
    assert (schema, found.units) == (schema_before, before.units)
    largest = [max(map(abs, one.bounds)) / unit for one, unit in zip(question.summed, found.units, strict=True)]
    moved = set()
    for place, limit in enumerate([1, *largest]):
        tables = [dict(zip(one.groups, [one.counts, *one.sums][place].tolist(), strict=True)) for one in (found, before)]
        for group in tables[0].keys() | tables[1].keys():
            change = abs(tables[0].get(group, 0) - tables[1].get(group, 0))
            assert change <= limit
            moved |= {group} if change else set()
    assert len(moved) <= question.max_groups


def these_and_in_long_tests_the_rest(these):
    """Return the indices of questions for an ordinary run, then the others for `make test-long`."""
    rest = [pytest.param(place, marks=pytest.mark.long) for place in range(len(QUESTIONS)) if place not in these]
    return pytest.mark.parametrize("place", [*these, *rest])


@few_or_many
@these_and_in_long_tests_the_rest(range(0, len(QUESTIONS), 2))
def test_a_row_of_any_bytes_in_a_csv_file(tmp_path, place, examples):
    path, question = tmp_path / "t.csv", asked(None, 1, **QUESTIONS[place])

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(lines, rows, st.integers(0, 8))
    def check(others, row, at):
        path.write_bytes(HEADER + b"".join(one + b"\n" for one in others))
        without = answered(path, question)
        path.write_bytes(HEADER + b"".join(one + b"\n" for one in [*others[:at], row, *others[at:]]))
        require_few_changes(question, answered(path, question), without)

    check()


@few_or_many
@these_and_in_long_tests_the_rest(range(1, len(QUESTIONS), 2))
def test_a_person_with_rows_of_any_bytes_in_a_csv_file(tmp_path, place, examples):
    path = tmp_path / "t.csv"

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(lines, st.lists(rows, max_size=4), st.sampled_from([b"0", b"00", b"12e5", b"x y"]), st.integers(1, 2), st.booleans())
    def check(others, rows, name, max_groups, first):
        question = asked("who", max_groups, **QUESTIONS[place])
        others = [one for one in others if one.partition(b",")[0].strip() != name]
        path.write_bytes(HEADER + b"".join(one + b"\n" for one in others))
        without = answered(path, question)
        own = [name + b"," + one for one in rows]
        path.write_bytes(HEADER + b"".join(one + b"\n" for one in (own + others if first else others + own)))
        require_few_changes(question, answered(path, question), without)

    check()


@few_or_many
@pytest.mark.parametrize(("statistic", "types"), in_turn([Sum, Count, Mean], [{}, {"v": "integer", "who": "integer"}]))
def test_a_person_in_a_parquet_file_of_pandas(tmp_path, types, statistic, examples):
    """pandas makes doubles of integers because one row has a null."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    number = st.none() | st.integers(-(2**53), 2**53) | st.integers(-3, 9)

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(-9, 9)), min_size=1, max_size=9), number, number)
    def check(others, group, value):
        groups = {"g": (1, 2, 3, None)}
        statistics = (Count() if statistic is Count else statistic("v", (0.0, 5.0)),)
        question = asked("who", 1, types, statistics=statistics, by=("g",), groups=groups, where="v * 3 < 30")
        found = []
        for table in (others, [*others, (0, group, value)]):
            pandas.DataFrame(table, columns=["who", "g", "v"]).to_parquet(path)
            found.append(answered(path, question))
        require_few_changes(question, found[1], found[0])

    check()


def texts(pyarrow, values):
    """Return a text column of arbitrary bytes, as from a writer that does not check its texts."""
    array = pyarrow.array(values, pyarrow.binary())
    return pyarrow.Array.from_buffers(pyarrow.string(), len(array), array.buffers())


TEXT_QUESTIONS = [
    {"by": ("city",), "groups": {"city": CITIES}},
    {"by": ("city",), "groups": {}},
    {"statistics": (Sum("v", (0.0, 5.0)),), "by": ("day",), "groups": {"day": (*DAYS, None)}},
    {"by": (), "groups": {}, "where": "lower(city) like '%e%' or day is null or v < 3"},
]


@few_or_many
@pytest.mark.parametrize(
    ("question", "options"),
    in_turn(TEXT_QUESTIONS, [{}, {"use_dictionary": False, "store_schema": False}, {"version": "1.0"}]),
    ids=["listed", "found", "declared", "where"],
)
def test_a_person_with_texts_of_any_bytes_in_a_parquet_file(tmp_path, question, options, examples):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, types = tmp_path / "t.parquet", {"v": "integer", "day": "date:%d.%m.%Y"}
    row = st.tuples(raw, raw, raw)

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(st.lists(row, max_size=8), st.lists(row, min_size=1, max_size=4), raw, st.integers(1, 2), st.booleans())
    def check(others, own, name, max_groups, is_person):
        asked_of = asked("who" if is_person else None, max_groups if is_person else 1, types, **question)
        rows = [(b"%d" % place, *values) for place, values in enumerate(others)]
        found = []
        for table in (rows, [*rows, *((b"own" + name, *values) for values in (own if is_person else own[:1]))]):
            columns = zip(*table, strict=True) if table else [()] * 4
            named = dict(zip(("who", "city", "v", "day"), (texts(pyarrow, list(one)) for one in columns), strict=True))
            parquet.write_table(pyarrow.table(named), path, **options)
            found.append(answered(path, asked_of))
        require_few_changes(asked_of, found[1], found[0])

    check()


def test_texts_of_a_parquet_file(tmp_path):
    """An invalid text is null; enumerations and JSON are texts; values of nested types are bytes."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    duckdb = pytest.importorskip("duckdb")
    bad, path = [b"Bern", b"\xff", None, b"Bern"], tmp_path / "a*.parquet"
    nested = pyarrow.StructArray.from_arrays([texts(pyarrow, bad)], ["x"])
    parquet.write_table(pyarrow.table({"city": texts(pyarrow, bad), "n": nested}), path)
    with open_source(path) as source:
        assert source.answers(Question(None, ("city",), {"city": ("Bern", None)})).counts.tolist() == [2, 2]
        assert source.answers(Question(None, (), {}, person="n")).counts.tolist() == [3]
        assert source.schema(source.checked(Question(None, ("city",), {}, person="n")))["types"] == {
            "city": "VARCHAR",
            "n": "STRUCT(x VARCHAR)",
        }
    path = tmp_path / "t.parquet"
    with duckdb.connect() as con:
        con.execute(f"copy (select 'a'::enum('a', 'b') as e, '{{\"x\": 1}}'::json as j) to '{path}' (format parquet)")
    with open_source(path) as source:
        asked_of = Question("t", ("e", "j"), {"e": ("a",), "j": ('{"x": 1}', "{}")})
        assert source.answers(asked_of).counts.tolist() == [1, 0]


PARTS = [slice(None), slice(3), slice(3, 6), slice(6, None)], [[], [None]]


@pytest.mark.parametrize(("places", "null"), rest_long(in_turn(*PARTS), product(*PARTS)), ids=str)
def test_every_listed_text_is_found_in_a_parquet_file(tmp_path, places, null):
    """Texts that the engine shows with escapes are found too. The n-th listed text occurs n times in the file."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    listed = [*["a'b", 'a"b', "a\\b", "\\x41", "A", "é", "数", "", "nul\0", " "][places], *null]
    path = tmp_path / "t.parquet"
    values = [text and text.encode() for place, text in enumerate(listed) for _ in range(place)]
    parquet.write_table(pyarrow.table({"g": texts(pyarrow, [*values, b"other", b"\xff"])}), path)
    with open_source(path) as source:
        found = source.answers(Question("t", ("g",), {"g": tuple(listed)})).counts.tolist()
    assert found == [*range(len(listed) - len(null)), *[len(listed) for _ in null]]


TIMES = [None, "UTC"], ["1.0", "2.6"]


@pytest.mark.parametrize(("zone", "version"), rest_long(in_turn(*TIMES), product(*TIMES)))
def test_times_of_a_parquet_file_that_the_engine_cannot_hold(tmp_path, zone, version):
    """Such times are null; all other values are unchanged, also in microseconds."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    moments, path = [0, 1_767_225_600_000, None], tmp_path / "t.parquet"
    for odd in ([], [2**62], [-(2**62)]):
        columns = {
            "ms": [*moments, *odd],
            "us": [moment and moment * 1000 for moment in [*moments, *odd[1:], *[None] * len(odd)]],
        }
        arrays = {
            unit: pyarrow.array(values, pyarrow.int64()).view(pyarrow.timestamp(unit, zone)) for unit, values in columns.items()
        }
        parquet.write_table(pyarrow.table(arrays), path, version=version)
        with open_source(path) as source:
            for unit in columns:
                asked_of = Question("t", (), {}, where=f"{unit} > '2025-12-31 12:00:00'")
                assert source.answers(asked_of).counts.tolist() == [1]
                assert source.answers(Question("t", (), {}, person=unit)).counts.tolist() == [2]


@pytest.mark.parametrize(("unit", "second", "version"), [("ms", 10**3, "1.0"), ("us", 10**6, "1.0"), ("ns", 10**9, "2.6")])
def test_times_of_the_day_in_a_parquet_file_that_are_beyond_it(tmp_path, unit, second, version):
    """Such times are null; all other values are unchanged. DuckDB's own reader would end the query."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, kind = tmp_path / "t.parquet", pyarrow.time32 if unit == "ms" else pyarrow.time64
    for odd in ([], [86_400 * second, -1, 90_000 * second]):
        parquet.write_table(
            pyarrow.table({"t": pyarrow.array([0, 43_200 * second, None, *odd], kind(unit))}), path, version=version
        )
        with open_source(path) as source:
            for where, count in (("t < '12:00:00'", 1), ("t >= '12:00:00'", 1), ("t is null", 1 + len(odd))):
                assert source.answers(Question("t", (), {}, where=where)).counts.tolist() == [count]
            assert source.answers(Question("t", (), {}, person="t")).counts.tolist() == [2]


def test_times_of_the_day_with_a_zone_stay_times_in_a_parquet_file(tmp_path):
    """A struct field of the same name does not change the column's unit."""
    duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    with duckdb.connect() as con:
        con.execute(f"copy (select x::timetz as t from (values ('00:00:00+00'), ('12:00:00+00'), (null)) v(x)) to '{path}'")
    with open_source(path) as source:
        assert source.answers(Question("t", (), {}, where="t >= '12:00:00+00'")).counts.tolist() == [1]
        assert source.answers(Question("t", (), {}, person="t")).counts.tolist() == [2]
    times = pyarrow.array([0, 43_200 * 10**6], pyarrow.time64("us"))
    within = pyarrow.StructArray.from_arrays([pyarrow.array([0, 1], pyarrow.time64("ns"))], ["t"])
    parquet.write_table(pyarrow.table({"s": within, "t": times}), path, version="2.6")
    with open_source(path) as source:
        assert source.answers(Question("t", (), {}, where="t >= '12:00:00'")).counts.tolist() == [1]


def private(path, statistic="count", **asked):
    return getattr(query, statistic)(path, "t", row_is_person=True, eps=64, rng=sn.SeededRng(1, allow_release=True), **asked)


def file(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize("odd", [None, "1000,01/13/2026"])
def test_one_date_does_not_turn_all_days_into_months(tmp_path, odd):
    path = file(tmp_path / "t.csv", "i,day", [f"{i},02/01/2026" for i in range(1000)] + ([odd] if odd else []))
    days = {"day": [datetime.date(2026, 1, 2), datetime.date(2026, 2, 1)]}
    table = private(path, by="day", groups=days, types={"day": "date:%d/%m/%Y"})
    assert np.abs([row[1] for row in table] - np.array([1000, 0])).max() <= 1


@pytest.mark.parametrize("odd", [None, "12.5", "unknown", ""])
def test_one_number_does_not_change_the_unit_of_a_sum(tmp_path, odd):
    path = file(tmp_path / "t.csv", "i,v", [f"{i},3" for i in range(200)] + ([f"200,{odd}"] if odd is not None else []))
    table = private(path, "sum", column="v", bounds=(0, 10), types={"v": "integer"})
    assert table.about["statistics"][0]["unit"] == 1
    assert abs(table[0][0] - 600) <= 3


@pytest.mark.parametrize("odd", [None, "1000,unknown"])
def test_one_text_does_not_turn_numbers_into_texts(tmp_path, odd):
    path = file(tmp_path / "t.csv", "i,age", [f"{i},{i % 100}" for i in range(1000)] + ([odd] if odd else []))
    assert abs(private(path, where="age > 9", types={"age": "integer"})[0][0] - 900) <= 2


def test_ids_are_texts(tmp_path):
    """As doubles, the first three ids would be equal, and one person."""
    path = file(tmp_path / "t.csv", "who,g", ["12e5,a", "1200000,b", "1.2e6,c", "x,d"])
    question = asked("who", 1, {}, by=("g",), groups={"g": tuple("abcd")})
    assert answered(path, question)[0].counts.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("odd", ['"Ch"ur",1', "Bern", "Bern,1,2", '"Bern,1', '"', "\xe9\0,1", '"Bern\n",1'])
def test_a_line_that_is_no_record_is_left_out_by_itself(tmp_path, odd):
    path = tmp_path / "t.csv"
    path.write_bytes("\n".join(["city,v", *['"Bern",1'] * 250, odd, *['"Bern",1'] * 251, ""]).encode("latin-1"))
    table = private(path, "sum", by="city", groups=["Bern"], column="v", bounds=(0, 1), types={"v": "integer"})
    assert abs(table[0][1] - 501) <= 2


def test_the_schema_is_said(tmp_path):
    path = file(tmp_path / "t.csv", "city;v;secret", ["Bern;1;2"])
    about = private(path, "sum", by="city", groups=["Bern"], column="v", bounds=(0, 1), types={"v": "real"}).about
    assert about["schema"]["types"] == {"city": "text", "v": "real"}
    assert about["schema"]["csv"]["delimiter"] == ";"
    assert "names and types of columns" in about["not_protected"]
