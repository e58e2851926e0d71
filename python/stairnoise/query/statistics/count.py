"""How many people a group has."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from stairnoise.query.statistics.part import Part
from stairnoise.query.statistics.statistic import Total

if TYPE_CHECKING:
    from stairnoise.query.mechanism import Budget


class Count(Total):
    """The number of people."""

    __slots__ = ()
    kind = "count"
    counts = True

    def part(self, budget: Budget, share: Fraction, k: int, place: int | None, unit: Fraction) -> Part:
        """Return what protects the counts; if groups are not listed, it also chooses which are shown."""
        change, _ = self.change(unit)
        if budget.selects:
            return Part(self, share, budget.selection(share, k), 1, change, selects=True)
        return Part(self, share, budget.fitting(share, change, k, "eps", f"{budget.eps:g}"), k, change)

    def change(self, unit: Fraction) -> tuple[int, int]:
        """Return 1: a person counts once in a group."""
        return 1, 0

    def true(self, count: int, total: int, unit: Fraction) -> int:
        """Return the true count."""
        return count

    def measured(self, centre: int | float) -> str:
        """Name the numbers that its mechanism protects."""
        return "count"
