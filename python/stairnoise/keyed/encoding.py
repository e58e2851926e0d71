"""The parts of an address as bytes.

A field is a tag of one byte, the length of its body in eight bytes, and the body. So different lists of fields always have
different bytes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any

NONE, BOOL, INTEGER, TEXT, BYTES, DATE, TUPLE, FLOAT = b"N", b"B", b"I", b"S", b"Y", b"D", b"T", b"F"


def field(tag: bytes, body: bytes) -> bytes:
    """Return one field."""
    return tag + len(body).to_bytes(8, "little") + body


def integer(number: int, tag: bytes = INTEGER) -> bytes:
    """Return the field of an integer: two's complement in the fewest bytes, at least one, the least significant first."""
    bits = (number if number >= 0 else ~number).bit_length()
    return field(tag, number.to_bytes(bits // 8 + 1, "little", signed=True))


def text(characters: str) -> bytes:
    """Return the field of a text. Its code points are not normalised."""
    return field(TEXT, characters.encode())


def is_utf8(characters: str) -> bool:
    """Return whether UTF-8 has a text: a lone surrogate has no bytes."""
    return re.search("[\ud800-\udfff]", characters) is None


def fields(*parts: bytes) -> bytes:
    """Return the field of several fields."""
    return field(TUPLE, b"".join(parts))


def number(value: float) -> bytes:
    """Return the field of a finite number: equal numbers have equal fields, whatever their types."""
    return integer(int(value)) if value == int(value) else field(FLOAT, struct.pack("<d", value))


def parameters(name: str, exact: Mapping[str, Any]) -> bytes:
    """Return the field of a mechanism: its name, and the names and values of its parameters in their order."""
    return fields(text(name), *(text(key) + _parameter(value) for key, value in exact.items()))


def _parameter(value: Any) -> bytes:
    if isinstance(value, tuple):
        return fields(*map(_parameter, value))
    if isinstance(value, str):
        return text(value)
    return integer(value) if isinstance(value, int) else field(FLOAT, struct.pack("<d", value))
