"""selection.json: selections from rows of costs, by the stream's words and by words around the thresholds.

Threshold j is S(j) = P(index >= j). Its binary expansion is cut into the 64 bits of a word and the extension words that follow;
the cases are those bits, one more, one less, and continuations that decide only at the second or third word.
"""

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import selection, stream
from tests.oracles.generate.encoding import float_bits, float_of, word_hex
from tests.oracles.selection import Mechanism, Row, exponents

ONES = 2**64 - 1
LEAST = 5e-324
MOST_EDGES = 6


def mechanism_of(entry: dict[str, Any]) -> Mechanism:
    gamma = entry["gamma"] and float_of(entry["gamma"])
    return Mechanism(float_of(entry["eps"]), float_of(entry["sensitivity"]), gamma, entry["monotonic"])


def encoded(mechanism: Mechanism, costs: list[float]) -> dict[str, Any]:
    """The mechanism and its costs as an entry has them."""
    return {
        "eps": float_bits(mechanism.eps),
        "sensitivity": float_bits(mechanism.sensitivity),
        "gamma": mechanism.gamma and float_bits(mechanism.gamma),
        "monotonic": mechanism.monotonic,
        "costs": [float_bits(cost) for cost in costs],
    }


def entry(inputs: dict[str, Any], make: type[Row] = Row) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle, whose rows are made by `make`."""
    costs = [float_of(cost) for cost in inputs["costs"]]
    row = make(exponents(mechanism_of(inputs), costs), inputs.get("multiplicities"))
    key, start = stream.seed_key(int(inputs["seed"])), inputs["index"]
    drawn = [selection.at(row, key, inputs["fill"], start + i) for i in range(inputs["count"])]
    cases = [case for j in inputs["edges"] for case in _around(row, j)]
    return inputs | {"values": [result.index for result in drawn], "cases": cases}


def near_threshold(scaled: int) -> Iterator[tuple[int, list[int]]]:
    """Words and extension words below, at and above a threshold, of which the first 192 bits are given."""
    word, first, second = scaled >> 128, scaled >> 64 & ONES, scaled & ONES
    yield from ((word, []), (word, [ONES]), (word, [first]), (word, [first, ONES]), (word, [first, second]))
    if word > 0:
        yield word - 1, [ONES, ONES]
    if word < ONES:
        yield word + 1, []
    if first > 0:
        yield word, [first - 1, ONES]
    if first < ONES:
        yield word, [first + 1]
    if second < ONES:
        yield word, [first, second + 1]


def _around(row: Row, j: int) -> Iterator[list[Any]]:
    """[word, extension words, index] below, at and above S(j)."""
    # If the last threshold is tiny, only zeros take all 8192 extension words.
    deep = not row.below(Fraction(1, 2**2000), len(row) - 1)
    scaled = row.scaled(j, 192)
    # 1 is no v, where no candidate before j has a weight.
    for bits, extension in near_threshold(scaled) if scaled < 2**192 else ():
        if deep and bits == 0 and not any(extension):
            continue
        yield [word_hex(bits), [f"{e:x}" for e in extension], selection.listed(row, bits, extension).index]


def inputs(mechanism: Mechanism, costs: list[float], seed: int) -> dict[str, Any]:
    choose = random.Random(seed)
    thresholds = range(1, len(costs))
    return encoded(mechanism, costs) | {
        "seed": str(choose.randrange(2**128)),
        "fill": choose.choice((0, 1, 7, 300)),
        "index": choose.choice((0, 1, 511, 2**40 + 3, 2**62 - 8)),
        "count": 8,
        "edges": sorted(choose.sample(thresholds, min(MOST_EDGES, len(thresholds)))),
    }


def entries() -> Iterator[dict[str, Any]]:
    for seed, (mechanism, costs) in enumerate((*staircases(), *exponentials())):
        yield entry(inputs(mechanism, costs, seed))
    for seed, (mechanism, costs, multiplicities) in enumerate(multiplied(), 2000):
        yield entry(inputs(mechanism, costs, seed) | {"multiplicities": multiplicities})


def multiplied() -> Iterator[tuple[Mechanism, list[float], list[int]]]:
    choose = random.Random(3)
    plain, most = Mechanism(1.0, 1.0, None, False), 2**51
    yield plain, [0.0, 1.0, 2.0], [1, 1, 1]
    yield plain, [0.0, 0.0, 0.0], [3, 1, 4]
    yield plain, [1.0, 0.0, 1.0, 0.0], [2, 6, 1, 3]
    yield plain, [0.0, 5.0, 9.0], [0, 7, 2]
    yield plain, [3.0, math.inf, 4.0, 4.0], [1, 9, 5, 0]
    yield plain, [72.0, 0.0, 75.0, 1400.0], [most, 1, most - 1, 5]
    yield Mechanism(20.0, 0.1, None, True), [0.0, 0.1, 0.3], [1, 2**40, 12]
    yield Mechanism(1.0, 1.0, 0.5, False), [0.0, 0.4, 1.5, 30.0], [5, 1, 2, 2**45]
    for _ in range(4):
        yield plain, [choose.uniform(0, 9) for _ in range(20)], [choose.randrange(1000) for _ in range(20)]


def staircases() -> Iterator[tuple[Mechanism, list[float]]]:
    choose = random.Random(1)
    for eps in (0.1, 1.0, 4.0, 20.0):
        for gamma in (0.375, 0.5, 1.0):
            for unit in (1.0, 0.1):
                mechanism = Mechanism(eps, unit, gamma, choose.random() < 0.5)
                edges = [unit * (k + gamma) for k in range(3)]
                beside = [math.nextafter(edge, side) for edge in edges for side in (0, math.inf)]
                yield mechanism, [0.0, *edges, *beside, choose.uniform(0, 9)]
    plain = Mechanism(1.0, 1.0, 0.5, False)
    yield plain, [3.0]
    yield plain, [7.25] * 3
    yield plain, [7.25] * 8
    yield plain, [0.0, 1.0] * 2
    yield plain, [0.0, 1.0, 2.0] * 4
    yield plain, [0.0, -0.0, LEAST, 300.0, 2000.0]
    yield plain, [2.0**62, 1e300, 2.0**62 + 2.0**10, 2.0**62, 1e300]
    yield plain, [1.0, 1e300, 0.0]
    yield plain, [choose.uniform(0, 12) for _ in range(130)]
    yield Mechanism(1e-13, 3.0, LEAST, False), [0.0, 1e20, 3e20]
    yield Mechanism(2.5, LEAST, 0.5, True), [0.0, LEAST, 2 * LEAST, 1e-310]
    yield Mechanism(2.0**-1000, 1.7e308, 1.0, False), [0.0, 1.7e308, 1.75e308]


def exponentials() -> Iterator[tuple[Mechanism, list[float]]]:
    choose = random.Random(2)
    for eps in (0.1, 1.0, 20.0):
        for unit in (1.0, 3.0, 0.1):
            yield Mechanism(eps, unit, None, choose.random() < 0.5), [choose.uniform(-5, 5) for _ in range(12)]
    plain = Mechanism(1.0, 1.0, None, False)
    yield plain, [-3.0]
    yield plain, [7.25] * 5
    yield plain, [0.0, -0.0, 0.0, -0.0]
    yield plain, [2.0, 1.0] * 2
    yield plain, [0.0, LEAST, 1e-17]
    yield plain, [1e16, 1e16 + 2, 1e16 + 4]
    yield plain, [choose.uniform(-1, 1) for _ in range(70)]
    yield Mechanism(1.0, 1.7e308, None, False), [-1.7e308, 1.7e308, 0.0, LEAST]
    yield Mechanism(2.0**-1030, 2.0**-1074, None, True), [0.0, 1e-9, 3.0]
    yield Mechanism(1e200, 1e-200, None, False), [0.0, LEAST, 1e-310, 1.0]
