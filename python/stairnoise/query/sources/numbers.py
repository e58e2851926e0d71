"""Which numbers a declared type has."""

from __future__ import annotations

import math
import struct
from typing import Any

from stairnoise.query.types import exact


def is_integer(value: Any, bits: int, *, signed: bool = True) -> bool:
    """Tell whether an integer has that many bits at most."""
    least = -(2 ** (bits - 1)) if signed else 0
    return isinstance(value, int) and least <= value < least + 2**bits


def is_float(value: Any, bits: int) -> bool:
    """Tell whether rounding to a float of 32 or 64 bits is finite, and 0 for 0 alone."""
    form = {32: "<f", 64: "<d"}[bits]
    try:
        (rounded,) = struct.unpack(form, struct.pack(form, float(value)))
    except OverflowError:
        return False
    return math.isfinite(rounded) and (rounded != 0 or value == 0)


def is_decimal(value: Any, digits: int, scale: int) -> bool:
    """Tell whether a number as it is written has that many digits at most, and that many of them after the point."""
    _, places, last = exact(value).as_tuple()
    assert isinstance(last, int)
    written = "".join(map(str, places))
    kept = written.rstrip("0")
    last += len(written) - len(kept)
    return not kept or (last >= -scale and len(kept) + last <= digits - scale)
