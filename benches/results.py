"""A record's results as the tables need them; nothing here measures."""

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
        """Return the result with this n, by default the largest n; None if there is no such result."""
        same = [r for r in self.of(section) if r["work"] == work and r["contender"] == contender and n in (None, r["n"])]
        return max(same, key=lambda r: int(r["n"]), default=None)

    def slower(self, section: str, work: str, contender: str, than: str) -> float | None:
        """Return the contender's time divided by the time of `than`, which ran between its rounds."""
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
        """Whether the targets are stated for this kind of processor."""
        return {"avx512f", "vaes"} <= set(self.record["cpu"]["features"])


def over(result: Result, than: str) -> float | None:
    """Return a result's median divided by that of `than`, or by a sum, as in "noise + fill"; these ran between its rounds."""
    units = [result["beside_ns"].get(name) for name in than.split(" + ")]
    return float(result["median_ns"] / sum(units)) if all(units) else None


def number(x: float) -> str:
    """Write a time or a ratio with two digits or more."""
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 1 else f"{x:.2g}"


def power(n: int) -> str:
    """Write a count; a power of ten becomes one."""
    exponent = len(str(n)) - 1
    return f"10^{exponent}" if n == 10**exponent and n > 1 else str(n)
