"""The staircase at n = 1 … 10⁹: float64, float32, own parameters; one thread, and two."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from benches import machine, ours
from benches.laws import staircase
from benches.timing import BULK, Run, side_by_side

LARGEST = int(os.environ.get("STAIRNOISE_BENCH_LARGEST", 100 * BULK))
SIZES = [10**k for k in range(19) if 10**k <= LARGEST]
MAPPED = SIZES[-1]
"""Where float32 values go to a file that is mapped to memory."""

LAW = staircase(4)
FORMS = {"float64": 8, "float32": 4, "own eps": 64}
"""Bytes a value needs, those of the law with its own parameters included."""


def contender(form: str, threads: int) -> str:
    """Return a column of the table."""
    return f"{form}, {threads} thread{'s' * (threads > 1)}"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", SIZES)
def bench_size(benchmark: Any, n: int, form: str, threads: int, tmp_path: Path) -> None:
    """Time `n` values into memory that is already there, with `fill` of the same memory between."""
    if threads > 1 and ours.cores() < threads:
        pytest.skip("absent: fewer cores")
    mapped = form == "float32" and n == MAPPED
    free = machine.free_bytes(tmp_path)["disk" if mapped else "memory"]
    if n * FORMS[form] > free // 2:
        pytest.skip(f"absent: n = {n} needs more than half of what is free")
    dtype = np.float32 if form == "float32" else np.float64
    out: Any = np.memmap(tmp_path / "noise", dtype, "w+", shape=(n,)) if mapped else np.zeros(n, dtype)
    law: Any = sn.Staircase(np.full(n, 4.0)) if form == "own eps" else ours.distribution(LAW)
    run = Run(lambda: law.sample(out=out, threads=threads), n)
    beside = {"fill": Run(lambda: out.fill(1.0), n)}
    side_by_side(benchmark, "growth", LAW.work, contender(form, threads), run, beside, least=3)
    if n >= 1000:
        LAW.check(out[:BULK])  # the check takes 24 bytes a value of its own
