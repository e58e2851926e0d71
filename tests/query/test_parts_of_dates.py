"""Groups that are parts of dates and timestamps: years, quarters, months, ISO weeks, weekdays and hours.

Evidence: Python's own calendar on all days around New Year from 1999 to 2035 and on random days, in every engine and kind of
file and frame; texts that are no dates; values beyond Python's years; a wrong rule for weeks, which is noticed.
"""

import contextlib
import datetime
import itertools
import random
import re
import sqlite3
from collections import Counter

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.cli import main
from stairnoise.query.groupings import part_of
from stairnoise.query.question import question
from stairnoise.query.sources import groups as of_groups
from stairnoise.query.sources import open_source
from stairnoise.query.sources import statement as statements
from tests.query import oracle, test_compile
from tests.query.test_person import require_few_changes

DAY = datetime.timedelta(days=1)
ENDS = [datetime.date(year, 12, 22) + n * DAY for year in range(1999, 2036) for n in range(20)]
EXTREME = [datetime.date(1, 1, 1), datetime.date(1, 1, 7), datetime.date(9999, 12, 26), datetime.date(9999, 12, 31), None]
LABELS = {
    "year": lambda one: one.year,
    "quarter": lambda one: f"{one.year:04}-Q{(one.month + 2) // 3}",
    "month": lambda one: f"{one.year:04}-{one.month:02}",
    "week": lambda one: "{:04}-W{:02}".format(*one.isocalendar()),
    "weekday": lambda one: one.isoweekday(),
    "hour": lambda one: one.hour,
}
OF_DATES = [part for part in LABELS if part != "hour"]


def label(part, value):
    return None if value is None else LABELS[part](value)


def asked(names, groups=None, **others):
    return question([("count", None, None)], "t", names, groups, **({"row_is_person": True} | others))


def counts_of(answer):
    return {group: count for group, count in zip(answer.groups, answer.counts.tolist(), strict=True) if count}


def found(source, column, parts, **others):
    """Return the counts of all groups by these parts of a column that are not empty."""
    ask = asked([f"{part}({column})" for part in parts], **others)
    with open_source(source, ask.reading) as opened:
        return counts_of(opened.answers(ask, order=bytes(32)))


def expected(parts, values):
    """Return the counts; null is a group only where groups are not listed."""
    counts = Counter(tuple(label(part, value) for part in parts) for value in values)
    if {"weekday", "hour"} & set(parts):
        del counts[(None,) * len(parts)]
    return dict(counts)


def moments(days):
    draw = random.Random(1)
    return [None if day is None else datetime.datetime.combine(day, datetime.time(draw.randrange(24), 59, 59)) for day in days]


def written(engine, value):
    return value if engine.name != "SQLite" or value is None else value.isoformat()


def test_every_day_around_new_year(engine):
    days = [*ENDS, *EXTREME]
    rows = [tuple(written(engine, value) for value in row) for row in zip(days, moments(days), strict=True)]
    engine.table("t", {"day": "date", "ts": "timestamp_ntz" if engine.name == "Spark" else "timestamp"}, rows)
    for part in LABELS:
        for column, values in (("day", days), ("ts", moments(days))):
            if (part, column) != ("hour", "day"):
                counts = counts_of(engine.answers(asked(f"{part}({column})")))
                assert counts == expected([part], values), (part, column)
                # Sorted, and null first.
                assert list(counts) == sorted(counts, key=lambda group: (group[0] is not None, group))


def test_listed_parts(engine):
    """Groups of a list and of ranges, null among them, in the order of the list; people count in a few of them."""
    days = [*ENDS[:400:7], None]
    rows = [(f"p{place % 9}", written(engine, day)) for place, day in enumerate(days)]
    engine.table("t", {"who": "text", "day": "date"}, rows)
    for part, groups in {
        "year": ["2001..2003", 1999],
        "quarter": ["2003-Q4..2004-Q1", None],
        "month": ["2010-01", "2001-12..2002-01"],
        "week": ["2004-W50..2005-W02", "2009-W53"],
        "weekday": ["3..5", 1],
    }.items():
        name = f"{part}(day)"
        ask = asked(name, {name: groups}, person="who", row_is_person=False, max_groups=2)
        with engine.source() as source:
            checked = source.checked(ask)
            labels = [group for (group,) in source.answers(checked).groups]
            assert labels == list(part_of(name).listed(groups))
            answer = source.answers(checked, order=bytes(32))
        people = [(who, (label(part, day),), ()) for (who, _), day in zip(rows, days, strict=True)]
        counts, _ = oracle.answers(people, [labels], max_groups=2, digest=oracle.DIGESTS[engine.name])
        assert answer.counts.tolist() == counts, part
        assert sum(counts), part


