"""fills.json: values of whole fills, for every mechanism."""

import random
from collections.abc import Iterator
from typing import Any

from tests.oracles import draw, stream
from tests.oracles.generate.encoding import float_bits, float_of, shape_of, shape_text, word_hex
from tests.oracles.generate.parameters import Parameters, extremes, grid
from tests.oracles.lattice import lattice, mechanism

FILLS = (0, 1, 2, 7, 300)
INDICES = (0, 1, 2, 3, 63, 1023, 2**16 - 3, 2**32 - 2, 2**48 + 5)
MANY = 66  # two more than a cache of four AES blocks times eight lanes


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    eps, shape = float_of(inputs["eps"]), shape_of(inputs["shape"])
    where = lattice(inputs["kind"], eps, float_of(inputs["sensitivity"]), shape)
    key, fill, start = stream.seed_key(int(inputs["seed"])), inputs["fill"], inputs["index"]
    indices = range(start, start + inputs["count"])
    drawn = [draw.at(mechanism(eps, where), key, fill, index) for index in indices]
    return inputs | {
        "log2_g": where.log2_g,
        "cells": where.sensitivity_steps,
        "r": where.r,
        "words": [word_hex(stream.word(key, fill, index)) for index in indices],
        "extensions": [result.words - 1 for result in drawn],
        "values": [result.value for result in drawn],
    }


def inputs(parameters: Parameters, seed: int, fill: int, index: int, count: int) -> dict[str, Any]:
    kind, eps, sensitivity, shape = parameters
    return {
        "kind": kind,
        "eps": float_bits(eps),
        "sensitivity": float_bits(sensitivity),
        "shape": shape_text(shape),
        "seed": str(seed),
        "fill": fill,
        "index": index,
        "count": count,
    }


def entries() -> Iterator[dict[str, Any]]:
    choose = random.Random(20240)
    for parameters in grid():
        seed = choose.choice((choose.randrange(2**10), choose.randrange(2**128)))
        yield entry(inputs(parameters, seed, choose.choice(FILLS), choose.choice(INDICES), 5))
    for parameters in extremes():
        yield entry(inputs(parameters, choose.randrange(2**64), 0, 0, 5))
        yield from _with_extensions(parameters, choose.randrange(2**64))
    for parameters in (Parameters("laplace", 1.0, 1.0), Parameters("discrete_staircase", 2.0, 10.0, "l2")):
        for start in (0, 1, 2, 3, 2**61 + 1, 2**62 - MANY):
            yield entry(inputs(parameters, 0, 0, start, MANY))


def _with_extensions(parameters: Parameters, seed: int) -> Iterator[dict[str, Any]]:
    """Return single values among the first thousands that need more than a 64-bit word, if such values are common."""
    where = lattice(*parameters)
    if where.sensitivity_steps < 2**52:
        return
    key, target = stream.seed_key(seed), mechanism(parameters.eps, where)
    found = [index for index in range(3000) if draw.at(target, key, 0, index).words > 1]
    for index in found[:6]:
        yield entry(inputs(parameters, seed, 0, index, 1))
