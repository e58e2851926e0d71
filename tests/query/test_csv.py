"""CSV files: lines, records and values.

Evidence: a plain program that reads one line after the other, on files that Hypothesis chooses; values written out by hand.
"""

import datetime
import io
import os
import re
import threading
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise import query
from stairnoise.query.question import Question
from stairnoise.query.reading import reading
from stairnoise.query.sources import open_source
from stairnoise.query.sources.source import SourceError
from stairnoise.query.statistics import Sum
from tests.combinations import in_turn, rest_long

csv_file = pytest.importorskip("stairnoise.query.sources.csv_file")


def values(path, types=None, csv=None):
    """Return the rows of a file as texts: each group with its count."""
    found = reading(types, csv)
    with open_source(path, found) as source:
        by = tuple(source.columns("t"))
        answer = source.answers(Question("t", by, {}, reading=found), order=bytes(32))
        return sorted(rows(answer), key=repr)


def rows(answer):
    return [cell for cell, count in zip(answer.groups, answer.counts.tolist(), strict=True) for _ in range(count)]


def fields(text, csv):
    """Parse a line letter by letter into a list of values; return None if the line is no record."""
    found, place = [], 0
    while True:
        start = place
        while csv.strip and text[place : place + 1] == " ":
            place += 1
        if text[place : place + 1] == csv.quote:
            value, place = "", place + 1
            while True:
                if place >= len(text):
                    return None
                letter, after = text[place], text[place + 1 : place + 2]
                if letter == csv.escape and (after == csv.quote if csv.escape == csv.quote else after):
                    value, place = value + after, place + 2
                elif letter == csv.quote:
                    place += 1
                    break
                else:
                    value, place = value + letter, place + 1
            while csv.strip and text[place : place + 1] == " ":
                place += 1
            if text[place : place + 1] not in ("", csv.delimiter):
                return None
            found.append(value)
        else:
            end = text.find(csv.delimiter, start)
            place = len(text) if end < 0 else end
            value = text[start:place].strip(" ") if csv.strip else text[start:place]
            found.append(None if value in csv.nulls else value)
        if place == len(text):
            return found
        place += 1


def expected(content, csv):
    """Return the rows of a file with two columns, by the documented rules of `CSV`."""
    found = []
    for line in content.split(b"\n")[1:]:
        line = line.removesuffix(b"\r")
        if line and not re.search(rb"[\0\1\r]", line):
            try:
                record = fields(line.decode(csv.encoding), csv)
            except UnicodeDecodeError:
                continue
            if record is not None and len(record) == 2:
                found.append(tuple(record))
    return sorted(found, key=repr)


FORMATS = [
    query.CSV(delimiter=","),
    query.CSV(delimiter=";", escape="\\", nulls=("", "NA")),
    query.CSV(delimiter="|", quote="'", strip=False, nulls=()),
    query.CSV(delimiter="\t", quote=None, encoding="latin-1"),
    query.CSV(delimiter="]", quote="^", escape="$", encoding="cp1252"),
]


@pytest.mark.parametrize("examples", [3, pytest.param(50, marks=pytest.mark.long)])
@pytest.mark.parametrize("csv", FORMATS, ids=repr)
def test_files_as_a_plain_program_reads_them(tmp_path, csv, examples):
    letters = sorted({csv.delimiter, csv.quote or "x", csv.escape, *'a é\\"\r1'})
    line = st.text(letters, max_size=9).map(lambda one: one.encode(csv.encoding)) | st.binary(max_size=6)
    path = tmp_path / "t.csv"

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(st.lists(line | st.just(f"NA{csv.delimiter} NA ".encode()), max_size=40), st.sampled_from([b"\n", b"\r\n"]))
    def check(written, end):
        content = f"a{csv.delimiter}b".encode() + end + b"".join(one + end for one in written)
        path.write_bytes(content)
        assert values(path, csv=csv) == expected(content, csv)

    check()


