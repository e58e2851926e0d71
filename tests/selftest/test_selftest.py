"""The self-test passes here, its report is right, and a check that raises counts as failed.

Checks on new keys fail by chance with probability below 2**-200.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import _selftest
from stairnoise._selftest import instruction_sets, known_answers
from stairnoise._selftest.report import Outcome, Planned, SelftestReport
from stairnoise.registry import ROWS, SELECTIONS
from tests.examples import UNLISTED

ROOT = Path(__file__).resolve().parents[2]


# Passes


SUBJECTS = ("known answers", "random words", "generators", "instruction sets")


# Instruction sets take longest: only the test below runs all of them; test_instruction_sets.py compares two.
@pytest.mark.parametrize("subject", SUBJECTS[:-1])
def test_a_subject_passes(subject):
    report = sn.selftest(subjects=[subject])
    assert report.failures == ()
    assert report.passed
    assert {check.subject for check in report.checks} == {subject}
    assert all(check.values > 0 for check in report.checks)


@pytest.mark.long
def test_all_of_it_passes():
    report = sn.selftest()
    assert report.failures == ()
    assert report.subjects == SUBJECTS
    # Values are counted, because times vary on a busy machine. Values of all instruction sets but the first count twice.
    drawing = [
        *(one for row in ROWS for one in row.mechanisms()),
        *instruction_sets._selections(),
        *instruction_sets._of_groups(),
    ]
    assert report.values <= 860_000 * len(drawing) * (2 * len(sn.cpu_tiers()) - 1)


def test_known_answers_of_every_mechanism_are_checked():
    """All classes with sample or select."""
    classes = {name for name in sn.__all__ if isinstance(getattr(sn, name), type)}
    classes = {name for name in classes if hasattr(getattr(sn, name), "sample") or hasattr(getattr(sn, name), "select")}
    classes -= UNLISTED
    assert classes == {row.class_name for row in ROWS} | set(SELECTIONS)
    assert classes <= {check.name.partition(":")[0] for check in known_answers.planned()}


# What breaks off


class Panic(BaseException):
    """As the extension's panics are."""


@pytest.fixture
def stub(monkeypatch):
    """Replace all checks of a subject by the given ones."""

    def replace(*runs):
        planned = [Planned(f"check {number}", run) for number, run in enumerate(runs)]
        monkeypatch.setattr(_selftest, "SUBJECTS", {"stub": lambda: iter(planned)})

    return replace


def passing() -> Outcome:
    return Outcome(10, 0)


def raising(error):
    def run():
        raise error

    return run


@pytest.mark.parametrize("error", [ValueError("broken\n in two lines"), MemoryError(), Panic("index out of bounds")])
def test_a_check_that_raises_has_failed_and_the_others_go_on(stub, error):
    stub(passing, raising(error), passing)
    report = sn.selftest()
    assert [check.passed for check in report.checks] == [True, False, True]
    assert report.failures[0].detail == f"{type(error).__name__}: {' '.join(str(error).split())}"
    assert not report.passed
    assert json.loads(report.to_json())["checks"][1]["mismatches"] is None


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_who_interrupts_ends_it(stub, error):
    stub(passing, raising(error))
    with pytest.raises(type(error)):
        sn.selftest()


def test_a_subject_whose_list_cannot_be_made_has_failed(monkeypatch):
    def broken():
        raise OSError("no known answers")
        yield

    monkeypatch.setattr(_selftest, "SUBJECTS", {"first": broken, "second": lambda: iter([Planned("b", passing)])})
    report = sn.selftest()
    assert [(check.subject, check.passed) for check in report.checks] == [("first", False), ("second", True)]
    assert report.failures[0].detail == "OSError: no known answers"


def test_nothing_is_no_pass(stub):
    stub()
    assert not sn.selftest().passed


def test_unknown_subjects():
    with pytest.raises(sn.ParameterError, match=r"subjects must be among 'known answers', .*, got 'weather'"):
        sn.selftest(subjects=["generators", "weather"])
    with pytest.raises(sn.ParameterTypeError, match="subjects must be a list of words, got 'generators'"):
        sn.selftest(subjects="generators")


# The report


def test_progress_is_told(stub):
    stub(passing, passing)
    told = []
    sn.selftest(progress=lambda *state: told.append(state))
    assert told == [(0, 2, "stub: check 0"), (1, 2, "stub: check 1"), (2, 2, "")]


def test_report_adds_up(stub, tmp_path):
    stub(passing, lambda: Outcome(5, 3, "one instead of two"), passing)
    report = sn.selftest()
    assert report.values == 25
    report.save(tmp_path / "report.json")
    written = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert written == json.loads(report.to_json())
    assert (written["format"], written["passed"], written["values"]) == ("stairnoise-selftest/1", False, 25)
    assert [(check["mismatches"], check["passed"]) for check in written["checks"]] == [(0, True), (3, False), (0, True)]
    machine = written["machine"]
    assert machine["instruction_sets"] == sn.cpu_tiers()
    assert (machine["stairnoise"], machine["numpy"]) == (sn.__version__, np.__version__)
    assert re.fullmatch("[0-9a-f]{64}", machine["extension_sha256"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", written["started"])


def test_report_prints(stub):
    stub(passing, lambda: Outcome(5, 3, "one instead of two"), raising(OSError("lost")))
    text = str(sn.selftest())
    assert re.search(r"^stub +check 0 +10 +0 +ok$", text, re.M)
    assert re.search(r"^stub +check 1 +5 +3 +FAILED$", text, re.M)
    assert re.search(r"^stub +check 2 +0 +- +FAILED$", text, re.M)
    assert text.endswith("stub, check 1: one instead of two\nstub, check 2: OSError: lost\nFAILED: 2 of 3 checks.")
    stub(passing)
    assert str(sn.selftest()).endswith("All 1 checks passed.")


def test_the_page_describes_every_field(stub):
    stub(passing)
    page = (ROOT / "docs" / "selftest.md").read_text(encoding="utf-8")
    report = sn.selftest().to_dict()
    for fields in (report, report["machine"], report["checks"][0]):
        assert [name for name in fields if f"`{name}`" not in page] == []
    assert [name for name in SUBJECTS if name not in page] == []


def test_report_is_a_value():
    report = SelftestReport((), (), {}, "", 0.0)
    with pytest.raises(AttributeError):
        report.started = "today"
