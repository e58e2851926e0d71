"""The targets against commit efc073a0, the rows that are slower than it, and tables of both; nothing here measures."""

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
Row = dict[str, Any]


def _aims() -> Iterator[tuple[Iterable[Case], float]]:
    """Yield rows, and how many times faster they must be."""
    yield listed.HALVED, 2
    yield listed.OWN_PARAMETERS, 20


FASTER: dict[tuple[str, str], float] = {(case.work, tier): bound for rows, bound in _aims() for case in rows for tier in TIERS}
"""How many times faster a row must be on a tier."""

BESIDE_MKL: dict[tuple[str, str], float] = {
    (listed.SAMPLES[str(noise)].work, tier): bound
    for noise in listed.GAUSSIANS
    for tier, bound in {"avx512": 0.6, "avx2": 1.5}.items()
}
"""The maximum of a row's time over that of MKL's best generator."""

QUICK = {case.work: listed.MICROSECONDS.get(name, 1000) for name, case in listed.CONSTRUCTORS.items()}
"""The maximum time of a constructor whose parameters are new, in µs."""


def aim(row: Row) -> str:
    """Return a row's target in words; empty if there is none."""
    work, tier = row["work"], row["tier"]
    if work in QUICK:
        return f"≤ {QUICK[work]:g} µs"
    if (work, tier) in BESIDE_MKL:
        return f"≤ {BESIDE_MKL[work, tier]:g} × MKL"
    return f"≥ {FASTER[work, tier]:g}" if (work, tier) in FASTER else ""


def met(row: Row) -> bool | None:
    """Return whether a row meets its target; None if there is no target, or the row could not be timed."""
    key = row["work"], row["tier"]
    if row["work"] in QUICK:
        return bool(row["new_ns"] <= 1000 * QUICK[row["work"]]) if "new_ns" in row else None
    if key in BESIDE_MKL:
        return bool(row["new_ns"] <= BESIDE_MKL[key] * row["mkl_ns"]) if "mkl_ns" in row else None
    return bool(row["faster"] >= FASTER[key]) if key in FASTER and "faster" in row else None


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


def lines(rows: list[Row], commit: str, changed: Iterable[str] = ()) -> Iterator[str]:
    """Yield the tables of one comparison; `changed` are the mechanisms with other values than the commit's."""
    other = f", except those of {', '.join(changed)}" if changed else ""
    yield (
        f"Compared with a build of commit {commit} on the same machine. Each build has a process that stays alive, on the same "
        "core; their rounds alternate, in processor time; one thread; outputs begin at a multiple of 2 MiB. × faster is the "
        "median of the rounds' ratios. × fill divides by NumPy's `out.fill` of as many values of 8 bytes. × MKL divides by MKL's "
        "quickest generator with similar noise: Laplace noise for staircases, with the addition for a release. Both were timed "
        "between the same rounds and write to an existing array. "
        f"Both builds drew the same values from a key{other}."
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
