"""From true answers to released rows: the noise of every group, and the bound of its error."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._digits import downwards, is_finer, last_digit, private_value, upwards
from stairnoise._errors import ParameterError
from stairnoise.keyed.rng import KeyedRng
from stairnoise.query.answers import Answers
from stairnoise.query.mechanism import Budget, changed_groups
from stairnoise.query.question import Question
from stairnoise.query.types import Type

# 128 bits, so that two questions do not share a name by chance.
_DIGEST = 32
_INT64 = np.iinfo(np.int64)
_OF_A_MEAN = ("mean", "error_bound", "low", "high", "may_be_empty")


class Part(NamedTuple):
    """One number of every group, and the mechanism that protects it."""

    of: Literal["count", "sum"]
    # A mechanism for numbers, or the `PartitionSelection` that counts the groups and chooses which are shown.
    mechanism: Any
    # How many groups one person changes; 1 for a selection, whose mechanism includes that number.
    k: int
    # Largest change of one number, in units.
    change: int
    # Whether it also chooses which groups are shown.
    selects: bool = False
    # For a mean: what is subtracted from every person's total before summing, in units.
    centre: int = 0

    @property
    def cost(self) -> Any:
        """What a ledger counts."""
        return self.mechanism.guarantee() if self.selects else self.mechanism

    def true(self, answers: Answers) -> NDArray[np.int64]:
        """Return the numbers that need protection."""
        if self.of == "count":
            return answers.counts
        assert answers.sums is not None
        if not self.centre:
            return answers.sums
        # Saturation never moves two answers apart, so it keeps the sensitivity.
        exact = answers.sums.astype(object) - self.centre * answers.counts.astype(object)
        return np.array([min(max(total, _INT64.min), _INT64.max) for total in exact], np.int64)


class Plan(NamedTuple):
    """All that is decided about a release before a random bit is drawn."""

    question: Question
    parts: tuple[Part, ...]
    unit: Fraction

    @property
    def selects(self) -> bool:
        """Whether the first part chooses which groups are shown."""
        return self.parts[0].selects

    @property
    def statistic(self) -> str:
        """The statistic of the question."""
        return self.question.statistic

    def type(self, column: str) -> Type:
        """Return the type of a column of numbers."""
        if column == "may_be_empty":
            return Type("boolean")
        return Type("integer" if self.statistic == "count" or (self.statistic == "sum" and self.unit == 1) else "real")


class Rows(NamedTuple):
    """The groups that are shown, the columns of numbers, and whether the numbers were rounded to a digit of their bounds."""

    groups: list[tuple[object, ...]]
    columns: dict[str, list[Any]]
    rounded: bool


def planned(question: Question, budget: Budget, unit: float) -> Plan:
    """Choose the mechanisms of a release whose sums are multiples of `unit`."""
    k, step = changed_groups(question), Fraction(unit)
    selects = any(name not in question.groups for name in question.by)
    counts, sums = selects or question.statistic != "sum", question.statistic != "count"
    # A mean needs a sum and a count. If groups are not listed, a sum needs the counts that choose them.
    share = 0.5 if sums and counts else 1.0
    parts = []
    if selects:
        parts.append(Part("count", budget.selection(share, k), 1, 1, selects=True))
    elif counts:
        parts.append(Part("count", _fitting(budget, share, 1, k, "eps", f"{budget.eps:g}"), k, 1))
    if sums:
        low, high = _in_units(question, step)
        centre = (low + high) // 2 if question.statistic == "mean" else 0
        change = max(high - centre, centre - low)
        got = f"{budget.eps:g} and {question.bounds}, of which the change counts in steps of {unit:g}"
        parts.append(Part("sum", _fitting(budget, share, change, k, "eps and bounds", got), k, change, centre=centre))
    return Plan(question, tuple(parts), step)


def _fitting(budget: Budget, share: float, change: int, k: int, names: str, got: str) -> Any:
    """Return the mechanism of one number. Its own error would name an ε and a sensitivity that the caller never set."""
    try:
        mechanism = budget.for_numbers(share, change, k)
        mechanism._keeping_guarantee(k, "max_groups")
    except ParameterError:
        raise ParameterError(f"{names} must leave noise that fits 64-bit integers, got {got}") from None
    return mechanism


def _in_units(question: Question, unit: Fraction) -> tuple[int, int]:
    """Return one person's minimum and maximum contribution in units, rounded outwards."""
    assert question.bounds is not None
    low, high = map(Fraction, question.bounds)
    return math.floor(low / unit), math.ceil(high / unit)


def released(plan: Plan, answers: Answers, rng: Any, confidence: float, *, nonnegative: bool, all_digits: bool) -> Rows:
    """Draw the noise, and return the rows with their bounds."""
    values: dict[str, NDArray[np.int64]] = {}
    bounds: dict[str, NDArray[np.int64]] = {}
    for part in plan.parts:
        if part.selects:
            shown, noisy = part.mechanism.release(part.true(answers), rng=rng)
            answers, values[part.of] = _only(answers, shown), noisy[shown]
            bounds[part.of] = part.mechanism._half_widths(noisy[shown], level(plan, confidence))
            continue
        options: dict[str, Any] = {"rng": rng, "max_partitions_contributed": part.k}
        if isinstance(rng, KeyedRng):
            options |= {"labels": answers.labels, "statistic": address(plan.question, part.of)}
        values[part.of] = part.mechanism.release(part.true(answers), **options)
        bounds[part.of] = _half_widths(part, values[part.of], level(plan, confidence))
    if plan.statistic == "mean":
        return Rows(answers.groups, _means(plan, values, bounds, all_digits), not all_digits)
    return Rows(answers.groups, *_totals(plan, values[plan.statistic], bounds[plan.statistic], nonnegative, all_digits))


