"""Exact numbers to float64 on the safe side."""

from __future__ import annotations

import math
from fractions import Fraction


def rounded_up(exact: Fraction) -> float:
    """Least float64 that is not below an exact number."""
    nearest = float(exact)
    return nearest if exact <= nearest else math.nextafter(nearest, math.inf)


def rounded_down(exact: Fraction) -> float:
    """Largest float64 that is not above an exact number."""
    return -rounded_up(-exact)
