"""The sum of a column."""

from __future__ import annotations

import math
from fractions import Fraction

from stairnoise.query.statistics.part import scaled
from stairnoise.query.statistics.statistic import Statistic, Total


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
