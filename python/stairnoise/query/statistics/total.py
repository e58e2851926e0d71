"""How many people a group has, and the sum of a column: statistics that are released numbers themselves."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from stairnoise._digits import is_finer, last_digit, private_value
from stairnoise.query.mechanism import Budget
from stairnoise.query.statistics.statistic import Columns, Number, Part, Released, Shown, Statistic, scaled


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
