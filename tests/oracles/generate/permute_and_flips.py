"""permute_and_flip.json and top.json: selections by the stream's words, and coins whose bits are those of their probabilities."""

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import intervals, permute_and_flip, stream
from tests.oracles.generate.encoding import float_of, word_hex
from tests.oracles.generate.selections import encoded, mechanism_of
from tests.oracles.selection import Mechanism, exponents

ONES = 2**64 - 1
LEAST = 5e-324
MOST_EDGES = 5


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry of permute_and_flip.json, completed by the oracle."""
    row = exponents(mechanism_of(inputs), [float_of(cost) for cost in inputs["costs"]])
    key, start = stream.seed_key(int(inputs["seed"])), inputs["index"]
    drawn = [permute_and_flip.at(row, key, inputs["fill"], start + i).index for i in range(inputs["count"])]
    cases = [case for j in inputs["edges"] for case in _around(row, j)]
    return inputs | {"values": drawn, "cases": [*cases, *_parts(row)]}


def _around(row: list[Fraction | None], j: int) -> Iterator[list[Any]]:
    """[words, [[word, number, extension word] ...], index], where the bits of coin j are below, at and above e^-x."""
    x = row[j]
    least = min(other for other in row if other is not None)
    if x is None or x == least:
        return
    scaled = intervals.floor(lambda: intervals.exp(least - x) * 2**144)
    leading, first, second = scaled >> 128, scaled >> 64 & ONES, scaled & ONES
    near = [(leading, []), (leading, [ONES]), (leading, [first]), (leading, [first, ONES]), (leading, [first, second])]
    near += [(bits, []) for bits in (leading - 1, leading + 1) if 0 < bits < 2**16]
    near += [(leading, [more]) for more in (first - 1, first + 1) if 0 <= more <= ONES]
    for bits, extension in near:
        # If the weight is tiny, only zeros take 2048 extension words.
        if bits == 0 and not any(extension) and x - least > 1000:
            continue
        yield _case(row, j, bits, extension)


def _case(row: list[Fraction | None], j: int, bits: int, extension: list[int]) -> list[Any]:
    place, lane = 1 + j // permute_and_flip.COINS, j % permute_and_flip.COINS
    words = [0x8000_0000_0000_0000, *[ONES] * (permute_and_flip.words(len(row)) - 1)]
    words[place] ^= (0xFFFF ^ bits) << 16 * lane
    further = [[place, permute_and_flip.COINS * e + lane, value] for e, value in enumerate(extension)]
    return _completed(row, words, further)


def _parts(row: list[Fraction | None]) -> Iterator[list[Any]]:
    """All coins of small exponents fall heads, and the first word and its extension are about multiples of 1/m."""
    count = permute_and_flip.words(len(row)) - 1
    m = len(permute_and_flip.draw(row, lambda place: 1, lambda place, e: ONES).heads)
    for part in range(min(m, 3)):
        bits = -(-(part << 128) // m)
        for near in (bits - 1, bits, bits + 1):
            if 0 <= near < 2**128:
                yield _completed(row, [near >> 64, *[1] * count], [[0, 0, near & ONES], *_all_ones(len(row))])


def _all_ones(candidates: int) -> list[list[int]]:
    return [[1 + j // permute_and_flip.COINS, j % permute_and_flip.COINS, ONES] for j in range(candidates)]


def _completed(row: list[Fraction | None], words: list[int], further: list[list[int]]) -> list[Any]:
    known = {(place, e): value for place, e, value in further}
    index = permute_and_flip.draw(row, words.__getitem__, lambda place, e: known.get((place, e), 0)).index
    return [[word_hex(word) for word in words], [[place, e, word_hex(value)] for place, e, value in further], index]


def inputs(mechanism: Mechanism, costs: list[float], seed: int) -> dict[str, Any]:
    choose = random.Random(f"flips {seed}")
    return encoded(mechanism, costs) | {
        "seed": str(choose.randrange(2**128)),
        "fill": choose.choice((0, 1, 7, 300)),
        "index": choose.choice((0, 1, 511, 2**40 + 3, 2**55)),
    }


def entries() -> Iterator[dict[str, Any]]:
    for seed, (mechanism, costs) in enumerate(rows()):
        edges = sorted(random.Random(seed).sample(range(len(costs)), min(MOST_EDGES, len(costs))))
        yield entry({**inputs(mechanism, costs, seed), "count": 8, "edges": edges})


def rows() -> Iterator[tuple[Mechanism, list[float]]]:
    choose = random.Random(3)
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
    yield plain, [0.0, 300.0, 2000.0, 1e300]
    yield plain, [math.inf, 2.0, math.inf, 1.0]
    yield plain, [0.5, 2.0, math.inf]
    yield plain, [choose.uniform(-1, 1) for _ in range(70)]
    yield Mechanism(4.0, 1.0, None, True), [choose.uniform(0, 9) for _ in range(260)]
    yield Mechanism(1.0, 1.7e308, None, False), [-1.7e308, 1.7e308, 0.0, LEAST]
    yield Mechanism(2.0**-1030, 2.0**-1074, None, True), [0.0, 1e-9, 3.0]
    yield Mechanism(1e200, 1e-200, None, False), [0.0, LEAST, 1e-310, 1.0]


def top_entry(given: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry of top.json, completed by the oracle."""
    mechanism, costs, k = mechanism_of(given), [float_of(cost) for cost in given["costs"]], given["k"]
    key, flips = stream.seed_key(int(given["seed"])), given["flips"]
    firsts = [given["index"] + k * i for i in range(given["rows"])]
    return given | {"values": [permute_and_flip.top(flips, mechanism, costs, k, key, given["fill"], first) for first in firsts]}


def top_entries() -> Iterator[dict[str, Any]]:
    for seed, (mechanism, flips, costs, k) in enumerate(tops()):
        yield top_entry({**inputs(mechanism, costs, seed), "flips": flips, "k": k, "rows": 3})


def tops() -> Iterator[tuple[Mechanism, bool, list[float], int]]:
    choose = random.Random(5)
    for gamma, flips in ((0.4, False), (None, False), (None, True)):
        plain = Mechanism(1.0, 1.0, gamma, False)
        yield plain, flips, [7.25] * 4, 4
        yield plain, flips, [3.0], 1
        yield plain, flips, [math.inf, 2.0, math.inf, 1.0, 0.0, math.inf], 3
        yield plain, flips, [0.0, 1.0, math.inf], 1
        yield plain, flips, [1.0, 1e300, 0.0, 2000.0], 4
        for k in (1, 2, 3, 7, 11):
            mechanism = Mechanism(choose.uniform(0.1, 30), choose.choice((1.0, 0.1, 3.0)), gamma, choose.random() < 0.5)
            yield mechanism, flips, [choose.choice((choose.uniform(0, 9), float(choose.randrange(5)))) for _ in range(11)], k
        yield Mechanism(2.0**-1000, 1.7e308, gamma, False), flips, [0.0, 1.7e308, 1.75e308], 2
        yield plain, flips, [choose.uniform(0, 30) for _ in range(90)], 5
