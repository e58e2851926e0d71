"""The targets against commit 4c1bc39, the rows that are slower than it, and tables of both; nothing here measures."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator
from typing import Any

from benches import rows as listed
from benches.cases import Case
from benches.results import number, power

TIERS = ("avx512", "avx2", "portable")
TITLES = {"avx512": "AVX-512", "avx2": "AVX2", "neon": "NEON", "portable": "portable"}
MILLISECOND = 1e6
"""The maximum time of a constructor, in ns."""

Row = dict[str, Any]


def _aims() -> Iterator[tuple[Iterable[Case], tuple[float, ...]]]:
    """Yield rows, and how many times faster they must be on AVX-512, AVX2 and portable; two numbers set no portable target."""
    sample = listed.SAMPLES
    yield listed.IN_CACHE_RELEASES, (2.5, 2, 1.3)
    yield listed.LARGE_RELEASES, (2.5, 2, 1.2)
    yield [sample[str(noise[1.0])] for noise in (listed.STAIRCASES, listed.DISCRETE)], (2.0, 1.6)
    yield [sample[str(noise[4.0])] for noise in (listed.STAIRCASES, listed.DISCRETE)], (1.35, 1.3)
    yield [sample[str(noise)] for noise in listed.LAPLACES.values()], (1.4, 1.15)
    yield [sample[str(listed.COUNTINGS[4.0])]], (1.5, 1.4)
    yield [sample[str(listed.COUNTINGS[eps])] for eps in (1.0, 0.1)], (1.7, 1.3)
    yield [sample[str(noise)] for noise in listed.GAUSSIANS], (1.4, 1.3)
    yield [listed.STRIDED], (2, 2, 2)
    yield [listed.FORTRAN], (4, 4, 4)
    for row, bound in zip(listed.SAMPLES_INTO, (3, 1.7), strict=True):
        yield [row], (bound,) * 3
    yield listed.RELEASES_INTO, (3, 3, 3)
    yield [listed.ONE_RELEASE, listed.ONE_CALL], (4, 4, 4)
    for row, bound in zip(listed.RESTS, (1.5, 1.3, 1.1), strict=True):
        yield [row], (bound,) * 3
    yield [listed.CONSTRUCTORS["Gaussian"]], (20, 20, 20)


FASTER: dict[tuple[str, str], float] = {
    (case.work, tier): bound for rows, bounds in _aims() for case in rows for tier, bound in zip(TIERS, bounds, strict=False)
}
"""How many times faster a row must be on a tier."""

QUICK = {case.work for name, case in listed.CONSTRUCTORS.items() if name != "Gaussian"}
"""Constructors that must take a millisecond or less."""


def aim(row: Row) -> str:
    """Return a row's target in words; empty if there is none."""
    if row["work"] in QUICK:
        return "≤ 1 ms"
    bound = FASTER.get((row["work"], row["tier"]))
    return "" if bound is None else f"≥ {bound:g}"


def met(row: Row) -> bool | None:
    """Return whether a row meets its target; None if there is no target, or the row could not be timed."""
    measured = "new_ns" if row["work"] in QUICK else "faster"
    if measured not in row or not aim(row):
        return None
    if row["work"] in QUICK:
        return bool(row["new_ns"] <= MILLISECOND)
    return bool(row["faster"] >= FASTER[row["work"], row["tier"]])


def spread(rows: list[Row]) -> float:
    """Return the factor by which the old build differs from itself at most, in 19 of 20 rows."""
    found = [abs(math.log(row["itself"])) for row in rows if "itself" in row]
    return math.exp(statistics.quantiles(found, n=20)[-1]) if len(found) > 1 else math.inf


def slower(rows: list[Row]) -> list[Row]:
    """Return the rows that are slower by more than the old build's spread, in the row itself and in 19 of 20 rows."""
    common = math.log(spread(rows))
    timed = [row for row in rows if "itself" in row]
    return [row for row in timed if -math.log(row["faster"]) > max(common, abs(math.log(row["itself"])))]


# ---------------------------------------------------------------- tables


def _row(*texts: str) -> str:
    return f"| {' | '.join(texts)} |"


def _over(row: Row, unit: str) -> str:
    return number(row["new_ns"] / row[unit]) if row.get(unit) else ""


