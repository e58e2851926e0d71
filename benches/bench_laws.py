"""The four laws: stairnoise and its peers, into memory that is already there, in bulk and one at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from benches.laws import LAWS, Law
from benches.peers import PEERS, Draw

BULK = int(os.environ.get("STAIRNOISE_BENCH_N", 10**7))
SIZES = (BULK, BULK // 100, 1)
SECONDS = float(os.environ.get("STAIRNOISE_BENCH_SECONDS", 2.0))
"""Per benchmark, roughly."""

CLASSES = {
    "staircase": sn.Staircase,
    "laplace": sn.Laplace,
    "discrete_laplace": sn.DiscreteLaplace,
    "discrete_staircase": sn.DiscreteStaircase,
}


def _stairnoise(law: Law, n: int) -> Draw:
    distribution = CLASSES[law.mechanism](law.eps, law.sensitivity)
    if n == 1:
        return distribution.sample
    out = np.zeros(n, dtype=np.int64 if law.discrete else np.float64)
    return lambda: distribution.sample(out=out)


def _cases() -> Iterator[Any]:
    for law in LAWS:
        for n in SIZES:
            yield pytest.param(law, "stairnoise", None, n, id=f"{law.work}-stairnoise-{n}")
            for peer in PEERS:
                if peer.mechanism != law.mechanism or (n == 1 and peer.package != "numpy"):
                    continue
                size = min(n, peer.most)
                if size == n or n == BULK:  # a slow peer runs once, at its own size
                    yield pytest.param(law, peer.name, peer, size, id=f"{law.work}-{peer.name}-{size}")


def _time(benchmark: Any, draw: Draw, n: int, **facts: object) -> object:
    """Time `draw` in rounds of at least a millisecond; return what it drew last."""
    draw()  # compile, map pages, fill caches
    start = time.perf_counter()
    draw()
    once = max(time.perf_counter() - start, 1e-7)
    iterations = max(1, round(1e-3 / once))
    rounds = min(200, max(5, round(SECONDS / (once * iterations))))
    benchmark.extra_info.update(n=n, **facts)
    return benchmark.pedantic(draw, rounds=rounds, iterations=iterations, warmup_rounds=1)


@pytest.mark.parametrize("n", SIZES[:2])
def bench_fill(benchmark: Any, n: int) -> None:
    """Time the unit: writing 8 bytes per value into warm memory."""
    out = np.zeros(n)
    _time(benchmark, lambda: out.fill(1.0), n, work="fill", contender="fill")
    assert out.sum() == n


@pytest.mark.parametrize(("law", "contender", "peer", "n"), list(_cases()))
def bench_law(benchmark: Any, law: Law, contender: str, peer: Any, n: int) -> None:
    """Time one law drawn by one contender, and check what it drew."""
    if peer is not None and (reason := peer.absent()):
        pytest.skip(f"peer absent: {reason}")
    draw = _stairnoise(law, n) if peer is None else peer.make(law, n)
    benchmark.group = f"{law.work}, n={n}"
    drawn = _time(benchmark, draw, n, work=law.work, contender=contender)
    if n == 1:
        drawn = [np.asarray(draw()).item() for _ in range(10_000)]
    law.check(np.asarray(drawn))
