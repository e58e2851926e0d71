"""A column of a table: what its declared type is, which values that type has, and the unit in which they are summed.

In units, sums are whole numbers, exact in every engine and for any order of the rows.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from stairnoise._errors import ParameterError, check
from stairnoise.query.types import exact

# "any" is a column of SQLite without a declared type, or with one that SQLite does not know.
Kind = Literal["integer", "real", "decimal", "text", "boolean", "date", "timestamp", "any", "other"]

# SQLite has no type for dates and times; a declared type with one of these words means one.
_TIMES = ("DATE", "TIME")
# A person's total is less than 2^31 units, so 2^32 people stay within 64 bits.
_BITS = 31
# A row counts at most this many units, beyond both bounds, so 2^31 rows of one person stay within 64 bits.
MOST_UNITS = 2**32
LARGEST, _LEAST = 2.0**100, 2.0**-100


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the kind of its values, the engine's type, and the schema's word for the type if that differs."""

    name: str
    kind: Kind
    type: str
    declared: str = field(default="", kw_only=True)
    # Size of an integer or a float.
    bits: int = field(default=64, kw_only=True)
    signed: bool = field(default=True, kw_only=True)
    # Digits of a decimal, and how many of them come after the point; None if the type does not limit them.
    digits: tuple[int, int] | None = field(default=None, kw_only=True)

    @property
    def declaration(self) -> str:
        """The declared type, which is public."""
        return self.declared or self.type

    @property
    def summable(self) -> bool:
        """Whether its values can be summed."""
        if self.kind == "any":
            return not any(word in self.type.upper() for word in _TIMES)
        return self.kind in ("integer", "real", "decimal", "boolean")

    def at_or_above(self, number: int | Decimal) -> int | Decimal | None:
        """Return the smallest number of an integer or decimal type that is not below this one, or None if all are below."""
        if self.kind == "decimal" and self.digits is None:
            return number
        precision, scale = self.digits or (0, 0)
        most = 10**precision - 1 if self.digits else 2 ** (self.bits - self.signed) - 1
        least = -most if self.digits else -self.signed * 2 ** (self.bits - 1)
        found = max(math.ceil(Fraction(number) * Fraction(10) ** scale), least)
        if found > most:
            return None
        return found if self.kind == "integer" else Decimal(f"{found}E{-scale}")


def is_integer(value: Any, bits: int, *, signed: bool = True) -> bool:
    """Return whether a value is an integer that fits this many bits."""
    least = -(2 ** (bits - 1)) if signed else 0
    return isinstance(value, int) and least <= value < least + 2**bits


def is_float(value: Any, bits: int) -> bool:
    """Return whether a number, rounded to a float of 32 or 64 bits, is finite, and is 0 only if the number is 0."""
    try:
        rounded = as_float(value, bits)
    except OverflowError:
        return False
    return math.isfinite(rounded) and (rounded != 0 or value == 0)


def as_float(value: Any, bits: int) -> float:
    """Return a number rounded to a float of 32 or 64 bits."""
    form = {32: "<f", 64: "<d"}[bits]
    (rounded,) = struct.unpack(form, struct.pack(form, float(value)))
    return float(rounded)


def is_decimal(value: Any, digits: int, scale: int) -> bool:
    """Return whether a number, as it is written, has at most this many digits, and at most `scale` of them after the point."""
    _, places, last = exact(value).as_tuple()
    assert isinstance(last, int)
    written = "".join(map(str, places))
    kept = written.rstrip("0")
    last += len(written) - len(kept)
    return not kept or (last >= -scale and len(kept) + last <= digits - scale)


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
    check(least <= most, f"bounds must have a multiple of {unit!r} between them, got {low!r} and {high!r}")
    return Units(unit, least, most)
