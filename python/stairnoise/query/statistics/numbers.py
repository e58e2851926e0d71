"""Numbers to which noise is added: how many people a group has, the sum of a column, and its mean over people."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from stairnoise._digits import downwards, is_finer, last_digit, private_value, upwards
from stairnoise.query.mechanism import Budget
from stairnoise.query.statistics.statistic import Columns, Number, Part, Released, Shown, Statistic, scaled
from stairnoise.query.types import Holds


class Total(Number):
    """A statistic that is a released number itself."""

    __slots__ = ()

    def columns(self, own: Released, count: Released | None, shown: Shown) -> Columns:
        """Return the numbers and their bounds, rounded to the digits that the bounds justify."""
        unit = own.part.unit
        bounds = [width * unit for width in own.widths(shown.confidence).tolist()]
        digits = [Fraction(0) if shown.all_digits else last_digit(bound) for bound in bounds]
        numbers = [max(number, 0) if shown.nonnegative else number for number in own.values.tolist()]
        rows = [private_value(number * unit, unit, *bound) for number, *bound in zip(numbers, bounds, digits, strict=True)]
        columns = {"value": [value for value, _ in rows], "error_bound": [bound for _, bound in rows]}
        return Columns(columns, any(is_finer(unit, digit) for digit in digits))

    def accuracy(self, chance: str, plan: Any, confidence: float) -> str:
        """Return the meaning of its bounds."""
        return f"Each private {self.kind} is within error_bound of the true one {chance}."

    def post_processing(self, nonnegative: bool) -> list[str]:
        """Return what happened to the released numbers."""
        return [f"negative private {self.kind}s were set to 0, which raises the average of small groups"] if nonnegative else []


class Count(Total):
    """The number of people."""

    __slots__ = ()
    kind = "count"
    counts = True

    def part(self, budget: Budget, share: Fraction, k: int, place: int | None, unit: Fraction) -> Part:
        """Return what protects the counts; if groups are not listed, it also chooses which are shown."""
        if budget.selects:
            return Part(self, share, budget.selection(share, k), 1, 1, selects=True)
        return Part(self, share, budget.fitting(share, 1, k, "eps", f"{budget.eps:g}"), k, 1)

    def measured(self, centre: int | float) -> str:
        """Name the numbers that its mechanism protects."""
        return "count"


class Sum(Total):
    """The sum of people's clipped totals."""

    __slots__ = ()
    kind = "sum"
    sums = True

    def change(self, unit: Fraction) -> tuple[int, int]:
        """Return the larger magnitude of the bounds."""
        low, high = bounds_in_units(self, unit)
        return max(high, -low), 0

    def true(self, count: int, total: int, unit: Fraction) -> int | float:
        """Return the true sum."""
        return scaled(total, unit)

    def measured(self, centre: int | float) -> str:
        """Name the numbers that its mechanism protects."""
        return f"sum of {self.column}"


def bounds_in_units(statistic: Statistic, unit: Fraction) -> tuple[int, int]:
    """Return one person's minimum and maximum contribution in units, rounded outwards."""
    assert statistic.bounds is not None
    low, high = map(Fraction, statistic.bounds)
    return math.floor(low / unit), math.ceil(high / unit)


_ROLES = ("value", "error_bound", "low", "high", "may_be_empty")


class Mean(Number):
    """The mean of people's clipped totals: a private sum of differences from the middle of the bounds, and a private count."""

    __slots__ = ()
    kind = "mean"
    counts = sums = True

    def change(self, unit: Fraction) -> tuple[int, int]:
        """Return the largest difference from the middle of the bounds, and that middle."""
        low, high = bounds_in_units(self, unit)
        centre = (low + high) // 2
        return max(high - centre, centre - low), centre

    def level(self, confidence: float) -> float:
        """Return the confidence of the sum and of the count, such that both together have the requested confidence."""
        return 1 - (1 - confidence) / 2

    def columns(self, own: Released, count: Released | None, shown: Shown) -> Columns:
        """Return the means with their intervals.

        With s the centred sum and c the count, the mean is the centre plus s/c, clipped to the bounds of one person. Counts below
        1 are treated as 1. Partition selection shows no empty group.
        """
        assert count is not None
        assert self.bounds is not None
        least, most = map(Fraction, self.bounds)
        unit, centre = own.part.unit, own.part.centre * own.part.unit
        level = self.level(shown.confidence)
        numbers = (own.values, count.values, own.widths(level), count.widths(level))
        rows = []
        for s, c, s_bound, c_bound in zip(*(one.tolist() for one in numbers), strict=True):
            fewest, people = max(c - c_bound, 1), max(c + c_bound, 1)
            at_least = min(Fraction(s - s_bound, n) for n in (fewest, people)) * unit + centre
            at_most = max(Fraction(s + s_bound, n) for n in (fewest, people)) * unit + centre
            if c + c_bound < 1 or at_most < least or at_least > most:
                # The group is empty, or its sum is nothing but noise: the interval is that of the bounds.
                at_least, at_most = least, most
            middle = Fraction(s, max(c, 1)) * unit + centre
            low, mean, high = (min(max(end, least), most) for end in (at_least, middle, at_most))
            may_be_empty = not count.part.selects and c - c_bound < 1
            rows.append((*_rounded(low, mean, high, (least, most), shown.all_digits), may_be_empty))
        return Columns({role: [row[place] for row in rows] for place, role in enumerate(_ROLES)}, not shown.all_digits)

    def holds(self, role: str, unit: Fraction) -> Holds:
        """Return what a column holds."""
        return "boolean" if role == "may_be_empty" else "real"

    def true(self, count: int, total: int, unit: Fraction) -> float:
        """Return the true mean; that of an empty group is NaN."""
        return float(total * unit / count) if count else math.nan

    def measured(self, centre: int | float) -> str:
        """Name the numbers that its mechanism protects."""
        return f"sum of differences of {self.column} from {centre}"

    def accuracy(self, chance: str, plan: Any, confidence: float) -> str:
        """Return the meaning of its bounds."""
        said = f"The true mean of a group is from low to high {chance}, and within error_bound of the private one."
        return f"{said} may_be_empty is true where the private count allows an empty group, which has no mean."

    def post_processing(self, nonnegative: bool) -> list[str]:
        """Return what happened to the released numbers."""
        return ["means are private sums divided by private counts, moved between the bounds"]


def _rounded(
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
