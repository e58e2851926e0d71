"""The mechanisms in bulk, into an existing array; four of them beside their peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benches import ours
from benches.mechanisms import COMPARED, CORE_MECHANISMS, CoreMechanism
from benches.peers import PEERS, Peer
from benches.timing import BULK, IN_CACHE, Run, fill, side_by_side

SIZES = (BULK, min(BULK, IN_CACHE))


def bench_fill(benchmark: Any) -> None:
    """Time the unit alone."""
    side_by_side(benchmark, "unit", "fill", "fill", fill(), {})


@pytest.mark.parametrize(
    ("mechanism", "n"),
    [(mechanism, n) for mechanism in CORE_MECHANISMS for n in (SIZES if mechanism in COMPARED else SIZES[:1])],
    ids=lambda x: getattr(x, "work", x),
)
def bench_mechanism(benchmark: Any, mechanism: CoreMechanism, n: int) -> None:
    """Time one mechanism drawn by stairnoise, and check its draws."""
    drawn = side_by_side(benchmark, "bulk", mechanism.work, "stairnoise", ours.bulk(mechanism, n), {"fill": fill(n)})
    mechanism.check(np.asarray(drawn))


def _beside(mechanism: CoreMechanism, n: int) -> dict[str, Run]:
    """Return stairnoise's runs to compare with a peer of the mechanism; peers of Laplace noise get the staircase too."""
    others = [other for other in COMPARED if other.mechanism == "staircase" and mechanism.mechanism == "laplace"]
    return {"fill": fill(n)} | {other.work: ours.bulk(other, n) for other in [mechanism, *others]}


def _cases() -> Iterator[Any]:
    for mechanism in COMPARED:
        for peer in PEERS:
            if peer.mechanism == mechanism.mechanism:
                for n in dict.fromkeys(min(n, peer.most) for n in SIZES):
                    yield pytest.param(mechanism, peer, n, id=f"{mechanism.work}-{peer.name}-{n}")


@pytest.mark.parametrize(("mechanism", "peer", "n"), list(_cases()))
def bench_peer(benchmark: Any, mechanism: CoreMechanism, peer: Peer, n: int) -> None:
    """Time one mechanism drawn by a peer, with stairnoise between its rounds, and check the peer's draws."""
    if reason := peer.absent():
        pytest.skip(f"peer absent: {reason}")
    # A peer for single answers runs at its own size, stairnoise in bulk: both at their best.
    size = BULK if n == peer.most < BULK else n
    drawn = side_by_side(benchmark, "bulk", mechanism.work, peer.name, Run(peer.make(mechanism, n), n), _beside(mechanism, size))
    mechanism.check(np.asarray(drawn))
