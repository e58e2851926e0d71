"""From true answers to released rows: the noise of every cell, and how far off it may be."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._keyed.rng import KeyedRng
from stairnoise.query.answers import Answers
from stairnoise.query.mechanism import Budget
from stairnoise.query.question import Question

_INT64 = np.iinfo(np.int64)


class Part(NamedTuple):
    """One number of every cell, and the mechanism that protects it."""

    of: str
    """ "count" or "sum"."""
    law: Any
    sensitivity: int
    centre: int = 0
    """What a mean subtracts from every person's total before they are added up, in units."""


class Plan(NamedTuple):
    """All that is decided about a release before a random bit is drawn."""

    question: Question
    parts: tuple[Part, ...]
    selection: Any
    """What chooses and counts the groups, or None if all are listed."""
    unit: Fraction

    @property
    def laws(self) -> list[Any]:
        """Return the mechanisms whose guarantees add up to that of the release."""
        return [*([self.selection] if self.selection else []), *(part.law for part in self.parts)]


class Rows(NamedTuple):
    """What came out: the cells that are shown, and for each statistic a column of numbers."""

    cells: list[tuple[object, ...]]
    columns: dict[str, list[Any]]


def planned(question: Question, budget: Budget, unit: float) -> Plan:
    """Choose the mechanisms of a release whose sums are multiples of `unit`."""
    k, step = question.max_groups, as_written(unit)
    listed = all(name in question.groups for name in question.by)
    counted, summed = question.statistic != "sum", question.statistic != "count"
    # A mean needs a sum and a count; a sum of groups that are not listed needs the counts that choose them.
    share = 0.5 if summed and (counted or not listed) else 1.0
    parts = []
    if summed:
        low, high = _in_units(question, step)
        centre = (low + high) // 2 if counted else 0
        change = max(high - centre, centre - low)
        parts.append(Part("sum", budget.law(share, change, k), change, centre))
    if counted and listed:
        parts.append(Part("count", budget.law(share, 1, k), 1))
    return Plan(question, tuple(parts), None if listed else budget.selection(share, k), step)


def as_written(number: float) -> Fraction:
    """Return the decimal number that a float is written as: 0.01 stands for a hundredth."""
    return Fraction(repr(float(number)))


def _in_units(question: Question, unit: Fraction) -> tuple[int, int]:
    """Return what one person adds at least and at most, rounded outwards onto the unit."""
    assert question.bounds is not None
    low, high = question.bounds
    return (
        math.floor(min(Fraction(low), as_written(low)) / unit),
        math.ceil(max(Fraction(high), as_written(high)) / unit),
    )


def released(plan: Plan, answers: Answers, rng: Any, confidence: float, *, nonnegative: bool) -> Rows:
    """Draw the noise, and return the rows with their bounds."""
    cells, counts, sums = answers.cells, answers.counts, answers.sums
    values: dict[str, NDArray[np.int64]] = {}
    bounds: dict[str, NDArray[np.int64]] = {}
    # A mean has two draws; both bounds hold together with the probability that is asked for.
    level = 1 - (1 - confidence) / 2 if plan.question.statistic == "mean" else confidence
    if plan.selection is not None:
        shown, values["count"], bounds["count"] = _selected(plan, answers, rng, level)
        cells, counts = [cells[place] for place in shown], counts[shown]
        sums = None if sums is None else sums[shown]
    for part in plan.parts:
        true = counts if part.of == "count" else _centred(sums, counts, part.centre)
        values[part.of] = _drawn(plan, part, cells, true, rng)
        bounds[part.of] = _bounds(part.law, values[part.of], level, plan.question.max_groups)
    return Rows(cells, _columns(plan, values, bounds, nonnegative))


def _centred(sums: NDArray[np.int64] | None, counts: NDArray[np.int64], centre: int) -> NDArray[np.int64]:
    assert sums is not None
    if not centre:
        return sums
    # Saturation moves no two answers apart, so it keeps the sensitivity.
    exact = sums.astype(object) - centre * counts.astype(object)
    return np.array([min(max(total, _INT64.min), _INT64.max) for total in exact], np.int64)


