"""Contract, section 2: the two families on the integers and the inverse of their survival functions.

`magnitude` relies on two things only: S decreases, and `intervals.less` never errs. The approximate inverses only choose
where the search starts.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from mpmath import mp

from tests.oracles import intervals
from tests.oracles.intervals import Interval

LARGEST = 2**63 - 1
GUESS_BITS = 256


class Mechanism(Protocol):
    """A symmetric mechanism on the integers."""

    def survival(self, j: int) -> Interval:
        """S(j) = P(|X| >= j) for j >= 1, at the current interval precision."""

    def guess(self, v: Fraction) -> int:
        """Return the approximate number of j with v < S(j), for v > 0."""


@dataclass(frozen=True)
class Geometric:
    """geometric(eps, sensitivity_steps)."""

    eps: Fraction
    sensitivity_steps: int

    def survival(self, j: int) -> Interval:
        return 2 * intervals.exp(-self.eps * j / self.sensitivity_steps) / (1 + intervals.exp(-self.eps / self.sensitivity_steps))

    def guess(self, v: Fraction) -> int:
        with mp.workprec(GUESS_BITS):
            per_step = _mpf(self.eps / self.sensitivity_steps)
            return int(mp.floor(-mp.log(_mpf(v) * (1 + mp.exp(-per_step)) / 2) / per_step))


@dataclass(frozen=True)
class Staircase:
    """staircase(eps, sensitivity_steps, r)."""

    eps: Fraction
    sensitivity_steps: int
    r: int

    def stair(self, j: int) -> int:
        """J(j): 0 up to the first drop of the pmf at r, then one more every `sensitivity_steps`."""
        return 0 if j < self.r else (j - self.r) // self.sensitivity_steps + 1

    def survival(self, j: int) -> Interval:
        b = intervals.exp(-self.eps)
        c = b / (1 - b)
        stair = self.stair(j)
        height = 2 * intervals.exp(-self.eps * stair) / (2 * self.r - 1 + 2 * self.sensitivity_steps * c)
        return height * (self.r + stair * self.sensitivity_steps - j + self.sensitivity_steps * c)

    def guess(self, v: Fraction) -> int:
        with mp.workprec(GUESS_BITS):
            eps, x = _mpf(self.eps), _mpf(v)
            mass = self.sensitivity_steps / mp.expm1(eps)
            t = 2 * self.r - 1 + 2 * mass
            stair = max(0, int(mp.floor(mp.log(2 * mass / (t * x)) / eps)) + 1)
            return int(mp.floor(self.r + stair * self.sensitivity_steps + mass - x * t * mp.exp(eps * stair) / 2))


def below(mechanism: Mechanism, v: Fraction, j: int) -> bool:
    """Whether v < S(j)."""
    return j <= 0 or intervals.less(v, lambda: mechanism.survival(j))


def magnitude(mechanism: Mechanism, v: Fraction) -> int:
    """The number of integers j >= 1 with v < S(j), at most 2^63 - 1."""
    if v == 0:
        return LARGEST
    low, high = _bracket(mechanism, v)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if below(mechanism, v, middle) else (low, middle)
    return low


def _bracket(mechanism: Mechanism, v: Fraction) -> tuple[int, int]:
    """A pair with v < S(low) and not v < S(high), found by growing steps from the guess."""
    start = min(max(mechanism.guess(v), 0), LARGEST)
    step = 1
    if below(mechanism, v, start):
        while below(mechanism, v, start + step):
            if start + step >= LARGEST:
                return LARGEST, LARGEST + 1
            step *= 2
        return start, start + step
    while not below(mechanism, v, start - step):
        step *= 2
    return max(start - step, 0), start


def _mpf(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator
