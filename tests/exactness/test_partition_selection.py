"""Partition selection against tests/vectors/partition_selection.json and the oracle. Deterministic: no false alarms."""

import random
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.exactness.laws import rng_before
from tests.oracles import partition_selection, stream
from tests.oracles.generate import partition_selections
from tests.oracles.generate.encoding import float_of, read
from tests.oracles.partition_selection import Partitions, Shown

INPUTS = ("eps", "delta", "k", "counts", "seed", "fill", "index", "edges")


def arguments(entry: dict[str, Any]) -> Partitions:
    return Partitions(float_of(entry["eps"]), float_of(entry["delta"]), entry["k"])


@pytest.mark.parametrize("threads", [1, 3])
def test_golden_groups(threads: int) -> None:
    for entry in read("partition_selection"):
        mechanism, rng = sn.PartitionSelection(*arguments(entry)), rng_before(entry["fill"], int(entry["seed"]))
        counts = np.array(list(map(int, entry["counts"])))
        shown, values = mechanism.release(counts, rng=rng.at(entry["index"]), threads=threads)
        assert values.tolist() == entry["values"], entry
        assert shown.tolist() == [value != 0 for value in entry["values"]]
        assert mechanism.select(counts, rng=rng.at(entry["index"]), threads=threads).tolist() == shown.tolist()
        assert (mechanism.threshold, mechanism.always_shown) == (entry["median"], entry["certain"])


@pytest.mark.slow
def test_vectors_are_current() -> None:
    """The committed file is what the oracle makes now, in a seeded sample."""
    for entry in random.Random(5).sample(read("partition_selection"), 10):
        assert partition_selections.entry({name: entry[name] for name in INPUTS}) == entry


@pytest.mark.parametrize("case", range(12))
def test_oracle_agrees_on_groups_that_nobody_chose(case: int) -> None:
    choose = random.Random(case)
    given = Partitions(choose.uniform(0.05, 5), 10 ** -choose.uniform(0.4, 12), choose.choice((1, 1, 2, 5)))
    shown, mechanism = Shown(given), sn.PartitionSelection(*given)
    counts = [choose.randrange(shown.certain + 2) for _ in range(60)]
    _, values = mechanism.release(counts, rng=sn.SeededRng(case, allow_release=True))
    key = stream.seed_key(case)
    needed = [partition_selection.at(shown, key, 0, i).needed for i in range(len(counts))]
    assert values.tolist() == [shown.released(n, least) for n, least in zip(counts, needed, strict=True)], given
