"""gaussian_threshold.json: groups of people in several groups, with the rule's noise and threshold, or no rule."""

import random
from collections.abc import Iterator
from typing import Any

from tests.oracles import gaussian, stream
from tests.oracles.gaussian_threshold import Rule, counts_at_the_edge, released, rule
from tests.oracles.generate.encoding import float_bits, float_of
from tests.oracles.partition_selection import LARGEST, Partitions, Shown

COUNT = 16


def mechanisms() -> Iterator[Partitions]:
    for eps, delta, k in (
        (1.0, 1e-6, 2),
        (1.0, 1e-6, 3),
        (1.0, 1e-6, 10),
        (0.1, 1e-9, 4),
        (1.0, 0.1, 3),
        (1.0, 0.1, 4),
        (0.5, 0.5, 8),
        (0.01, 0.5, 5),
        (8.0, 1e-6, 5),
        (8.0, 1e-6, 8),
        (3.0, 1e-12, 6),
    ):
        yield Partitions(eps, delta, k)


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    given = Partitions(float_of(inputs["eps"]), float_of(inputs["delta"]), inputs["k"])
    found = rule(*given, Shown(given).median)
    if found is None:
        return inputs | {"sigma2": None, "threshold": None, "counts": [], "values": []}
    return inputs | {"sigma2": float_bits(found.sigma2), "threshold": found.threshold} | _drawn(found, inputs)


def _drawn(found: Rule, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return counts at both ends, then some at the threshold, and the releases of all."""
    key, start = stream.seed_key(int(inputs["seed"])), inputs["index"]

    def noise(place: int) -> int:
        return gaussian.at(found.sigma2, key, inputs["fill"], start + place).value

    ends = [0, 1, LARGEST, 2 * found.threshold]
    counts = ends + counts_at_the_edge(found.threshold, noise, range(len(ends), COUNT))
    values = [released(found.threshold, count, noise(place)) for place, count in enumerate(counts)]
    return {"counts": list(map(str, counts)), "values": values}


def entries() -> Iterator[dict[str, Any]]:
    for number, given in enumerate(mechanisms()):
        choose = random.Random(number)
        yield entry(
            {
                "eps": float_bits(given.eps),
                "delta": float_bits(given.delta),
                "k": given.k,
                "seed": str(choose.randrange(2**128)),
                "fill": choose.choice((0, 1, 7, 300)),
                "index": choose.choice((0, 1, 511, 2**30 + 3)),
            }
        )
