"""Every instruction set of the machine, and every number of threads, draws the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import stairnoise as sn
from stairnoise import _native
from stairnoise._selftest.processes import run_main
from stairnoise._selftest.report import Outcome, Planned

SUBJECT = "instruction sets"

# What a tier drew: the number of values, and digests by mechanism and set of fills.
Drawn = dict[str, Any]


def planned() -> Iterator[Planned]:
    """Return the checks: each tier draws, and then draws what the first one does."""
    first, *others = sn.cpu_tiers()
    drawn: dict[str, Drawn] = {}
    for tier in (first, *others):
        yield Planned(SUBJECT, f"{tier}: the same bytes with 1, 2 or more threads", partial(_draw, tier, drawn))
    for tier in others:
        yield Planned(SUBJECT, f"{tier}: the same bytes as {first}", partial(_compare, first, tier, drawn))


def _draw(tier: str, drawn: dict[str, Drawn]) -> Outcome:
    """Draw in a process of its own: the tier of a process is chosen once."""
    found = json.loads(run_main("stairnoise._selftest.digests", STAIRNOISE_CPU=tier))
    if (found["tier"], found["file"]) != (tier, _native.__file__):
        raise RuntimeError(f"{tier} of {_native.__file__} was asked for, and {found['tier']} of {found['file']} was run")
    drawn[tier] = found
    return compare_threads(found)


def compare_threads(found: Drawn) -> Outcome:
    """Compare fills that differ in the number of threads alone."""
    sets = {name: {text for of, text in digests.items() if "thread" in of} for name, digests in found["digests"].items()}
    return _outcome(found["values"], [name for name, texts in sets.items() if len(texts) != 1])


def _compare(first: str, tier: str, drawn: dict[str, Drawn]) -> Outcome:
    missing = [name for name in (first, tier) if name not in drawn]
    if missing:
        raise RuntimeError(f"{', '.join(missing)} drew nothing")
    return compare_tiers(drawn[first], drawn[tier])


def compare_tiers(first: Drawn, other: Drawn) -> Outcome:
    """Compare all fills of two tiers."""
    one, two = first["digests"], other["digests"]
    differing = [name for name in {**one, **two} if one.get(name) != two.get(name)]
    return _outcome(other["values"], differing)


def _outcome(values: int, differing: list[str]) -> Outcome:
    return Outcome(values, "mismatches", len(differing), 0, 0.0, "; ".join(differing))
