"""The notes about a private table: its mechanisms, its guarantee, what is protected and what is not, how to check it."""

from __future__ import annotations

from typing import Any

from stairnoise._native import __version__
from stairnoise.keyed.rng import KeyedRng
from stairnoise.query.mechanism import Budget, changed_groups
from stairnoise.query.noise import Part, Plan, Rows, level, scaled


def statement(
    plan: Plan, rows: Rows, schema: dict[str, Any], budget: Budget, confidence: float, rng: Any, *, nonnegative: bool
) -> dict[str, Any]:
    """Return the notes about a table, as plain values that JSON can hold."""
    question = plan.question
    return {
        "stairnoise": __version__,
        "table": question.table,
        "statistic": plan.statistic,
        "column": question.column,
        "columns": list(rows.columns),
        "by": list(question.by),
        "groups": {
            name: _listed(question.groups[name]) if name in question.groups else "chosen privately" for name in question.by
        },
        "where": question.where,
        "schema": schema,
        "person": "one row" if question.person is None else question.person,
        "max_groups": question.max_groups,
        "bounds": None if question.bounds is None else list(question.bounds),
        "unit": None if plan.statistic == "count" else scaled(1, plan.unit),
        "eps": budget.eps,
        "delta": budget.delta or 0.0,
        "mechanisms": _mechanisms(plan),
        "confidence": confidence,
        "noise": _noise(rng),
        "post_processing": _post_processing(plan, nonnegative, rows.rounded),
        "protected": protected(plan, budget),
        "not_protected": not_protected(plan),
        "error_bound": accuracy(plan, confidence),
        "check": check(plan, confidence),
    }


def _listed(values: tuple[object, ...]) -> list[object]:
    return [value if isinstance(value, (str, int, type(None))) else str(value) for value in values]


def _mechanisms(plan: Plan) -> list[dict[str, Any]]:
    """Return each mechanism with the numbers that it protects, and the mechanism that draws if a person changes several."""
    return [
        {
            "of": _of(plan, part),
            "mechanism": repr(part.mechanism),
            "draws": repr(part.mechanism.for_partitions(part.k) if part.k > 1 else part.mechanism),
            "k": changed_groups(plan.question),
            "sensitivity": part.change if part.of == "count" else scaled(part.change, plan.unit),
        }
        for part in plan.parts
    ]


def _of(plan: Plan, part: Part) -> str:
    """Name the numbers of a part; a mean sums differences from a centre."""
    if part.of == "count":
        return "count, and which groups are shown" if plan.selects else "count"
    return f"sum of differences from {scaled(part.centre, plan.unit)}" if plan.statistic == "mean" else "sum"


def _noise(rng: Any) -> str:
    if isinstance(rng, KeyedRng):
        return f"keyed: the same question about the same data gets the same table under the release name {rng.release_name!r}"
    return "fresh: it cannot be reproduced"


def _post_processing(plan: Plan, nonnegative: bool, rounded: bool) -> list[str]:
    said = []
    if nonnegative:
        said.append(
            f"post-processing: negative private {plan.statistic}s were set to 0, which raises the average of small groups"
        )
    if plan.statistic == "mean":
        said.append("post-processing: means are private sums divided by private counts, moved between the bounds")
    if rounded:
        said.append("post-processing: numbers are rounded to the third digit of their error bound, which includes this rounding")
    return said


def protected(plan: Plan, budget: Budget) -> str:
    """Return the guarantee for one person."""
    question = plan.question
    cost = f"({budget.eps:g}, {budget.delta:g})" if budget.delta else f"{budget.eps:g}"
    if question.person is None:
        who = "one row, which is one person"
    else:
        groups = "1 group" if question.max_groups == 1 else f"{question.max_groups} groups"
        who = f"all rows of one person (column {question.person}), who counts in {groups} at most"
    return f"Protected: the whole table is {cost}-differentially private for adding or removing {who}."


def not_protected(plan: Plan) -> str:
    """Return what the guarantee does not cover."""
    known = ["the question with its condition and bounds", "the names and types of columns"]
    if plan.question.groups:
        known.append("the lists of groups")
    several = " For a person with n rows, eps is n times as large." if plan.question.person is None else ""
    said = f"Not protected: {', '.join(known[:-1])} and {known[-1]}.{several}"
    return f"{said} Other releases about the same people add their eps to this one."


def accuracy(plan: Plan, confidence: float) -> str:
    """Return the meaning of the bounds."""
    chance = f"with a probability of {100 * confidence:.15g} % or more"
    if plan.statistic == "mean":
        said = f"The true mean of a group is from low to high {chance}, and within error_bound of the private one."
        return f"{said} may_be_empty is true where the private count allows an empty group, which has no mean."
    said = f"Each private {plan.statistic} is within error_bound of the true one {chance}."
    if plan.selects and plan.statistic == "count":
        said += " Counts of groups that might have been hidden have a larger error_bound."
    return said


def check(plan: Plan, confidence: float) -> list[str]:
    """Return lines of Python that compute the bounds again, from the mechanisms alone."""
    lines = ["import stairnoise as sn"]
    for part in plan.parts:
        if part.selects:
            lines.append(
                f"selection = sn.{part.mechanism!r}; "
                f"selection.threshold, selection.always_shown, selection.sigma2, selection.noise_std()  # {_of(plan, part)}"
            )
            continue
        asked = f"0, {level(plan, confidence)!r}, max_partitions_contributed={part.k}"
        units = "" if part.of == "count" or plan.unit == 1 else f", in units of {scaled(1, plan.unit)!r}"
        lines.append(f"sn.{part.mechanism!r}.confidence_interval({asked})  # {_of(plan, part)}{units}")
    return lines
