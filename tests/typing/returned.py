"""Return types, one question a line: both type checkers see them, and they are true when this file runs."""

import ctypes
from array import array
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import stairnoise as sn
from stairnoise.accounting.privacy_loss import privacy_loss

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]


def square(x: Floats) -> Floats:
    return x * x


def number_or_array() -> float | Floats:
    return 0.5


rng = sn.SeededRng(1, allow_release=True)
real = sn.Staircase(4, 1.0, gamma="l2")
whole = sn.DiscreteStaircase(2, sensitivity=5, r=3)
reals = sn.Laplace(np.linspace(0.1, 4, 3), [1.0, 2.0, 3.0])
wholes = sn.DiscreteLaplace([1, 2, 3], 2)
gaussian = sn.Gaussian(1, 1e-6, 1)
counts = sn.DiscreteGaussian(100)
vectors = sn.MultivariateStaircase(1, 1, dim=3)
share = sn.MultiScaleDiscreteLaplace(1).share(10)

floats: Floats = np.array([0.5, 1.5, 2.5])
singles: Singles = np.array([0.5, 1.5, 2.5], np.float32)
integers: Integers = np.array([1, 2, 3], np.int64)
narrow: NDArray[np.int32] = np.array([1, 2, 3], np.int32)
matrix: Floats = np.zeros((2, 3))

# The type of a mechanism shows whether its parameters are single numbers.
assert_type(real, sn.Staircase[float])
assert_type(whole, sn.DiscreteStaircase[int, float])
assert_type(reals, sn.Laplace[Floats])
assert_type(wholes, sn.DiscreteLaplace[Integers, Floats])
assert_type(sn.Laplace(np.float64(1), Fraction(1, 2)), sn.Laplace[float])
assert_type(sn.Laplace(1, [1.0, 2.0]), sn.Laplace[Floats])
assert_type(sn.Staircase(1, 1, [0.25, 0.5]), sn.Staircase[Floats])
assert_type(wholes.for_partitions(2), sn.DiscreteLaplace[Integers, Floats])

# release
assert_type(whole.release(5, rng=rng), int)
assert_type(whole.release(np.int32(5), rng=rng), int)
assert_type(whole.release(5.0, rng=rng), float)
assert_type(whole.release(5, labels="a", statistic="count", rng=sn.KeyedRng(bytes(32), "r")), int)
assert_type(whole.release(integers, labels=integers, statistic="count", rng=sn.KeyedRng(bytes(32), "r")), Integers)
assert_type(whole.release(integers, rng=rng), Integers)
assert_type(whole.release(narrow, max_partitions_contributed=2), Integers)
assert_type(whole.release(integers, threads=2), Integers)
assert_type(whole.release([1, 2], rng=rng), Integers)
assert_type(whole.release(integers, nulls="zero"), Integers)
assert_type(whole.release([[1, 2], [3, 4]], rng=rng), Integers)
assert_type(whole.release(floats, rng=rng), Floats)
assert_type(whole.release([1.0, 2.5], rng=rng), Floats)
assert_type(whole.release(singles, rng=rng), Singles)
assert_type(whole.release(integers, out=narrow.copy()), NDArray[np.int32])
assert_type(real.release(5, rng=rng), float)
assert_type(real.release(0.5), float)
assert_type(real.release(integers), Floats)
assert_type(real.release([1, 2]), Floats)
assert_type(real.release(floats), Floats)
assert_type(real.release(singles), Singles)
assert_type(real.release(floats, out=singles.copy()), Singles)
assert_type(wholes.release(5), Integers)
assert_type(wholes.release(5.0), Floats)
assert_type(reals.release(5), Floats)
assert_type(reals.release(singles), Singles)
assert_type(gaussian.release(0.5), float)
assert_type(counts.release(5), int)
assert_type(counts.release(5, l2_sensitivity=2), int)
assert_type(sn.Gaussian(sigma=2.0).release(0.5), float)
assert_type(sn.Gaussian([1.0, 2.0], 1e-6).sample(), Floats)
assert_type(sn.Gaussian(sigma=floats).cdf(0.5), Floats)
assert_type(sn.Gaussian(1, 1e-6).sigma, float)
assert_type(sn.Gaussian(std=2).sample(), float)
assert_type(sn.Gaussian(std=floats).sigma, Floats)
assert_type(sn.Laplace(scale=2).scale, float)
assert_type(sn.Laplace(std=floats).for_partitions(2), sn.Laplace[Floats])
assert_type(sn.sample(mechanism="laplace", scale=2), float)
assert_type(sn.sample(mechanism="gaussian", std=floats), Floats)
assert_type(sn.DiscreteGaussian(sigma=2).sample(), int)
assert_type(sn.DiscreteGaussian(floats).sample(), Integers)
assert_type(sn.DiscreteGaussian.from_eps(floats, 1e-6).rho(), Floats)
assert_type(sn.DiscreteGaussian.from_eps(1, 1e-6).sigma2, float)
assert_type(counts.release(integers, threads=None), Integers)
assert_type(counts.release(integers), Integers)
assert_type(counts.release(floats), Floats)
assert_type(share.release(5), int)
assert_type(vectors.release(matrix), Floats)
assert_type(vectors.release(matrix, threads=2), Floats)
assert_type(vectors.release(matrix.astype(np.float32)), Singles)

