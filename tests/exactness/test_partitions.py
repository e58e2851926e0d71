"""Releases in which one person changes k values, against tests/vectors/partitions.json and the oracle. No false alarms.

The four mechanisms whose ε is divided are in test_golden.py, Gaussian is in test_gaussian.py, MultivariateStaircase in
test_multivariate.py.
"""

import random
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped, rest_long
from tests.oracles import partitions as oracle
from tests.oracles.generate import partitions as generate
from tests.oracles.generate.encoding import decoded, encoded, read

INPUTS = ("law", "arguments", "partitions", "seed", "count")
MAKE: dict[str, Any] = {
    "truncated_laplace": sn.TruncatedLaplace,
    "truncated_staircase": sn.TruncatedStaircase,
    "truncated_discrete_staircase": sn.TruncatedDiscreteStaircase,
    "discrete_canonical": sn.DiscreteCanonical,
    "merged_laplace": sn.MergedLaplace,
    "multi_scale_discrete_laplace": sn.MultiScaleDiscreteLaplace,
    "discrete_gaussian": sn.DiscreteGaussian,
    "skellam": sn.Skellam,
    "skellam_from_eps": sn.Skellam.from_eps,
    "discrete_gaussian_from_eps": sn.DiscreteGaussian.from_eps,
}
ENTRIES = read("partitions")


def each_of(mechanism: Any) -> list[Any]:
    """Return the arguments of each value's mechanism, as in the vectors."""
    if isinstance(mechanism, sn.DiscreteGaussian):
        return [mechanism.sigma2]
    return [list(argument) if isinstance(argument, tuple) else argument for argument in mechanism._named_arguments().values()]


@looped("entry", ENTRIES)
def test_releases(entry: dict[str, Any]) -> None:
    mechanism = MAKE[entry["law"]](*decoded(entry["arguments"]))
    k, seed = entry["partitions"], int(entry["seed"])
    divided = mechanism.for_partitions(k)
    assert encoded(each_of(divided)) == entry["each"]
    assert divided.granularity == 2.0 ** entry["log2_g"]
    expected = [float(value * divided.granularity) for value in entry["values"]]
    zeros = np.zeros(entry["count"])
    released = mechanism.release(zeros, max_partitions_contributed=k, rng=sn.SeededRng(seed, allow_release=True))
    assert released.tolist() == expected
    assert divided.sample(entry["count"], rng=sn.SeededRng(seed), dtype=np.float64).tolist() == expected


@pytest.mark.slow
def test_vectors_are_what_the_oracle_makes() -> None:
    for entry in random.Random("partitions").sample(ENTRIES, 4):
        assert generate.entry({name: entry[name] for name in INPUTS}) == entry


@pytest.mark.parametrize("case", rest_long(range(3), range(8)))
def test_variances_of_any_parameters(case: int) -> None:
    """The product's float64 sums against the oracle's integers and mpmath, bit for bit."""
    choose = random.Random(f"partitions {case}")
    eps, shift, k = 2 ** choose.uniform(-8, 6), choose.choice((1, 1, 2, 7)), choose.choice((2, 3, 5, 10, 1000))
    delta = 10 ** choose.uniform(-15, -0.1) if case % 3 else 1 - 10 ** choose.uniform(-12, -1)
    mechanism = sn.DiscreteGaussian.from_eps(eps, delta, shift)
    assert mechanism.for_partitions(k).sigma2 == oracle.gaussian_sigma2(eps, delta, shift, k)
