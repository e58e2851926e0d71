"""partition_selection.json: partitions shown and released by the stream's words, and words around the thresholds.

Threshold n is π(n). Its binary expansion is cut into the 64 bits of a word and the extension words that follow. The cases are
those bits, one more, one less, and continuations that decide only at the second or third word.
"""

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.oracles import partition_selection, stream
from tests.oracles.generate.encoding import float_bits, float_of, word_hex
from tests.oracles.generate.selections import near_threshold
from tests.oracles.partition_selection import Partitions, Shown

MOST_EDGES = 6
COUNT = 12


@cache
def shown_of(given: Partitions) -> Shown:
    return Shown(given)


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    shown = shown_of(Partitions(float_of(inputs["eps"]), float_of(inputs["delta"]), inputs["k"]))
    key, start = stream.seed_key(int(inputs["seed"])), inputs["index"]
    drawn = [partition_selection.at(shown, key, inputs["fill"], start + i).needed for i in range(len(inputs["counts"]))]
    values = [shown.released(int(count), needed) for count, needed in zip(inputs["counts"], drawn, strict=True)]
    found = {"rising": shown.rising, "certain": shown.certain, "median": shown.median, "needed": drawn, "values": values}
    return inputs | found | {"cases": [case for n in inputs["edges"] for case in _around(shown, n)]}


def _around(shown: Shown, n: int) -> Iterator[list[Any]]:
    """[word, extension words, least count that is shown] below, at and above π(n)."""
    for bits, extension in near_threshold(shown.scaled(n, 192)):
        needed = partition_selection.listed(shown, bits, extension).needed
        yield [word_hex(bits), [f"{e:x}" for e in extension], needed]


def inputs(given: Partitions, seed: int) -> dict[str, Any]:
    choose, shown = random.Random(seed), shown_of(given)
    thresholds = range(1, shown.certain)
    near = [1, shown.rising, shown.rising + 1, shown.certain - 1]
    edges = {n for n in (*near, *choose.sample(thresholds, min(MOST_EDGES, len(thresholds)))) if n in thresholds}
    counts = [0, 1, shown.certain, 2**63 - 1, *(choose.randrange(shown.certain + 3) for _ in range(COUNT - 4))]
    return {
        "eps": float_bits(given.eps),
        "delta": float_bits(given.delta),
        "k": given.k,
        "counts": list(map(str, counts)),
        "seed": str(choose.randrange(2**128)),
        "fill": choose.choice((0, 1, 7, 300)),
        "index": choose.choice((0, 1, 511, 2**40 + 3, 2**62 - COUNT)),
        "edges": sorted(edges),
    }


def mechanisms() -> Iterator[Partitions]:
    for eps in (0.1, 0.5, 1.0, 2.0, 8.0):
        for delta in (0.5, 0.3, 1e-3, 1e-6, 2.0**-40, 1e-30):
            yield Partitions(eps, delta, 1)
    yield from (Partitions(1.0, 1e-6, k) for k in (2, 3, 10))
    yield Partitions(2.0, 0.5, 4)
    yield Partitions(0.01, 1e-9, 1)
    yield Partitions(60.0, 2.0**-128, 1)
    yield Partitions(700.0, 0.25, 1)
    # e^ε is 1 + 2**-30 or so: nearly all steps are δ.
    yield Partitions(2.0**-30, 0.03, 1)


def entries() -> Iterator[dict[str, Any]]:
    for seed, given in enumerate(mechanisms()):
        yield entry(inputs(given, seed))