OTHERS = [("q", 20, ENDS[3], 4), ("r", 70, ENDS[3], -4), (None, 20, ENDS[3], 4)]
OWN = [("p", 20, ENDS[3], 9), ("p", 20, ENDS[4], -9), ("p", 70, ENDS[3], 9), ("p", 70, ENDS[12], 1), ("p", None, ENDS[3], 9)]


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
def test_one_person_changes_few_groups_by_little(engine, step, monkeypatch):
    """Sets of rows of one person, with bins and weekdays; without the limit on groups the same check fails."""
    statistics = [("count", None, None), ("sum", "v", (-2, 5))]
    by = {"by": "weekday(day)", "bins": {"age": [18, 65, 120]}}
    ask = question(statistics, "t", by["by"], None, bins=by["bins"], person="who", max_groups=2)

    def answered(rows):
        columns = {"who": "text", "age": "integer", "day": "date", "v": "integer"}
        engine.table("t", columns, [(who, age, written(engine, day), v) for who, age, day, v in rows])
        with engine.source() as source:
            checked = source.checked(ask)
            return checked.question, source.answers(checked, order=bytes(32))

    def check(sets):
        _, without = answered(OTHERS)
        for own in sets:
            require_few_changes(*answered([*OTHERS, *own]), without)

    sets = [own for size in range(1, len(OWN) + 1) for own in itertools.combinations(OWN, size)]
    check(sets[::step])
    right = statements.statement

    def wrong(*given):
        text, parameters = right(*given)
        if "place <= 2" not in text:
            raise LookupError("place <= 2")
        return text.replace("place <= 2", "place <= 9"), parameters

    monkeypatch.setattr(statements, "statement", wrong)
    with pytest.raises(AssertionError):
        check([OWN])


def test_a_wrong_rule_for_weeks_is_noticed(monkeypatch):
    """Without the rule for New Year, the first days of January are in week 53 of their own year."""
    con = sqlite3.connect(":memory:")
    con.execute("create table t (day date)")
    con.executemany("insert into t values (?)", [(day.isoformat(),) for day in ENDS])
    assert found(con, "day", ["week"]) == expected(["week"], ENDS)
    right = of_groups._part
    monkeypatch.setattr(of_groups, "_part", lambda *given: re.sub(r"\+ case when .* end\)$", ")", right(*given)))
    assert found(con, "day", ["week"]) != expected(["week"], ENDS)


WEEKS_53 = [year for year in range(1999, 2036) if datetime.date(year, 12, 28).isocalendar()[1] == 53]


def test_ranges_of_weeks_have_the_weeks_of_each_year():
    labels = part_of("week(day)").listed(["1999-W01..2035-W52"])
    days = (datetime.date(1999, 1, 4) + 7 * n * DAY for n in range(len(labels)))
    assert list(labels) == [LABELS["week"](day) for day in days]
    assert [int(one[:4]) for one in labels if one.endswith("W53")] == WEEKS_53


# Texts, and whether they are dates or timestamps.
TEXTS = [
    *("2026-07-01", "2026-07-01 10:15", "2026-07-01T23:59:59", "2026-07-01 10:15:00.5", "2026-07-01T10:15:00.123456789"),
    *("2026-7-1", "2026-02-30", "2026-07-01 24:00", "2026-07-01 10:60", "2026-07-01 10:15:60", "2026-07-01 1:15", "0000-01-01"),
    *("2026-07-01 10:15:00Z", "2026-07-01 10:15:00+02:00", "2026-07-01 10:15:00.", " 2026-07-01", "2026-07-01 ", "now", "", "1"),
    *(
        "2026-07-01x",
        "12026-07-01",
        "-2026-07-01",
        "20260701",
        "2026-07-01  10:15",
        "2026-07-01 10:15:00.5x",
        "2026-183",
        "x" * 300,
    ),
]
ISO = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:(?<=\d\d:\d\d:\d\d)\.\d+)?)?", re.ASCII)


