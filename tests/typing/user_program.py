"""A program of a user of ``mypy --strict``, which is type-checked and run."""

import ctypes
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import stairnoise as sn
from stairnoise.compat import pydp

continuous: sn.Staircase = sn.Staircase(4, sensitivity=1.0, gamma="l2")
spread_out = sn.Laplace(np.linspace(0.1, 4, 5), [1.0, 2.0, 3.0, 4.0, 5.0])
counting = sn.DiscreteStaircase(eps=2, sensitivity=5, r=3)
geometric = sn.DiscreteLaplace([1, 2])

floats: NDArray[np.float64] = continuous.sample(10)
singles: NDArray[np.float32] = continuous.sample((2, 5), dtype=np.float32)
integers: NDArray[np.int64] = counting.sample((3, 4), rng=sn.SecureRng())
narrow: NDArray[np.int32] = counting.sample(7, dtype=np.int32)
buffer: NDArray[np.float64] = np.empty((2, 5))
filled: NDArray[np.float64] = spread_out.sample(out=buffer, rng=sn.SeededRng(1).at(5))
viewed: memoryview = counting.release([10, 20], out=memoryview(bytearray(16)).cast("q"))
points: ctypes.Array[ctypes.c_double] = continuous.release(floats[:3], out=(ctypes.c_double * 3)())
chunks: Iterator[NDArray[np.float64]] = continuous.sample_chunks(10, 4, rng=sn.SecureRng())
parts: list[NDArray[np.int32]] = list(counting.sample_chunks((3, 4), dtype=np.int32, threads=1))
one: float = continuous.sample()
many: NDArray[Any] = sn.sample(100, eps=np.array([1.0]), mechanism="laplace", rng=sn.SecureRng.from_key(bytes(32)))

private: NDArray[np.int64] = geometric.release([10, 20], max_partitions_contributed=2)
wider: sn.DiscreteLaplace[NDArray[np.int64], NDArray[np.float64]] = geometric.for_partitions(2)
answer: int = sn.DiscreteLaplace(1).release(5, rng=sn.SeededRng(3, allow_release=True))

children: list[sn.SeededRng] = sn.SeededRng(1).spawn(3)
bits: list[sn.SecureBitGenerator] = sn.SecureBitGenerator(key=bytes(32)).spawn(2)
shuffled: NDArray[np.int64] = np.random.Generator(bits[0]).permutation(5)
views: list[sn.SecureRng] = [sn.SecureRng().at(index) for index in (0, 10)]

eps: float | NDArray[np.float64] = continuous.eps
gamma: float | NDArray[np.float64] = continuous.gamma
r: int | NDArray[np.int64] = counting.r
step: int = counting.granularity
spread: float | NDArray[np.float64] = spread_out.std()
bound: int = counting.error_bound(0.95)

gaussian = sn.Gaussian(1, 1e-6)
model: dict[str, NDArray[Any]] = sn.add_noise({"weight": np.zeros(3), "bias": np.zeros(1)}, 0.1, integers="keep")
truncated: NDArray[np.float32] = sn.TruncatedLaplace(1, 1e-6, lower=-20).sample(5, dtype=np.float32)
canonical: NDArray[np.int64] = sn.DiscreteCanonical(0.5, 0.01).sample(5)
merged: NDArray[np.float64] = sn.MergedLaplace(eps=[16, 4], breakpoints=[0.125]).sample(5)
weighted: NDArray[np.int64] = sn.LatticeNoise.from_pmf([1, 2, 1], tail_ratio=0.5).sample(5)
deltas: NDArray[np.float64] = sn.LatticeNoise(np.ones(5)).losses_by_shift(1).delta
counted: NDArray[np.int64] = sn.DiscreteGaussian.from_eps(1, 1e-6).release([10, 20])
skellam: NDArray[np.int64] = sn.Skellam(4).share(10).release([10, 20])
totals: NDArray[np.int64] = sn.centered_residue(sn.Skellam(4).share(10).release_modulo([10, 20], 2**32), 2**32)
bounded: float | NDArray[np.float64] = sn.Skellam.from_eps(1, 1e-6).rdp_bound([2, 3.5])
vectors: NDArray[np.float64] = sn.MultivariateStaircase(1, dim=3, norm="l2").sample(4)
mechanisms: list[sn.GeneralizedDiscreteLaplace | sn.MultiScaleDiscreteLaplace | sn.Arete] = [
    sn.GeneralizedDiscreteLaplace(0.5, 0.4).share(10),
    sn.MultiScaleDiscreteLaplace(1, sensitivity=2).share(10, 3),
    sn.Arete(0.5, 0.5, 0.5, n_parties=10, present=2),
]
shared: NDArray[np.int64] = sn.MultiScaleDiscreteLaplace(1).share(n_parties=10).sample(5)
tail: float | NDArray[np.float64] = gaussian.sf([1.0, 2.0])

