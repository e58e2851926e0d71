"""permute_and_flip.json, which is as selection.json, and top.json: selections without replacement."""

import math
import random
from collections.abc import Iterator
from typing import Any

from tests.oracles import permute_and_flip, stream
from tests.oracles.generate import selections
from tests.oracles.generate.encoding import float_of
from tests.oracles.generate.selections import LEAST, encoded, mechanism_of
from tests.oracles.selection import Mechanism


def inputs(mechanism: Mechanism, costs: list[float], seed: int) -> dict[str, Any]:
    choose = random.Random(f"flips {seed}")
    return encoded(mechanism, costs) | {
        "seed": str(choose.randrange(2**128)),
        "fill": choose.choice((0, 1, 7, 300)),
        "index": choose.choice((0, 1, 511, 2**40 + 3, 2**55)),
    }


def entry(given: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry of permute_and_flip.json, completed by the oracle."""
    return selections.entry(given, permute_and_flip.Row)


def entries() -> Iterator[dict[str, Any]]:
    for seed, (mechanism, costs) in enumerate(rows(), 1000):
        yield entry(selections.inputs(mechanism, costs, seed))


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
    yield Mechanism(4.0, 1.0, None, True), [choose.uniform(0, 9) for _ in range(130)]
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
