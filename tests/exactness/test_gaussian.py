"""Gaussian and DiscreteGaussian against tests/vectors/ and the oracle, bit for bit. Deterministic: no false alarms."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped, rest_long
from tests.exactness.mechanisms import rng_before
from tests.oracles import gaussian, release, stream
from tests.oracles.generate import gaussian as generate
from tests.oracles.generate.encoding import VECTORS, float_of, read

FILL_INPUTS = ("sigma2", "seed", "fill", "index", "count")
SIGMA_INPUTS = ("sigma", "sensitivity", "partitions", "seed", "fill", "index", "count")
CALIBRATION_INPUTS = ("eps", "delta", "sensitivity", "partitions", "seed", "fill", "index", "count")


def sample(name: str, count: int) -> list[Any]:
    entries = read(name)
    return random.Random(name).sample(entries, min(count, len(entries)))


def calibrated(entry: dict[str, Any]) -> Any:
    """Return the mechanism of a release in which one person changes `partitions` values."""
    mechanism = sn.Gaussian(*(float_of(entry[name]) for name in ("eps", "delta", "sensitivity")))
    return mechanism if entry["partitions"] == 1 else mechanism.for_partitions(entry["partitions"])


@looped("entry", read("discrete_gaussian"))
def test_fills(entry: dict[str, Any]) -> None:
    mechanism = sn.DiscreteGaussian(float_of(entry["sigma2"]))
    rng = rng_before(entry["fill"], int(entry["seed"]))
    for dtype in ("int64", "int32", "float64"):
        expected = [release.output(value, Fraction(1), dtype) for value in entry["values"]]
        drawn = mechanism.sample(entry["count"], rng=rng.at(entry["index"]), dtype=dtype)
        assert drawn.tobytes() == np.array(expected, dtype).tobytes()


@pytest.mark.parametrize("entry", read("gaussian"), ids=lambda entry: f"{float_of(entry['eps']):g}-{entry['partitions']}")
def test_calibrations(entry: dict[str, Any]) -> None:
    mechanism = calibrated(entry)
    assert mechanism._lattices == (entry["log2_g"], float_of(entry["sigma2"]), entry["cells"])
    granularity = Fraction(2) ** entry["log2_g"]
    for dtype in ("float64", "float32"):
        expected = [release.output(value, granularity, dtype) for value in entry["values"]]
        drawn = mechanism.sample(entry["count"], rng=sn.SeededRng(int(entry["seed"])), dtype=dtype)
        assert drawn.tobytes() == np.array(expected, dtype).tobytes()


@pytest.mark.parametrize("entry", read("gaussian_sigma"), ids=lambda entry: f"{float_of(entry['sigma']):g}-{entry['partitions']}")
def test_noise_of_a_sigma(entry: dict[str, Any]) -> None:
    mechanism = sn.Gaussian(sigma=float_of(entry["sigma"]), sensitivity=float_of(entry["sensitivity"]))
    mechanism = mechanism if entry["partitions"] == 1 else mechanism.for_partitions(entry["partitions"])
    assert mechanism._lattices == (entry["log2_g"], float_of(entry["sigma2"]), entry["cells"])
    expected = [release.output(value, Fraction(2) ** entry["log2_g"], "float64") for value in entry["values"]]
    assert mechanism.sample(entry["count"], rng=sn.SeededRng(int(entry["seed"]))).tolist() == expected


@looped("case", range(40))
def test_lattices_of_any_sigma(case: int) -> None:
    choose = random.Random(f"lattice {case}")
    sensitivity = 2 ** choose.uniform(-900, 900)
    sigma, k = sensitivity * 2 ** choose.uniform(-19.9, 25), choose.choice([1, 1, 2, 3, 64, 2**12 + 1])
    mechanism = sn.Gaussian(sigma=sigma, sensitivity=sensitivity)
    assert (mechanism if k == 1 else mechanism.for_partitions(k))._lattices == gaussian.of_sigma(sigma, sensitivity, k)


@pytest.mark.parametrize("partitions", [1, 7])
def test_release_is_the_sum_on_the_lattice(partitions: int) -> None:
    values = [0.1, -3.75, 1e6 + 1 / 3, 0.0]
    mechanism = sn.Gaussian(0.7, 1e-5, 2.0)
    log2_g, sigma2, _ = gaussian.calibrate(0.7, 1e-5, 2.0, partitions)
    granularity = Fraction(2) ** log2_g
    noise = [gaussian.at(sigma2, stream.seed_key(9), 0, index).value for index in range(len(values))]
    expected = [
        release.output(release.quotient(value, granularity) + n, granularity, "float64")
        for value, n in zip(values, noise, strict=True)
    ]
    rng = sn.SeededRng(9, allow_release=True)
    assert mechanism.release(values, max_partitions_contributed=partitions, rng=rng).tolist() == expected


def test_partitions_of_counts_share_the_variance_exactly() -> None:
    sigma2 = 0.1 + 2.0**40
    noise = [gaussian.at(release_sigma2(sigma2, 3), stream.seed_key(4), 0, index).value for index in range(20)]
    rng = sn.SeededRng(4, allow_release=True)
    assert sn.DiscreteGaussian(sigma2).release(np.arange(20), max_partitions_contributed=3, rng=rng).tolist() == [
        index + n for index, n in enumerate(noise)
    ]


def release_sigma2(sigma2: float, partitions: int) -> float:
    """Return the smallest float64 that is at least partitions·σ²."""
    exact = Fraction(sigma2) * partitions
    below = float(exact)
    return below if Fraction(below) >= exact else float(np.nextafter(below, np.inf))


@pytest.mark.parametrize("case", rest_long(range(4), range(10)))
def test_fills_of_any_variance(case: int) -> None:
    """Hundreds of consecutive values at random variances cover blocks, lanes and single words."""
    choose = random.Random(f"gaussian {case}")
    sigma2 = 2.0 ** choose.uniform(-4, 90)
    seed, start = choose.randrange(2**128), choose.choice((0, choose.randrange(2**39)))
    drawn = sn.DiscreteGaussian(sigma2).sample(150, rng=sn.SeededRng(seed).at(start))
    key = stream.seed_key(seed)
    assert drawn.tolist() == [gaussian.at(sigma2, key, 0, index).value for index in range(start, start + 150)]


@pytest.mark.slow
def test_vectors_are_what_the_oracle_makes() -> None:
    for entry in sample("discrete_gaussian", 6):
        assert generate.fill_entry({name: entry[name] for name in FILL_INPUTS}) == entry
    for entry in sample("gaussian", 2):
        assert generate.calibration_entry({name: entry[name] for name in CALIBRATION_INPUTS}) == entry
    for entry in sample("gaussian_sigma", 4):
        assert generate.sigma_entry({name: entry[name] for name in SIGMA_INPUTS}) == entry
    for entry in sample("boundaries_gaussian", 3):
        assert generate.boundary_entry(float_of(entry["sigma2"]), entry["edges"], entry["seed"]) == entry


def test_vectors_reach_what_is_rare() -> None:
    """The vectors have words that decide alone, and those that take one, two and three extension words."""
    assert {case[2] for entry in read("boundaries_gaussian") for case in entry["cases"]} >= {0, 1, 2, 3}
    names = ("discrete_gaussian", "gaussian", "boundaries_gaussian")
    assert all((VECTORS / f"{name}.json").stat().st_size < 300 * 1024 for name in names)
