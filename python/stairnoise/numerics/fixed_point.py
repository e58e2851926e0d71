"""Numbers of as many digits as are wanted: integers in units of 2**-bits.

Python's integers take 50 to 100 ns for an operation on 200 bits, and an exponential 3 µs. With decimals of as many digits it
would be 25 µs, and a logarithm 70.

Operations round down, or by a few units: an error is a small multiple of 2**-bits, or as much relatively for results above 1.
"""

from __future__ import annotations

import math
from functools import cache

# A hundred digits, which are 332 bits.
_PI = 3141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825342117068
_MOST_BITS = 320
# Arguments of the power series of exp are at most 2**-_HALVINGS.
_HALVINGS = 10
# From here on Mills' ratio is a continued fraction, before a series.
_SERIES_END = 6


class FixedPoint:
    """Arithmetic with `bits` bits after the point; see `fixed_point`."""

    def __init__(self, bits: int) -> None:
        if bits > _MOST_BITS:
            raise ValueError(f"bits must be at most {_MOST_BITS}, got {bits}")
        self.bits = bits
        self.one = 1 << bits
        pi = (_PI << bits) // 10**99
        self._log_2 = 0
        self._log_2 = -self.log(1, -1)
        self.half_log_2pi = self.log(2 * pi) // 2
        self._root_half_pi = self.sqrt(pi // 2)

    def of(self, x: float) -> int:
        """Return the number nearest below x."""
        numerator, denominator = x.as_integer_ratio()
        return (numerator << self.bits) // denominator

    def times(self, a: int, b: int) -> int:
        """Return a b."""
        return a * b >> self.bits

    def over(self, a: int, b: int) -> int:
        """Return a/b."""
        return (a << self.bits) // b

    def sqrt(self, x: int) -> int:
        """√x."""
        return math.isqrt(x << self.bits)

    def exp(self, x: int) -> int:
        """e^x for x >= 0."""
        bits = self.bits
        halvings = max(x.bit_length() + _HALVINGS - bits, 0)
        small = x >> halvings
        total, term, k = self.one + small, small, 1
        while term:
            k += 1
            term = (term * small >> bits) // k
            total += term
        for _ in range(halvings):
            total = total * total >> bits
        return total

    def log(self, x: int, exponent: int | None = None) -> int:
        """Logarithm of x > 0, or of the integer x times 2**exponent."""
        exponent = -self.bits if exponent is None else exponent
        length = x.bit_length()
        shift = self.bits - length
        # From 1/2 to 1, whose logarithm float64 gives to 50 bits.
        fraction = x << shift if shift >= 0 else x >> -shift
        found = self.of(-math.log(fraction / self.one))
        error = self.one
        while error.bit_length() * 4 > self.bits * 3:
            error = self.times(fraction, self.exp(found)) - self.one
            found -= error - error * error // (2 * self.one) + error**3 // (3 * self.one**2)
        return (length + exponent) * self._log_2 - found

    def mills(self, x: int) -> int:
        """(1 - Φ(x))/φ(x)."""
        if x > _SERIES_END << self.bits:
            # 1/(x + 1/(x + 2/(x + 3/…))): the convergents n and n + 1 differ by about exp(-2x √(2n)), for n far above x².
            nats = self.bits * math.log(2)
            value, square = x, self.one << self.bits
            for k in range(math.ceil((nats / (2 * x / self.one)) ** 2 / 2 * 2.2) + 40, 0, -1):
                value = x + k * square // value
            return square // value
        # √(π/2) exp(x²/2) less x + x³/3 + x⁵/15 + …
        bits = self.bits
        square = x * x >> bits
        total = term = abs(x)
        k = 1
        while term:
            k += 2
            term = (term * square >> bits) // k
            total += term
        return self.times(self._root_half_pi, self.exp(square // 2)) + (total if x < 0 else -total)


@cache
def fixed_point(bits: int) -> FixedPoint:
    """Return the arithmetic of this many bits."""
    return FixedPoint(bits)
