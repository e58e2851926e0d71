"""Contract, section 3: from float64 parameters to the lattice (log2 g, D, r)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tests.oracles import intervals
from tests.oracles.intervals import Interval
from tests.oracles.survival import Geometric, Staircase

KINDS = ("laplace", "discrete_laplace", "staircase", "discrete_staircase")
Shape = str | float | None


class Refused(ValueError):
    """The contract has no lattice for these parameters."""


@dataclass(frozen=True)
class Lattice:
    """Noise is 2^log2_g times an integer; r = 0 means the geometric family."""

    log2_g: int
    sensitivity_steps: int
    r: int

    @property
    def granularity(self) -> Fraction:
        return Fraction(2) ** self.log2_g


def lattice(kind: str, eps: float, sensitivity: float, shape: Shape = None) -> Lattice:
    """The lattice of a mechanism, or Refused."""
    log2_g = 0 if kind.startswith("discrete") else _log2_granularity(kind, eps, sensitivity)
    sensitivity_steps = math.ceil(Fraction(sensitivity) / Fraction(2) ** log2_g)
    if float(sensitivity_steps) + float(sensitivity_steps) / eps > 2.0**54 or _floor_log2(eps) < -40:
        raise Refused("the tail would not fit 64-bit integers")
    r = 0 if kind.endswith("laplace") else first_stair(kind, Fraction(eps), sensitivity_steps, shape)
    return Lattice(log2_g, sensitivity_steps, r)


def mechanism(eps: float, where: Lattice) -> Geometric | Staircase:
    """The mechanism on the integers."""
    exact = Fraction(eps)
    return Staircase(exact, where.sensitivity_steps, where.r) if where.r else Geometric(exact, where.sensitivity_steps)


def _floor_log2(x: float) -> int:
    return math.frexp(x)[1] - 1


def _refinement(kind: str, eps: float) -> int:
    if _floor_log2(eps) < -20:
        return 20 + _floor_log2(eps)
    if kind == "laplace":
        return min(20, max(0, _floor_log2(eps) + 1))
    return min(20, math.floor(0.75 * eps))


def _log2_granularity(kind: str, eps: float, sensitivity: float) -> int:
    log2_g = _floor_log2(sensitivity) - 32 - _refinement(kind, eps)
    if not -1074 <= log2_g <= 960:
        raise Refused("granularity out of range")
    return log2_g


def first_stair(kind: str, eps: Fraction, sensitivity_steps: int, shape: Shape) -> int:
    """r: the half-width of the first stair, in lattice steps."""
    if shape == "l1":
        return _least_absolute(eps, sensitivity_steps)
    if shape == "l2":
        return _least_square(eps, sensitivity_steps)
    assert isinstance(shape, int | float)
    return math.ceil(Fraction(shape) * sensitivity_steps) if kind == "staircase" else int(shape)


def _least_absolute(eps: Fraction, sensitivity_steps: int) -> int:
    return intervals.floor(lambda: sensitivity_steps / (1 + intervals.exp(eps / 2))) + 1  # a ceiling: the ratio is irrational


def _least_square(eps: Fraction, sensitivity_steps: int) -> int:
    """Bisection; the difference of the two sides grows with r from r = 1 on, and is positive at r = D."""

    def excess(r: int) -> Interval:
        b = intervals.exp(-eps)
        q = r * (1 - b) + sensitivity_steps * b
        return q * (4 * q * q - (1 - b) ** 2) - 2 * intervals.rational(sensitivity_steps**3) * b * (1 + b)

    low, high = 0, sensitivity_steps
    while high - low > 1:
        middle = (low + high) // 2
        enough = intervals.less(Fraction(0), partial(excess, middle))
        low, high = (low, middle) if enough else (middle, high)
    return high
