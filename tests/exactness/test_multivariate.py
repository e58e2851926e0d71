"""Vectors of the multivariate staircase, bit for bit: golden values, and the oracle at random parameters.

Deterministic: no false alarms.
"""

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.exactness.mechanisms import rng_before
from tests.oracles import multivariate, release, stream
from tests.oracles.generate import multivariate as generate
from tests.oracles.generate.encoding import float_of, read, shape_of

INPUTS = ("eps", "sensitivity", "dim", "gamma", "norm", "seed", "fill", "index", "count")
NORMS = ("l1", "l2", "linf")


def of(entry: dict[str, Any]) -> sn.MultivariateStaircase:
    parameters = float_of(entry["eps"]), float_of(entry["sensitivity"]), entry["dim"], shape_of(entry["gamma"])
    return sn.MultivariateStaircase(*parameters, entry["norm"])


@pytest.mark.parametrize("norm", NORMS)
def test_golden_vectors(norm: str) -> None:
    """Flat indices can begin inside a vector; the draw then has the whole fill's coordinates from there."""
    entries = [entry for entry in read("multivariate") if entry["norm"] == norm]
    assert len(entries) == len(generate.PARAMETERS)
    for entry in entries:
        mechanism, rng = of(entry), rng_before(entry["fill"], int(entry["seed"]))
        count = entry["count"] // mechanism.dim
        for dtype in ("float64", "float32"):
            expected = [
                release.output(n, Fraction(2) ** entry["log2_g"], dtype) for n in entry["values"][: count * mechanism.dim]
            ]
            drawn = mechanism.sample(count, rng=rng.at(entry["index"]), dtype=dtype)
            assert drawn.tobytes() == np.array(expected, dtype).tobytes(), entry
        assert Fraction(mechanism.granularity) == Fraction(2) ** entry["log2_g"]


@pytest.mark.slow
def test_committed_vectors_are_what_the_oracle_makes() -> None:
    for entry in random.Random(4).sample(read("multivariate"), 6):
        assert generate.entry({name: entry[name] for name in INPUTS}) == entry


@pytest.mark.parametrize("norm", NORMS)
def test_golden_long_vectors(norm: str) -> None:
    """Some coordinates of whole vectors, in up to the maximum number of dimensions."""
    entries = [entry for entry in read("long_vectors") if entry["norm"] == norm]
    assert len(entries) == len(generate.LONG)
    for entry in entries:
        mechanism, rng = of(entry), rng_before(entry["fill"], int(entry["seed"]))
        drawn = mechanism.sample(rng=rng.at(entry["vector"] * mechanism.dim))[entry["places"]]
        expected = [release.output(n, Fraction(2) ** entry["log2_g"], "float64") for n in entry["values"]]
        assert drawn.tolist() == expected, entry


@pytest.mark.long
def test_committed_long_vectors_are_what_the_oracle_makes() -> None:
    made = [entry for entry in read("long_vectors") if entry["dim"] in (4097, 6000)]
    assert len(made) == 6
    for entry in made:
        assert (
            generate.long_entry({name: value for name, value in entry.items() if name not in ("log2_g", "cells", "r", "values")})
            == entry
        )


@pytest.mark.slow
@pytest.mark.parametrize("case", [0, 1, *(pytest.param(case, marks=pytest.mark.long) for case in range(2, 6))])
@pytest.mark.parametrize("norm", NORMS)
def test_oracle_agrees_at_random_parameters(norm: str, case: int) -> None:
    choose = random.Random(f"{norm} {case}")
    eps = math.exp(choose.uniform(math.log(0.05), math.log(60)))
    sensitivity = math.ldexp(choose.uniform(1, 2), choose.randrange(-60, 60))
    dim, gamma = choose.randrange(1, 9), choose.choice((choose.random(), "l1" if eps > 0.5 else 0.7))
    mechanism = multivariate.mechanism(eps, sensitivity, dim, gamma, norm)
    seed, first = choose.randrange(2**128), choose.randrange(2**30)
    noise = sn.MultivariateStaircase(eps, sensitivity, dim, gamma, norm).sample(12, rng=sn.SeededRng(seed).at(first * dim))
    expected = [mechanism.vector(stream.seed_key(seed), 0, first + i) for i in range(12)]
    assert (noise / float(Fraction(2) ** mechanism.log2_g)).tolist() == expected


@pytest.mark.parametrize("norm", NORMS)
def test_release_adds_the_noise_on_the_lattice(norm: str) -> None:
    mechanism = multivariate.mechanism(release.share(2.0, 3), 1.0, 3, 0.25, norm)
    granularity = Fraction(2) ** mechanism.log2_g
    values = np.array([[0.1, -0.5, 1e9], [2.0**-33, -(2.0**-33), 5e-324]])
    released = sn.MultivariateStaircase(2.0, 1.0, 3, 0.25, norm).release(
        values, max_partitions_contributed=3, rng=sn.SeededRng(9, allow_release=True)
    )
    for index, row in enumerate(values.tolist()):
        noise = mechanism.vector(stream.seed_key(9), 0, index)
        sums = [release.quotient(x, granularity) + n for x, n in zip(row, noise, strict=True)]
        assert released[index].tolist() == [release.output(n, granularity, "float64") for n in sums]