# release_modulo
assert_type(whole.release_modulo(5, 2**32, rng=rng), int)
assert_type(whole.release_modulo(integers, 2**32, max_partitions_contributed=2), NDArray[np.uint64])
assert_type(share.release_modulo([1, 2], 7, threads=1), NDArray[np.uint64])
assert_type(counts.release_modulo(integers, 7, out=integers), Integers)
assert_type(sn.centered_residue(5, 7), int)
assert_type(sn.centered_residue(integers, 7), Integers)

# add_noise
assert_type(sn.add_noise([floats], 0.1), list[NDArray[Any]])
assert_type(sn.add_noise({"weight": floats}, 0.1), dict[str, NDArray[Any]])
assert_type(sn.add_noise(floats, 0.1, rng=rng), NDArray[Any])
assert_type(sn.add_noise([floats], 0.1, out=[floats]), list[Floats])

# sample
assert_type(real.sample(), float)
assert_type(real.sample(rng=rng), float)
assert_type(whole.sample(), int)
assert_type(reals.sample(), Floats)
assert_type(wholes.sample(), Integers)
assert_type(vectors.sample(), Floats)
assert_type(real.sample(3), Floats)
assert_type(whole.sample((2, 3), threads=1), Integers)
assert_type(reals.sample((2, 3)), Floats)
assert_type(real.sample(3, dtype=np.float32), Singles)
assert_type(whole.sample(3, dtype=np.int32), NDArray[np.int32])
assert_type(whole.sample(3, dtype=np.dtype(np.float64)), Floats)
assert_type(whole.sample(out=floats.copy()), Floats)
assert_type(vectors.sample(3, dtype=np.float32), Singles)

assert_type(real.sample(out=(ctypes.c_double * 3)()), ctypes.Array[ctypes.c_double])
assert_type(whole.release(array("q", [1, 2, 3]), out=(ctypes.c_int64 * 3)()), ctypes.Array[ctypes.c_int64])
assert_type(real.sample_chunks(3), Iterator[Floats])
assert_type(whole.sample_chunks((2, 3), 1), Iterator[Integers])
assert_type(reals.sample_chunks((2, 3), rng=rng), Iterator[Floats])
assert_type(vectors.sample_chunks(3, dtype=np.float32), Iterator[Singles])

# Noise in one call
assert_type(sn.sample(eps=1), float)
assert_type(sn.sample(eps=1, mechanism="discrete_laplace"), int)
assert_type(sn.sample(3, 1.0), Floats)
assert_type(sn.sample(n=3, eps=1), Floats)
assert_type(sn.sample(3, 1, 2.5, gamma="l2"), Floats)
assert_type(sn.sample(3, 1, mechanism="laplace"), Floats)
assert_type(sn.sample(3, 1, mechanism="discrete_laplace"), Integers)
assert_type(sn.sample(3, 1, 4, mechanism="discrete_staircase", r=2), Integers)
assert_type(sn.sample(3, mechanism="discrete_gaussian", sigma2=4), Integers)
assert_type(sn.sample(3, mechanism="gaussian", eps=1, delta=1e-6), Floats)
assert_type(sn.sample(3, mechanism="merged_laplace", eps=[2, 1], breakpoints=[1]), Floats)
assert_type(sn.sample(mechanism="merged_laplace", eps=[2, 1], breakpoints=[1]), float)
assert_type(sn.sample(mechanism="multivariate_staircase", eps=1, dim=3), Floats)
assert_type(sn.sample(eps=floats), Floats)
assert_type(sn.sample(eps=[1, 2], mechanism="discrete_laplace"), Integers)
assert_type(sn.sample(3, 1, dtype=np.float32), Singles)
assert_type(sn.sample(3, 1, mechanism="discrete_laplace", dtype=np.int32), NDArray[np.int32])
assert_type(sn.sample(eps=1, out=singles.copy()), Singles)

