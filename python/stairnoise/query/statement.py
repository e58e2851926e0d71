"""The notes about a private table: its mechanisms, its guarantee, what is protected and what is not, how to check it."""

from __future__ import annotations

import math
from typing import Any

from stairnoise._native import __version__
from stairnoise.keyed.rng import KeyedRng
from stairnoise.mechanism.guarantee import best_guess
from stairnoise.query.groupings import Bins
from stairnoise.query.mechanism import Budget
from stairnoise.query.plan import OF_THE_GROUP, Plan, Rows, changed_groups
from stairnoise.query.question import Question
from stairnoise.query.statistics.statistic import Shown


def statement(
    plan: Plan, rows: Rows, schema: dict[str, Any], budget: Budget, shown: Shown, rng: Any, spent: tuple[float, float] | None
) -> dict[str, Any]:
    """Return the notes about a table, as plain values that JSON can hold; `spent` are the ε and δ of a ledger."""
    question = plan.question
    return {
        "stairnoise": __version__,
        "table": question.table,
        "statistics": _statistics(plan, rows, shown.confidence),
        "by": list(question.by),
        "groups": {
            name: _listed(question.groups[name]) if name in question.groups else "chosen privately" for name in question.by
        },
        "where": question.where,
        "counted": _counted(question),
        "schema": schema,
        "person": "one row" if question.person is None else question.person,
        "max_groups": question.max_groups,
        "eps": budget.eps,
        "delta": budget.delta or 0.0,
        "mechanisms": _mechanisms(plan),
        "confidence": shown.confidence,
        "noise": _noise(rng),
        "post_processing": _post_processing(plan, shown, rows.rounded),
        "protected": protected(plan, budget),
        "best_guess": odds(budget, spent),
        "not_protected": not_protected(plan, schema),
        "error_bound": accuracy(plan, shown.confidence),
        "check": check(plan, shown.confidence),
    }


def _statistics(plan: Plan, rows: Rows, confidence: float) -> list[dict[str, Any]]:
    """Return each statistic with its columns by their role."""
    return [
        {
            "statistic": one.kind,
            "column": one.column,
            "bounds": None if one.bounds is None else list(one.bounds),
            **one.notes(plan, confidence),
            "columns": {
                column.role: column.name
                for column in rows.columns
                if column.statistic == one or (column.role == OF_THE_GROUP and column.statistic.kind == one.kind)
            },
        }
        for one in plan.question.statistics
    ]


def _listed(values: tuple[object, ...]) -> list[object]:
    return [value if isinstance(value, (str, int, type(None))) else str(value) for value in values]


def _counted(question: Question) -> str:
    """Return which rows count."""
    said, also = "all rows", " with "
    if question.complete or question.present:
        said, also = f"rows with a number in {' and '.join(question.complete) or ' or '.join(question.present)}", ", and "
    ranges = " and ".join(f"{name} in {one.range}" for name, one in question.groupings.items() if isinstance(one, Bins))
    said = f"{said}{also}{ranges}; a bin [a, b) contains a, but not b" if ranges else said
    if not question.ranked:
        return said
    share = "" if question.person is None else ", which share one vote of their person in each group"
    return f"{said}; for quantiles, rows with a number in their column{share}" if question.numbers else f"{said}{share}"


def _mechanisms(plan: Plan) -> list[dict[str, Any]]:
    """Return each mechanism with its share, its numbers, and the mechanism that draws if a person changes several."""
    k = changed_groups(plan.question)
    return [
        {"of": part.of, "share": str(part.share), "mechanism": made, "draws": draws, "k": k, "sensitivity": change}
        for part in plan.parts
        for made, draws, change in [part.described()]
    ]


def _noise(rng: Any) -> str:
    if isinstance(rng, KeyedRng):
        return f"keyed: the same question about the same data gets the same table under the release name {rng.release_name!r}"
    return "fresh: it cannot be reproduced"


def _post_processing(plan: Plan, shown: Shown, rounded: bool) -> list[str]:
    said = [text for statistic in plan.question.statistics for text in statistic.post_processing(shown.nonnegative)]
    if rounded:
        said.append("numbers are rounded to the third digit of their error bound, which includes this rounding")
    return [f"post-processing: {text}" for text in dict.fromkeys(said)]


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


def odds(budget: Budget, spent: tuple[float, float] | None) -> str:
    """Return in plain words what the guarantee means for one person."""

    def chance(eps: float, delta: float) -> str:
        # Rounded up.
        return f"{math.ceil(1000 * float(best_guess(eps, delta))) / 10:g} %"

    said = f"of at most {chance(budget.eps, budget.delta or 0.0)}"
    if spent is not None:
        said += f", and after everything in the ledger of at most {chance(*spent)}"
    return (
        "Best guess: suppose that somebody knows all other people's data, and finds it as likely as not that a person is there. "
        f"After this table, a guess whether the person is there is right with a probability {said}."
    )


def not_protected(plan: Plan, schema: dict[str, Any]) -> str:
    """Return what the guarantee does not cover."""
    known = ["the question with its condition and bounds", "the names and types of columns"]
    if plan.question.groups:
        known.append("the lists of groups")
    known += [schema[name] for name in ("lazy", "answers") if name in schema]
    several = " For a person with n rows, eps is n times as large." if plan.question.person is None else ""
    said = f"Not protected: {', '.join(known[:-1])} and {known[-1]}.{several}"
    return f"{said} Other releases about the same people add their eps to this one."


def accuracy(plan: Plan, confidence: float) -> str:
    """Return the meaning of the bounds."""
    chance = f"with a probability of {100 * confidence:.15g} % or more"
    said = [statistic.accuracy(chance, plan, confidence) for statistic in plan.question.statistics]
    if plan.selects and any(statistic.column is None for statistic in plan.question.statistics):
        said.append("Counts of groups that might have been hidden have a larger error_bound.")
    return " ".join(dict.fromkeys(said))


def check(plan: Plan, confidence: float) -> list[str]:
    """Return lines of Python that compute the bounds again, from the mechanisms alone."""
    return ["import stairnoise as sn", *(line for part in plan.parts for line in part.check(plan, confidence))]