def read(text):
    """Return the timestamp that a text is, or None."""
    parts = ISO.fullmatch(text) if isinstance(text, str) else None
    with contextlib.suppress(ValueError):
        return parts and datetime.datetime.fromisoformat(f"{parts[1]} {parts[2] or '00:00'}")
    return None


def test_the_reader_of_texts_reads_some():
    assert [place for place, text in enumerate(TEXTS) if read(text)] == [0, 1, 2, 3, 4]


def test_texts_of_sqlite():
    hostile = [*TEXTS, b"2026-07-01", b"\xff", 5, 1e308, -(2**63), None, "2026-07-01\0", "2026-07-01 10:15:00.5\0x"]
    for kind in ("datetime", "text", "", "date"):
        con = sqlite3.connect(":memory:")
        con.execute(f"create table t (ts {kind})")
        con.executemany("insert into t values (?)", [(value,) for value in hostile])
        parts = list(LABELS) if kind != "date" else OF_DATES
        assert found(con, "ts", parts) == expected(parts, map(read, hostile)), kind


def test_timestamps_of_every_precision_in_duckdb():
    """Values beyond the years of Python, of TIMESTAMP and of nanoseconds are in no group."""
    con = pytest.importorskip("duckdb").connect()
    for kind in ("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"):
        extreme = ["infinity", "-infinity", "294247-01-10 04:00:54", "290309-12-22 (BC) 00:00:00", "2262-04-11", "1677-09-22"]
        con.execute(
            f"create or replace table t as select try_cast(unnest(?) as {kind}) as ts", [[*extreme, "2026-07-01 10:15:00"]]
        )
        counts = found(con, "ts", LABELS)
        assert counts.pop((2026, "2026-Q3", "2026-07", "2026-W27", 3, 10)) == 1
        assert all(year in (1677, 2262) for year, *_ in counts)


def frames(days):
    pandas, polars, arrow, duckdb = map(pytest.importorskip, ("pandas", "polars", "pyarrow", "duckdb"))
    stamps = moments(days)
    for values in (days, stamps):
        yield pandas.DataFrame({"x": values})
        yield pandas.DataFrame({"x": values}).astype(object)
        yield pandas.DataFrame({"x": [None if value is None else value.isoformat() for value in values]})
        yield polars.DataFrame({"x": values})
        yield polars.DataFrame({"x": values}).lazy()
        yield arrow.table({"x": values})
        yield duckdb.connect().from_arrow(arrow.table({"x": values}))
    for unit in ("s", "ms", "us", "ns"):
        yield pandas.DataFrame({"x": pandas.Series(stamps, dtype=f"datetime64[{unit}]")})
        yield arrow.table({"x": arrow.array(stamps, arrow.timestamp(unit))})


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.long)])
def test_frames_of_dates_and_timestamps(step):
    """One answer for dates and for timestamps of the same days, whatever the dtype; a date is its midnight."""
    days = [*ENDS[:60:3], None]
    midnights = [day and datetime.datetime.combine(day, datetime.time()) for day in days]
    for place, frame in list(enumerate(frames(days)))[::step]:
        assert found(frame, "x", OF_DATES) == expected(OF_DATES, days), place
        assert found(frame, "x", ["hour"]) == expected(["hour"], midnights if place < 7 else moments(days)), place