selections: list[sn.StaircaseSelection | sn.ExponentialMechanism | sn.PermuteAndFlip] = [
    sn.StaircaseSelection(1, gamma=0.5),
    sn.ExponentialMechanism(1, 1, monotonic=True),
    sn.PermuteAndFlip(1, 1),
]
chances: NDArray[np.float64] = selections[0].probabilities([0.0, 1.0, 4.0])
chosen: NDArray[np.int64] = selections[1].select([[0.0, 1.0], [3.0, 2.0]])
two_of_three: NDArray[np.int64] = selections[2].top(scores=[3.0, 1.0, 4.0], k=2)
groups = sn.PartitionSelection(1, 1e-6, max_partitions_contributed=2)
kept: NDArray[np.bool_] = groups.select([0, 3, 120])
noisy: tuple[NDArray[np.bool_], NDArray[np.int64]] = groups.release(np.array([0, 3, 120]))
one_group: tuple[bool, int] = groups.release(120)

loss: sn.PrivacyLoss = sn.Laplace(1).privacy_loss().compose(3)
promise: sn.Guarantee = sn.Gaussian(1, 1e-6).guarantee(max_partitions_contributed=3)
true_counts: NDArray[np.int64] = sn.NoNoise().release([1, 2])
of_a_vector: sn.Guarantee = sn.MultivariateStaircase(1, dim=3).privacy_map(2, integers=True)
of_counts: sn.Guarantee = sn.Skellam(100).privacy_map(3, size=9, integers=True, delta=1e-6)
of_weights: sn.Guarantee = sn.Gaussian(std=2.5).privacy_map(1.25, size=11_500_000)
table: sn.Comparison = sn.compare(1.0, sensitivity=1.0)
hundred: sn.Gaussian = sn.calibrate(sn.Gaussian, eps=4, delta=1e-6, releases=100)
p_value: float = sn.binomial_test(63, 100, mechanism=sn.DiscreteLaplace(1))
median: sn.Quantile = sn.quantile([18, 25, 60], 0.5, bounds=(0, 120), eps=1)
planned: float = sn.quantile_accuracy(0.5, 121, eps=1).rank_bound
limit: float | None = sn.quantile([18, 25, 60], 0.5, bounds=(0, 120), eps=1, interval=True).low
proportion: tuple[float, float] = sn.binomial_interval(63, 100, mechanism=sn.DiscreteLaplace(1))
tiers: list[str] = sn.cpu_tiers()
best: tuple[Any, Any, Any, Any] = (
    sn.optimal_gamma(4),
    sn.optimal_r(4, sensitivity=5),
    sn.optimal_cost(4, mechanism="staircase"),
    sn.expected_cost(continuous, "l2"),
)

report: sn.SelftestReport = sn.selftest(subjects=["known answers"])
passed: bool = report.passed


class Column:
    """A library's column, with a method that NumPy's arrays lack."""

    def to_numpy(self) -> NDArray[np.int64]:
        return np.arange(3)


def published(counts: Column) -> Column | None:
    try:
        return geometric.release(counts, columns=["n"], nulls="keep", max_partitions_contributed=2)
    except sn.LazyError:
        return None
    except sn.ParameterError:
        return counts


own: Column | None = published(Column())


def secret() -> bytes:
    return bytes(32)


keyed: sn.KeyedRng = sn.KeyedRng(secret, "persons 2026-Q3", bind="label")
by_key: NDArray[np.int64] = sn.DiscreteLaplace(1).release([1, 2], labels=["a", "b"], statistic="count", rng=keyed)
fingerprint: str = keyed.fingerprint([1, 2], ["a", "b"])

ledger: sn.Ledger = sn.Ledger(Path(tempfile.mkdtemp(), "people.ledger"), budget=1, delta=1e-6)
spent: sn.Spending = ledger.spend(sn.DiscreteLaplace(0.5), data="people", statistic="count", fingerprint=fingerprint, rng=keyed)
try:
    rows: list[sn.Spending] = ledger.spend([sn.Laplace(0.25), sn.Gaussian(0.25, 1e-7)], data="people")
except sn.BudgetError as error:
    refused: sn.LedgerError = error

try:
    sn.Staircase(-1)
except sn.ParameterError as error:
    text: str = str(error)
    same: sn.StairnoiseError = error


def promise_of(mechanism: sn.Mechanism) -> sn.Guarantee:
    return mechanism.guarantee()


def spread_of(mechanism: sn.AdditiveMechanism) -> float:
    return float(np.max(mechanism.std()))


def choice_of(mechanism: sn.SelectionMechanism) -> int:
    return mechanism.select([0.0, 1.0, 2.0])


promised: list[sn.Guarantee] = [promise_of(sn.Laplace(1)), promise_of(sn.MultivariateStaircase(1, dim=2))]
spreads: list[float] = [spread_of(sn.Skellam(2.0)), spread_of(sn.DiscreteLaplace([1, 2]))]
place: int = choice_of(sn.PermuteAndFlip(1, sensitivity=1))

replaced: pydp.GaussianMechanism = pydp.GaussianMechanism.create_from_standard_deviation(2)
people: int = replaced.add_noise(41)
total: float = pydp.LaplaceMechanism(1, sensitivity=2).add_noise(41.5)
inner: sn.Gaussian[float] = replaced.mechanism
keep: bool = pydp.create_partition_strategy("laplace", 1, 1e-6, 3, pre_threshold=5).should_keep(41)


def height_of(values: list[int]) -> float:
    return sn.plot_release(values, sn.DiscreteLaplace(1), ["a", "b"], confidence=0.9, color="red").get_ylim()[0]
