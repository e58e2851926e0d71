"""Exact numbers to float64 on the safe side."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


def quotient_up(a: int, b: int) -> float:
    """Least float64 that is not below a/b, for b > 0; inf if there is no finite one."""
    try:
        nearest = a / b
    except OverflowError:
        return math.inf if a > 0 else -sys.float_info.max
    numerator, denominator = nearest.as_integer_ratio()
    return nearest if numerator * b >= a * denominator else math.nextafter(nearest, math.inf)


def rounded_up(exact: Fraction) -> float:
    """Least float64 that is not below an exact number."""
    return quotient_up(exact.numerator, exact.denominator)


def rounded_down(exact: Fraction) -> float:
    """Largest float64 that is not above an exact number."""
    return -rounded_up(-exact)