def test_frames_with_other_values():
    pandas = pytest.importorskip("pandas")
    values = [*TEXTS, 5, 1.5, True, object(), b"2026-07-01", None, datetime.date(2026, 7, 1), datetime.datetime(2026, 7, 1, 3)]
    stamps = [read(value.decode() if isinstance(value, bytes) else value) for value in values[:-2]]
    stamps += [datetime.datetime(2026, 7, 1), values[-1]]
    frame = pandas.DataFrame({"x": pandas.Series(values, dtype=object)})
    assert found(frame, "x", LABELS) == expected(LABELS, stamps)
    zone = pandas.DataFrame({"x": pandas.to_datetime(["2026-07-01"]).tz_localize("UTC")})
    with pytest.raises(sn.ParameterError, match="moments without a time zone in 'x'"):
        found(zone, "x", ["month"])


def test_csv_files(tmp_path):
    path, texts = tmp_path / "t.csv", [text for text in TEXTS if text == text.strip() and text]
    path.write_text("ts,n\n" + "".join(f"{text},1\n" for text in texts) + ",1\n")
    types = {"ts": "timestamp"}
    assert found(path, "ts", LABELS, types=types) == expected(LABELS, [*map(read, texts), None])
    where = asked((), where="hour(ts) > 9 and ts < timestamp '2026-07-01T10:15:00.2'", types=types)
    with open_source(path, where.reading) as source:
        assert source.answers(where).counts.tolist() == [2]


def test_parquet_files(tmp_path):
    """Texts, dates, and timestamps of each unit."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    days, path = [*ENDS[:40], None], tmp_path / "t.parquet"
    stamps = moments(days)
    columns = {unit: arrow.array(stamps, arrow.timestamp(unit)) for unit in ("s", "ms", "us", "ns")}
    columns |= {"day": arrow.array(days), "text": arrow.array([one and one.isoformat() for one in stamps])}
    parquet.write_table(arrow.table(columns), path)
    for name in columns:
        parts = OF_DATES if name == "day" else list(LABELS)
        assert found(path, name, parts, types={"text": "timestamp"}) == expected(parts, stamps), name


@pytest.mark.parametrize("dialect", ["bigquery", "databricks", "snowflake", "spark", "trino"])
def test_warehouses(dialect, monkeypatch):
    """SQLGlot translates neither BigQuery's name of ISO weeks, nor days of the week, of which Sunday is 1, for DuckDB."""
    kinds = {"bigquery": "DATETIME", "trino": "timestamp(6)"}
    monkeypatch.setitem(test_compile.TYPES[dialect], "timestamp", kinds.get(dialect, "TIMESTAMP_NTZ"))
    days = [*ENDS[:200], *EXTREME]
    stamps, columns = moments(days), {"day": "date", "ts": "timestamp"}
    con = test_compile.duck(
        {name.upper() if dialect == "snowflake" else name: kind for name, kind in columns.items()},
        list(zip(days, stamps, strict=True)),
    )
    right = test_compile.translated

    def translated(dialect, text):
        text = text.replace("isoweek", "week").replace("dayofweek(", "1 + dayofweek(").replace("extract(day", "1 + extract(day")
        return right(dialect, text)

    monkeypatch.setattr(test_compile, "translated", translated)
    for name, values in (("day", days), ("ts", stamps)):
        parts = OF_DATES if name == "day" else list(LABELS)
        own = name.upper() if dialect == "snowflake" else name
        answer = test_compile.answered(con, dialect, asked([f"{part}({own})" for part in parts]), columns)
        assert counts_of(answer) == expected(parts, values), name


def test_a_compiled_statement_returns_keys():
    asked = {"by": "month(DAY)", "count": True, "person": "who", "eps": 1, "delta": 1e-6}
    with pytest.warns(UserWarning, match="exact answers"):
        plan = query.compile("t", dialect="bigquery", schema={"who": "INT64", "day": "DATE"}, **asked)
    with pytest.raises(sn.ParameterTypeError, match="a integer or null as g0"):
        query.finish(plan, [("2026-07", 10**6)])
    assert [row[0] for row in query.finish(plan, [(2026 * 12 + 6, 10**6), (None, 10**6)])] == [None, "2026-07"]


def base():
    con = sqlite3.connect(":memory:")
    con.execute('create table t (day date, ts datetime, n integer, city text, "month(n)" text, "my day" date)')
    con.executemany(
        "insert into t values (?, ?, ?, 'A', 'x', ?)", [(one.isoformat(), f"{one}T10:15:00", 1, one.isoformat()) for one in ENDS]
    )
    return con


