"""The self-test: that it passes here, what its report says, and that a check which breaks off has failed.

Draws are seeded, so that outcomes are the same in every run; checks of fresh keys fail by chance with probability below 2**-200.
"""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import _selftest
from stairnoise._selftest import known_answers, random_words
from stairnoise._selftest import mechanisms as mechanisms
from stairnoise._selftest.events import FALSE_ALARM
from stairnoise._selftest.report import Outcome, Planned, SelftestReport
from stairnoise.registry import ROWS
from tests.examples import BASES

ROOT = Path(__file__).resolve().parents[2]
SMALL = 2**14


# All is right


@pytest.mark.parametrize("subject", ["known answers", "random words", "generators", "instruction sets"])
def test_a_subject_passes(subject):
    report = sn.selftest(subjects=[subject], seed=1)
    assert report.failures == ()
    assert report.passed
    assert {check.subject for check in report.checks} == {subject}
    assert all(check.values > 0 for check in report.checks)


def test_mechanisms_pass_with_fewer_values(monkeypatch):
    monkeypatch.setattr(mechanisms, "VALUES", SMALL)
    monkeypatch.setattr(mechanisms, "_VECTOR_VALUES", SMALL)
    assert sn.selftest(subjects=["mechanisms"], seed=1).failures == ()


@pytest.mark.long
def test_all_of_it_passes_with_the_operating_systems_keys():
    """Fails by chance with the probability that the report states, below 1e-7."""
    report = sn.selftest()
    assert report.failures == ()
    assert report.false_alarm < 1e-7
    # Work instead of time, which a busy machine stretches.
    # Each instruction set draws 44 million values, which counts twice for all but the first.
    tiers = len(sn.cpu_tiers())
    assert sum(check.values for check in report.checks) <= 97_000_000 + 45_000_000 * (2 * tiers - 1)


def test_every_mechanism_has_its_checks():
    """All classes with sample or select are drawn from, by mechanism and by known answers, and every instruction set draws
    them.
    """
    classes = {name for name in sn.__all__ if isinstance(getattr(sn, name), type)}
    classes = {name for name in classes if hasattr(getattr(sn, name), "sample") or hasattr(getattr(sn, name), "select")}
    classes -= BASES
    choices = {"StaircaseSelection", "ExponentialMechanism", "PermuteAndFlip", "PartitionSelection"}
    assert classes == {row.class_name for row in ROWS} | choices
    by_mechanism = {check.name.partition("(")[0] for check in mechanisms.planned(None)}
    by_answer = {check.name.partition(":")[0] for check in known_answers.planned()}
    assert classes <= by_mechanism
    assert classes <= by_answer
    tested = [
        *mechanisms.mechanisms(),
        *mechanisms.vectors(),
        *(choice.mechanism for choice in mechanisms.choices()),
        *mechanisms.selections(),
    ]
    assert {type(mechanism).__name__ for mechanism in tested} == classes


def test_all_checks_together_hardly_ever_fail_by_chance():
    """Below 1e-7 together, even if each of them were a statistical one."""
    planned = [check for subject in _selftest.SUBJECTS.values() for check in subject(None)]
    assert len(planned) * FALSE_ALARM < 1e-7


def test_releases_of_every_mechanism_are_checked():
    releases = {check.name.partition("(")[0] for check in mechanisms.planned(None) if "release" in check.name}
    assert {type(mechanism).__name__ for mechanism in (*mechanisms.mechanisms(), *mechanisms.vectors())} <= releases


def test_a_seed_repeats_the_draws(monkeypatch):
    monkeypatch.setattr(random_words, "_WORDS", SMALL)
    monkeypatch.setattr(random_words, "_SHORT_FILLS", 2)
    one, two = (sn.selftest(subjects=["random words"], seed=7) for _ in range(2))
    assert [check.statistic for check in one.checks] == [check.statistic for check in two.checks]
    other = sn.selftest(subjects=["random words"], seed=8)
    assert [check.statistic for check in one.checks] != [check.statistic for check in other.checks]


# What breaks off


class Panic(BaseException):
    """As the extension's panics are."""


@pytest.fixture
def stub(monkeypatch):
    """A subject with the given checks in place of all."""

    def replace(*runs):
        planned = [Planned("stub", f"check {number}", run) for number, run in enumerate(runs)]
        monkeypatch.setattr(_selftest, "SUBJECTS", {"stub": lambda rng: iter(planned)})

    return replace


