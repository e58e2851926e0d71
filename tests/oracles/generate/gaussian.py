"""discrete_gaussian.json: fills; gaussian_coins.json: acceptance where it is hardest; gaussian.json: calibrations and fills.

gaussian_sigma.json: the same for a σ that is given.
"""

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import gaussian, intervals, stream
from tests.oracles.generate.encoding import float_bits, float_of, word_hex

SIGMA2 = (2.0**-20, 0.01, 0.3, 1.0, 2.25, 7.3, 100.0, 1e4 + 0.1, 1e6, 2.0**44 + 3, 1.7e25, 2.0**90)
INDICES = (0, 1, 2, 63, 64, 2**39 + 7, 2**40 - 3)
COUNT = 3
# Values whose first coin is within 3e-7 of its probability, relatively, found among the first 2^22: (sigma2, seed, index).
NARROW = (
    (1.0, 11, 178151),
    (1.0, 12, 259141),
    (2.25, 11, 922090),
    (2.25, 11, 3482861),
    (100.0, 11, 2143109),
    (100.0, 11, 2566928),
    (1e6, 11, 23052),
    (1e6, 11, 2741250),
)
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
PATTERNS = (0, 2**64 - 1)


def fill_entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry of discrete_gaussian.json, completed by the oracle."""
    drawn = _drawn(float_of(inputs["sigma2"]), inputs)
    return inputs | {
        "t": gaussian.scale(Fraction(float_of(inputs["sigma2"]))),
        "attempts": [value.attempts for value in drawn],
        "coin_words": [value.words for value in drawn],
        "values": [value.value for value in drawn],
    }


def fills() -> Iterator[dict[str, Any]]:
    choose = random.Random(20041)
    for sigma2 in SIGMA2:
        for start in choose.sample(INDICES, 3):
            seed = choose.choice((choose.randrange(2**10), choose.randrange(2**128)))
            yield fill_entry(_position(sigma2, seed, choose.choice((0, 1, 300)), start, COUNT))
    for sigma2 in (1.0, 100.0, 2.0**44 + 3):
        yield fill_entry(_position(sigma2, 5, 0, 0, 70))  # more than a block
    for sigma2, seed, index in NARROW:
        yield fill_entry(_position(sigma2, seed, 0, index, 1))
        yield fill_entry(_position(sigma2, seed, 0, index - 3, 12))  # the same in a block


def coin_entry(sigma2: float, magnitude: int) -> dict[str, Any]:
    """Words around e^-x for a proposal of a magnitude: [word, [extension words], words that decide, whether it is accepted]."""
    x = gaussian.exponent(Fraction(sigma2), magnitude)
    digits = _expansion(x, 4)
    cases = []
    for word in (digits[0] - 1, digits[0], digits[0] + 1):
        for rest in _continuations(digits):
            if 0 <= word < 2**64 and all(0 <= digit < 2**64 for digit in rest):
                cases.append((word, rest))
    cases += [(word, rest) for word in PATTERNS for rest in ([], [2**64 - 1])]
    return {"sigma2": float_bits(sigma2), "magnitude": magnitude, "cases": [_case(x, *case) for case in cases]}


def coins() -> Iterator[dict[str, Any]]:
    choose = random.Random(20042)
    for sigma2 in SIGMA2:
        sigma = math.sqrt(sigma2)
        peak = round(sigma2 / gaussian.scale(Fraction(sigma2)))
        near = {
            0,
            1,
            peak,
            peak + 1,
            round(3 * sigma),
            round(9 * sigma),
            round(30 * sigma),
            choose.randrange(round(5 * sigma) + 2),
        }
        for magnitude in sorted(near):
            # Beyond this, every nonzero word rejects, and the oracle would be slow to decide.
            if gaussian.exponent(Fraction(sigma2), magnitude) < 5000:
                yield coin_entry(sigma2, magnitude)


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


def _drawn(sigma2: float, inputs: dict[str, Any]) -> list[gaussian.Draw]:
    key, start = stream.seed_key(int(inputs["seed"])), inputs["index"]
    return [gaussian.at(sigma2, key, inputs["fill"], index) for index in range(start, start + inputs["count"])]


def _continuations(digits: list[int]) -> list[list[int]]:
    """Extension words that leave the expansion at the second, third or fourth word, to either side, and the expansion itself."""
    left = [[*digits[1:end], digits[end] + step] for end in (1, 2, 3) for step in (-1, 1)]
    return [[], digits[1:], *left]


def _case(x: Fraction, word: int, rest: list[int]) -> list[Any]:
    accepted, words = gaussian.coin(x, word, lambda number: rest[number] if number < len(rest) else 0)
    return [word_hex(word), [f"{digit:x}" for digit in rest], words, accepted]


def _expansion(x: Fraction, words: int) -> list[int]:
    """The first 64-bit words of the binary expansion of e^-x, those of all ones for x = 0."""
    if x == 0:
        return [2**64 - 1] * words
    scaled = intervals.floor(lambda: intervals.exp(-x) * 2 ** (64 * words))
    return [scaled >> (64 * (words - 1 - i)) & (2**64 - 1) for i in range(words)]
