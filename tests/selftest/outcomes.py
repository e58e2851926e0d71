"""Outcomes of the self-test's checks: those of one subject, and which of them failed."""

import re

import stairnoise as sn
from stairnoise import _selftest
from stairnoise._selftest.report import Outcome


def failed(outcome: Outcome) -> bool:
    return not outcome.statistic <= outcome.limit


def run(subject: str, names: str = "") -> dict[str, Outcome]:
    """The checks of a subject whose names match, by their names."""
    rng = sn.SeededRng(1, allow_release=True)
    return {check.name: check.run() for check in _selftest.SUBJECTS[subject](rng) if re.search(names, check.name)}


def failures(outcomes: dict[str, Outcome]) -> set[str]:
    return {name for name, outcome in outcomes.items() if failed(outcome)}