def passing() -> Outcome:
    return Outcome(10, "nats", 1.5, 20.0, 1e-9)


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
    assert json.loads(report.to_json())["checks"][1]["statistic"] is None


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_who_interrupts_ends_it(stub, error):
    stub(passing, raising(error))
    with pytest.raises(type(error)):
        sn.selftest()


def test_a_subject_whose_list_cannot_be_made_has_failed(monkeypatch):
    def broken(rng):
        raise OSError("no known answers")
        yield

    monkeypatch.setattr(_selftest, "SUBJECTS", {"first": broken, "second": lambda rng: iter([Planned("second", "b", passing)])})
    report = sn.selftest()
    assert [(check.subject, check.passed) for check in report.checks] == [("first", False), ("second", True)]
    assert report.failures[0].detail == "OSError: no known answers"


def test_nan_fails(stub):
    stub(lambda: Outcome(10, "nats", math.nan, 20.0, 1e-9))
    assert not sn.selftest().passed


def test_nothing_is_no_pass(stub):
    stub()
    assert not sn.selftest().passed


@pytest.mark.parametrize(("seed", "error"), [(-1, sn.ParameterError), (2**128, sn.ParameterError), ("1", sn.ParameterTypeError)])
def test_seeds_out_of_range(seed, error):
    with pytest.raises(error, match="seed"):
        sn.selftest(seed=seed)


def test_unknown_subjects():
    with pytest.raises(sn.ParameterError, match=r"subjects must be among 'known answers', .*, got 'weather'"):
        sn.selftest(subjects=["mechanisms", "weather"])
    with pytest.raises(sn.ParameterTypeError, match="subjects must be a list of words, got 'mechanisms'"):
        sn.selftest(subjects="mechanisms")


# The report


def test_progress_is_told(stub):
    stub(passing, passing)
    told = []
    sn.selftest(progress=lambda *state: told.append(state))
    assert told == [(0, 2, "stub: check 0"), (1, 2, "stub: check 1"), (2, 2, "")]


def test_report_adds_up(stub, tmp_path):
    stub(passing, lambda: Outcome(5, "nats", math.inf, 20.0, 2e-9, "no multiple: 3 times"), passing)
    report = sn.selftest(seed=3)
    assert report.false_alarm == pytest.approx(4e-9, rel=1e-12)
    assert report.values == 25
    report.save(tmp_path / "report.json")
    written = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert written == report.to_dict()
    assert (written["format"], written["passed"], written["seed"]) == ("stairnoise-selftest/1", False, "3")
    assert [check["passed"] for check in written["checks"]] == [True, False, True]
    assert written["checks"][1]["statistic"] is None
    machine = written["machine"]
    assert machine["instruction_sets"] == sn.cpu_tiers()
    assert (machine["stairnoise"], machine["numpy"]) == (sn.__version__, np.__version__)
    assert re.fullmatch("[0-9a-f]{64}", machine["extension_sha256"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", written["started"])


def test_report_prints(stub):
    stub(passing, lambda: Outcome(5, "nats", 33.25, 20.0, 2e-9, "no multiple: 3 times"))
    text = str(sn.selftest())
    assert re.search(r"^stub +check 0 +10 +1\.5 +20 +1e-09 +ok$", text, re.M)
    assert re.search(r"^stub +check 1 +5 +33\.2 +20 +2e-09 +FAILED$", text, re.M)
    assert text.endswith("stub, check 1: no multiple: 3 times\nFAILED: 1 of 2 checks.")
    stub(passing)
    assert str(sn.selftest()).endswith(
        "All 1 checks passed. The probability that any of them fails on a machine where all is right is below 1e-09."
    )


def test_the_page_describes_every_field(stub):
    stub(passing)
    page = (ROOT / "docs" / "selftest.md").read_text(encoding="utf-8")
    report = sn.selftest().to_dict()
    for fields in (report, report["machine"], report["checks"][0]):
        assert [name for name in fields if f"`{name}`" not in page] == []
    assert [name for name in _selftest_subjects() if name not in page] == []


def _selftest_subjects():
    return ("known answers", "random words", "generators", "instruction sets", "mechanisms")


def test_report_is_a_value():
    report = SelftestReport((), (), {}, None, "", 0.0)
    with pytest.raises(AttributeError):
        report.seed = 1
