"""Questions about transcendental numbers, answered with certainty.

A quantity is a function that returns an interval at mpmath's current interval precision. Precision doubles until the interval
excludes every other answer. That ends: the quantities of the contract are non-constant rational functions of e^x with x a
non-zero rational, hence transcendental (Lindemann), and never equal to the rational they are compared with.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from mpmath import iv, libmp

Interval = Any  # mpmath ships no types
Quantity = Callable[[], Interval]

FIRST_PRECISION = 192
LAST_PRECISION = 1 << 22


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the interval precision, in bits, inside a `with` block."""
    before = iv.prec
    iv.prec = bits
    try:
        yield
    finally:
        iv.prec = before


def rational(x: Fraction | int) -> Interval:
    """An interval around a rational number."""
    x = Fraction(x)
    return iv.mpf(x.numerator) / x.denominator


def exp(x: Fraction) -> Interval:
    """An interval around e^x."""
    return iv.exp(rational(x))


def less(x: Fraction, quantity: Quantity) -> bool:
    """Whether x < quantity."""
    bits = FIRST_PRECISION
    while bits <= LAST_PRECISION:
        with precision(bits):
            left, right = rational(x), quantity()
            if left.b < right.a:
                return True
            if right.b < left.a:
                return False
        bits *= 2
    raise ArithmeticError("undecided at the last precision")


def floor(quantity: Quantity) -> int:
    """The largest integer not above a quantity."""
    bits = FIRST_PRECISION
    while bits <= LAST_PRECISION:
        with precision(bits):
            low, high = (libmp.to_int(libmp.mpf_floor(end)) for end in quantity()._mpi_)
        if low == high:
            return int(low)
        bits *= 2
    raise ArithmeticError("undecided at the last precision")
