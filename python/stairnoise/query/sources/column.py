"""A column of a table: what its declared type is, and which values that type has."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from stairnoise.query.types import exact

# "any" is a column of SQLite without a declared type, or with one that SQLite does not know.
Kind = Literal["integer", "real", "decimal", "text", "boolean", "date", "timestamp", "any", "other"]

# SQLite has no type for dates and times; a declared type with one of these words means one.
_TIMES = ("DATE", "TIME")


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
