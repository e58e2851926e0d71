"""The unit of a sum: in units, sums are whole numbers, exact in every engine and for any order of the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stairnoise._errors import ParameterError

# A person's total is less than 2^31 units, so 2^32 people stay within 64 bits.
_BITS = 31
# A row counts at most this many units, beyond both bounds, so 2^31 rows of one person stay within 64 bits.
MOST_UNITS = 2**32
LARGEST, _LEAST = 2.0**100, 2.0**-100


@dataclass(frozen=True, slots=True)
class Units:
    """A unit, and the bounds as multiples of it."""

    unit: float
    low: int
    high: int

    def halved(self) -> Units:
        """Return the same bounds in half of the unit."""
        return Units(self.unit / 2, 2 * self.low, 2 * self.high)


def units_of(bounds: tuple[float, float], *, whole: bool) -> Units:
    """Return the unit for these bounds: 1 for whole numbers if possible, else the power of two that leaves 31 bits.

    Bounds that are not multiples of the unit are moved inwards, by less than 2**-30 of the larger bound.
    """
    low, high = bounds
    largest = max(abs(low), abs(high))
    if not low <= high or not math.isfinite(largest):
        raise ParameterError(f"bounds must be a lower and an upper number, got {low!r} and {high!r}")
    if not _LEAST <= largest <= LARGEST:
        raise ParameterError(f"bounds must be 0 or between 2**-100 and 2**100 in size, and not both 0, got {low!r} and {high!r}")
    unit = math.ldexp(1.0, math.frexp(largest)[1] - _BITS)
    if whole and low.is_integer() and high.is_integer():
        unit = max(unit, 1.0)
    least, most = math.ceil(low / unit), math.floor(high / unit)
    if least > most:
        raise ParameterError(f"bounds must have a multiple of {unit!r} between them, got {low!r} and {high!r}")
    return Units(unit, least, most)
