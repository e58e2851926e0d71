"""Contract, truncated Laplace: from float64 parameters to the smallest and largest integers, and from words to integers."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from mpmath import mp

from tests.oracles import draw, intervals, search
from tests.oracles.intervals import Interval
from tests.oracles.lattice import Lattice, Refused, lattice
from tests.oracles.survival import GUESS_BITS

MOST = 2**62
LEAST_DELTA = 2.0**-128
SEED = 5150
STAGES = (0,)
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


@dataclass(frozen=True)
class Truncated:
    """The table whose place j is the integer j - below, up to `above`."""

    eps: Fraction
    sensitivity_steps: int
    below: int
    above: int

    def survival(self, j: int) -> Interval:
        """P(X >= j - below); nothing is beyond the table."""
        k = j - self.below
        if k > self.above:
            return intervals.rational(-1)
        rest = self.sum(k, self.above) if k >= 0 else self.sum(1, -k) + self.sum(0, self.above)
        return rest / (self.sum(1, self.below) + self.sum(0, self.above))

    def sum(self, first: int, last: int) -> Interval:
        """x^first + ... + x^last."""
        powers = [intervals.exp(-self.eps * count / self.sensitivity_steps) for count in (1, first, last + 1)]
        return (powers[1] - powers[2]) / (1 - powers[0])

    def guess(self, v: Fraction) -> int:
        with mp.workprec(GUESS_BITS):
            rate = mp.mpf(self.eps.numerator) / self.eps.denominator / self.sensitivity_steps
            below, above = mp.exp(-rate * (self.below + 1)), mp.exp(-rate * (self.above + 1))
            share = mp.mpf(v.numerator) / v.denominator * (1 + mp.exp(-rate) - below - above) + above
            if share < 1:
                return self.below + min(int(-mp.log(share) / rate), self.above)
            other = 1 + mp.exp(-rate) - share
            return max(0, self.below - int(-mp.log(other) / rate) if other > 0 else 0)


def mechanism(
    eps: float, delta: float, sensitivity: float, lower: float | None, upper: float | None
) -> tuple[Lattice, Truncated]:
    """The lattice, and the mechanism on it."""
    where = lattice("laplace", eps, sensitivity)
    if not LEAST_DELTA <= delta <= 0.5:
        raise Refused("delta is out of range")
    if (lower is not None and not lower <= -sensitivity) or (upper is not None and not upper >= sensitivity):
        raise Refused("a bound is nearer than the sensitivity")
    if any(bound is not None and not abs(bound) < MOST * where.granularity for bound in (lower, upper)):
        raise Refused("a bound is too far")
    below, above = bounds(Fraction(eps), Fraction(delta), where, lower, upper)
    return where, Truncated(Fraction(eps), where.sensitivity_steps, below, above)


def lengths(mechanism: Truncated) -> dict[str, int]:
    """Return the bounds as in an entry of the vectors."""
    return {"below": mechanism.below, "above": mechanism.above}


def value(mechanism: Truncated, key: bytes, fill: int, index: int) -> int:
    """Value `index` of a fill, in lattice steps."""
    place = abs(draw.at(mechanism, key, fill, index).value)
    return min(place, mechanism.below + mechanism.above) - mechanism.below


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