@pytest.mark.parametrize(
    ("type_", "texts", "found"),
    [
        ("integer", ["1", "+1", "-0", "9223372036854775807", "01"], [1, 1, 0, 2**63 - 1, 1]),
        ("integer", ["1.5", "1e3", "1_000", "0x1F", "9223372036854775808", "", "x", "1 2", "\u0663"], [None] * 9),
        ("boolean", ["true", "T", "YES", "1", "n", "False"], [True, True, True, True, False, False]),
        ("boolean", ["2", "on", "", "ja"], [None] * 4),
        ("date", ["2026-01-02", "2026-02-30", "2026-01-02 10:00", "02.01.2026"], [datetime.date(2026, 1, 2), None, None, None]),
        ("date:%d.%m.%Y", ["02.01.2026", "2026-01-02"], [datetime.date(2026, 1, 2), None]),
        ("text", ["01", " x "], ["01", "x"]),
    ],
)
def test_values_of_types(tmp_path, type_, texts, found):
    (tmp_path / "t.csv").write_text("\n".join(["k,v", *(f"{place},{one}" for place, one in enumerate(texts)), ""]))
    rows = values(tmp_path / "t.csv", {"k": "integer", "v": type_})
    assert [value for _, value in sorted(rows)] == found


@pytest.mark.parametrize(
    ("decimal", "texts", "total"),
    [
        (".", ["1.5", "-.25", "1e2", "7", "1,5", "inf", "nan", "1e999", "x"], 108.25),
        (",", ["1,5", "-,25", "1e2", "7", "1.5", ".5"], 108.25),
    ],
)
def test_real_numbers(tmp_path, decimal, texts, total):
    (tmp_path / "t.csv").write_text("\n".join(["v", *(f'"{one}"' for one in texts), ""]))
    found = reading({"v": "real"}, query.CSV(decimal=decimal))
    with open_source(tmp_path / "t.csv", found) as source:
        answer = source.answers(Question("t", (), {}, (Sum("v", (-1e6, 1e6)),), reading=found))
    assert (answer.sums[0] * answer.units).tolist() == [total]
    assert answer.counts.tolist() == [4]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("a,b;c", ["a", "b;c"]),
        ("a;b;c,d", ["a", "b", "c,d"]),
        ("a\tb", ["a", "b"]),
        ("a|b", ["a", "b"]),
        ('"a;;;b",c', ["a;;;b", "c"]),
        (' age, work , "x "', ["age", "work", "x "]),
        ("\ufeffa,,b", ["a", "column2", "b"]),
        ("a", ["a"]),
    ],
)
def test_the_header_says_names_and_delimiter(tmp_path, header, names):
    (tmp_path / "t.csv").write_text(header + "\n1;2;3\n", encoding="utf-8")
    with open_source(tmp_path / "t.csv") as source:
        assert source.columns("t") == names


def test_blanks_around_names_and_values_are_left_out(tmp_path):
    """The census file, for example, has a blank after every comma."""
    (tmp_path / "t.csv").write_text('age, sex\n39, Male\n50, "Female "\n')
    assert values(tmp_path / "t.csv") == [("39", "Male"), ("50", "Female ")]
    (tmp_path / "t.csv").write_text("age, sex\n39, Male\n")
    assert values(tmp_path / "t.csv", csv=query.CSV(strip=False)) == [("39", " Male")]


