"""Outputs other than a plain array: other element types, strides, a file, and arrays that the call makes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from benches import ours
from benches.mechanisms import CoreMechanism, discrete_laplace, laplace, staircase
from benches.timing import BULK, Run, fill, side_by_side

OUTPUTS: list[tuple[str, CoreMechanism, Callable[[int], Any]]] = [
    ("float32", staircase(4), lambda n: np.zeros(n, np.float32)),
    ("float32", laplace(4), lambda n: np.zeros(n, np.float32)),
    ("int32", discrete_laplace(4), lambda n: np.zeros(n, np.int32)),
    ("float64", discrete_laplace(4), lambda n: np.zeros(n)),
    ("every second float64", staircase(4), lambda n: np.zeros(2 * n)[::2]),
    ("a transposed array", staircase(4), lambda n: np.zeros((n // 1000, 1000)).T),
]
FRESH = "fresh array, staircase, eps=4, sensitivity=1"


@pytest.mark.parametrize(
    ("name", "mechanism", "make"), OUTPUTS, ids=[f"{mechanism.work}-{name}" for name, mechanism, _ in OUTPUTS]
)
def bench_output(benchmark: Any, name: str, mechanism: CoreMechanism, make: Any) -> None:
    """Time a mechanism into an output that is not a plain array of the mechanism's type."""
    run = Run(ours.into(mechanism, make(BULK)), BULK)
    drawn = side_by_side(benchmark, "outputs", f"{mechanism.work}, into {name}", "stairnoise", run, {"fill": fill()})
    mechanism.check(np.asarray(drawn))


def bench_memmap(benchmark: Any, tmp_path: Path) -> None:
    """Time the staircase into a memory-mapped file."""
    mechanism, out = staircase(4), np.memmap(tmp_path / "noise", np.float64, "w+", shape=(BULK,))
    work = f"{mechanism.work}, into np.memmap"
    drawn = side_by_side(benchmark, "outputs", work, "stairnoise", Run(ours.into(mechanism, out), BULK), {"fill": fill()})
    mechanism.check(np.asarray(drawn))


def bench_full(benchmark: Any) -> None:
    """Time `np.full`: a fresh array without noise."""
    drawn = side_by_side(benchmark, "outputs", FRESH, "np.full", _full(), {"fill": fill()})
    assert np.asarray(drawn).sum() == BULK


@pytest.mark.parametrize("threads", [1, 2])
def bench_fresh(benchmark: Any, threads: int) -> None:
    """Time a call that makes its array."""
    if threads > 1 and "more than one thread" in (absent := ours.absent()):
        pytest.skip(f"absent: {absent['more than one thread']}")
    run = Run(lambda: sn.sample(n=BULK, eps=4, **ours.threads(threads)), BULK)
    contender = f"stairnoise, {threads} thread{'s' * (threads > 1)}"
    drawn = side_by_side(benchmark, "outputs", FRESH, contender, run, {"fill": fill(), "np.full": _full()})
    staircase(4).check(np.asarray(drawn))


def _full() -> Run:
    return Run(lambda: np.full(BULK, 1.0), BULK)
