"""Compare two builds on one machine, in alternating rounds: the working tree, and a commit of its history.

python -m benches.compare                          # the main rows against the newest record's commit: `make bench-quick`
python -m benches.compare --commit efc073a0 --only 'Laplace(eps=1)' --tier avx2
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from benches import builds, machine, ours, ratios
from benches.cases import Case
from benches.results import Record, number
from benches.rows import CASES, CHANGED, MAIN
from benches.worker import Worker

FIRST = "efc073a0"
"""The commit that the targets compare with."""

BUILT = builds.ROOT / "python"
"""The package of the working tree."""

ROUND = 0.004
"""Minimum seconds of a round."""

ROUNDS = (7, 61)
"""Minimum and maximum number."""

Row = dict[str, Any]


def measure(workers: dict[str, Worker], case: Case, seconds: float) -> Row:
    """Time a case in every worker in turns, for about `seconds`; also the unit and MKL, in the new build's process."""
    sides = {name: (worker, "case") for name, worker in workers.items()}
    if case.seeded is not None:
        sides |= {kind: (workers["new"], kind) for kind in ("fill", "mkl") if kind == "fill" or case.mkl is not None}
    said = {name: worker.make(case.work, kind, ROUND) for name, (worker, kind) in sides.items()}
    row: Row = {"work": case.work, "n": case.n}
    if absent := {name: said[name]["absent"] for name in ("old", "new") if "absent" in said[name]}:
        row["absent"] = absent
    elif said["new"]["digest"] != said["old"]["digest"] and not CHANGED.search(case.work):
        raise AssertionError(f"the builds draw different values: {case.work}")
    if "new" in absent:
        return row
    here = {name: side for name, side in sides.items() if "absent" not in said[name]}
    times = _rounds(here, seconds / sum(said[name]["seconds"] for name in here))
    for worker in workers.values():
        worker.forget()
    row |= {"rounds": len(times["new"])} | {f"{name}_ns": _significant(statistics.median(runs)) for name, runs in times.items()}
    if "old" in times:
        row["faster"] = _ratio(times["old"], times["new"])
    if "again" in times:
        row["itself"] = _ratio(times["old"], times["again"])
    if "mkl" in times:
        row["generator"] = said["mkl"]["generator"]
    return row


def _rounds(sides: dict[str, tuple[Worker, str]], count: float) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(max(ROUNDS[0], min(ROUNDS[1], round(count)))):
        for name, (worker, kind) in sides.items():
            times[name].append(worker.ns(kind))
    return times


def _ratio(one: list[float], other: list[float]) -> float:
    """Return the median of the rounds' ratios; a disturbance that lasts longer than two rounds slows both sides."""
    return _significant(statistics.median(a / b for a, b in zip(one, other, strict=True)))


def _significant(x: float) -> float:
    return float(f"{x:.4g}")


def compare(
    commit: str,
    cases: Iterable[Case],
    tiers: Iterable[str],
    seconds: Callable[[Case], float],
    itself: bool = True,
    show: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Return a row for each case under each tier; `show` is called with each measurement.

    With `itself`, a second process of the old build measures its spread against itself. Rows that are slower beyond this spread
    are timed again, for twice as long and by other processes.
    """
    chosen, rows = list(cases), []
    best, package = ours.tiers()[-1], builds.build(commit)
    *_, old_best = old_tiers = builds.tiers(package)
    for tier in tiers:
        old = package, tier if tier in old_tiers else old_best  # a set that the old build lacks is compared with its best
        sides = {"old": old, "new": (BUILT, tier)} | ({"again": old} if itself else {})

        def measured(these: Iterable[Case], factor: float, tier: str = tier, sides: Any = sides) -> dict[str, Row]:
            found = {}
            with ExitStack() as stack:
                workers = {name: stack.enter_context(Worker(*side)) for name, side in sides.items()}
                for case in these:
                    found[case.work] = {"tier": tier} | measure(workers, case, factor * seconds(case))
                    show(found[case.work])
            return found

        found = measured((case for case in chosen if case.every_tier or tier == best), 1)
        found |= measured([CASES[row["work"]] for row in ratios.slower(list(found.values()))], 2)
        rows += found.values()
    return rows


def newest_commit(record: Record | None) -> str:
    """Return the commit of a record; the first one if there is no record or this clone lacks the commit."""
    commit = (record or {}).get("commit", "").rstrip("+")
    return commit if commit and builds.exists(commit) else FIRST


def line(row: Row) -> str:
    """Return a row as a line of text."""
    start = f"{row['tier']:8} {row['work']:90.90}"
    if "new_ns" not in row:
        return f"{start} absent: {row['absent']}"
    beside = {"fill": row.get("fill_ns"), row.get("generator", ""): row.get("mkl_ns")}
    ends = [f"{number(row['new_ns'] / unit)} x {name}" for name, unit in beside.items() if unit]
    ends += [f"target {aim}"] if (aim := ratios.aim(row)) else []
    old, new, faster = ratios.times(row)
    return f"{start} {old:>8} -> {new:>8} ns  x {faster}   {', '.join(ends)}"


def main(words: list[str]) -> None:
    """Print the ratios of the main rows, or of others."""
    from benches import report

    parser = argparse.ArgumentParser(prog="python -m benches.compare", description=__doc__.splitlines()[0])
    parser.add_argument("--commit", default="", help="the commit to compare with; by default that of the newest record")
    parser.add_argument("--only", default="", help="all rows whose names contain this text, instead of the main rows")
    parser.add_argument("--tier", default=ours.tiers()[-1], choices=ours.tiers())
    parser.add_argument("--seconds", type=float, default=0.7, help="time for a row, roughly")
    chosen = parser.parse_args(words)
    commit = chosen.commit or newest_commit(report.newest_or_none())
    cases = [case for case in CASES.values() if chosen.only in case.work] if chosen.only else MAIN
    print(f"{builds.head()} against {commit}, {chosen.tier}, one thread; medians; not recorded", flush=True)
    compare(commit, cases, [chosen.tier], lambda _: chosen.seconds, itself=False, show=lambda row: print(line(row), flush=True))
    print(f"load average {machine.load()}")


if __name__ == "__main__":
    main(sys.argv[1:])
