"""Partition selection against its golden vectors and the oracles. Deterministic: no false alarms."""

import random
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanisms.partition_selection.calibration import least_threshold
from stairnoise.mechanisms.partition_selection.rules import TruncatedGeometric
from tests.exactness.mechanisms import rng_before
from tests.oracles import gaussian_threshold, partition_selection, stream
from tests.oracles.generate import gaussian_thresholds, partition_selections
from tests.oracles.generate.encoding import float_of, read
from tests.oracles.partition_selection import Partitions, Shown

INPUTS = ("eps", "delta", "k", "counts", "seed", "fill", "index", "edges")
GAUSSIAN_INPUTS = ("eps", "delta", "k", "seed", "fill", "index")


def arguments(entry: dict[str, Any]) -> Partitions:
    return Partitions(float_of(entry["eps"]), float_of(entry["delta"]), entry["k"])


def geometric(given: Partitions) -> sn.PartitionSelection:
    """Return the mechanism with geometric noise, even if Gaussian noise is better."""
    mechanism = sn.PartitionSelection(*given)
    object.__setattr__(mechanism, "_rule", TruncatedGeometric(*given))
    return mechanism


@pytest.mark.parametrize("threads", [1, 3])
def test_golden_groups(threads: int) -> None:
    for entry in read("partition_selection"):
        mechanism, rng = geometric(arguments(entry)), rng_before(entry["fill"], int(entry["seed"]))
        counts = np.array(list(map(int, entry["counts"])))
        shown, values = mechanism.release(counts, rng=rng.at(entry["index"]), threads=threads)
        assert values.tolist() == entry["values"], entry
        assert shown.tolist() == [value != 0 for value in entry["values"]]
        assert mechanism.select(counts, rng=rng.at(entry["index"]), threads=threads).tolist() == shown.tolist()
        assert (mechanism.threshold, mechanism.always_shown) == (entry["median"], entry["certain"])


@pytest.mark.parametrize("threads", [1, 3])
def test_golden_groups_with_gaussian_noise(threads: int) -> None:
    """Counts reach the threshold exactly or miss it by one; an entry with no σ² uses the other, better rule."""
    for entry in read("gaussian_threshold"):
        mechanism, rng = sn.PartitionSelection(*arguments(entry)), rng_before(entry["fill"], int(entry["seed"]))
        if entry["sigma2"] is None:
            assert mechanism.sigma2 is None, entry
            continue
        assert (mechanism.sigma2, mechanism.threshold) == (float_of(entry["sigma2"]), entry["threshold"]), entry
        counts = np.array(list(map(int, entry["counts"])))
        shown, values = mechanism.release(counts, rng=rng.at(entry["index"]), threads=threads)
        assert values.tolist() == entry["values"], entry
        assert shown.tolist() == [value != 0 for value in entry["values"]]
        assert mechanism.select(counts, rng=rng.at(entry["index"]), threads=threads).tolist() == shown.tolist()


@pytest.mark.slow
def test_vectors_are_current() -> None:
    """The committed files are what the oracles make now, in a seeded sample."""
    for entry in random.Random(5).sample(read("partition_selection"), 5):
        assert partition_selections.entry({name: entry[name] for name in INPUTS}) == entry
    for entry in random.Random(5).sample(read("gaussian_threshold"), 1):
        assert gaussian_thresholds.entry({name: entry[name] for name in GAUSSIAN_INPUTS}) == entry


@pytest.mark.parametrize("case", range(12))
def test_oracle_agrees_on_groups_that_nobody_chose(case: int) -> None:
    choose = random.Random(case)
    given = Partitions(choose.uniform(0.05, 5), 10 ** -choose.uniform(0.4, 12), choose.choice((1, 1, 2, 5)))
    shown, mechanism = Shown(given), geometric(given)
    counts = [choose.randrange(shown.certain + 2) for _ in range(60)]
    _, values = mechanism.release(counts, rng=sn.SeededRng(case, allow_release=True))
    key = stream.seed_key(case)
    needed = [partition_selection.at(shown, key, 0, i).needed for i in range(len(counts))]
    assert values.tolist() == [shown.released(n, least) for n, least in zip(counts, needed, strict=True)], given


@pytest.mark.parametrize("case", range(4))
def test_the_oracle_has_the_same_delta(case: int) -> None:
    """For random parameters, the stated δ is the largest divergence plus a margin, and a threshold one lower is too low."""
    choose = random.Random(case)
    eps, delta, k = 2 ** choose.uniform(-1, 2), 10 ** -choose.uniform(0.3, 8), choose.randrange(2, 7)
    found = least_threshold(eps, delta, k, 10**9)
    assert found is not None
    exact, nearer = (gaussian_threshold.largest(eps, k, found.sigma2, found.threshold - less) for less in (0, 1))
    assert float(found.delta / exact - 1) == pytest.approx(2.0**-32, rel=1e-2)
    assert found.delta <= delta < nearer * (1 + 2.0**-32)
