"""multivariate.json: vectors of whole fills, for every norm; long_vectors.json: some coordinates of long ones."""

import random
from collections.abc import Iterator
from typing import Any

from tests.oracles import multivariate, stream
from tests.oracles.generate.encoding import float_bits, float_of, shape_of, shape_text

# eps, sensitivity, dim, gamma: optima of both costs, both ends of gamma, odd and even dimensions, lattices from coarse to fine.
PARAMETERS = (
    (1.0, 1.0, 2, "l1"),
    (5.0, 3.0, 2, "l2"),
    (1.0, 1.0, 3, "l1"),
    (8.0, 0.1, 2, "l1"),
    (2.0, 1e-3, 5, "l1"),
    (4.0, 1.0, 10, "l2"),
    (0.25, 7.0, 4, 0.5),
    (0.5, 1e6, 1, 0.0),
    (3.0, 1.0, 7, 1.0),
    (30.0, 1.0, 2, 0.01),
    (200.0, 1.0, 3, 0.875),
)
STARTS = (0, 1, 5, 64, 1023, 2**39 + 3)


def mechanism_of(inputs: dict[str, Any]) -> multivariate.Multivariate:
    eps, sensitivity = float_of(inputs["eps"]), float_of(inputs["sensitivity"])
    return multivariate.mechanism(eps, sensitivity, inputs["dim"], shape_of(inputs["gamma"]), inputs["norm"])


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    mechanism = mechanism_of(inputs)
    key, fill, dim = stream.seed_key(int(inputs["seed"])), inputs["fill"], inputs["dim"]
    start, end = inputs["index"], inputs["index"] + inputs["count"]
    first = start // dim
    vectors = [mechanism.vector(key, fill, index) for index in range(first, -(-end // dim))]
    flat = [sensitivity_steps for vector in vectors for sensitivity_steps in vector]
    values = flat[start - first * dim : end - first * dim]
    return inputs | {"log2_g": mechanism.log2_g, "cells": mechanism.sensitivity_steps, "r": mechanism.r, "values": values}


def parameters(choose: random.Random, norm: str, eps: float, sensitivity: float, dim: int, gamma: str | float) -> dict[str, Any]:
    return {
        "eps": float_bits(eps),
        "sensitivity": float_bits(sensitivity),
        "dim": dim,
        "gamma": shape_text(gamma),
        "norm": norm,
        "seed": str(choose.randrange(2**128)),
    }


def entries() -> Iterator[dict[str, Any]]:
    choose = random.Random(31)
    for norm in ("l1", "l2", "linf"):
        for eps, sensitivity, dim, gamma in PARAMETERS:
            yield entry(
                parameters(choose, norm, eps, sensitivity, dim, gamma)
                | {
                    "fill": choose.choice((0, 1, 2, 300)),
                    "index": choose.choice(STARTS),
                    "count": 3 * dim + 4,
                }
            )


# eps, sensitivity, dim, gamma, index of the vector: both sides of where the stages change, odd and even, up to the most
# dimensions, from balls in their hundreds to one ball of a fine lattice.
LONG = (
    (8.0, 1.0, 4096, 0.5, 3),
    (8.0, 1.0, 4097, 0.5, 2**27 + 7),
    (16.0, 3.0, 5001, 0.75, 1),
    (8192.0, 1.0, 6000, 0.25, 0),
    (200.0, 1.0, 100_000, 0.5, 5),
    (250_000.0, 1.0, 99_999, 1.0, 0),
)


def long_entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry of long vectors, completed by the oracle."""
    mechanism = mechanism_of(inputs)
    key = stream.seed_key(int(inputs["seed"]))
    values = mechanism.coordinates(key, inputs["fill"], inputs["vector"], inputs["places"])
    return inputs | {"log2_g": mechanism.log2_g, "cells": mechanism.sensitivity_steps, "r": mechanism.r, "values": values}


def long_entries() -> Iterator[dict[str, Any]]:
    choose = random.Random(32)
    for norm in ("l1", "l2", "linf"):
        for eps, sensitivity, dim, gamma, vector in LONG:
            yield long_entry(
                parameters(choose, norm, eps, sensitivity, dim, gamma)
                | {
                    "fill": choose.choice((0, 1, 2)),
                    "vector": vector,
                    "places": [0, 1, *sorted(choose.sample(range(2, dim - 2), 36)), dim - 2, dim - 1],
                }
            )