def summary(rows: list[Row]) -> str:
    """Return how many targets are met on each tier."""
    parts = []
    for tier in dict.fromkeys(row["tier"] for row in rows):
        verdicts = [met(row) for row in rows if row["tier"] == tier]
        parts.append(f"{verdicts.count(True)} of {verdicts.count(True) + verdicts.count(False)} on {TITLES[tier]}")
    return f"Targets met: {', '.join(parts)}."


def _slower(rows: list[Row]) -> Iterator[str]:
    by_tier = [[row for row in rows if row["tier"] == tier] for tier in dict.fromkeys(row["tier"] for row in rows)]
    found = [row for rows_of_tier in by_tier for row in slower(rows_of_tier)]
    spreads = ", ".join(
        f"{100 * (spread(rows_of_tier) - 1):.1f} % ({TITLES[rows_of_tier[0]['tier']]})" for rows_of_tier in by_tier
    )
    yield (
        f"In 19 of 20 rows the old build differs from itself by at most {spreads}. A row counts as slower if two measurements "
        "find it slower by more than that, and by more than the old build differs from itself in this row. "
        f"Slower rows: {len(found) or 'none'}."
    )
    if found:
        yield ""
        yield _row("work", "", "ns/value before", "now", "× the time", "the old build against itself")
        yield "|---" * 6 + "|"
    for row in found:
        times = number(row["old_ns"]), number(row["new_ns"]), f"{1 / row['faster']:.2f}", f"{1 / row['itself']:.2f}"
        yield _row(row["work"], TITLES[row["tier"]], *times)


def lines(rows: list[Row], commit: str) -> Iterator[str]:
    """Yield the tables of one comparison."""
    yield (
        f"Compared with a build of commit {commit} on the same machine. Each build has a process that stays alive, on the same "
        "core; their rounds alternate, in processor time; one thread; outputs begin at a multiple of 2 MiB. × faster is the "
        "median of the rounds' ratios. × fill divides by NumPy's `out.fill` of as many values of 8 bytes. × MKL divides by MKL's "
        "quickest generator with similar noise: Laplace noise for staircases, with the addition for a release. Both were timed "
        "between the same rounds and write to an existing array. Both builds drew the same values from a key."
    )
    yield ""
    yield summary(rows)
    main = {case.work for case in listed.MAIN}
    for tier in dict.fromkeys(row["tier"] for row in rows):
        yield ""
        yield f"### {TITLES[tier]}"
        yield ""
        yield _row("work", "ns/value before", "now", "× faster", "target", "", "× fill", "× MKL", "MKL's generator")
        yield "|---" * 9 + "|"
        for row in rows:
            if row["tier"] == tier and row["work"] in main:
                yield _main(row)
    yield ""
    yield "### Slower"
    yield ""
    yield from _slower(rows)
    yield ""
    yield "### Everything else"
    yield ""
    tiers = list(dict.fromkeys(row["tier"] for row in rows))
    yield _row(
        "work", "values", *(f"{TITLES[tier]}, ns/value" for tier in tiers), *(f"{TITLES[tier]}, × faster" for tier in tiers)
    )
    yield "|---" * (2 + 2 * len(tiers)) + "|"
    for work in dict.fromkeys(row["work"] for row in rows if row["work"] not in main):
        found = {row["tier"]: row for row in rows if row["work"] == work}
        one = next(iter(found.values()))
        said = [times(found[tier]) if tier in found else ("", "", "") for tier in tiers]
        yield _row(work, power(one["n"]), *(new for _, new, _ in said), *(faster for *_, faster in said))


def times(row: Row) -> tuple[str, str, str]:
    """Return the old build's time, the new build's, and their ratio, or "new" if only the new build has the row."""
    old, new = (number(row[name]) if name in row else "" for name in ("old_ns", "new_ns"))
    return old, new, f"{row['faster']:.2f}" if "faster" in row else "absent" if "new" in row["absent"] else "new"


def _main(row: Row) -> str:
    if "new_ns" not in row:
        return _row(row["work"], *times(row), aim(row), "not measured", "", "", "")
    verdict = {True: "met", False: "not met", None: ""}[met(row)]
    beside = _over(row, "fill_ns"), _over(row, "mkl_ns"), row.get("generator", "")
    return _row(row["work"], *times(row), aim(row), verdict, *beside)
