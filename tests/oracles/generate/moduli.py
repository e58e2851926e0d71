"""modulo.json: integers, their noise, and the sums modulo m."""

import random
from collections.abc import Iterator
from typing import Any

from tests.oracles import draw, release, skellam, stream
from tests.oracles.generate.encoding import encoded, float_bits, float_of, shape_of, shape_text
from tests.oracles.generate.parameters import Parameters
from tests.oracles.lattice import lattice, mechanism

MECHANISMS = (
    Parameters("discrete_laplace", 1.0, 1.0),
    Parameters("discrete_laplace", 1e-6, 1000.0),
    Parameters("discrete_laplace", 2.0**-39, 2.0**14),  # noise of 2**53 and more
    Parameters("discrete_staircase", 2.0, 10.0, "l1"),
)
# The arguments of Skellam: mu, sensitivity, n_parties, present.
SHARES = ((1e4, 1, 1, 1), (100.0, 1, 10, 1), (1e6, 1, 1000, 999))
INTEGERS = (0, 1, -1, 7, -1000, 2**31 - 1, -(2**31), 2**53 + 1, -(2**53) - 1, 2**62 + 3, 2**63 - 1, -(2**63), 2**63 - 2)
# The last four are primes: those next to 2**31, 2**61 and 2**64, and that of Goldilocks fields.
MODULI = (2, 3, 10, 1000, 2**16, 2**31, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64, 2**31 - 1, 2**61 - 1,
          2**64 - 59, 2**64 - 2**32 + 1)  # fmt: skip


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    key, places = stream.seed_key(int(inputs["seed"])), range(len(inputs["values"]))
    if inputs["kind"] == "skellam":
        mu, *share = inputs["arguments"]
        _, sum_of = skellam.mechanism(float_of(mu), *share)
        noise = [skellam.value(sum_of, key, 0, index) for index in places]
    else:
        eps = float_of(inputs["eps"])
        target = mechanism(eps, lattice(inputs["kind"], eps, float_of(inputs["sensitivity"]), shape_of(inputs["shape"])))
        noise = [draw.at(target, key, 0, index).value for index in places]
    sums = [int(value) + x for value, x in zip(inputs["values"], noise, strict=True)]
    residues = [[str(release.residue(n, int(m))) for n in sums] for m in inputs["moduli"]]
    return inputs | {"noise": noise, "residues": residues}


def entries() -> Iterator[dict[str, Any]]:
    choose = random.Random(2**13 - 1)
    common = {"values": [str(x) for x in INTEGERS], "moduli": [str(m) for m in MODULI]}
    for kind, eps, sensitivity, shape in MECHANISMS:
        parameters = {
            "kind": kind,
            "eps": float_bits(eps),
            "sensitivity": float_bits(sensitivity),
            "shape": shape_text(shape),
        }
        yield entry(parameters | {"seed": str(choose.randrange(2**64))} | common)
    for arguments in SHARES:
        yield entry({"kind": "skellam", "arguments": encoded(arguments), "seed": str(choose.randrange(2**64))} | common)
