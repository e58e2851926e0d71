"""The parameter sets behind several files."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from tests.oracles.lattice import Shape, lattice

EPS = (1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 20.0, 50.0, 700.0)
SENSITIVITIES = (1.0, 0.1, 3.0, 1e-3, 1e6)
CELLS = (1, 2, 10, 1000, 10**6)


class Parameters(NamedTuple):
    """A user's parameters."""

    kind: str
    eps: float
    sensitivity: float
    shape: Shape = None


def grid() -> Iterator[Parameters]:
    """Return all combinations, except discrete shapes that coincide."""
    for eps in EPS:
        for sensitivity in SENSITIVITIES:
            yield Parameters("laplace", eps, sensitivity)
            for gamma in ("l1", "l2", 0.25, 1.0):
                yield Parameters("staircase", eps, sensitivity, gamma)
        for sensitivity_steps in CELLS:
            yield Parameters("discrete_laplace", eps, float(sensitivity_steps))
            yield from _distinct(eps, float(sensitivity_steps))


def _distinct(eps: float, sensitivity_steps: float) -> Iterator[Parameters]:
    seen = set()
    for shape in ("l1", "l2", 1.0, sensitivity_steps):
        found = Parameters("discrete_staircase", eps, sensitivity_steps, shape)
        first_stair = lattice(*found).r
        if first_stair not in seen:
            seen.add(first_stair)
            yield found


def extremes() -> Iterator[Parameters]:
    """The ends of every range: tiny and huge eps, lattices near the ends of float64, sensitivities of 2^52 and 2^53 steps."""
    for eps in (2.0**-40, 2.0**-21, math.nextafter(2.0**-20, 0), 2.0**-20, 1e5):
        yield Parameters("laplace", eps, 1.0)
        yield Parameters("staircase", eps, 7.0, "l2")
    for sensitivity in (1e-300, 1e-38, 1e280):
        yield Parameters("laplace", 1.5, sensitivity)
        yield Parameters("staircase", 1.5, sensitivity, "l1")
    for eps, sensitivity_steps in ((1.0, 2.0**53), (1.0, 2.0**53 - 1), (3.0, 2.0**52 + 1)):
        yield Parameters("discrete_laplace", eps, sensitivity_steps)
        for shape in ("l1", "l2", 1.0, sensitivity_steps):
            yield Parameters("discrete_staircase", eps, sensitivity_steps, shape)
    yield Parameters("discrete_laplace", 2.0**-40, 8000.0)
    yield Parameters("discrete_staircase", 2.0**-30, 3.0, 2.0)
