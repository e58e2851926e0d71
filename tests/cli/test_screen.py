"""Every screen at every width: no text is cropped, read as markup, or able to move the cursor.

Evidence: the written cells; widths are counted in terminal columns. The blocks of narrow terminals are
checked against the table of wide ones.
"""

import io
import os
import re
import sqlite3
import subprocess
import sys
import unicodedata
from itertools import product

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

import stairnoise as sn
from stairnoise import _selftest
from stairnoise._selftest.report import Outcome, Planned
from stairnoise.cli import main, screen
from stairnoise.cli import selftest as command
from tests.combinations import in_turn, rest_long

WIDTHS = [80, 40, 120]
QUERY = ["query", "visits.db", "--row-is-person", "--eps", "1"]
CITY = ["--by", "city", "--groups", "city=Paris,Rome"]
COMMANDS = {
    "none": [],
    "sample help": ["sample", "--help"],
    "release help": ["release", "--help"],
    "compare help": ["compare", "--help"],
    "plot help": ["plot", "--help"],
    "selftest help": ["selftest", "--help"],
    "ledger help": ["ledger", "--help"],
    "sample": ["sample", "-n", "1000", "--eps", "1", "--seed", "1"],
    "sample of vectors": ["sample", "-n", "10", "--eps", "1", "--mechanism", "multivariate_staircase", "--dim", "3"],
    "release": ["release", "--sensitivity", "1"],
    "release by all": ["release", "--sensitivity", "1", "--compare"],
    "compare": ["compare", "--eps", "1", "--delta", "1e-6"],
    "compare all": ["compare", "--eps", "1", "--all"],
    "compare several": ["compare", "--eps", "1", "--delta", "1e-6", "--releases", "3", "--people-in", "2"],
    "plot": ["plot", "laplace", "--eps", "1", "-o", "laplace.svg"],
    "sample verbose": ["sample", "-n", "100000", "--eps", "1", "--seed", "1", "--verbose"],
    "query help": ["query", "--help"],
    "query": [*QUERY, *CITY, "--count", "--mean", "age", "--bounds", "0,100"],
    "query explained": [*QUERY, *CITY, "--count", "--sum", "age", "--bounds", "0,100", "--explain", "--show-true"],
    "query top": [*QUERY, *CITY, "--top", "1"],
    "query to a file": [*QUERY, *CITY, "--count", "-o", "private.csv", "--force"],
    "query bounds": [*QUERY, "--find-bounds", "age"],
    "ledger": ["ledger", "spent.ledger"],
}


@pytest.fixture
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    con = sqlite3.connect("visits.db")
    con.execute("create table visits (city text, age integer)")
    con.executemany("insert into visits values (?, ?)", [(city, age) for city in ("Paris", "Rome") for age in range(90)])
    con.commit()
    con.close()
    sn.Ledger("spent.ledger", 1).spend(sn.Staircase(0.5), release="a release with a long name", data="visits")


def show(capsys, monkeypatch, columns, arguments):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", str(columns))
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(("name", "columns"), rest_long(in_turn(COMMANDS, WIDTHS), product(COMMANDS, WIDTHS)))
def test_lines_fit_and_nothing_is_cropped(capsys, monkeypatch, name, columns):
    arguments = COMMANDS[name]
    out = show(capsys, monkeypatch, columns, arguments)
    assert "…" not in out
    assert "..." not in re.sub(r"\[ARGS\]\.\.\.|//\.\.\.", "", out)
    # Click reserves at least ten columns for descriptions, beside the longest option.
    assert max(map(cell_len, out.splitlines())) <= columns + (6 if "--help" in arguments and columns == 40 else 0)


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_screen_has_80_columns(capsys, monkeypatch, name):
    out = show(capsys, monkeypatch, 80, COMMANDS[name])
    assert max(map(cell_len, out.splitlines())) <= 80


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_an_error_is_folded_in_a_terminal_alone(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    texts = []
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr(sys, "stderr", stream)
        assert main(["sample", "-n", "1", "--eps", "1", "--mechanism", "laplce"]) == 2
        texts.append(stream.getvalue())
    assert texts[0].count("\n") == 1
    assert max(map(cell_len, texts[1].splitlines())) <= 80
    assert texts[1].split() == texts[0].split()


@pytest.mark.parametrize("name", ["compare", "compare all"])
def test_a_pipe_gets_whole_lines(capsys, monkeypatch, name):
    out = show(capsys, monkeypatch, None, COMMANDS[name])
    assert out == show(capsys, monkeypatch, 50_000, COMMANDS[name])
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) < 1000
    assert sn.compare(1).recommendation in out or name != "compare"


