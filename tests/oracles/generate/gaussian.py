"""discrete_gaussian.json: fills; boundaries_gaussian.json: words at the edges; gaussian.json: calibrations and fills.

gaussian_sigma.json: the same for a σ that is given.
"""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import draw, gaussian, stream
from tests.oracles.generate import boundaries
from tests.oracles.generate.encoding import float_bits, float_of, word_hex
from tests.oracles.survival import magnitude

NARROW = (2.0**-20, 0.01, 0.3, 1.0, 2.25, 7.3, 20.2)
WIDE = (20.3, 100.0, 4095.9, 4096.0, 1e4 + 0.1, 1e6, 2.0**44 + 3, 1e20, 1.7e25, 2.0**90)
SIGMA2 = (*NARROW, *WIDE)
INDICES = (0, 1, 2, 63, 64, 2**39 + 7, 2**40 - 3, 2**62 - 9)
COUNT = 3
CALIBRATIONS = (
    (1.0, 1e-6, 1.0, 1),
    (0.1, 1e-5, 1.0, 1),
    (4.0, 1e-9, 0.1, 1),
    (1.0, 1e-6, 1.0, 10),
    (0.5, 1e-12, 3.3, 1000),
    (50.0, 1e-3, 1e-300, 1),
    (2.0**20, 1e-100, 1e250, 3),
    (2.0**-40, 1e-9, 1.0, 1),
    (1e-3, 0.5, 7.0, 1),
    (2.0, 1 - 1e-9, 1.0, 1),
    (1.0, 5e-324, 1.0, 1),
)
# σ, sensitivity and values; powers of 2 are at an edge of the lattice's rule.
SIGMAS = (
    (1.0, 1.0, 1),
    (1.1, 1.0, 1),
    (0.7, 1.0, 10),
    (3.0, 2.0, 4),
    (0.1, 1e4, 1),
    (2.0**-20, 1.0, 3),
    (3000.1, 0.1, 7),
    (1e9, 3.3, 30),
    (5e-300, 1.7e-300, 2),
    (1e250, 1e250, 5),
)


def fill_entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry of discrete_gaussian.json, completed by the oracle."""
    drawn = _drawn(float_of(inputs["sigma2"]), inputs)
    return inputs | {"words": [value.words for value in drawn], "values": [value.value for value in drawn]}


def fills() -> Iterator[dict[str, Any]]:
    choose = random.Random(20041)
    for sigma2 in SIGMA2:
        for start in choose.sample(INDICES, 3):
            seed = choose.choice((choose.randrange(2**10), choose.randrange(2**128)))
            yield fill_entry(_position(sigma2, seed, choose.choice((0, 1, 300)), start, COUNT))
    for sigma2 in (1.0, 10.0, 100.0, 1e6, 2.0**44 + 3, 1e20):
        yield fill_entry(_position(sigma2, 5, 0, 0, 600))  # blocks and lanes of them


def boundary_entry(sigma2: float, edges: list[int], seed: int) -> dict[str, Any]:
    """Words around the edges S(j), as in `boundaries`."""
    target, choose, cases = gaussian.DiscreteGaussian(Fraction(sigma2)), random.Random(seed), []
    for edge in edges:
        for bits, extension in boundaries.around(target, edge):
            if bits == 0 and not any(extension):
                continue  # v = 0 takes all words
            word = bits + boundaries.SIGN * choose.randrange(2)
            found = gaussian.listed(target.sigma2, word, lambda n, given=extension: given[n] if n < len(given) else 0)
            cases.append([word_hex(word), [f"{e:x}" for e in extension], found.words - 1, found.value])
    return {"sigma2": float_bits(sigma2), "edges": edges, "seed": seed, "cases": cases}


def boundary_entries() -> Iterator[dict[str, Any]]:
    for seed, sigma2 in enumerate(SIGMA2[1:]):
        target, choose = gaussian.DiscreteGaussian(Fraction(sigma2)), random.Random(seed)
        masses = [Fraction(choose.getrandbits(62) | 1, 2**62) for _ in range(6)]
        edges = {1, 2, *(magnitude(target, v) for v in (*masses, *boundaries.DEEP))}
        yield boundary_entry(sigma2, sorted(edges - {0}), seed)


def calibration_entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry of gaussian.json, completed by the oracle."""
    eps, delta, sensitivity = (float_of(inputs[name]) for name in ("eps", "delta", "sensitivity"))
    log2_g, sigma2, sensitivity_steps = gaussian.calibrate(eps, delta, sensitivity, inputs["partitions"])
    drawn = _drawn(sigma2, inputs)
    return inputs | {
        "log2_g": log2_g,
        "sigma2": float_bits(sigma2),
        "cells": sensitivity_steps,
        "values": [value.value for value in drawn],
    }


def calibrations() -> Iterator[dict[str, Any]]:
    for seed, (eps, delta, sensitivity, partitions) in enumerate(CALIBRATIONS):
        numbers = {
            "eps": float_bits(eps),
            "delta": float_bits(delta),
            "sensitivity": float_bits(sensitivity),
            "partitions": partitions,
        }
        yield calibration_entry(numbers | {"seed": str(seed), "fill": 0, "index": 0, "count": COUNT})


def sigma_entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry of gaussian_sigma.json, completed by the oracle."""
    sigma, sensitivity = (float_of(inputs[name]) for name in ("sigma", "sensitivity"))
    log2_g, sigma2, sensitivity_steps = gaussian.of_sigma(sigma, sensitivity, inputs["partitions"])
    values = [value.value for value in _drawn(sigma2, inputs)]
    return inputs | {"log2_g": log2_g, "sigma2": float_bits(sigma2), "cells": sensitivity_steps, "values": values}


def sigmas() -> Iterator[dict[str, Any]]:
    for seed, (sigma, sensitivity, partitions) in enumerate(SIGMAS):
        numbers = {"sigma": float_bits(sigma), "sensitivity": float_bits(sensitivity), "partitions": partitions}
        yield sigma_entry(numbers | {"seed": str(seed), "fill": 0, "index": 0, "count": COUNT})


def _position(sigma2: float, seed: int, fill: int, index: int, count: int) -> dict[str, Any]:
    return {"sigma2": float_bits(sigma2), "seed": str(seed), "fill": fill, "index": index, "count": count}


def _drawn(sigma2: float, inputs: dict[str, Any]) -> list[draw.Draw]:
    key, start = stream.seed_key(int(inputs["seed"])), inputs["index"]
    return [gaussian.at(sigma2, key, inputs["fill"], index) for index in range(start, start + inputs["count"])]