def test_names_types_and_notes():
    rng = sn.KeyedRng(bytes(32), "july")
    asked = {"by": ["Month(DAY)", "weekday(day)"], "groups": {"month(day)": "1999-12..2000-02"}, "row_is_person": True, "eps": 1}
    table = query.count(base(), rng=rng, **asked)
    assert table.columns == ("month(day)", "weekday(day)", "count", "error_bound")
    assert [row[:2] for row in table] == [(month, day) for month in ("1999-12", "2000-01", "2000-02") for day in range(1, 8)]
    assert [one.holds for one in table._types[:2]] == ["text", "integer"]
    assert table.about["by"] == ["month(day)", "weekday(day)"]
    assert table.about["schema"]["types"] == {"day": "date"}
    assert table == query.count(base(), rng=rng, **asked | {"groups": {"month(day)": ["1999-12", "2000-01", "2000-02"]}})
    # A column wins, and a name can have blanks.
    assert found(base(), "n", ["month"]) == {("x",): len(ENDS)}
    assert found(base(), "my day", ["YEAR"]) == expected(["year"], ENDS)


REFUSED = {
    "by must name a column of 't', got 'dya'; did you mean 'day'?": ("month(dya)", None),
    "by must name a column of 't', got 'decade(day)'": ("decade(day)", None),
    "by must name every column once": (["month(day)", "MONTH( day)"], None),
    "by must have a column of timestamps without a time zone in 'hour(day)'; 'day' is declared as date": ("hour(day)", None),
    "by must have a column of dates or timestamps without a time zone in 'year(n)'; 'n' is": (
        "year(n)",
        None,
    ),
    "groups of 'month(day)' must be such as 2026-01, or a range such as 2026-01..2026-12, got": (
        "month(day)",
        "July",
    ),
    "groups of 'week(day)' must be such as 2026-W01": ("week(day)", ["2025-W53"]),
    "groups of 'hour(ts)' must be such as 8, or a range such as 8..17, got a value of type bool": (
        "hour(ts)",
        [1, True],
    ),
    "groups of 'year(day)' must be such as 2024": ("year(day)", [10000]),
    "groups of 'year(day)' must be listed once each": ("year(day)", ["2001..2003", 2002]),
    "groups of 'year(day)' must be ranges of at most 10000 values, whose lower": (
        "year(day)",
        "2003..2001",
    ),
    "groups of 'n' must be ranges of at most 10000 values": ("n", "0..10000000000"),
    "groups of 'n' must be a list of values, or a range such as 0..120": ("n", "1,2"),
    "groups of 'city' must be texts or None": ("city", "0..9"),
    "groups of 'weekday(day)' must be such as 1, or a range such as 1..5, got another text": ("weekday(day)", ["0"]),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_refused(why):
    by, groups = REFUSED[why]
    delta = 1e-6 if groups is None and by != "hour(day)" else None
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError)) as error:
        query.count(base(), by=by, groups=groups, row_is_person=True, eps=1, delta=delta)
    assert str(error.value).startswith(why)


def test_timestamps_are_not_groups_themselves():
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    con.execute("create table t (ts timestamp, z timestamptz)")
    for groups in (None, [datetime.date(2026, 1, 1)]):
        with open_source(con) as source, pytest.raises(sn.ParameterError, match=r"'ts' itself.*: use year\(ts\), quarter\(ts\)"):
            source.answers(asked("ts", groups))
    with pytest.raises(sn.ParameterError, match=r"zone in 'hour\(z\)'; 'z' is declared as TIMESTAMP WITH TIME ZONE: make a view"):
        found(con, "z", ["hour"])


@pytest.mark.parametrize(
    ("dialect", "type_"), [("bigquery", "datetime"), ("snowflake", "timestamp_ntz"), ("spark", "timestamp_ntz")]
)
def test_the_remedy_names_a_type_without_a_zone(dialect, type_):
    schema = {"ts": "TIMESTAMP", "who": "INT"}
    with pytest.raises(sn.ParameterError, match=f"declared as TIMESTAMP: make a view in which it has the type {type_}"):
        query.compile("t", dialect=dialect, schema=schema, by="year(ts)", count=True, person="who", eps=1, delta=1e-6)


