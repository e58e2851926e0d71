"""infinitely_divisible.json: values of the infinitely divisible mechanisms and their shares."""

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import infinitely_divisible, stream
from tests.oracles.generate.encoding import float_bits, float_of

FILLS = (0, 1, 300)
COUNT = 40
INDICES = (0, 1, 2, 1023, 2**32 - 2, 2**40 - COUNT)

# Mechanism, parameters, n_parties, present.
SETS = (
    ("generalized", (0.3, 0.7), 1, 1),
    ("generalized", (0.3, 0.7), 1000, 1),
    ("generalized", (1.0, 0.5), 1, 1),
    ("generalized", (0.1, 0.05), 3, 2),
    ("generalized", (2.5, 1.25), 1, 1),
    ("generalized", (37.0, 0.6), 2**32 - 1, 2**31),
    ("generalized", (1e-3, 0.01), 1, 1),
    ("generalized", (0.8, 1 / 1024), 1, 1),
    ("generalized", (0.9, 45.0), 1, 1),
    ("generalized", (0.9, 1024.0), 7, 1),
    ("multi_scale", (2.0, 3.0), 1, 1),
    ("multi_scale", (2.0, 3.0), 10, 1),
    ("multi_scale", (0.1, 1.0), 1, 1),
    ("multi_scale", (5.0, 20.0), 1, 1),
    ("multi_scale", (5.0, 20.0), 4, 3),
    ("multi_scale", (0.01, 2.0), 5, 5),
    ("arete", (0.5, 1.0, 0.25), 1, 1),
    ("arete", (0.05, 1 / 3, 0.05), 1, 1),
    ("arete", (0.05, 1 / 3, 0.05), 100, 1),
    ("arete", (0.25, 3.0, 1000.0), 2, 1),
    ("arete", (0.25, 1e-300, 7e-301), 1, 1),
    ("arete", (0.25, 1.75, 1.5e-3), 1, 1),
)
DRAW: dict[str, Callable[..., int]] = {
    "generalized": infinitely_divisible.generalized,
    "multi_scale": lambda eps, sensitivity, *rest: infinitely_divisible.multi_scale(eps, int(sensitivity), *rest),
    "arete": infinitely_divisible.arete,
}


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    parameters = [float_of(bits) for bits in inputs["parameters"]]
    share = Fraction(inputs["present"], inputs["n_parties"])
    key, start = stream.seed_key(int(inputs["seed"])), inputs["index"]
    one = DRAW[inputs["law"]]
    values = [one(*parameters, share, key, inputs["fill"], i) for i in range(start, start + inputs["count"])]
    log2_g = infinitely_divisible.arete_log2_g(*parameters[1:]) if inputs["law"] == "arete" else 0
    return inputs | {"log2_g": log2_g, "values": values}


def entries() -> Iterator[dict[str, Any]]:
    choose = random.Random(61)
    for mechanism, parameters, n_parties, present in SETS:
        for index in choose.sample(INDICES, 2):
            yield entry(
                {
                    "law": mechanism,
                    "parameters": [float_bits(x) for x in parameters],
                    "n_parties": n_parties,
                    "present": present,
                    "seed": str(choose.randrange(2**128)),
                    "fill": choose.choice(FILLS),
                    "index": index,
                    "count": COUNT,
                }
            )