def test_a_long_cell_and_a_long_name_stay_whole_in_a_pipe(capsys, monkeypatch, tmp_path):
    path = tmp_path / f"{'long name ' * 15}.csv"
    path.write_text(f"{'key ' * 40},count\n{'cell ' * 40},1\n")
    out = show(capsys, monkeypatch, None, ["release", "--sensitivity", "1", path, "--keep", " ".join(["key"] * 40)])
    assert "cell " * 40 in out
    assert "key " * 40 in out
    written = tmp_path / f"{'long name ' * 15}.npy"
    assert str(written) in show(capsys, monkeypatch, None, ["sample", "-n", 1, "--eps", 1, "-o", written])


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_numbers_are_never_broken(capsys, monkeypatch, tmp_path, columns):
    """Whatever the width, each number of the table is in one piece; at eps = 700 the noise of integers is 0."""
    path = tmp_path / "table.csv"
    numbers = [1234567890123, 9007199254740993, 42]
    path.write_text("a long key,count\n" + "".join(f"some words for a key {number % 7},{number}\n" for number in numbers))
    out = show(
        capsys, monkeypatch, columns, ["release", "--sensitivity", "1", path, "--eps", 700, "--keep", "a long key", "--show-true"]
    )
    for number in numbers:
        assert len(re.findall(rf"(?<!\d){number}(?!\d)", out)) == 2
    assert max(map(cell_len, out.splitlines())) <= columns


def test_blocks_of_a_narrow_terminal_have_what_the_table_has():
    headings, footer = ["key", "true\ncount", "noisy"], ["", "±95 %", "±3"]
    rows = [[Text(f"some key {number}"), Text("1" * 12), Text("2" * 12)] for number in range(2)]
    texts = {}
    for width in (30, 200):
        made = Console(file=io.StringIO(), width=width)
        screen.print_rows(made, headings, rows, texts=1, footer=footer, dim=1)
        texts[width] = made.file.getvalue().splitlines()
    assert texts[30][:3] == ["some key 0", f"  true count: {'1' * 12}", f"  noisy: {'2' * 12} ±3"]
    assert [line.split() for line in texts[200][1:]] == [
        ["key", "count", "noisy"],
        *(["some", "key", str(number), "1" * 12, "2" * 12] for number in range(2)),
        ["±95", "%", "±3"],
    ]


HOSTILE = {
    "[bold]x[/bold]": "[bold]x[/bold]",
    "[/x]": "[/x]",
    "[link=http://x]y": "[link=http://x]y",
    ":smile:": ":smile:",
    "\x1b[2J\x1b]0;title\x07": r"\x1b[2J\x1b]0;title\x07",
    "a\rb\x08c\td": r"a\rb\x08c\td",
    "a\x9b31mb": r"a\x9b31mb",
    "a\u202egpj.exe": r"a\u202egpj.exe",
    "a\u2028b": r"a\u2028b",
    "a\x7fb\0": r"a\x7fb\x00",
}


@pytest.mark.parametrize(("text", "shown"), HOSTILE.items(), ids=map(ascii, HOSTILE))
def test_cells_headers_and_file_names_are_shown_as_they_are(capsys, monkeypatch, tmp_path, text, shown):
    quoted = '"' + text.replace('"', '""') + '"'
    (tmp_path / "table.csv").write_text(f"{quoted},count {quoted[1:-1]}\n{quoted},1\n", encoding="utf-8", newline="")
    if "\r" in text:
        (tmp_path / "table.csv").write_text(f'{quoted},"count {text}"\n{quoted},1\n', encoding="utf-8", newline="")
    if "\0" in text and sys.version_info < (3, 11):
        pytest.skip("csv of this Python refuses the character 0")
    out = show(
        capsys,
        monkeypatch,
        200,
        ["release", "--sensitivity", "1", tmp_path / "table.csv", "--column", f"count {text}", "--keep", text],
    )
    assert out.count(shown) == 4  # in two headings, a cell, and the note about the column
    assert not [c for c in out if unicodedata.category(c) in ("Cc", "Zl") and c != "\n"]


