"""The staircase at n = 10³ … 10⁸, and at 10⁹ when asked; one thread, and all cores."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from benches import ours
from benches.laws import staircase
from benches.timing import BULK, Run, fill, side_by_side

LARGEST = int(os.environ.get("STAIRNOISE_BENCH_LARGEST", 10 * BULK))
SIZES = [10**k for k in range(3, 19) if 10**k <= LARGEST]
LAW = staircase(4)


def _available() -> int | None:
    """Return the bytes of memory to be had, where the system tells."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


@pytest.mark.parametrize("threads", [1, ours.cores()] if ours.cores() > 1 else [1])
@pytest.mark.parametrize("n", SIZES)
def bench_size(benchmark: Any, n: int, threads: int) -> None:
    """Time `n` values into memory that is already there."""
    if threads > 1 and not ours.has_threads():
        pytest.skip("absent: this stairnoise has no threads=")
    if (available := _available()) is not None and 8 * n > available // 2:
        pytest.skip(f"absent: n = {n} needs more than half of the memory")
    out = np.zeros(n)
    run = Run(ours.into(LAW, out, **ours.threads(threads)), n)
    side_by_side(benchmark, "sizes", LAW.work, f"stairnoise, {threads} thread{'s' * (threads > 1)}", run, {"fill": fill()})
    LAW.check(out[: 10 * BULK])  # the check takes 24 bytes a value of its own
