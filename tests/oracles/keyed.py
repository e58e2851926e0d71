"""Contract, section 13: from a secret and an address to the key and mask of a row, with hashlib and AES.

A label is written as a pair of its tag and its content: `("S", "north")`, `("I", 7)`, `("T", [label, ...])`, `("N", None)`.
"""

import hashlib
import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from tests.oracles import stream

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


def keys(secret: bytes, of_all: bytes) -> tuple[bytes, bytes]:
    """R and W: the keys of masks and of words."""
    key = hmac(hmac(secret, b"stairnoise/keyed1/noise"), of_all)
    return key, stream.child_key(key, 0)


def mask(key: bytes, bind: str, one: Label, number: Value) -> bytes:
    """The XOR of the blocks of a row."""
    written = label(one)
    pieces = [(written[at : at + 8].ljust(8, b"\0"), at // 8) for at in range(0, len(written), 8)]
    numbers = (number if isinstance(number, list) else [number]) if bind == "value" else []
    pieces += [_piece(j, coordinate) for j, coordinate in enumerate(numbers)]
    total = 0
    for data, place in pieces:
        total ^= int.from_bytes(stream.encrypted(key, data + place.to_bytes(8, "little")), "little")
    return total.to_bytes(16, "little")


def _piece(j: int, number: int | float) -> tuple[bytes, int]:
    if number == int(number) and -(2**63) <= number < 2**63:
        return int(number).to_bytes(8, "little", signed=True), 2**62 + j
    return struct.pack("<d", number), 2**63 + j


def row(secret: bytes, of_all: bytes, bind: str, one: Label, number: Value) -> bytes:
    """W and the mask of a row: the key that `tests.oracles.stream` draws its words by."""
    of_masks, of_words = keys(secret, of_all)
    return of_words + mask(of_masks, bind, one, number)


def fingerprint(secret: bytes, release: str, rows: Iterable[tuple[Label, Value]]) -> bytes:
    key = hmac(hmac(secret, b"stairnoise/keyed1/fingerprint"), text(release))
    distinct = {field("T", label(one) + value(number)) for one, number in rows}
    total = sum(int.from_bytes(hmac(key, one), "little") for one in distinct) % 2**256
    return hmac(key, field("I", integer(len(distinct))) + total.to_bytes(32, "little"))