@pytest.mark.parametrize("text", ["[red]x[/red]", "x\x1b[2J", "x\u202ey"])
def test_errors_show_names_as_they_are(capsys, tmp_path, text):
    for arguments in (
        ["release", "--sensitivity", "1", str(tmp_path / text)],
        ["release", "--sensitivity", "1", "--mechanism", text],
        ["ledger", str(tmp_path / text)],
        [text],
    ):
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert screen.plain(text) in err.replace("\\\\", "\\")
        assert err.isprintable() or not [c for c in err if unicodedata.category(c) == "Cc" and c != "\n"]


def test_a_written_file_is_named_as_it_is(capsys, monkeypatch, tmp_path):
    path = tmp_path / "[red]a\x1b[2J.npy"
    out = show(capsys, monkeypatch, 300, ["sample", "-n", 1, "--eps", 1, "-o", path])
    assert r"[red]a\x1b[2J.npy" in out


def test_a_text_that_is_printed_is_no_markup_and_no_emoji(capsys):
    screen.console().print("[bold]written[/bold] to :smile:.png")
    assert capsys.readouterr().out == "[bold]written[/bold] to :smile:.png\n"


def test_ordinary_text_of_any_script_stays():
    for text in ("Łódź", "日本語", "עברית", "नमस्ते", "👩\u200d🚀", "a\u00a0b", "100 %"):
        assert screen.plain(text) == text


def test_wide_characters_fit(capsys, monkeypatch, tmp_path):
    (tmp_path / "table.csv").write_text(f"key,count\n{'日本語' * 30},1\n", encoding="utf-8")
    out = show(capsys, monkeypatch, 40, ["release", "--sensitivity", "1", tmp_path / "table.csv", "--keep", "key"])
    assert max(map(cell_len, out.splitlines())) <= 40
    assert "".join(re.findall("[日本語]", out)) == "日本語" * 30


LONG = "MultivariateStaircase(eps=4, dim=3, norm='linf'): norms, directions of releases, and more"


@pytest.fixture
def _stub(monkeypatch):
    planned = [Planned(LONG, lambda: Outcome(1_048_576, 0)) for _ in range(3)]
    monkeypatch.setattr(_selftest, "SUBJECTS", {"a subject": lambda: iter(planned)})


@pytest.mark.usefixtures("_stub")
@pytest.mark.parametrize("columns", [20, 40, 80, 120])
def test_the_progress_bar_fits(monkeypatch, columns):
    """The bar stays on one line; a longer one would make the terminal scroll at each step."""

    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    command._run()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue())
    for number in range(3):
        name = LONG[: columns // 10]
        assert re.search(rf"[━╺╸]{{{min(20, columns // 4)}}} +{number}/3 +a( subject: {re.escape(name)}|[^\r]*…)", text)
    assert "3/3" in text
    # The bar ends its line once, then it is erased.
    assert text.count("\n") == 1
    assert max(map(cell_len, re.split(r"[\r\n]", text))) <= columns


@pytest.mark.usefixtures("_stub")
@pytest.mark.parametrize("columns", [40, 80, 120, None])
def test_the_report_of_the_selftest_is_whole(capsys, monkeypatch, columns):
    out = show(capsys, monkeypatch, columns, ["selftest", "--verbose"])
    assert "…" not in out
    assert len(re.findall(r"1,048,576", out)) == 3
    assert max(map(cell_len, out.splitlines())) <= (columns or 10**6)
    if columns is None:
        assert out.count(LONG) == 3


def test_help_says_what_every_option_does(capsys, monkeypatch):
    """Every option has a sentence with a capital letter and a full stop."""
    for name in ("sample", "release", "compare", "plot", "selftest", "ledger"):
        out = show(capsys, monkeypatch, 120, [name, "--help"])
        for text in re.findall(r"(?m)^  (?:-\w, )?--[\w-]+(?: <[\w\[\]]+>)?\s+(\S.*(?:\n {10,}\S.*)*)", out):
            sentence = re.sub(r"\s*\[[^]]*\]$", "", " ".join(text.split()))
            assert re.fullmatch(r"[A-Z].{10,}\.", sentence), (name, sentence)


def test_a_process_in_a_pipe(tmp_path):
    """A real process, with no environment variable that specifies the width."""
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    code = "import sys; from stairnoise.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "release", "--sensitivity", "1", "-", "--keep", "key"],
        input="key,count\n" + "a" * 300 + ",1\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "a" * 300 in done.stdout
    assert "Protected at eps = 1: people who change at most one value, by at most 1.\n" in done.stdout
