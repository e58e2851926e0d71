"""shapes.json: from parameters to the lattice (log2 g, D, r), or a refusal."""

import math
import random
from collections.abc import Iterator
from typing import Any

from tests.oracles.generate.encoding import float_bits, float_of, shape_of, shape_text
from tests.oracles.generate.parameters import Parameters, extremes, grid
from tests.oracles.lattice import KINDS, Refused, Shape, lattice

RANDOM = 1800
LARGEST_EPS = 1e5


def entry(kind: str, eps: str, sensitivity: str, shape: str | None) -> list[Any]:
    """[kind, eps, sensitivity, shape, log2 g, D, r], or nulls in the last three places for a refusal."""
    try:
        found = lattice(kind, float_of(eps), float_of(sensitivity), shape_of(shape))
    except Refused:
        return [kind, eps, sensitivity, shape, None, None, None]
    return [kind, eps, sensitivity, shape, found.log2_g, found.sensitivity_steps, found.r]


def entries() -> Iterator[list[Any]]:
    for parameters in (*grid(), *extremes(), *edges(), *random_sets()):
        kind, eps, sensitivity, shape = parameters
        yield entry(kind, float_bits(eps), float_bits(sensitivity), shape_text(shape))


def edges() -> Iterator[Parameters]:
    """Both sides of each place where the lattice rule changes or refuses."""
    bounds = [2.0**k for k in (-41, -40, -21, -20, -1, 0, 1, 4)] + [n / 0.75 for n in (1, 2, 3, 19, 20, 21)]
    for bound in bounds:
        for eps in (math.nextafter(bound, 0), bound, math.nextafter(bound, math.inf)):
            yield Parameters("laplace", eps, 1.0)
            yield Parameters("staircase", eps, 5.0, "l1")
            yield Parameters("discrete_laplace", eps, 4096.0)
    for exponent in (-1042, -1041, -1040, 991, 992, 993, 994, 1023):
        yield Parameters("laplace", 0.5, 2.0**exponent)
        yield Parameters("staircase", 1e-3, 1.5 * 2.0**exponent, "l2")
    for sensitivity_steps in (2.0**53 - 1, 2.0**53):
        for eps in (math.nextafter(1, 0), 1.0, math.nextafter(1, 2)):
            yield Parameters("discrete_laplace", eps, sensitivity_steps)
            yield Parameters("discrete_staircase", eps, sensitivity_steps, "l1")
    for gamma in (5e-324, 2.0**-53, 0.1, 0.5, math.nextafter(1, 0), 1.0):
        yield Parameters("staircase", 1.0, 3.0, gamma)


def random_sets() -> Iterator[Parameters]:
    choose = random.Random(5)
    for _ in range(RANDOM):
        kind = choose.choice(KINDS)
        eps = min(LARGEST_EPS, math.exp(choose.uniform(math.log(2.0**-40), math.log(LARGEST_EPS))))
        if kind.startswith("discrete"):
            sensitivity = float(min(2**53, math.ceil(2 ** choose.uniform(0, 53))))
        else:
            sensitivity = math.ldexp(choose.uniform(1, 2), choose.randrange(-1060, 1010))
        yield Parameters(kind, eps, sensitivity, _shape(kind, sensitivity, choose))


def _shape(kind: str, sensitivity: float, choose: random.Random) -> Shape:
    if kind.endswith("laplace"):
        return None
    number = 1 - choose.random() if kind == "staircase" else float(choose.randrange(1, int(sensitivity) + 1))
    return choose.choice(("l1", "l2", number))