def test_an_empty_text_in_quotes_is_no_null(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n,""\nNA,"NA"\n')
    assert values(tmp_path / "t.csv") == [("NA", "NA"), (None, "")]
    assert values(tmp_path / "t.csv", csv=query.CSV(nulls=["NA"])) == [("", ""), (None, "NA")]


def test_a_table_that_was_written_is_read_back(tmp_path):
    """Values that `PrivateTable.to_csv` quotes are read back unchanged."""
    import sqlite3

    con = sqlite3.connect(":memory:")
    con.execute("create table t (g text)")
    texts = ["a,b", 'say "x"', " blank ", "", "#1", "é", None]
    con.executemany("insert into t values (?)", [(one,) for one in texts])
    path = tmp_path / "t.csv"
    query.count(con, "t", by="g", groups=texts, row_is_person=True, eps=1).write(path)
    assert {row[0] for row in values(path)} == set(texts)


@pytest.mark.parametrize("size", [2, 5, 16, 1000])
def test_lines_do_not_depend_on_blocks(monkeypatch, size):
    """A line that is too long is dropped, and no other line with it."""
    monkeypatch.setattr(csv_file, "_BLOCK", size)
    for content in (
        b"h\nab\ncd\n" + b"x" * 40 + b"\nef",
        b"h\na\r\n\r\nb\xff\nc\rd\ne\0\nf\n",
        b"h\n\n\n",
        b"h",
        b"",
        b"h\n" + b"y" * 99,
    ):
        found = b"".join(csv_file.lines(io.BytesIO(content), "utf-8"))
        kept = [one.removesuffix(b"\r") for one in content.split(b"\n")[1:]]
        short = [one for one in kept if one and one.isascii() and not re.search(rb"[\r\0\1]", one) and len(one) < size]
        assert [one for one in found.split(b"\n") if one] == short
        for middle in range(1, len(content) + 2):
            halves = (csv_file.lines(io.BytesIO(content), "utf-8", *ends) for ends in ((1, middle), (middle, 999)))
            assert [line for half in halves for line in b"".join(half).split(b"\n") if line] == short


def test_names_of_columns_are_no_names_of_the_statement(tmp_path):
    (tmp_path / "t.csv").write_text('f,plain,line\na,b,c\n"a", b ,d\n')
    for name, group, count in (("f", "a", 2), ("plain", "b", 2), ("line", "c", 1)):
        with open_source(tmp_path / "t.csv") as source:
            answer = source.answers(Question("t", (name,), {name: (group,)}, reading=reading(None, None)))
        assert answer.counts.tolist() == [count]


LETTERS = [("utf-8", "é"), ("cp1252", "€"), ("latin-1", "ÿ")], [-3, -2, 2**21]


@pytest.mark.parametrize(("encoded", "more"), rest_long(in_turn(*LETTERS), product(*LETTERS)))
def test_a_long_line_is_a_row_or_none_and_no_error(tmp_path, encoded, more):
    """The euro sign has one byte in the file's encoding and three in the engine's."""
    encoding, letter = encoded
    long = letter * ((2**20 + more) // len(letter.encode(encoding)))
    lines = ["a,b", *["x,1"] * 3, f"{long},1", *["x,1"] * 3]
    (tmp_path / "t.csv").write_bytes("\n".join(lines).encode(encoding))
    found = reading(None, query.CSV(encoding=encoding))
    with open_source(tmp_path / "t.csv", found) as source:
        answer = source.answers(Question("t", ("b",), {"b": ("1",)}, reading=found))
    assert answer.counts.tolist() == [7 if len(long.encode(encoding)) + 2 < 2**20 else 6]


def test_a_writer_ends_with_its_reader(tmp_path):
    """No thread keeps waiting for an engine that failed or that reads no line."""
    (tmp_path / "t.csv").write_bytes(b"a\n" + b"x\n" * 10**6)
    before = threading.active_count()
    with csv_file.readable(tmp_path / "t.csv", "utf-8"):
        pass
    with pytest.raises(ZeroDivisionError), csv_file.readable(tmp_path / "t.csv", "utf-8"):
        raise ZeroDivisionError
    assert threading.active_count() == before


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such files")
def test_a_file_that_fails_while_it_is_read_is_no_shorter_table(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a\n1\n2\n")

    def failing(*_):
        yield b"1\n"
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(csv_file, "lines", failing)
    with open_source(tmp_path / "t.csv") as source, pytest.raises(SourceError, match="cannot be read: Input/output error"):
        source.answers(Question("t", (), {}))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delimiter": ""}, "delimiter must be one character other than a blank or a line break, got ''"),
        ({"delimiter": ",,"}, "delimiter must be one character"),
        ({"delimiter": "\n"}, "delimiter must be one character"),
        ({"delimiter": 5}, "delimiter must be one character, got 5"),
        ({"quote": '""'}, "quote must be one character"),
        ({"delimiter": ";", "escape": ";"}, "delimiter must differ from quote and escape, got ';'"),
        ({"encoding": "utf-16"}, "encoding must be 'utf-8', or have one byte a character as 'latin-1', got 'utf-16'"),
        ({"encoding": "nonsense"}, "encoding must be"),
        ({"encoding": "shift_jis"}, "encoding must be"),
        ({"decimal": "x"}, "decimal must be '.' or ',', got 'x'"),
        ({"nulls": "NA"}, "nulls must be a list of texts"),
        ({"nulls": ['"']}, "nulls must be texts without quotes"),
        ({"strip": 1}, "strip must be"),
    ],
)
def test_formats_that_are_refused(arguments, message):
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=re.escape(message)):
        query.CSV(**arguments)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (
            {"v": "int"},
            "types of 'v' must be 'text', 'integer', 'real', 'boolean', 'date', 'timestamp' or such as 'date:%d.%m.%Y', got",
        ),
        ({"v": "real:2"}, "types of 'v' must be"),
        ({"v": "date:%H"}, "types of 'v' must be a date with a year, month and day, such as 'date:%d.%m.%Y', got 'date:%H'"),
        ({"v": "date:%Q-%d-%m-%Y"}, "types of 'v' must be a date"),
        ({"v": 5}, "types of 'v' must be a text, got 5"),
        ({5: "text"}, "types must have names of columns as keys, got 5"),
        (["v"], "types must be a dict from names of columns to types"),
        ({"x": "text"}, "types must be of columns of 't', got one of 'x'"),
    ],
)
def test_types_that_are_refused(tmp_path, types, message):
    (tmp_path / "t.csv").write_text("v\n1\n")
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=re.escape(message)):
        query.count(tmp_path / "t.csv", "t", types=types, row_is_person=True, eps=1)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"where": "v > 1"}, "declare its type, as in --type COLUMN=integer"),
        ({"where": "v + 1 > 1"}, "declare its type, as in --type COLUMN=integer"),
        ({"where": "v in ('x', date '2026-07-01')"}, "declare its type, as in --type COLUMN=date"),
        ({"by": "w", "delta": 1e-6}, "groups of 'w' must be listed, because the column is declared as real; or declare its type"),
    ],
)
def test_errors_say_how_to_declare_a_type(tmp_path, asked, message):
    (tmp_path / "t.csv").write_text("v,w\n1,2\n")
    with pytest.raises(sn.ParameterError, match=re.escape(message)):
        query.count(tmp_path / "t.csv", "t", types={"w": "real"}, row_is_person=True, eps=1, **asked)


def test_a_sum_needs_a_type(tmp_path):
    (tmp_path / "t.csv").write_text("v\n1\n")
    message = re.escape("'v' is declared as text: declare its type, as in --type v=real or types={'v': 'real'}")
    with pytest.raises(sn.ParameterError, match=message):
        query.sum(tmp_path / "t.csv", "t", column="v", bounds=(0, 1), row_is_person=True, eps=1)


def test_a_database_declares_its_own_types(tmp_path):
    import sqlite3

    con = sqlite3.connect(":memory:")
    con.execute("create table t (v text)")
    with pytest.raises(sn.ParameterError, match="types must be left out: a database declares its own"):
        query.count(con, "t", types={"v": "integer"}, row_is_person=True, eps=1)
    with pytest.raises(sn.ParameterError, match=r"csv must be left out: the source is no \.csv file"):
        query.count(con, "t", csv=query.CSV(), row_is_person=True, eps=1)
