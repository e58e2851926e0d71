"""The self-test's checks of instruction sets and threads fail when one value differs. Draws are seeded."""

import copy
import json

import pytest

import stairnoise as sn
from stairnoise._selftest import generators, instruction_sets
from stairnoise.registry import ROWS, SELECTIONS
from tests.selftest.outcomes import failed


@pytest.fixture(scope="module")
def drawn():
    return json.loads(generators.run_main("stairnoise._selftest.instruction_sets", STAIRNOISE_CPU="portable"))


def test_this_process_draws_what_portable_code_does(drawn):
    assert not failed(instruction_sets.compare_tiers(drawn, instruction_sets.digests()))


def test_each_instruction_set_is_compared_with_the_first(drawn, monkeypatch):
    """Every instruction set draws the same values here; the tests below have a process that draws nothing."""
    monkeypatch.setattr(
        instruction_sets, "run_main", lambda module, **environment: json.dumps(drawn | {"tier": environment["STAIRNOISE_CPU"]})
    )
    report = sn.selftest(subjects=["instruction sets"])
    assert report.passed
    assert len(report.checks) == 2 * len(sn.cpu_tiers()) - 1


def test_digests_that_differ_are_found(drawn):
    assert not failed(instruction_sets.compare_tiers(drawn, drawn))
    assert not failed(instruction_sets.compare_threads(drawn))
    for mechanism in drawn["digests"]:
        other = copy.deepcopy(drawn)
        name = next(iter(other["digests"][mechanism]))
        other["digests"][mechanism][name] = "0" * 64
        outcome = instruction_sets.compare_tiers(drawn, other)
        assert (outcome.mismatches, outcome.detail) == (1, mechanism)
        other["digests"][mechanism]["2 threads"] = "0" * 64
        assert mechanism in instruction_sets.compare_threads(other).detail
    del other["digests"][mechanism]
    assert mechanism in instruction_sets.compare_tiers(drawn, other).detail


def test_digests_depend_on_every_value(drawn, monkeypatch):
    """Another seed for one mechanism, or one changed value, changes the digest."""
    laplace = repr(sn.Laplace(1.0, 1.0))
    row = ROWS[[row.class_name for row in ROWS].index("Laplace")]
    monkeypatch.setattr(instruction_sets, "ROWS", (row._replace(examples=row.examples[:1]),))
    monkeypatch.setattr(instruction_sets, "SELECTIONS", {})
    alone = instruction_sets.digests()
    # The seed is the mechanism's position in the list.
    assert alone["digests"][laplace]["fills"] != drawn["digests"][laplace]["fills"]
    right = sn.Laplace.release
    monkeypatch.setattr(sn.Laplace, "release", lambda self, values, **how: right(self, values, **how) + (values == values[-1:]))
    other = instruction_sets.digests()
    assert other["values"] == alone["values"]
    assert other["digests"][laplace]["fills"] == alone["digests"][laplace]["fills"]
    assert other["digests"][laplace]["releases"] != alone["digests"][laplace]["releases"]


def test_every_mechanism_is_drawn_from(drawn):
    assert {name.partition("(")[0] for name in drawn["digests"]} == {row.class_name for row in ROWS} | set(SELECTIONS)


def test_another_tier_than_was_asked_for_is_an_error(monkeypatch):
    monkeypatch.setattr(
        instruction_sets, "run_main", lambda module, **environment: json.dumps({"tier": "other", "file": "x", "digests": {}})
    )
    with pytest.raises(RuntimeError, match="was asked for"):
        instruction_sets._draw("portable", {})
    report = sn.selftest(subjects=["instruction sets"])
    assert len(report.failures) == len(report.checks)


def test_a_process_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"instruction_sets in another process: .*STAIRNOISE_CPU"):
        generators.run_main("stairnoise._selftest.instruction_sets", STAIRNOISE_CPU="abacus")
