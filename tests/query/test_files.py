"""Private tables in files: every format is read back correctly, and no file is overwritten, half-written or lost."""

import csv
import errno
import hashlib
import json
import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.private_table import Output

HOSTILE = [
    "plain",
    "a,b",
    'a "b"',
    "two\nlines",
    "cr\rhere",
    "",
    " space ",
    "=1+1",
    "+1",
    "-1",
    "@sum",
    "# note",
    "Łódź",
    None,
    "NULL",
]


@pytest.fixture
def con():
    con = sqlite3.connect(":memory:")
    con.execute("create table t (g text)")
    con.executemany("insert into t values (?)", [(one,) for one in HOSTILE for _ in range(40)])
    return con


@pytest.fixture
def table(con):
    return query.count(con, "t", by="g", groups=HOSTILE, row_is_person=True, eps=1)


def test_csv_is_read_back_by_the_standard_library(table, tmp_path):
    table.write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["g", "count", "error_bound"]
    assert rows == [["" if group is None else group, str(count), str(bound)] for group, count, bound in table]


@pytest.mark.parametrize("reader", ["duckdb", "pandas", "polars"])
def test_csv_is_read_back_by_libraries_with_nearly_their_defaults(table, tmp_path, reader):
    """Group names are written unchanged, even those that a spreadsheet would run as a formula."""
    library = pytest.importorskip(reader)
    path = tmp_path / "out.csv"
    table.write(path)
    if reader == "duckdb":
        rows = library.sql(f"from read_csv('{path}', allow_quoted_nulls=false)").fetchall()
        assert [row[0] for row in rows] == HOSTILE
    else:
        frame = library.read_csv(path, **({"keep_default_na": False} if reader == "pandas" else {}))
        rows = frame.values.tolist() if reader == "pandas" else frame.rows()
        assert [row[0] or "" for row in rows] == [group or "" for group in HOSTILE]
    assert [row[1:] for row in map(tuple, rows)] == [row[1:] for row in table]


def test_the_notes_of_a_csv_file_are_beside_it_and_fit_it(table, tmp_path):
    table.write(tmp_path / "out.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.csv.json"]
    notes = json.loads((tmp_path / "out.csv.json").read_text(encoding="utf-8"))
    assert notes == table.about | {"file": "out.csv", "sha256": hashlib.sha256((tmp_path / "out.csv").read_bytes()).hexdigest()}
    for name in (
        "stairnoise",
        "mechanisms",
        "eps",
        "delta",
        "statistics",
        "confidence",
        "protected",
        "best_guess",
        "not_protected",
        "check",
    ):
        assert name in notes
    assert notes["mechanisms"] == [
        {
            "of": "count",
            "share": "1",
            "mechanism": "DiscreteLaplace(eps=1.0, sensitivity=1)",
            "draws": "DiscreteLaplace(eps=1.0, sensitivity=1)",
            "k": 1,
            "sensitivity": 1,
        }
    ]


def test_the_check_that_the_notes_name_gives_the_bound(con):
    """The Python line in the notes runs unchanged."""
    for table in (
        query.count(con, "t", by="g", groups=HOSTILE, row_is_person=True, eps=0.3, confidence=0.9),
        query.count(con, "t", by="g", groups=HOSTILE, row_is_person=True, eps=1, delta=1e-6, mechanism="discrete_gaussian"),
    ):
        first, line = table.about["check"]
        names: dict[str, object] = {}
        exec(first, names)
        low, high = eval(line, names)
        assert {row[2] for row in table} == {high} == {-low}


def test_parquet_and_json_hold_rows_and_notes(table, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table.write(tmp_path / "out.parquet")
    read = parquet.read_table(tmp_path / "out.parquet")
    assert read.to_pylist() == table.to_dicts()
    assert json.loads(read.schema.metadata[b"stairnoise"]) == table.about
    table.write(tmp_path / "out.JSON")
    assert json.loads((tmp_path / "out.JSON").read_text(encoding="utf-8")) == {"about": table.about, "rows": table.to_dicts()}


def test_frames_of_libraries_have_the_rows(table):
    for name in ("pandas", "polars", "arrow"):
        pytest.importorskip("pyarrow" if name == "arrow" else name)
        frame = getattr(table, f"to_{name}")()
        columns = {column: frame[column].to_pylist() if name == "arrow" else frame[column].to_list() for column in table.columns}
        rows = list(zip(*columns.values(), strict=True))
        assert [(None if row[0] != row[0] else row[0], *row[1:]) for row in rows] == list(table)


@pytest.mark.parametrize("name", ["out.csv", "out.json", "out.parquet"])
def test_nothing_is_overwritten_unasked(table, tmp_path, name):
    path = tmp_path / name
    path.write_text("mine")
    with pytest.raises(sn.ParameterError, match="exists; pass --force or overwrite=True to overwrite it"):
        table.write(path)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [(name, "mine")]
    table.write(path, overwrite=True)
    assert path.read_bytes() != b"mine"


def test_notes_are_not_overwritten_either(table, tmp_path):
    (tmp_path / "out.csv.json").write_text("mine")
    with pytest.raises(sn.ParameterError, match=r"out\.csv\.json"):
        table.write(tmp_path / "out.csv")
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv.json"]


def test_a_file_that_appears_meanwhile_is_not_overwritten(table, tmp_path):
    output = Output(tmp_path / "out.csv", overwrite=False)
    (tmp_path / "out.csv").write_text("mine")
    with pytest.raises(sn.ParameterError, match="exists"):
        output.write(table)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("out.csv", "mine")]


@pytest.mark.parametrize("name", ["out.txt", "out", "out.csv.gz", ".csv"])
def test_other_names_are_refused(table, tmp_path, name):
    with pytest.raises(sn.ParameterError, match=r"\*\.csv, \*\.parquet or \*\.json"):
        table.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        Output(tmp_path / "no" / "out.csv", overwrite=True)
    assert caught.value.filename == str(tmp_path / "no" / "out.csv")
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(sn.ParameterError, match="something else"):
        Output(tmp_path / "out.csv", overwrite=True)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("broken", ["fsync", "link", "interrupt"])
def test_what_fails_leaves_what_was_there(table, tmp_path, monkeypatch, broken, overwrite):
    """After a full disk, a failed rename or Ctrl-C, the old files are unchanged and no part of a new file remains."""
    kept = {"out.csv": "old table", "out.csv.json": "old notes"} if overwrite else {}
    for name, content in kept.items():
        (tmp_path / name).write_text(content)
    output = Output(tmp_path / "out.csv", overwrite=overwrite)

    def fail(*arguments, **named):
        if broken == "interrupt":
            raise KeyboardInterrupt
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if broken == "link":
        monkeypatch.setattr(Path, "replace", fail)
        monkeypatch.setattr(Path, "hardlink_to", fail)
    else:
        monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt if broken == "interrupt" else OSError):
        output.write(table)
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == kept


def test_a_file_system_without_links_is_written_too(table, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(Path, "hardlink_to", fail)
    table.write(tmp_path / "out.csv")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.csv", "out.csv.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_files_have_the_usual_permissions(table, tmp_path):
    """Other users read a published file, so the umask sets its permissions, as with open()."""
    (tmp_path / "usual").touch()
    table.write(tmp_path / "out.csv")
    assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()} == {stat.S_IMODE((tmp_path / "usual").stat().st_mode)}