CONDITIONS = {
    "ts >= timestamp '2000-12-31 12:00'": lambda ts: ts >= datetime.datetime(2000, 12, 31, 12),
    "ts < timestamp '2000-12-31T07:59:59.000001' and hour(ts) > 3": lambda ts: (
        ts <= datetime.datetime(2000, 12, 31, 7, 59, 59) and ts.hour > 3
    ),
    "extract(hour from ts) in (5, 6) or year(ts) = 2003": lambda ts: ts.hour in (5, 6) or ts.year == 2003,
    "ts between date '2001-01-01' and timestamp '2002-01-01 00:00:00'": lambda ts: (
        datetime.datetime(2001, 1, 1) <= ts <= datetime.datetime(2002, 1, 1)
    ),
}


@pytest.mark.parametrize("engine", ["DuckDB", "PostgreSQL"], indirect=True)
def test_conditions_on_timestamps(engine):
    """The other engines' conditions compare no timestamps."""
    stamps = moments(ENDS[:120])
    engine.table("t", {"ts": "timestamp"}, [*((one,) for one in stamps), (None,)])
    for where, holds in CONDITIONS.items():
        assert engine.answers(asked((), where=where)).counts.tolist() == [sum(map(holds, stamps))], where
    for wrong in ("2026-02-30 10:00", "2026-01-01", "2026-01-01 10:00+01", "now", "infinity"):
        with pytest.raises(sn.ParameterError, match="which is not a timestamp; write one as in timestamp '2026-07-01 10:15:00'"):
            engine.answers(asked((), where=f"ts > timestamp '{wrong}'"))


def test_ranges_of_integers_and_dates(engine):
    rows = [(n, written(engine, ENDS[n])) for n in range(30)]
    engine.table("t", {"n": "integer", "day": "date"}, rows)
    for name, groups, all_ in (("n", "-2..11", range(-2, 12)), ("day", "1999-12-24..1999-12-31", ENDS[2:10])):
        answer = engine.answers(asked(name, groups))
        assert [group for (group,) in answer.groups] == list(all_)
        assert answer.counts.sum() == sum(one in all_ for one in (range(30) if name == "n" else ENDS[:30]))


def test_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("age,day,ts,code\n" + "".join(f"{n % 9},{ENDS[n]},{ENDS[n]} 10:15:00,1..3\n" for n in range(200)))
    common = ["query", str(path), "--count", "--row-is-person", "--eps", "1", "--type", "age=integer,day=date,ts=timestamp"]
    wanted = {
        "month(day)=1999-12..2000-02": ["1999-12", "2000-01", "2000-02"],
        "day=1999-12-30..2000-01-01": ["1999-12-30", "1999-12-31", "2000-01-01"],
        "age=0..2": ["0", "1", "2"],
        "year(ts)=2001,2003": ["2001", "2003"],
        "weekday(ts)=6..7": ["6", "7"],
        "code=1..3": ["1..3"],
        "hour(ts)=08..10": ["8", "9", "10"],
    }
    for groups, labels in wanted.items():
        assert not main([*common, "--by", groups.split("=")[0], "--groups", groups])
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines[1 : len(labels) + 1]] == labels
    top = ["query", str(path), "--top", "2", *common[3:]]
    for groups in ("month(day)=1999-12..2000-02", "age=0..8"):
        assert not main([*top, "--by", groups.split("=")[0], "--groups", groups])
        assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[1:3]] == ["1", "2"]
    assert main([*top, "--by", "age", "--groups", "age=0..0"])
    assert "--top must be at most the number of groups, 1, got 2" in capsys.readouterr().err
    assert not main([*common, "--by", "hour(ts)"])
    assert capsys.readouterr().out.splitlines()[11].split()[0] == "10"
    assert main([*common, "--by", "age", "--groups", "age=0..x"])
    assert "--groups of 'age' must be integers" in capsys.readouterr().err
