"""Plan a release of 10¹² rows from the costs of a row and of a task on this machine.

``python -m benches.scale`` prints the table of docs/scale.md; ``--write`` updates the page.
"""

from __future__ import annotations

import os
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import stairnoise as sn
from benches.machine import cpu

ROWS, WORKERS, TASK = 10**12, 1000, 10**7
"""The plan's rows, its workers (one core each), and a task's rows."""

ROUNDS = 7
PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- measured: python -m benches.scale --write -->", "<!-- end of what was measured -->"


class Cost(NamedTuple):
    """The time of a row or a task, in seconds."""

    what: str
    of: str
    seconds: float


def main() -> None:
    lines = table(costs())
    if "--write" in sys.argv[1:]:
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{rest.split(END)[1]}", encoding="utf-8")
    else:
        print(*lines, sep="\n")


def costs() -> list[Cost]:
    """Time every part of the plan on one thread."""
    counts = np.random.default_rng(1).integers(0, 10**6, TASK)
    out = np.empty(TASK, np.int64)
    mechanism, secret = sn.DiscreteLaplace(1.0), secrets.token_bytes(32)
    return [
        Cost(
            "`release` of an int64 array into `out`", "row", timed(lambda: mechanism.release(counts, out=out, threads=1)) / TASK
        ),
        Cost("`release` by `KeyedRng`, labels of int64", "row", keyed(mechanism, counts, secret)),
        Cost(
            "`SecureRng.from_key`, and the first draw",
            "task",
            timed(lambda: [first_draw(mechanism, secret) for _ in range(1000)]) / 1000,
        ),
        Cost("a Python process that imports stairnoise", "worker", timed(start)),
    ]


def timed(work: Callable[[], object]) -> float:
    """Return the median seconds of a few rounds."""
    work()
    found = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def keyed(mechanism: sn.DiscreteLaplace, counts: np.ndarray, secret: bytes) -> float:
    """Return the seconds of a row in a keyed release."""
    labels, rng, out = np.arange(len(counts)), sn.KeyedRng(secret, "benchmark"), np.empty(len(counts), np.int64)
    return timed(lambda: mechanism.release(counts, labels=labels, statistic="count", rng=rng, out=out, threads=1)) / len(counts)


def first_draw(mechanism: sn.DiscreteLaplace, secret: bytes) -> int:
    return mechanism.sample(rng=sn.SecureRng.from_key(secret))


def start() -> None:
    subprocess.run([sys.executable, "-c", "import stairnoise"], check=True)


def table(found: list[Cost]) -> list[str]:
    """Return the costs and the plan as lines of Markdown."""
    times = {"row": ROWS, "task": ROWS // TASK, "worker": WORKERS}
    lines = ["| what | cost | how often | of a worker's time |", "|---|---|---|---|"]
    for what, of, seconds in found:
        lines.append(f"| {what} | {span(seconds)} a {of} | {times[of]:,} | {span(seconds * times[of] / WORKERS)} |")
    versions = f"NumPy {np.__version__}, Python {sys.version.split()[0]}"
    load = f"{os.getloadavg()[0]:.1f} processes at work on {os.cpu_count()} cores in the minute before"
    return [*lines, "", f"One thread of {cpu()['model']}, {versions}; medians of {ROUNDS} rounds, {load}."]


def span(seconds: float) -> str:
    """Write a time with two digits, in a suitable unit."""
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            return f"{float(f'{seconds / size:.2g}'):g} {unit}"
    raise AssertionError(seconds)


if __name__ == "__main__":
    main()
