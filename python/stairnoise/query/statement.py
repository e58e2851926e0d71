"""What is said about a private table: its mechanisms, its guarantee, what is protected and what is not, how to check it."""

from __future__ import annotations

from typing import Any

from stairnoise._keyed.rng import KeyedRng
from stairnoise._law.guarantee import Guarantee
from stairnoise._native import __version__
from stairnoise.query.noise import Plan, scaled


def guarantee(plan: Plan, eps: float, delta: float | None) -> Guarantee:
    """Return what the whole table promises for one person."""
    return Guarantee(eps, delta or 0.0, None, 1 if len(plan.parts) != 1 else _change(plan, 0), plan.question.max_groups)


def _change(plan: Plan, place: int) -> int | float:
    part = plan.parts[place]
    return part.sensitivity if part.of == "count" else scaled(part.sensitivity, plan.unit)


def statement(plan: Plan, promise: Guarantee, confidence: float, rng: Any, *, nonnegative: bool) -> dict[str, Any]:
    """Return all that is said about a table, as plain values that JSON can hold."""
    question = plan.question
    return {
        "stairnoise": __version__,
        "table": question.table,
        "statistic": question.statistic,
        "column": question.column,
        "by": list(question.by),
        "groups": {name: _listed(question.groups[name]) if name in question.groups else "chosen privately" for name in question.by},
        "where": question.where,
        "person": "one row" if question.person is None else question.person,
        "max_groups": question.max_groups,
        "bounds": None if question.bounds is None else list(question.bounds),
        "unit": None if question.statistic == "count" else scaled(1, plan.unit),
        "eps": promise.eps,
        "delta": promise.delta,
        "mechanisms": _mechanisms(plan),
        "confidence": confidence,
        "noise": _noise(rng),
        "post_processing": _post_processing(plan, nonnegative),
        "protected": protected(plan, promise),
        "not_protected": not_protected(plan),
        "error_bound": accuracy(plan, confidence),
        "check": check(plan, confidence),
    }


def _listed(values: tuple[object, ...]) -> list[object]:
    return [value if isinstance(value, (str, int, type(None))) else str(value) for value in values]


def _mechanisms(plan: Plan) -> list[dict[str, Any]]:
    """Return each mechanism with the share of the budget that it was made for, and the one that draws."""
    k = plan.question.max_groups
    chosen = [{"of": "groups and their counts", "mechanism": repr(plan.selection)}] if plan.selection else []
    return chosen + [
        {
            "of": _of(plan, part.of),
            "mechanism": repr(part.law),
            "drawn_from": repr(part.law.for_partitions(k)),
            "k": k,
            "sensitivity": _change(plan, place),
        }
        for place, part in enumerate(plan.parts)
    ]


def _of(plan: Plan, part: str) -> str:
    """Name a part of the release; the sum of a mean is that of differences from a centre."""
    if plan.question.statistic == "mean" and part == "sum":
        return f"sum of differences from {scaled(plan.parts[0].centre, plan.unit)}"
    return part


def _noise(rng: Any) -> str:
    if isinstance(rng, KeyedRng):
        return f"by key, under the release name {rng.release_name!r}: the same data and question give the same table again"
    return "fresh: drawn once from the operating system's randomness, and never again"


def _post_processing(plan: Plan, nonnegative: bool) -> list[str]:
    said = []
    if nonnegative:
        said.append("nonnegative: negative private values were set to 0, which costs no privacy and raises the average")
    if plan.question.statistic == "mean":
        said.append("means are private sums divided by private counts, kept within the bounds")
    return said


def protected(plan: Plan, promise: Guarantee) -> str:
    """Return what one person is promised."""
    question = plan.question
    cost = f"{promise.eps:g}" if not promise.delta else f"({promise.eps:g}, {promise.delta:g})"
    if question.person is None:
        who = "one row, which is one person"
    else:
        groups = "1 group" if question.max_groups == 1 else f"{question.max_groups} groups"
        who = f"all rows of one person (column {question.person}), of whom {groups} at most are counted"
    return f"The whole table is {cost}-differentially private for adding or removing {who}."


def not_protected(plan: Plan) -> str:
    """Return what the guarantee does not cover."""
    parts = ["the question itself, with its condition and bounds"]
    if plan.question.groups:
        parts.append("the list of groups")
    if plan.question.person is None:
        parts.append("a person who has several rows")
    return f"Not protected: {', '.join(parts)}; other releases about the same people add their eps to this one."


def accuracy(plan: Plan, confidence: float) -> str:
    """Return what the bounds mean."""
    level = f"{100 * confidence:.15g} %"
    if plan.question.statistic == "mean":
        return (
            f"The true mean of a group is from low to high with a probability of {level} or more, and within error_bound of the "
            "private one. Of a group without anybody the row says nothing."
        )
    return f"Each private {plan.question.statistic} is within error_bound of the true one with a probability of {level} or more."


def check(plan: Plan, confidence: float) -> list[str]:
    """Return lines of Python that compute the bounds again, from the mechanism alone."""
    k = plan.question.max_groups
    level = 1 - (1 - confidence) / 2 if plan.question.statistic == "mean" else confidence
    return ["import stairnoise as sn"] + [
        f"sn.{part.law!r}.confidence_interval(0, {level!r}, max_partitions_contributed={k})  # of the {_of(plan, part.of)}"
        + ("" if part.of == "count" or plan.unit == 1 else f", in units of {scaled(1, plan.unit)!r}")
        for part in plan.parts
    ]
