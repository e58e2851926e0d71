"""Numbers with only their meaningful digits.

A private value is rounded to the third digit of its error bound, and the bound includes that rounding. The rounding depends only
on the value, the public bound and the lattice, so it is post-processing and costs no privacy.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from stairnoise.numerics.rounding import rounded_down

_OF_A_BOUND, _OF_OTHERS = 3, 4
# The largest and the smallest float64 have 308 and 324 digits on either side of the point.
_WIDE = Context(prec=700)
_LARGEST = 2**63 - 1


def as_typed(number: float) -> Fraction:
    """Return the shortest decimal of a float64: the number that was typed, so that ten times 0.1 is 1.

    It differs from the float64 by at most a 2**-53rd of it.
    """
    return Fraction(repr(number))


@lru_cache(256)
def last_digit(bound: Fraction) -> Fraction:
    """Return the power of ten at the third digit of a bound; 0 if the bound is 0, which justifies every digit."""
    return Fraction(10) ** (math.floor(math.log10(bound)) - _OF_A_BOUND + 1) if bound else Fraction(0)


@lru_cache(256)
def is_finer(step: Fraction, digit: Fraction) -> bool:
    """Return whether multiples of a lattice step have digits beyond this one."""
    return bool(digit) and (step / digit).denominator != 1


def private_value(exact: Fraction, step: Fraction, bound: Fraction, digit: Fraction) -> tuple[float, float]:
    """Return a multiple of `step` rounded to a digit, and a bound that holds for the rounded value.

    Both are integers if the step is 1 and the bound is an integer. A digit of 0 keeps all digits.
    """
    finer = is_finer(step, digit)
    nearest, within = (round(exact / digit) * digit, bound + digit / 2) if finer else (exact, bound)
    if step == 1:
        limit = -(-within // digit) * digit if finer else within
        return _int64(nearest), _int64(limit) if limit.denominator == 1 else upwards(limit, digit)
    value = float(nearest)
    return value, upwards(max(within, bound + abs(Fraction(value) - exact)), digit)


def _int64(whole: Fraction) -> int:
    """Return an integer within int64, at whose ends noise saturates."""
    return min(max(int(whole), -_LARGEST - 1), _LARGEST)


def downwards(exact: Fraction, digit: Fraction) -> float:
    """Return the multiple of `digit` at or below a number, as a float64 that is not above the number."""
    if not digit:
        return rounded_down(exact) + 0.0  # no minus sign before a zero
    nearest = float(exact // digit * digit)
    return nearest if nearest <= exact else rounded_down((exact // digit - 1) * digit)


def upwards(exact: Fraction, digit: Fraction) -> float:
    """Return the multiple of `digit` at or above a number, as a float64 that is not below the number."""
    return -downwards(-exact, digit) + 0.0


def decimals(*numbers: float) -> int:
    """Return how many decimals show every digit of some numbers."""
    shortest = (Decimal(repr(number)).normalize() for number in numbers if math.isfinite(number))
    return max((0, *(-int(number.as_tuple().exponent) for number in shortest)))


def fixed(number: float, places: int) -> str:
    """Write a number with some decimals."""
    if not math.isfinite(number):
        return "–"
    rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN, _WIDE)
    return f"{rounded if rounded else abs(rounded):f}"  # no minus sign before a zero


def at_most(number: float) -> str:
    """Write an upper limit with four digits, rounded up."""
    return _four(number, ROUND_CEILING)


def at_least(number: float) -> str:
    """Write a lower limit with four digits, rounded down."""
    return _four(number, ROUND_FLOOR)


def _four(number: float, rounding: str) -> str:
    return f"{float(Context(prec=_OF_OTHERS, rounding=rounding).create_decimal(repr(number))):g}"
