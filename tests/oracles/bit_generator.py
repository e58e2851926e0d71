"""Contract, section 17: from a key to the words of a bit generator."""

from collections.abc import Iterator
from itertools import chain, count

from tests.oracles.stream import BIT_GENERATOR, block

BUFFERS, TWO_KEYS = 0, 1  # levels
BLOCKS = 256


def blocks(key: bytes, level: int, first: int, stop: int) -> bytes:
    """Consecutive blocks, one after the other."""
    return b"".join(block(key, BIT_GENERATOR, level, 0, index) for index in range(first, stop))


def two_keys(key: bytes) -> tuple[bytes, bytes]:
    """Return the key of the words and the key of the children, or a child's key and the key of later children."""
    return blocks(key, TWO_KEYS, 0, 2), blocks(key, TWO_KEYS, 2, 4)


def buffers(key: bytes) -> Iterator[list[int]]:
    """The words of one buffer after another."""
    key, _ = two_keys(key)
    while True:
        data = blocks(key, BUFFERS, 2, BLOCKS)
        yield [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]
        key = blocks(key, BUFFERS, 0, 2)


def words(key: bytes) -> Iterator[int]:
    """Every nonzero word."""
    return filter(None, chain.from_iterable(buffers(key)))


def children(key: bytes) -> Iterator[bytes]:
    """The keys of the children."""
    _, key = two_keys(key)
    for _ in count():
        child, key = two_keys(key)
        yield child


class Draws:
    """Results of NumPy's functions, one after the other: `uint64`, `uint32`, `double`."""

    def __init__(self, key: bytes) -> None:
        self._words = words(key)
        self._half: int | None = None

    def uint64(self) -> int:
        """The next word."""
        return next(self._words)

    def uint32(self) -> int:
        """The lower half of the next word, and at the next call its upper half."""
        if self._half is not None:
            half, self._half = self._half, None
            return half
        word = next(self._words)
        self._half = word >> 32
        return word % 2**32

    def double(self) -> float:
        """The upper 53 bits."""
        return (next(self._words) >> 11) / 2**53
