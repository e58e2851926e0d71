"""Contract, section 13: from a secret and an address to a subkey, in plain hashlib.

A label is written as a pair of its tag and its content: `("S", "north")`, `("I", 7)`, `("T", [label, ...])`, `("N", None)`.
"""

import hashlib
import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

Label = tuple[str, Any]
Value = int | float | list[int | float]


def hmac(key: bytes, message: bytes) -> bytes:
    """RFC 2104; no key here is longer than a block."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in padded) + inner).digest()


def field(tag: str, body: bytes) -> bytes:
    return tag.encode() + struct.pack("<Q", len(body)) + body


def integer(n: int) -> bytes:
    """The shortest two's complement."""
    length = 1
    while not -(1 << (8 * length - 1)) <= n < 1 << (8 * length - 1):
        length += 1
    return bytes((n >> (8 * place)) & 0xFF for place in range(length))


def label(one: Label) -> bytes:
    tag, content = one
    if tag == "T":
        return field("T", b"".join(map(label, content)))
    bodies = {
        "N": lambda: b"",
        "B": lambda: bytes([content]),
        "I": lambda: integer(content),
        "S": lambda: content.encode("utf-8"),
        "Y": lambda: content,
        "D": lambda: integer(content),
    }
    return field(tag, bodies[tag]())


def text(words: str) -> bytes:
    return field("S", words.encode("utf-8"))


def value(number: Value) -> bytes:
    if isinstance(number, list):
        return field("T", b"".join(map(value, number)))
    exact = Fraction(number)
    return field("I", integer(exact.numerator)) if exact.denominator == 1 else field("F", struct.pack("<d", number))


def parameter(one: Any) -> bytes:
    if isinstance(one, str):
        return text(one)
    if isinstance(one, list):
        return field("T", b"".join(map(parameter, one)))
    return field("I", integer(one)) if isinstance(one, int) else field("F", struct.pack("<d", one))


def mechanism(name: str, parameters: Sequence[tuple[str, Any]]) -> bytes:
    return field("T", text(name) + b"".join(text(key) + parameter(one) for key, one in parameters))


def head(release: str, statistic: str, asked: bytes, partitions: int, drawn: bytes, bind: str) -> bytes:
    """The part of the address that all rows of a release share."""
    return text(release) + text(statistic) + asked + field("I", integer(partitions)) + drawn + text(bind)


def row(bind: str, one: Label, number: Value) -> bytes:
    return label(one) + (value(number) if bind == "value" else b"")


def subkey(secret: bytes, of_all: bytes, of_row: bytes) -> bytes:
    return hmac(hmac(hmac(secret, b"stairnoise/keyed1/noise"), of_all), of_row)


def fingerprint(secret: bytes, release: str, rows: Iterable[tuple[Label, Value]]) -> bytes:
    key = hmac(hmac(secret, b"stairnoise/keyed1/fingerprint"), text(release))
    distinct = {field("T", label(one) + value(number)) for one, number in rows}
    total = sum(int.from_bytes(hmac(key, one), "little") for one in distinct) % 2**256
    return hmac(key, field("I", integer(len(distinct))) + total.to_bytes(32, "little"))
