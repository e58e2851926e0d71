"""The staircase at n = 1 … 10⁹: float64, float32, own parameters; one thread, and two."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from benches import bench_elementwise, machine, ours
from benches.mechanisms import staircase
from benches.timing import BULK, Run, side_by_side

LARGEST = int(os.environ.get("STAIRNOISE_BENCH_LARGEST", 100 * BULK))
SIZES = [10**k for k in range(19) if 10**k <= LARGEST]
MAPPED = SIZES[-1]
"""The size at which float32 values go to a memory-mapped file."""

MECHANISM = staircase(4)
FORMS = {"float64": 8, "float32": 4, "own eps": 64}
"""Bytes that a value needs, with its parameters and their mechanism."""


def contender(form: str, threads: int) -> str:
    """Return a column of the table."""
    return f"{form}, {threads} thread{'s' * (threads > 1)}"


def _file(directory: Path, n: int) -> Any:
    """Return float32 values in a file that disappears when nothing uses it."""
    with tempfile.TemporaryFile(dir=directory) as file:
        return np.memmap(file, np.float32, "w+", shape=(n,))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", SIZES)
def bench_size(benchmark: Any, n: int, form: str, threads: int, tmp_path: Path) -> None:
    """Time `n` values into an existing array, alternating with `fill` of the same array."""
    if threads > 1 and ours.cores() < threads:
        pytest.skip("absent: fewer cores")
    mapped = form == "float32" and n == MAPPED
    free = machine.free_bytes(tmp_path)["disk" if mapped else "memory"]
    if n * FORMS[form] > free // 2:
        pytest.skip(f"absent: n = {n} needs more than half of the free memory or disk")
    dtype = np.float32 if form == "float32" else np.float64
    out: Any = _file(tmp_path, n) if mapped else np.zeros(n, dtype)
    own = form == "own eps"
    mechanism: Any = sn.Staircase(bench_elementwise.epsilons(n)) if own else ours.distribution(MECHANISM)
    run = Run(lambda: mechanism.sample(out=out, threads=threads), n)
    beside = {"fill": Run(lambda: out.fill(1.0), n)}
    side_by_side(benchmark, "growth", MECHANISM.work, contender(form, threads), run, beside, least=3)
    if 10**4 <= n <= BULK or (n > BULK and not own):  # the check itself takes 24 bytes a value
        (bench_elementwise.check if own else MECHANISM.check)(out[:BULK])
