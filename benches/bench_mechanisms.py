"""The laws in bulk, into memory that is already there; four of them beside their peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benches import ours
from benches.mechanisms import COMPARED, LAWS, Law
from benches.peers import PEERS, Peer
from benches.timing import BULK, IN_CACHE, Run, fill, side_by_side

SIZES = (BULK, min(BULK, IN_CACHE))


def bench_fill(benchmark: Any) -> None:
    """Time the unit by itself."""
    side_by_side(benchmark, "unit", "fill", "fill", fill(), {})


@pytest.mark.parametrize(
    ("law", "n"),
    [(law, n) for law in LAWS for n in (SIZES if law in COMPARED else SIZES[:1])],
    ids=lambda x: getattr(x, "work", x),
)
def bench_law(benchmark: Any, law: Law, n: int) -> None:
    """Time one law drawn by stairnoise, and check what it drew."""
    drawn = side_by_side(benchmark, "bulk", law.work, "stairnoise", ours.bulk(law, n), {"fill": fill(n)})
    law.check(np.asarray(drawn))


def _beside(law: Law, n: int) -> dict[str, Run]:
    """Return stairnoise's time for the law; the staircase too stands beside those who draw Laplace noise."""
    others = [other for other in COMPARED if other.mechanism == "staircase" and law.mechanism == "laplace"]
    return {"fill": fill(n)} | {other.work: ours.bulk(other, n) for other in [law, *others]}


def _cases() -> Iterator[Any]:
    for law in COMPARED:
        for peer in PEERS:
            if peer.mechanism == law.mechanism:
                for n in dict.fromkeys(min(n, peer.most) for n in SIZES):
                    yield pytest.param(law, peer, n, id=f"{law.work}-{peer.name}-{n}")


@pytest.mark.parametrize(("law", "peer", "n"), list(_cases()))
def bench_peer(benchmark: Any, law: Law, peer: Peer, n: int) -> None:
    """Time one law drawn by a peer, with stairnoise between its rounds, and check what it drew."""
    if reason := peer.absent():
        pytest.skip(f"peer absent: {reason}")
    # A peer for single answers is met at its own size by stairnoise in bulk: each at its best.
    size = BULK if n == peer.most < BULK else n
    drawn = side_by_side(benchmark, "bulk", law.work, peer.name, Run(peer.make(law, n), n), _beside(law, size))
    law.check(np.asarray(drawn))