# The distribution
assert_type(real.std(), float)
assert_type(whole.var(), float)
assert_type(reals.mean(), Floats)
assert_type(wholes.std(), Floats)
assert_type(gaussian.entropy(), float)
assert_type(share.std(), float)
assert_type(real.moment(2), float)
assert_type(reals.abs_moment(0.5), Floats)
assert_type(real.median(), float)
assert_type(real.support(), tuple[float, float])
assert_type(real.stats(), tuple[float, float])
assert_type(real.stats("k"), float)
assert_type(real.cdf(1), float)
assert_type(real.pdf(np.float64(1)), float)
assert_type(real.ppf([0.25, 0.5]), Floats)
assert_type(real.sf(floats), Floats)
assert_type(whole.pmf(integers), Floats)
assert_type(whole.logpmf(1), float)
assert_type(reals.logcdf(1), Floats)
assert_type(real.interval(0.9), tuple[float, float])
assert_type(real.error_bound(0.95), float)
assert_type(whole.error_bound(0.95), int)
assert_type(counts.error_bound(confidence=0.95), int)
assert_type(wholes.error_bound(0.95), Integers)
assert_type(whole.error_bound([0.95, 0.9]), Integers)
assert_type(reals.error_bound(0.95), Floats)
assert_type(vectors.error_bound(0.95), float)
assert_type(vectors.norm_cdf(floats), Floats)
assert_type(sn.Laplace.eps_for_error(10, 0.95), float)
assert_type(sn.Staircase.eps_for_error([1, 2], 0.95, gamma="l2"), Floats)
assert_type(sn.DiscreteStaircase.eps_for_error(10, 0.95, 5), float)

# Parameters
assert_type(real.eps, float)
assert_type(real.gamma, float)
assert_type(real.granularity, float)
assert_type(whole.sensitivity, int)
assert_type(whole.r, int)
assert_type(whole.granularity, int)
assert_type(reals.eps, Floats | float | None)

# Intervals
assert_type(real.confidence_interval(0.5), tuple[float, float])
assert_type(whole.confidence_interval(5), tuple[int, int])
assert_type(whole.confidence_interval(5, of="sum", terms=2), tuple[int, int])
assert_type(whole.confidence_interval(2.5, of="mean", terms=2), tuple[int | float, int | float])
assert_type(whole.confidence_interval([5, 6]), tuple[Integers, Integers])
assert_type(real.confidence_interval([5, 6]), tuple[Floats, Floats])
assert_type(real.confidence_interval(floats), tuple[Floats, Floats])
assert_type(whole.confidence_interval([5.5, 6.0]), tuple[Integers | Floats, Integers | Floats])

# Privacy
guarantee = real.guarantee(max_partitions_contributed=2)
assert_type(guarantee, sn.Guarantee)
assert_type(guarantee.eps, float | Floats | None)
assert_type(guarantee.delta, float | Floats | None)
assert_type(guarantee.partitions, int)
assert_type(real.privacy_loss(), sn.PrivacyLoss[float])
assert_type(privacy_loss(reals), sn.PrivacyLoss[Floats])
assert_type(real.compose(3).eps_for_delta(1e-6), float)
loss = whole.privacy_loss(lattice=True).compose(3) + counts.privacy_loss(sensitivity=2)
assert_type(loss, sn.PrivacyLoss[float])
assert_type(loss.eps, float)
assert_type(loss.exact, bool)
assert_type(loss.mean(), float)
assert_type(loss.to_dp_accounting(1e-3), Any)
assert_type(loss.rdp(2), float)
assert_type(loss.privacy_profile(1), float)
assert_type(loss.privacy_profile(1, bounds=True), tuple[float, float])
assert_type(loss.privacy_profile([1, 2]), Floats)
assert_type(loss.tradeoff(floats / 10, bounds=True), tuple[Floats, Floats])
assert_type(loss.rdp(alpha=2), float | Floats)
assert_type(loss.rdp(number_or_array()), float | Floats)
assert_type(real.cdf(number_or_array()), float | Floats)
assert_type(real.privacy_profile(0.5), float)
assert_type(reals.rdp(2), Floats)

