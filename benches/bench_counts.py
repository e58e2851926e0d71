"""The thesis' table: the time of a noisy count, for seven counts."""

from __future__ import annotations

from typing import Any

import pytest

from benches.counts import COUNTS, WAYS, Way, noise_of
from benches.peers import reason_absent
from benches.timing import Run, side_by_side


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def bench_way(benchmark: Any, way: Way) -> None:
    """Time the seven noisy counts made in one way, with stairnoise's release between the rounds."""
    if reason := reason_absent(way.package):
        pytest.skip(f"peer absent: {reason}")
    release = WAYS[-1]
    beside = {} if way is release else {release.name: Run(release.make(release.mechanism), len(COUNTS))}
    run = Run(way.make(way.mechanism), len(COUNTS))
    side_by_side(benchmark, "counts", "seven noisy counts", way.name, run, beside)
    way.mechanism.check(noise_of(run.draw))
