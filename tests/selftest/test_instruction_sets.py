"""The self-test's checks of instruction sets and threads fail when one value differs. Draws are seeded."""

import copy
import json

import pytest

import stairnoise as sn
from stairnoise._selftest import generators, instruction_sets
from stairnoise._selftest import mechanisms as mechanisms
from tests.selftest.outcomes import failed


@pytest.fixture(scope="module")
def drawn():
    return json.loads(generators.run_main("stairnoise._selftest.instruction_sets", STAIRNOISE_CPU="portable"))


def test_digests_that_differ_are_found(drawn):
    assert not failed(instruction_sets.compare_tiers(drawn, drawn))
    assert not failed(instruction_sets.compare_threads(drawn))
    for mechanism in drawn["digests"]:
        other = copy.deepcopy(drawn)
        name = next(iter(other["digests"][mechanism]))
        other["digests"][mechanism][name] = "0" * 64
        outcome = instruction_sets.compare_tiers(drawn, other)
        assert (outcome.statistic, outcome.detail) == (1, mechanism)
        other["digests"][mechanism]["2 threads"] = "0" * 64
        assert mechanism in instruction_sets.compare_threads(other).detail
    del other["digests"][mechanism]
    assert mechanism in instruction_sets.compare_tiers(drawn, other).detail


def test_digests_depend_on_every_value(drawn, monkeypatch):
    mechanism = mechanisms.mechanisms()[0]
    counter = instruction_sets.Digests(1)
    assert counter._digest(instruction_sets.of_fills(mechanism, 0)) == drawn["digests"][mechanisms.short(mechanism)]["fills"]
    assert counter._digest(instruction_sets.of_fills(mechanism, 1)) != drawn["digests"][mechanisms.short(mechanism)]["fills"]
    assert counter.values == 2 * 2 * sum(instruction_sets.LENGTHS)


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
