"""release.json: values, their lattice quotients, and the private answers in every output type."""

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import draw, release, stream
from tests.oracles.generate.encoding import float_bits, float_of, shape_of, shape_text
from tests.oracles.generate.parameters import Parameters
from tests.oracles.lattice import lattice, mechanism

MECHANISMS = (
    Parameters("laplace", 1.0, 1.0),
    Parameters("laplace", 0.1, 1e-3),
    Parameters("laplace", 2.0, 1e6),
    Parameters("laplace", 1.0, 1e-300),
    Parameters("laplace", 1.0, 1e-38),  # float32 answers are subnormal: rounding twice would show
    Parameters("laplace", 1.0, 1e290),
    Parameters("staircase", 4.0, 1.0, "l1"),
    Parameters("staircase", 0.3, 0.1, "l2"),
    Parameters("staircase", 10.0, 2.0**40, 0.25),
    Parameters("discrete_laplace", 1.0, 1.0),
    Parameters("discrete_laplace", 1e-6, 1000.0),
    Parameters("discrete_staircase", 2.0, 10.0, "l1"),
    Parameters("discrete_staircase", 0.5, 3.0, 2.0),
)
FLOATS = (
    0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 0.1, -0.1, 1 / 3, 123456.789, 2.0**52 + 0.5, -(2.0**52) - 0.5,
    2.0**53, 2.0**62, 2.0**63, -(2.0**63), 1e18, 1e300, -1e300, 1.7976931348623157e308, 5e-324, -5e-324, 2.2250738585072014e-308,
    math.nextafter(0.5, 0), math.nextafter(0.5, 1), 2.0**31 - 0.5, 2.0**126, 2.0**127, -(2.0**127),
)  # fmt: skip
INTEGERS = (0, 1, -1, 7, -1000, 2**31 - 1, -(2**31), 2**53 + 1, -(2**53) - 1, 2**62 + 3, 2**63 - 1, -(2**63), 2**63 - 2)
PARTITIONS = (1, 3)


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    eps = release.share(float_of(inputs["eps"]), inputs["max_partitions_contributed"])
    where = lattice(inputs["kind"], eps, float_of(inputs["sensitivity"]), shape_of(inputs["shape"]))
    key, target = stream.seed_key(int(inputs["seed"])), mechanism(eps, where)
    values = [int(v) if inputs["type"] == "int64" else float_of(v) for v in inputs["values"]]
    quotients = [release.quotient(value, where.granularity) for value in values]
    noise = [draw.at(target, key, 0, index).value for index in range(len(values))]
    sums = [q + x for q, x in zip(quotients, noise, strict=True)]
    found = {"eps_used": float_bits(eps), "log2_g": where.log2_g, "q": [str(q) for q in quotients], "noise": noise}
    for dtype in ("float64", "float32"):
        found[dtype] = [float_bits(release.output(n, where.granularity, dtype)) for n in sums]
    if where.log2_g == 0 and inputs["kind"].startswith("discrete"):
        for dtype in ("int64", "int32"):
            found[dtype] = [release.output(n, where.granularity, dtype) for n in sums]
    return inputs | found


def entries() -> Iterator[dict[str, Any]]:
    choose = random.Random(11)
    for parameters in MECHANISMS:
        for partitions in PARTITIONS:
            floats = [float_bits(x) for x in (*FLOATS, *_ties(parameters, choose))]
            yield entry(_inputs(parameters, partitions, choose.randrange(2**64), "float64", floats))
            integers = [str(x) for x in INTEGERS]
            yield entry(_inputs(parameters, partitions, choose.randrange(2**64), "int64", integers))


def _inputs(parameters: Parameters, partitions: int, seed: int, dtype: str, values: list[str]) -> dict[str, Any]:
    kind, eps, sensitivity, shape = parameters
    return {
        "kind": kind,
        "eps": float_bits(eps),
        "sensitivity": float_bits(sensitivity),
        "shape": shape_text(shape),
        "max_partitions_contributed": partitions,
        "seed": str(seed),
        "type": dtype,
        "values": values,
    }


def _ties(parameters: Parameters, choose: random.Random) -> list[float]:
    """Odd multiples of g/2, and their neighbours in float64."""
    half = lattice(*parameters).granularity / 2
    if half < Fraction(5e-324):
        return []
    odd = [2 * choose.getrandbits(bits) + 1 for bits in (3, 20, 51)]
    ties = [float(sign * n * half) for n in odd for sign in (1, -1)]
    return ties + [math.nextafter(tie, math.inf) for tie in ties] + [math.nextafter(tie, -math.inf) for tie in ties]
