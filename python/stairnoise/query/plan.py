"""From a budget and true answers to released rows: the plan of a release, the noise of every group, and the columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any, NamedTuple

from stairnoise._errors import ParameterError, meant, received
from stairnoise._parameters import mapping, positive, refuse, single
from stairnoise.keyed.rng import KeyedRng
from stairnoise.quantiles.lattice import Lattice
from stairnoise.query.answers import Answers
from stairnoise.query.mechanism import OF_COUNTS, WITH_DELTA, Budget, named
from stairnoise.query.question import Question
from stairnoise.query.statistics import Count, Statistic
from stairnoise.query.statistics.quantile import RanksPart
from stairnoise.query.statistics.statistic import Part, Shown
from stairnoise.query.types import Type


def changed_groups(question: Question) -> int:
    """Return how many groups one person can change: at most as many as there are, if all are listed."""
    if question.unlisted:
        return question.max_groups
    return min(question.max_groups, question.size)


def budget(eps: object, delta: object, mechanism: object, shares: object, question: Question) -> Budget:
    """Check the budget of a question, its shares and its mechanism, before anything is asked or spent."""
    names = [statistic.name for statistic in question.measured]
    number, level = positive(eps, "eps"), None if delta is None else single(delta, "delta")
    if level is not None:
        refuse("delta", level, 0 < level < 1, "greater than 0 and less than 1")
    spent = Budget(number, level, named(mechanism), _shares(shares, names), bool(question.unlisted), len(question.ranked))
    for one in question.statistics:
        if one.selected and spent.mechanism is not None:
            raise ParameterError(f"mechanism must be left out for a {one.kind}, got {spent.mechanism!r}")
    only_counts = not question.summed
    if question.unlisted:
        _require_delta(question.unlisted, spent, only_counts)
        spent.selection(spent.shares[0], question.max_groups)
        if only_counts:
            return spent
    elif spent.mechanism in WITH_DELTA and spent.delta is None:
        raise ParameterError(f"delta must be given for {spent.mechanism}, got None")
    elif spent.mechanism not in WITH_DELTA and spent.delta is not None:
        raise ParameterError(
            f"delta must be left out: all groups are listed, and {spent.mechanism or 'the default mechanism'} has none, "
            f"got {spent.delta:g}"
        )
    if spent.mechanism is not None and not question.numbers:
        raise ParameterError(f"mechanism must be left out for quantiles, which are selected, got {spent.mechanism!r}")
    if spent.mechanism in OF_COUNTS and not only_counts:
        raise ParameterError(
            f"mechanism must be one for sums: {spent.mechanism!r} is for counts, got a {question.summed[0].kind}"
        )
    k = changed_groups(question)
    if question.numbers:
        spent.for_numbers(Fraction(1), 1, k)._keeping_guarantee(k, "max_groups")
    return spent


def _shares(shares: object, names: list[str]) -> tuple[Fraction, ...]:
    """Return what each measured number gets; a number without a share has 1."""
    given = mapping(shares, "shares", "names to numbers")
    for name in given:
        if name not in names:
            raise ParameterError(
                f"shares must be of {', '.join(map(repr, names))}, got one of {received(name)}{meant(str(name), names)}"
            )
    weights = [Fraction(positive(given.get(name, 1), f"shares of {name!r}")) for name in names]
    return tuple(weight / sum(weights) for weight in weights)


def _require_delta(unlisted: list[str], spent: Budget, only_counts: bool) -> None:
    listed = ", ".join(map(repr, unlisted))
    if spent.delta is None:
        raise ParameterError(
            f"groups of {listed} must be listed, or delta given: which groups the data have is private too; got neither"
        )
    if spent.mechanism is not None and (only_counts or spent.mechanism in WITH_DELTA):
        what = "partition selection counts the groups of" if only_counts else "partition selection takes the delta of"
        raise ParameterError(f"mechanism must be left out: {what} {listed}, got {spent.mechanism!r}")


# The plan of a release.

# 128 bits, so that two questions do not share a name by chance.
_DIGEST = 32
# About the group, whatever the statistic.
OF_THE_GROUP = "may_be_empty"


class Plan(NamedTuple):
    """All that is decided about a release before a random bit is drawn."""

    question: Question
    # Of the classes `Part` and `RanksPart`.
    parts: tuple[Any, ...]

    @property
    def selects(self) -> bool:
        """Whether the first part chooses which groups are shown."""
        return bool(self.parts[0].selects)

    def part(self, statistic: Statistic) -> Any:
        """Return the part of a statistic."""
        return next(part for part in self.parts if part.serves(statistic))


class Numbers(NamedTuple):
    """A column of released numbers."""

    statistic: Statistic
    # "value", "error_bound", or another one that the statistic names.
    role: str
    name: str
    type: Type
    values: list[Any]


class Rows(NamedTuple):
    """The groups that are shown, the columns of numbers, and whether the numbers were rounded to a digit of their bounds."""

    groups: list[tuple[object, ...]]
    columns: list[Numbers]
    rounded: bool


def planned(question: Question, budget: Budget, units: Sequence[float], lattices: Sequence[Lattice] = ()) -> Plan:
    """Choose the mechanisms of a release whose sums are multiples of these units, and whose quantiles are of these candidates."""
    for one in question.statistics:
        if (problem := one.misfit(question)) is not None:
            raise ParameterError(problem)
    k, parts = changed_groups(question), []
    shares, of_ranks = budget.shares[: len(question.numbers)], budget.shares[len(question.numbers) :]
    for statistic, share in zip(question.numbers, shares, strict=True):
        place = None if statistic.column is None else question.summed.index(statistic)
        parts.append(statistic.part(budget, share, k, place, Fraction(1 if place is None else units[place])))
    ranks = enumerate(zip(question.ranked, of_ranks, lattices, strict=True))
    return Plan(question, (*parts, *(one.part(budget, share, k, place, points) for place, (one, share, points) in ranks)))


def released(plan: Plan, answers: Answers, rng: Any, shown: Shown) -> Rows:
    """Draw the noise, and return the rows with their bounds."""
    drawn: dict[str, Any] = {}
    for part in plan.parts:
        keyed = address(plan.question, part) if isinstance(rng, KeyedRng) else None
        answers, drawn[part.name] = part.released(answers, rng, keyed)
    columns, rounded = [], False
    for statistic in plan.question.statistics:
        own = drawn[plan.part(statistic).name]
        found, finer = statistic.columns(own, drawn.get(Count.kind), shown)
        rounded |= finer
        for role, values in found.items():
            columns.append(Numbers(statistic, role, "", Type(statistic.holds(role, own.part.unit)), values))
    return Rows(answers.groups, _named(plan.question, columns), rounded)


def _named(question: Question, columns: list[Numbers]) -> list[Numbers]:
    """Return the columns with their names, each of them unique; what is about the group comes last, and once."""
    of_groups = [column for column in columns if column.role == OF_THE_GROUP][:1]
    names, found = list(question.by), []
    for column in [*(column for column in columns if column.role != OF_THE_GROUP), *of_groups]:
        name = _name(column.statistic, column.role, alone=len(question.statistics) == 1)
        while name in names:
            name = f"private_{name}"
        names.append(name)
        found.append(column._replace(name=name))
    return found


def _name(statistic: Statistic, role: str, *, alone: bool) -> str:
    """Return the name of a column. In a table of several statistics it begins with the name of its statistic."""
    if role == "value":
        return statistic.kind if alone else statistic.name
    return role if alone or role == OF_THE_GROUP else f"{statistic.name}_{role}"


def address(question: Question, part: Part | RanksPart | None = None) -> str:
    """Return the public name of a part, or of all. Two questions under one release name have different noise, and each costs.

    The name is for readers of a ledger, and ends with a digest of the whole question, lists of groups included.
    """
    fields = [{"statistic": one.kind, **asdict(one)} for one in question.statistics]
    alone = question.statistics[0] if len(fields) == 1 else None
    asked = asdict(question) | {"groups": {name: list(values) for name, values in question.groups.items()}}
    del asked["statistics"]
    # A question without them keeps its address.
    if not question.groupings:
        del asked["groupings"]
    asked |= fields[0] if alone else {"statistics": fields}
    digest = hashlib.sha256(json.dumps(asked, ensure_ascii=False, sort_keys=True, default=repr).encode()).hexdigest()
    of = ", ".join(statistic.name for statistic in question.statistics) if part is None else part.name
    if part is not None and alone is not None and alone.sums:
        of = f"{'count' if part.place is None else 'sum'} of {alone.column} for the {alone.kind}"
    by = f" by {', '.join(question.by)}" if question.by else ""
    where = f" where {question.where}" if question.where else ""
    return f"{of} from {question.table}{by}{where} (question {digest[:_DIGEST]})"
