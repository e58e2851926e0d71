"""``stairnoise selftest``: the screen, the JSON, the file, and the exit code.

All tests but one replace the real checks by two quick ones.
"""

import io
import json
import re
import sys

import pytest
from rich.console import Console

import stairnoise as sn
from stairnoise import _selftest
from stairnoise._selftest.report import Outcome, Planned
from stairnoise.cli import main
from stairnoise.cli import selftest as command

LONG_NAME = "a mechanism with a long name(eps=[red], gamma=[/]): and a long description of what is compared"


@pytest.fixture(autouse=True)
def _width_80(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def good() -> Outcome:
    return Outcome(1_048_576, 0)


def bad() -> Outcome:
    return Outcome(1_048_576, 17, "1 instead of 2 at [sic]")


def broken() -> Outcome:
    raise ValueError("broken")


@pytest.fixture
def checks(monkeypatch):
    """Replace all checks by the given ones."""

    def replace(*runs):
        planned = [Planned(LONG_NAME if number else "short", run) for number, run in enumerate(runs)]
        monkeypatch.setattr(_selftest, "SUBJECTS", {"stub": lambda: iter(planned)})

    return replace


def run(capsys, *arguments):
    code = main(["selftest", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_screen_of_a_pass(capsys, checks):
    checks(good, good)
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split() for line in lines if line] == [
        ["subject", "checks", "failed", "values", "result"],
        ["stub", "2", "0", "2,097,152", "ok"],
        ["All", "2", "checks", "passed."],
    ]


def test_every_check_on_request(capsys, checks):
    checks(good, good)
    code, out, err = run(capsys, "--verbose")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(rf"^stairnoise +{re.escape(sn.__version__)}, Python \d", out, re.M)
    assert re.search(r"^instructions +portable", out, re.M)
    assert re.search(r"^stub *$", out, re.M)
    assert re.search(r"^  short +1,048,576 +0 +ok", out, re.M)
    assert out.rstrip().endswith("All 2 checks passed.")


def test_screen_of_a_failure(capsys, checks):
    checks(good, bad, broken)
    code, out, err = run(capsys)
    assert (code, err) == (1, "")
    text = " ".join(out.split())
    assert "1 instead of 2 at [sic]" in text
    assert "ValueError: broken" in text
    assert text.endswith("FAILED: 2 of 3 checks.")
    assert "stub 3 2 2,097,152 FAILED" in text
    assert text.count("FAILED") == 2


@pytest.mark.parametrize(("other", "code"), [(good, 0), (bad, 1), (broken, 1)])
def test_json_and_exit_code(capsys, checks, other, code):
    checks(good, other)
    found, out, err = run(capsys, "--json")
    assert (found, err) == (code, "")
    report = json.loads(out, parse_constant=pytest.fail)
    assert report["passed"] is (code == 0)
    assert [check["passed"] for check in report["checks"]] == [True, code == 0]


def test_output_and_screen(capsys, checks, tmp_path):
    checks(good)
    file = tmp_path / "report.json"
    code, out, err = run(capsys, "-o", file)
    assert (code, err) == (0, "")
    assert f"written to {file}\n" in out
    assert json.loads(file.read_text(encoding="utf-8"))["checks"][0]["name"] == "short"


def test_output_and_json_are_the_same(capsys, checks, tmp_path):
    checks(good, bad)
    file = tmp_path / "report.json"
    code, out, _ = run(capsys, "--json", "--output", file)
    assert code == 1
    assert out == file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("nowhere/report.json", "No such file"), ("report.json", "Is a directory"), ("report.csv", "output must end in .json, got")],
)
def test_a_file_that_cannot_be_written_is_an_error_before_the_work(capsys, checks, tmp_path, name, reason):
    ran = []
    (tmp_path / "report.json").mkdir()
    checks(lambda: ran.append(1) or good())
    code, out, err = run(capsys, "-o", tmp_path / name)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert reason in err
    assert ran == []


def test_progress_on_a_terminal_alone(monkeypatch, checks):
    """The bar is drawn and erased on a terminal's stderr."""
    checks(good, good)

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, drawn in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert command._run().passed
        assert ("2/2" in stream.getvalue()) is drawn
        assert bool(stream.getvalue()) is drawn


def test_names_are_no_markup(checks):
    checks(good, bad)
    text = io.StringIO()
    command.print_report(Console(file=text, width=200), sn.selftest(), verbose=True)
    assert text.getvalue().count(LONG_NAME) == 2  # in the table, and below it
    assert "[sic]" in text.getvalue()


def test_the_real_checks_have_a_place_on_the_screen(monkeypatch):
    """Every name is readable on 80 columns, with all numbers beside it on one line."""
    quick = [check._replace(run=good) for subject in _selftest.SUBJECTS.values() for check in subject()]
    monkeypatch.setattr(_selftest, "SUBJECTS", {"all": lambda: iter(quick)})
    text = io.StringIO()
    report = sn.selftest()
    command.print_report(Console(file=text, width=80), report, verbose=True)
    assert len(re.findall(r"1,048,576 +0 +ok", text.getvalue())) == len(quick) > 40
    assert max(map(len, text.getvalue().splitlines())) <= 80


@pytest.mark.long
def test_all_of_it(capsys):
    code, out, err = run(capsys, "--json")
    report = json.loads(out)
    assert (code, err, report["passed"]) == (0, "", True)
