"""Contract, truncated Laplace: from float64 parameters to the mechanism's smallest and largest integers."""

import math
from fractions import Fraction
from functools import partial

from tests.oracles import intervals, search, segments
from tests.oracles.intervals import Interval
from tests.oracles.lattice import Lattice, Refused, lattice

MOST = 2**62
LEAST_DELTA = 2.0**-128
SEED = 5150
CASES: tuple[tuple[float, float, float, float | None, float | None], ...] = (
    (1.0, 1e-6, 1.0, None, None),
    (0.7, 2.5e-6, 1.0, None, None),
    (0.1, 4.5e-6, 3.0, None, None),
    (1e-3, 0.5, 1.0, None, None),
    (20.0, 2.0**-128, 1e-3, None, None),
    (4.0, 0.5, 1e6, None, None),
    (2.0**-40, 0.25, 1.0, None, None),
    (1.0, 0.01, 1.0, None, 4.4625),
    (0.5, 0.1, 1.0, None, 2.75),
    (2.0, 0.05, 0.1, -0.2084, None),
    (1.0, 0.01, 1.0, -30.0, None),
    (0.1, 0.3, 1.0, None, 25.0),
    (1.5, 1e-3, 1.0, -7.0, 5.0),
    (300.0, 1e-9, 1.0, None, None),
)


def mechanism(
    eps: float, delta: float, sensitivity: float, lower: float | None, upper: float | None
) -> tuple[Lattice, segments.Segments]:
    """The lattice, and the mechanism on it."""
    where = lattice("laplace", eps, sensitivity)
    if not LEAST_DELTA <= delta <= 0.5:
        raise Refused("delta is out of range")
    if (lower is not None and not lower <= -sensitivity) or (upper is not None and not upper >= sensitivity):
        raise Refused("a bound is nearer than the sensitivity")
    if any(bound is not None and not abs(bound) < MOST * where.granularity for bound in (lower, upper)):
        raise Refused("a bound is too far")
    below, above = bounds(Fraction(eps), Fraction(delta), where, lower, upper)
    return where, segments.truncated(Fraction(eps), where.sensitivity_steps, below, above)


def lengths(mechanism: segments.Segments) -> dict[str, int]:
    """Return the bounds as in an entry of the vectors."""
    return {"below": mechanism.parts[1].length or 0, "above": (mechanism.parts[0].length or 0) - 1}


def bounds(eps: Fraction, delta: Fraction, where: Lattice, lower: float | None, upper: float | None) -> tuple[int, int]:
    """(a, b), or Refused."""
    given = [None if bound is None else math.floor(abs(Fraction(bound)) / where.granularity) for bound in (lower, upper)]
    enough = partial(_enough, eps, delta, where.sensitivity_steps)
    below, above = given
    if below is None and above is None:
        symmetric = search.least(lambda k: enough(k, k), where.sensitivity_steps)
        return symmetric, symmetric
    if below is not None and above is not None:
        if not enough(min(below, above), max(below, above)):
            raise Refused("the bounds leave too much")
        return below, above
    known = below if below is not None else above
    assert known is not None
    if enough(known, known):
        other = search.least(lambda k: enough(min(k, known), max(k, known)), where.sensitivity_steps)
    elif enough(known, MOST):
        other = search.least(lambda k: enough(known, k), known + 1)
    else:
        raise Refused("no other bound will do")
    return (other, known) if below is None else (known, other)


def delta_of(eps: Fraction, sensitivity_steps: int, near: int, far: int) -> Interval:
    """The mass of the outermost integers: the sum of the powers, divided by the sum of all."""

    def powers(first: int, last: int) -> Interval:
        """x^first + ... + x^last."""
        x = intervals.exp(-eps / sensitivity_steps)
        return (intervals.exp(-eps * first / sensitivity_steps) - intervals.exp(-eps * (last + 1) / sensitivity_steps)) / (1 - x)

    return powers(near - sensitivity_steps + 1, near) / (powers(0, near) + powers(1, far))


def _enough(eps: Fraction, delta: Fraction, sensitivity_steps: int, near: int, far: int) -> bool:
    return not intervals.less(delta, lambda: delta_of(eps, sensitivity_steps, near, far))
