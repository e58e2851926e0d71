"""How many people a group has."""

from __future__ import annotations

from fractions import Fraction

from stairnoise.query.statistics.statistic import Total


class Count(Total):
    """The number of people."""

    __slots__ = ()
    kind = "count"
    counts = True

    def change(self, unit: Fraction) -> tuple[int, int]:
        """Return the largest change of a count."""
        return 1, 0

    def true(self, count: int, total: int, unit: Fraction) -> int:
        """Return the true count."""
        return count

    def measured(self, centre: int | float) -> str:
        """Name the numbers that its mechanism protects."""
        return "count"