def _drawn(plan: Plan, part: Part, cells: list[tuple[object, ...]], true: NDArray[np.int64], rng: Any) -> NDArray[np.int64]:
    options: dict[str, Any] = {"rng": rng, "max_partitions_contributed": plan.question.max_groups}
    if isinstance(rng, KeyedRng):
        options |= {"labels": cells, "statistic": address(plan.question, part.of)}
    private: NDArray[np.int64] = part.law.release(true, **options)
    return private


def _selected(plan: Plan, answers: Answers, rng: Any, level: float) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    raise NotImplementedError


def address(question: Question, of: str) -> str:
    """Return the public name of a statistic of a question: other questions of one release name get other noise."""
    asked = asdict(question) | {"groups": {name: list(values) for name, values in question.groups.items()}}
    return f"{of} of {json.dumps(asked, ensure_ascii=False, sort_keys=True, default=repr)}"


def _bounds(law: Any, values: NDArray[np.int64], level: float, k: int) -> NDArray[np.int64]:
    _, high = law.confidence_interval(values, level, max_partitions_contributed=k)
    low, _ = law.confidence_interval(values, level, max_partitions_contributed=k)
    return np.maximum(high - values, values - low)


def _columns(
    plan: Plan, values: dict[str, NDArray[np.int64]], bounds: dict[str, NDArray[np.int64]], nonnegative: bool
) -> dict[str, list[Any]]:
    statistic = plan.question.statistic
    if statistic == "mean":
        rows = list(_means(plan, values, bounds))
        return {name: [row[place] for row in rows] for place, name in enumerate(("mean", "error_bound", "low", "high"))}
    numbers = values[statistic].tolist()
    widths = bounds[statistic].tolist()
    if nonnegative:
        numbers = [max(number, 0) for number in numbers]
    unit = Fraction(1) if statistic == "count" else plan.unit
    return {
        statistic: [scaled(number, unit) for number in numbers],
        "error_bound": [_bound(number, width, unit) for number, width in zip(numbers, widths, strict=True)],
    }


def scaled(steps: int, unit: Fraction) -> int | float:
    """Return a multiple of a unit: an integer if the unit is one, otherwise the nearest float."""
    exact = steps * unit
    return exact.numerator if unit.denominator == 1 else float(exact)


def _bound(steps: int, width: int, unit: Fraction) -> int | float:
    """Return the half-width of the interval around a multiple of a unit, as the number that is written."""
    if unit.denominator == 1:
        return (width * unit).numerator
    # The number as it is written differs from the multiple only where float64 has too few digits.
    return above(width * unit + abs(as_written(float(steps * unit)) - steps * unit))


def above(exact: Fraction) -> float:
    """Return the least float that is written as a number at or above an exact one."""
    nearest = float(exact)
    return nearest if as_written(nearest) >= exact else math.nextafter(nearest, math.inf)


def _means(
    plan: Plan, values: dict[str, NDArray[np.int64]], bounds: dict[str, NDArray[np.int64]]
) -> Iterator[tuple[float, float, float, float]]:
    """Yield a mean of every cell, how far off it is at most, and the ends of its interval.

    With s the centred sum and c the count, the mean is the centre plus s/c, between the bounds of one person. A count that is
    not positive is the count of a group of one.
    """
    assert plan.question.bounds is not None
    least, most = map(as_written, plan.question.bounds)
    centre = plan.parts[0].centre * plan.unit
    for s, c, s_bound, c_bound in zip(*(each[of].tolist() for each in (values, bounds) for of in ("sum", "count")), strict=True):
        fewest, people = max(c - c_bound, 1), max(c + c_bound, 1)
        at_least = min(Fraction(s - s_bound, n) for n in (fewest, people)) * plan.unit + centre
        at_most = max(Fraction(s + s_bound, n) for n in (fewest, people)) * plan.unit + centre
        middle = Fraction(s, max(c, 1)) * plan.unit + centre
        low, mean, high = (min(max(each, least), most) for each in (at_least, middle, at_most))
        shown = float(mean)
        yield shown, above(max(high - as_written(shown), as_written(shown) - low)), -above(-low), above(high)
