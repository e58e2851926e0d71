"""Contract, end of section 3 and section 4: integers to numbers, and the release of values."""

import math
from fractions import Fraction

INTEGER_BITS = {"int64": 63, "int32": 31}
FORMATS = {"float64": (53, -1074, 1024), "float32": (24, -149, 128)}  # significand bits, log2 of the least, of the overflow
LARGEST_QUOTIENT = 2**126


def quotient(x: float | int, granularity: Fraction) -> int:
    """x/g rounded half up, saturating."""
    q = math.floor(Fraction(x) / granularity + Fraction(1, 2))
    return min(max(q, -LARGEST_QUOTIENT), LARGEST_QUOTIENT)


def output(n: int, granularity: Fraction, dtype: str) -> float | int:
    """n on the lattice, as a number of the output type."""
    if dtype in INTEGER_BITS:
        end = 1 << INTEGER_BITS[dtype]
        return min(max(n, -end), end - 1)
    return nearest(n * granularity, *FORMATS[dtype])


def residue(n: int, modulus: int) -> int:
    """n modulo m, from 0 to m - 1."""
    return n - modulus * math.floor(Fraction(n, modulus))


def nearest(x: Fraction, bits: int, least: int, overflow: int) -> float:
    """x rounded to a binary floating-point format, ties to even, saturating; +0.0 for zero."""
    if x == 0:
        return 0.0
    exponent = max(_floor_log2(abs(x)) - bits + 1, least)
    rounded = round(x / Fraction(2) ** exponent) * Fraction(2) ** exponent  # Python rounds ties to even
    largest = (2**bits - 1) * Fraction(2) ** (overflow - bits)
    return float(min(max(rounded, -largest), largest))


def share(eps: float, partitions: int) -> float:
    """The largest float64 not above eps/partitions."""
    exact = Fraction(eps) / partitions
    candidate = float(exact)
    return candidate if Fraction(candidate) <= exact else math.nextafter(candidate, 0.0)


def _floor_log2(x: Fraction) -> int:
    guess = x.numerator.bit_length() - x.denominator.bit_length()
    return guess if Fraction(2) ** guess <= x else guess - 1
