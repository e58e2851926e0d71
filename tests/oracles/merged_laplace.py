"""Contract, merged Laplace: from float64 parameters to a mechanism of segments."""

import math
from collections.abc import Sequence
from fractions import Fraction

from tests.oracles import segments
from tests.oracles.lattice import Lattice, Refused, lattice

SEED = 5151
CASES: tuple[tuple[tuple[float, ...], tuple[float, ...], float], ...] = (
    ((1.0,), (), 1.0),
    ((0.25, 1 / 3), (1.0,), 1.0),
    ((0.2, 0.25, 1 / 3), (1.0, 3.0), 1.0),
    ((5.0, 0.5, 1.0), (0.4, 1.7), 1.0),
    ((16.0, 2.0), (0.25,), 1.0),
    ((16.0, 2.0), (2.5e-4,), 1e-3),
    ((50.0, 1e-3, 7.0), (1e-9, 40.0), 0.1),
    ((1.0, 2.0, 1.0, 2.0, 1.0), (0.5, 1.0, 1.5, 2.0), 3.0),
    ((1e-4, 40.0), (1.0,), 1.0),
    ((0.5, 0.25, 0.75, 0.5, 1.0, 0.125, 0.25, 0.5, 0.3, 0.6, 0.2, 0.4, 1.5), tuple(k / 4 for k in range(1, 13)), 1.0),
)


def mechanism(eps: Sequence[float], breakpoints: Sequence[float], sensitivity: float) -> tuple[Lattice, segments.Segments]:
    """The lattice, and the mechanism on it."""
    where = lattice("laplace", max(eps), sensitivity)
    if any(where.sensitivity_steps + where.sensitivity_steps / rate > 2.0**54 or rate < 2.0**-40 for rate in eps):
        raise Refused("the tail would not fit 64-bit integers")
    breaks = [math.floor(Fraction(c) / where.granularity + Fraction(1, 2)) for c in breakpoints]
    return where, segments.merged([Fraction(e) for e in eps], breaks, where.sensitivity_steps)


def lengths(mechanism: segments.Segments) -> dict[str, list[int]]:
    """The breakpoints, as an entry of the vectors has them."""
    return {"breaks": [part.first - 1 for part in mechanism.parts[2:]]}
