"""Contract, merged Laplace: from float64 parameters to a law of segments."""

import math
from collections.abc import Sequence
from fractions import Fraction

from tests.oracles import segments
from tests.oracles.lattice import Lattice, Refused, lattice


def law(eps: Sequence[float], breakpoints: Sequence[float], sensitivity: float) -> tuple[Lattice, segments.Segments]:
    """The lattice, and the law on it."""
    where = lattice("laplace", max(eps), sensitivity)
    if any(where.cells + where.cells / rate > 2.0**54 or rate < 2.0**-40 for rate in eps):
        raise Refused("the tail would not fit 64-bit integers")
    breaks = [math.floor(Fraction(c) / where.granularity + Fraction(1, 2)) for c in breakpoints]
    return where, segments.merged([Fraction(e) for e in eps], breaks, where.cells)