# Groups
groups = sn.PartitionSelection(1, 1e-6)
assert_type(groups.select(5), bool)
assert_type(groups.select([5, 6]), NDArray[np.bool_])
assert_type(groups.release(5), tuple[bool, int])
assert_type(groups.release(integers), tuple[NDArray[np.bool_], Integers])
assert_type(groups.probability(3), float)
assert_type(groups.probability([3, 4]), Floats)
assert_type(groups.privacy_loss().privacy_profile(1.0), float)

# Selection
select = sn.StaircaseSelection(1, 1)
assert_type(select.guarantee().delta, float | Floats | None)
assert_type(select.select([0.0, 1.0, 3.0]), int)
assert_type(select.select([[0.0, 1.0], [3.0, 2.0]]), Integers)
assert_type(select.select(floats), int | Integers)
assert_type(select.select(floats, 5), Integers)
assert_type(select.sample([0, 1], rng=rng), int)
assert_type(select.select(matrix, out=integers[:2].copy()), Integers)
assert_type(select.probabilities(floats), Floats)
assert_type(select.select(scores=[0.0, -1.0]), int)
assert_type(select.select(scores=[[0.0, -1.0], [-3.0, -2.0]]), Integers)
assert_type(sn.PermuteAndFlip(1, 1).select(scores=floats, size=5), Integers)
assert_type(sn.PermuteAndFlip(1, 1).sample(scores=[2, 1], rng=rng), int)
assert_type(sn.PermuteAndFlip(1, 1).top(floats, 2), Integers)
assert_type(sn.PermuteAndFlip(1, 1).top(scores=[3, 1, 2], k=2), Integers)
assert_type(sn.PermuteAndFlip(1, 1).top(floats, 2, out=integers[:2].copy()), Integers)
assert_type(sn.PermuteAndFlip(1, 1).probabilities(scores=floats), Floats)
assert_type(select.expected_cost([0, 1]), float)
assert_type(select.expected_cost([[0, 1], [2, 3]]), Floats)
assert_type(select.expected_cost(scores=[0, -1]), float)
assert_type(select.expected_cost(scores=[[0, -1], [-2, -3]]), Floats)
assert_type(sn.PermuteAndFlip(1, 1).expected_cost(scores=floats), float | Floats)

# Choice of shape and mechanism
assert_type(sn.optimal_gamma(4), float)
assert_type(sn.optimal_gamma(4, "l2"), float)
assert_type(sn.optimal_gamma(floats, 0.5), Floats)
assert_type(sn.optimal_r(4, 5), int)
assert_type(sn.optimal_r(4, [5, 6]), Integers)
assert_type(sn.optimal_cost(4, cost=square), float)
assert_type(sn.optimal_cost(4, [1, 2], mechanism="discrete_staircase"), Floats)
assert_type(sn.expected_cost(real, "l2"), float)
assert_type(sn.expected_cost(reals, 1), Floats)
assert_type(sn.expected_cost(whole, [1, 2]), Floats)
table = sn.compare(1, delta=1e-6)
assert_type(table, sn.Comparison)
assert_type(table["Laplace"].std, float)
assert_type(table.recommendation, str)
assert_type(sn.compare(1, releases=3, mechanisms=["Laplace"]).releases, int | None)
assert_type(sn.calibrate(sn.Gaussian, eps=1, delta=1e-6, releases=3), sn.Gaussian[Any])
assert_type(sn.calibrate(sn.DiscreteGaussian, eps=1, delta=1e-6, releases=3), sn.DiscreteGaussian[Any, Any])

# Inference from a released count
assert_type(sn.binomial_test(63, 100, mechanism=sn.DiscreteLaplace(1)), float)
assert_type(sn.binomial_test([63, 64], 100, mechanism=sn.DiscreteLaplace(1)), Floats)
assert_type(sn.binomial_interval(63, 100, mechanism=sn.DiscreteLaplace(1)), tuple[float, float])
assert_type(sn.binomial_interval(integers, 100, mechanism=sn.DiscreteLaplace(1)), tuple[Floats, Floats])

# Ledger
ledger = sn.Ledger("file.ledger", 1, delta=1e-6) if table.recommendation == "" else None
if ledger is not None:
    assert_type(ledger.total(), float)
    assert_type(ledger.remaining(), float)
    assert_type(ledger.report(), list[sn.Spending])
    assert_type(ledger.spend(real, data="people"), sn.Spending)
    assert_type(ledger.spend(gaussian.guarantee(), data="people"), sn.Spending)
    assert_type(ledger.spend(select, data="people"), sn.Spending)
    assert_type(ledger.spend([real, whole], data="people", statistic=["sum", "count"]), list[sn.Spending])
    assert_type(ledger.spend(real, data="people").eps, float | None)
