"""Keyed releases, where a row's noise depends on its label, for labels of several kinds, beside a release of the array."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from benches import ours
from benches.mechanisms import CoreMechanism, discrete_laplace, laplace
from benches.peers import reason_absent
from benches.timing import BULK, Run, side_by_side

LABELS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "int64": ("numpy", lambda n: np.arange(n) * 7919),
    "list of str": ("numpy", lambda n: _texts(n)),
    "NumPy strings": ("numpy", lambda n: np.array(_texts(n))),
    "Arrow strings": ("pyarrow", lambda n: importlib.import_module("pyarrow").array(_texts(n))),
    "Polars strings": ("polars", lambda n: importlib.import_module("polars").Series(_texts(n))),
    "pandas strings": ("pandas", lambda n: importlib.import_module("pandas").Series(_texts(n))),
    "pandas categories": ("pandas", lambda n: importlib.import_module("pandas").Series(_texts(n), dtype="category")),
}
MECHANISMS = (discrete_laplace(1), laplace(1))
SIZES = sorted({BULK // 100, BULK // 10, BULK})
ARRAY = "release of the array"


def _texts(n: int) -> list[str]:
    """Return labels of 14 characters."""
    return [f"group-{number:08d}" for number in range(n)]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.work)
def bench_keyed(benchmark: Any, mechanism: CoreMechanism, kind: str, n: int) -> None:
    """Time a keyed release with its labels, on one thread."""
    package, make = LABELS[kind]
    if absent := reason_absent(package):
        pytest.skip(f"absent: {absent}")
    noise, labels, values = ours.distribution(mechanism), make(n), np.arange(n) % 1000
    out, keyed = np.zeros(n, ours.dtype(mechanism)), sn.KeyedRng(bytes(32), "benchmark")
    run = Run(lambda: noise.release(values, labels=labels, statistic="s", rng=keyed, out=out, threads=1), n)
    beside = {ARRAY: Run(lambda: noise.release(values, out=np.zeros(n, ours.dtype(mechanism)), threads=1), n)}
    drawn = side_by_side(benchmark, "keyed", f"{mechanism.work}, labels {kind}", "stairnoise", run, beside, least=3)
    mechanism.check(np.asarray(drawn) - values)
