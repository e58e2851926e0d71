"""Sections 1 and 2 of docs/contract.md in pure Python: words from a key, and Laplace noise from words."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal

from stairnoise._selftest import aes256

_VALUE, _EXTENSION, _CHILD = 0, 1, 2
_DIGITS = 80


class Key:
    """A 32-byte key and its stream."""

    def __init__(self, key: bytes) -> None:
        self._round_keys = aes256.expand(key)

    def block(self, domain: int, level: int, fill: int, index: int) -> bytes:
        """Return the 16 bytes at one position."""
        tweak = fill + level * 2**48 + domain * 2**60
        return aes256.encrypt(self._round_keys, index.to_bytes(8, "little") + tweak.to_bytes(8, "little"))

    def word(self, fill: int, index: int) -> int:
        """Return the word of value `index`."""
        return _lane(self.block(_VALUE, 0, fill, index // 2), index % 2)

    def extension(self, fill: int, index: int, number: int) -> int:
        """Return extension word `number` of value `index`."""
        return _lane(self.block(_EXTENSION, number // 2, fill, index), number % 2)

    def child(self, number: int) -> bytes:
        """Return the key of a spawned child."""
        return self.block(_CHILD, 0, 0, 2 * number) + self.block(_CHILD, 0, 0, 2 * number + 1)


def _lane(block: bytes, lane: int) -> int:
    return int.from_bytes(block[8 * lane : 8 * lane + 8], "little")


def discrete_laplace(word: int, extension: Callable[[int], int], eps: float, sensitivity: int) -> int:
    """X of geometric(eps, sensitivity): with q = e^(-eps/sensitivity), v < 2 q^j/(1 + q) for j < ln(v (1 + q)/2)/ln q."""
    bits, width, number = word % 2**63, 63, 0
    while True:
        # As many bits as it takes until no further one can change the magnitude.
        largest, least = _magnitude(bits, width, eps, sensitivity), _magnitude(bits + 1, width, eps, sensitivity)
        if largest == least:
            return -largest if word >> 63 else largest
        bits, width = bits * 2**64 + extension(number), width + 64
        number += 1


def _magnitude(bits: int, width: int, eps: float, sensitivity: int) -> int:
    """Return the number of j ≥ 1 with v < S(j) at v = bits/2^width; a positive v."""
    with decimal.localcontext() as context:
        context.prec = _DIGITS
        log_q = -Decimal(eps) / sensitivity
        v = Decimal(bits) / Decimal(2) ** width
        last = (v * (1 + log_q.exp()) / 2).ln() / log_q
        return max(int(last.to_integral_value(decimal.ROUND_CEILING)) - 1, 0)
