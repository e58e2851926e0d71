"""Time the rounds of a contender, alternating with what it is compared to.

A machine's speed drifts within a run: neighbours come and go, clocks change. So a ratio never divides two benchmarks that ran
minutes apart. The divisor (the unit, or stairnoise's time for the same distribution) runs once before each of the contender's
rounds, and the ratio divides the two medians.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np

Draw = Callable[[], object]
"""Draws once; returns an array, a list or a number."""

BULK = int(os.environ.get("STAIRNOISE_BENCH_N", 10**7))
IN_CACHE = 65_536
"""Values of eight bytes that the second-level cache of most processors holds."""

SECONDS = float(os.environ.get("STAIRNOISE_BENCH_SECONDS", 2.0))
"""Per benchmark, roughly."""

ROUND = SECONDS / 40
"""Minimum seconds of a round: 50 ms, many of the scheduler's slices.

If another process wants the core, a round shorter than a slice often escapes interruption and a longer one never does. On a busy
machine rounds of 2 ms gave ratios to NumPy and MKL 1.4 to 1.9 times as large as rounds of 50 ms.
"""

SECTIONS = (
    "unit",
    "bulk",
    "release",
    "keyed",
    "family",
    "own eps",
    "outputs",
    "growth",
    "scalars",
    "counts",
    "bits",
    "theory",
)
"""The sections of a record, in the order of its page."""


class Run:
    """Something to time: `draw` makes `n` values at a call."""

    def __init__(self, draw: Draw, n: int, clock: Callable[[], float] = time.perf_counter) -> None:
        self.draw = draw
        self.n = n
        self.clock = clock
        self.calls = 1
        self.drawn: object = None

    def calibrate(self, aim: float = ROUND) -> float:
        """Warm up, choose the calls of a round so that it lasts `aim` seconds or more, and return a round's seconds."""
        self.draw()  # compiles, maps pages, fills caches
        self.calls = 1
        while (found := self._quicker_of_two()) < aim / 4:
            self.calls *= max(2, min(100, round(aim / 2 / found)))
        once = found / self.calls
        self.calls = max(1, round(aim / once))
        return once * self.calls

    def _quicker_of_two(self) -> float:
        """Return the shorter time of two rounds; a long round runs once."""
        found = self.seconds()
        return max(found if found > 0.2 else min(found, self.seconds()), 1e-7)

    def __call__(self) -> None:
        """Draw for one round. Within the round, a result is freed before the next draw."""
        draw, drawn = self.draw, None
        self.drawn = None
        for _ in repeat(None, self.calls):
            drawn = None
            drawn = draw()
        self.drawn = drawn

    def seconds(self) -> float:
        """Time one round."""
        start = self.clock()
        self()
        return self.clock() - start

    @property
    def values(self) -> int:
        """The number of values of a round."""
        return self.calls * self.n


def side_by_side(
    benchmark: Any, section: str, work: str, contender: str, run: Run, beside: Mapping[str, Run], least: int = 5
) -> object:
    """Time `run` in `least` rounds or more, each after a round of everything `beside` it; return the last draw of `run`."""
    if section not in SECTIONS:
        raise ValueError(f"section must be one of SECTIONS, got {section!r}")  # fails now, and not when the record is made
    seconds = [timed.calibrate() for timed in (run, *beside.values())]
    rounds = min(101, max(least, round(SECONDS / sum(seconds))))
    between: dict[str, list[float]] = {name: [] for name in beside}

    def others() -> None:
        for name, other in beside.items():
            between[name].append(other.seconds() / other.values)

    benchmark.group = f"{section}: {work}"
    benchmark.pedantic(run, setup=others, rounds=rounds, iterations=1, warmup_rounds=1)
    medians = {name: statistics.median(times) * 1e9 for name, times in between.items()}
    benchmark.extra_info.update(section=section, work=work, contender=contender, n=run.n, calls=run.calls, beside_ns=medians)
    return run.drawn


@cache
def fill(n: int = BULK) -> Run:
    """Return the unit: writing 8 bytes per value into warm memory."""
    out = np.zeros(n)
    return Run(lambda: out.fill(1.0), n)


def affordable(make: Callable[[int], Draw], n: int, seconds: float = 1.5) -> int:
    """Return the largest of n, n/10, n/100 that `make(…)` draws in about `seconds`, but at least 10⁴."""
    probe = Run(make(n // 1000), n // 1000)
    per_value = probe.calibrate() / probe.values
    return next((size for size in (n, n // 10) if size * per_value <= seconds), max(n // 100, 10**4))
