"""A record, and how the tables ask it: nothing here measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]
Result = dict[str, Any]

FORMAT = 3


@dataclass(frozen=True)
class Results:
    """The results of one record."""

    record: Record

    def of(self, section: str) -> list[Result]:
        """Return the results of a section, in the order of the run."""
        return [result for result in self.record["results"] if result["section"] == section]

    def one(self, section: str, work: str, contender: str, n: int | None = None) -> Result | None:
        """Return the result with this n, or without it the one with the largest; None where there is none."""
        same = [r for r in self.of(section) if r["work"] == work and r["contender"] == contender and n in (None, r["n"])]
        return max(same, key=lambda r: int(r["n"]), default=None)

    def slower(self, section: str, work: str, contender: str, than: str) -> float | None:
        """Return the contender's time over that of what ran between its rounds."""
        result = self.one(section, work, contender)
        return None if result is None else over(result, than)

    def median_ns(self, section: str, work: str, contender: str) -> float | None:
        """Return the contender's time per value."""
        result = self.one(section, work, contender)
        return None if result is None else float(result["median_ns"])

    @property
    def fill_ns(self) -> float:
        """The unit, ns/value."""
        return float(self.of("unit")[0]["median_ns"])

    @property
    def wide(self) -> bool:
        """Whether the processor is of the kind that the targets are stated for."""
        return {"avx512f", "vaes"} <= set(self.record["cpu"]["features"])


def over(result: Result, than: str) -> float | None:
    """Return a result's median over the median of what ran between its rounds, or over the sum of two: "noise + fill"."""
    units = [result["beside_ns"].get(name) for name in than.split(" + ")]
    return float(result["median_ns"] / sum(units)) if all(units) else None


def number(x: float) -> str:
    """Write a time or a ratio with two digits or more."""
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 1 else f"{x:.2g}"


def power(n: int) -> str:
    """Write a count, as a power of ten where it is one."""
    exponent = len(str(n)) - 1
    return f"10^{exponent}" if n == 10**exponent and n > 1 else str(n)
