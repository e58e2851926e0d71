"""Outcomes of the self-test's checks on one subject, and those that failed."""

import re

from stairnoise import _selftest
from stairnoise._selftest.report import Outcome


def failed(outcome: Outcome) -> bool:
    return outcome.mismatches != 0


def run(subject: str, names: str = "") -> dict[str, Outcome]:
    """Run the checks of a subject whose names match; return outcomes by name."""
    return {check.name: check.run() for check in _selftest.SUBJECTS[subject]() if re.search(names, check.name)}


def failures(outcomes: dict[str, Outcome]) -> set[str]:
    return {name for name, outcome in outcomes.items() if failed(outcome)}
