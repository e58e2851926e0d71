"""Each CPU tier that this machine can run, forced."""

from __future__ import annotations

from typing import Any

import pytest

from benches import ours
from benches.laws import COMPARED, Law
from benches.tiers import Forced
from benches.timing import BULK, fill, side_by_side


@pytest.mark.parametrize("tier", ["portable", "avx2", "avx512"])
@pytest.mark.parametrize("law", COMPARED, ids=lambda law: law.work)
def bench_tier(benchmark: Any, law: Law, tier: str) -> None:
    """Time one law with one tier, beside the tier that stairnoise chooses."""
    if tier not in ours.tiers():
        pytest.skip(f"absent: {ours.absent().get('forced CPU tiers', 'not on this processor')}")
    beside = {"fill": fill(), law.work: ours.bulk(law, BULK)}
    with Forced(tier, law.work, BULK) as forced:
        side_by_side(benchmark, "tiers", law.work, f"stairnoise, {tier}", forced.run(), beside)
        forced.check()