def level(plan: Plan, confidence: float) -> float:
    """Return the confidence of one draw, such that both draws of a mean together have the requested confidence."""
    return 1 - (1 - confidence) / 2 if plan.statistic == "mean" else confidence


def _only(answers: Answers, shown: NDArray[np.bool_]) -> Answers:
    """Return the answers of the groups that are shown."""
    groups = [answers.groups[place] for place in np.flatnonzero(shown)]
    return replace(
        answers, groups=groups, counts=answers.counts[shown], sums=None if answers.sums is None else answers.sums[shown]
    )


def address(question: Question, of: str) -> str:
    """Return the public name of a statistic. Two questions under one release name have different noise, and each costs its own ε.

    The name is for readers of a ledger, and ends with a digest of the whole question, lists of groups included.
    """
    asked = asdict(question) | {"groups": {name: list(values) for name, values in question.groups.items()}}
    digest = hashlib.sha256(json.dumps(asked, ensure_ascii=False, sort_keys=True, default=repr).encode()).hexdigest()
    of = of if question.column is None else f"{of} of {question.column} for the {question.statistic}"
    by = f" by {', '.join(question.by)}" if question.by else ""
    where = f" where {question.where}" if question.where else ""
    return f"{of} from {question.table}{by}{where} (question {digest[:_DIGEST]})"


def _half_widths(part: Part, values: NDArray[np.int64], confidence: float) -> NDArray[np.int64]:
    low, high = part.mechanism.confidence_interval(values, confidence, max_partitions_contributed=part.k)
    widths: NDArray[np.int64] = np.maximum(high - values, values - low)
    return widths


def _totals(
    plan: Plan, values: NDArray[np.int64], widths: NDArray[np.int64], nonnegative: bool, all_digits: bool
) -> tuple[dict[str, list[Any]], bool]:
    """Return the columns of a count or a sum, and whether any number was rounded to a digit of its bound."""
    unit = Fraction(1) if plan.statistic == "count" else plan.unit
    bounds = [width * unit for width in widths.tolist()]
    digits = [Fraction(0) if all_digits else last_digit(bound) for bound in bounds]
    numbers = [max(number, 0) if nonnegative else number for number in values.tolist()]
    rows = [private_value(number * unit, unit, *bound) for number, *bound in zip(numbers, bounds, digits, strict=True)]
    columns = {plan.statistic: [value for value, _ in rows], "error_bound": [bound for _, bound in rows]}
    return columns, any(is_finer(unit, digit) for digit in digits)


def scaled(steps: int, unit: Fraction) -> int | float:
    """Return a multiple of a unit: an integer if the unit is 1, otherwise the nearest float."""
    return steps if unit == 1 else float(steps * unit)


def _means(
    plan: Plan, values: dict[str, NDArray[np.int64]], bounds: dict[str, NDArray[np.int64]], all_digits: bool
) -> dict[str, list[Any]]:
    """Return the columns of a mean.

    With s the centred sum and c the count, the mean is the centre plus s/c, clipped to the bounds of one person. Counts below 1
    are treated as 1. Partition selection shows no empty group.
    """
    assert plan.question.bounds is not None
    least, most = map(Fraction, plan.question.bounds)
    centre = plan.parts[-1].centre * plan.unit
    rows = []
    for s, c, s_bound, c_bound in zip(
        *(numbers[of].tolist() for numbers in (values, bounds) for of in ("sum", "count")), strict=True
    ):
        fewest, people = max(c - c_bound, 1), max(c + c_bound, 1)
        at_least = min(Fraction(s - s_bound, n) for n in (fewest, people)) * plan.unit + centre
        at_most = max(Fraction(s + s_bound, n) for n in (fewest, people)) * plan.unit + centre
        if c + c_bound < 1 or at_most < least or at_least > most:
            # The group is empty, or its sum is nothing but noise: the interval is that of the bounds.
            at_least, at_most = least, most
        middle = Fraction(s, max(c, 1)) * plan.unit + centre
        low, mean, high = (min(max(end, least), most) for end in (at_least, middle, at_most))
        may_be_empty = not plan.selects and c - c_bound < 1
        rows.append((*_mean(low, mean, high, (least, most), all_digits), may_be_empty))
    return {name: [row[place] for row in rows] for place, name in enumerate(_OF_A_MEAN)}


def _mean(
    low: Fraction, mean: Fraction, high: Fraction, bounds: tuple[Fraction, Fraction], all_digits: bool
) -> tuple[float, float, float, float]:
    """Return a mean rounded to the digits that its bound justifies, that bound, and the interval, rounded outwards.

    All of them stay within the bounds of one person.
    """
    digit = Fraction(0) if all_digits else last_digit(max(high - mean, mean - low))
    least, most = map(float, bounds)
    shown = min(max(float(round(mean / digit) * digit if digit else mean), least), most)
    ends = max(downwards(low, digit), least), min(upwards(high, digit), most)
    error_bound = upwards(max(high - Fraction(shown), Fraction(shown) - low), digit)
    return shown, error_bound, *ends
