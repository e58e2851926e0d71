"""What a change of one value, or of many values together, costs: the arithmetic of `AdditiveMechanism.privacy_map`.

A release rounds x to the integer ⌊x/g + 1/2⌋ of lattice steps. So a change by d > 0 moves a value by at most ⌈d/g⌉ steps, which
is below d/g + 1. For n values, the largest sum of all moves is ⌈d/g⌉ + n - 1 if d bounds the l1 norm of the change. The root of
the sum of their squares is below d/g + √n if d bounds the l2 norm, by the triangle inequality. Integers are not rounded on a
lattice of step 1, 1/2, 1/4, …
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from stairnoise._errors import ParameterError
from stairnoise._parameters import count, flag, refuse, single
from stairnoise.mechanism.guarantee import MOST_PARTITIONS, Guarantee
from stairnoise.numerics.rounding import rounded_up

# Bits of a root after the point.
_ROOT_BITS = 64
# δ e^x is above 1 for every δ of float64 if x is above this, which is more than -ln(2**-1074).
_MOST_LOG = 750
# Exceeds the rounding of two exponentials of at most _MOST_LOG, of their quotient, and of a product.
_MARGIN = 1 + 2.0**-38


class Change(NamedTuple):
    """How far `size` values move together, by at most `distance` in some norm."""

    distance: Fraction
    granularity: Fraction
    size: int
    integers: bool

    def steps(self) -> tuple[int, int]:
        """Return the largest sum of all moves in lattice steps, if the norm is l1, and how many values move."""
        distance, n = self._changed(self.distance)
        moves = math.ceil(distance / self.granularity)
        return (moves, n) if self._is_exact() or n == 0 else (moves + n - 1, n)

    def squares(self) -> int:
        """Return the largest sum of all squared moves in lattice steps, if the norm is l2."""
        square, n = self._changed(self.distance**2)
        square /= self.granularity**2
        if self._is_exact() or n == 0:
            return int(square)
        if n == 1:
            return _root_up(math.ceil(square)) ** 2
        # (√square + √n)² is an upper bound that is not reached.
        middle = Fraction(_root_up(math.ceil(4 * square * n * (1 << 2 * _ROOT_BITS))), 1 << _ROOT_BITS)
        return math.ceil(square + middle) + n - 1

    def length(self, norm: str) -> int:
        """Return the least integer that is not below the largest norm of all moves in lattice steps: "l1", "l2" or "linf"."""
        if norm == "l2":
            return _root_up(self.squares())
        return (self if norm == "l1" else self._replace(size=1)).steps()[0]

    def units(self, steps: int) -> int:
        """Return how many moves of one value by at most so many steps make up every such change, if the norm is l1."""
        moves, n = self.steps()
        # A move by so many steps needs one change by `steps` for each begun `steps`, and what is begun is at least this long.
        least = math.gcd(int(1 / self.granularity), steps) if self._is_exact() else 1
        return n + (moves - n * least) // steps

    def _changed(self, total: Fraction) -> tuple[Fraction, int]:
        """Return the largest sum of all changes, or of their squares, and how many values change."""
        if self.integers:
            whole = math.floor(total)
            return Fraction(whole), min(self.size, whole)
        return total, self.size if total else 0

    def _is_exact(self) -> bool:
        return self.integers and self.granularity <= 1


def mapped(mechanism: Any, d_in: Any, size: Any, integers: Any, *delta: float) -> Guarantee:
    """Return the guarantee for a change by `d_in`; the arguments are those of `privacy_map`."""
    distance = single(d_in, "d_in")
    refuse("d_in", distance, 0 <= distance < math.inf, "finite and at least 0", d_in)
    n, whole = count(size, "size", least=1, most=MOST_PARTITIONS), flag(integers, "integers")
    if mechanism._parameter_shape:
        raise ParameterError(f"privacy_map must have a mechanism of single parameters, got shape {mechanism._parameter_shape}")
    most = distance
    if whole and mechanism._change_norm == "l2" and not distance.is_integer():
        # The distance is the root of an integer, and float64 can hold less than this root.
        most = math.nextafter(distance, math.inf)
    change = Change(Fraction(most), Fraction(mechanism._sampler.granularity), n, whole)
    eps, spent, rho = mechanism._cost_of(change, *delta)
    return Guarantee(eps, spent, rho, distance, n, None if n == 1 else mechanism._change_norm)


def group(eps: Fraction | float, delta: float, times: int) -> tuple[float, float, None]:
    """Return (ε, δ) of `times` changes one after the other, each (eps, delta)-private, and no ρ (Vadhan 2017, lemma 2.2).

    The δ is ``delta (1 + e^ε + … + e^((times - 1)ε))``.
    """
    total = times * Fraction(eps)
    if times == 0 or delta == 0:
        return rounded_up(total), 0.0, None
    if times == 1:
        return rounded_up(total), delta, None
    if total > _MOST_LOG:
        return rounded_up(total), 1.0, None
    one = float(eps)
    terms = float(times) if one == 0 else math.expm1(float(total)) / math.expm1(one)
    return rounded_up(total), min(1.0, math.nextafter(delta * terms * _MARGIN, 1.0)), None


def _root_up(square: int) -> int:
    """Return the least integer that is not below the root."""
    root = math.isqrt(square)
    return root + (root * root < square)
