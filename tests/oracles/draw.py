"""Contract, section 2: from words to a signed integer, and how many words it takes."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from tests.oracles import stream
from tests.oracles.survival import Mechanism, below, magnitude


class Draw(NamedTuple):
    """An integer X, and the number of words after which no other bit can change it."""

    value: int
    words: int


def draw(mechanism: Mechanism, word: int, extension: Callable[[int], int]) -> Draw:
    """X from the word and the extension words of one value."""
    negative, bits, width = word >> 63, word % 2**63, 63
    words = 1
    while True:
        size = magnitude(mechanism, Fraction(bits, 2**width))
        if words > stream.EXTENSION_WORDS or _settled(mechanism, size, Fraction(bits + 1, 2**width)):
            return Draw(-size if negative else size, words)
        bits = bits * 2**64 + extension(words - 1)
        width += 64
        words += 1


def _settled(mechanism: Mechanism, size: int, end: Fraction) -> bool:
    """Whether v < S(size) for every v below `end`, so that the bits still unknown cannot lower the magnitude."""
    return below(mechanism, end, size)


def at(mechanism: Mechanism, key: bytes, fill: int, index: int) -> Draw:
    """Value `index` of a fill."""
    first = stream.word(key, fill, index)
    return draw(mechanism, first, lambda number: stream.extension_word(key, fill, index, number))


def listed(mechanism: Mechanism, word: int, extension: list[int]) -> Draw:
    """X from a word and a finite list of extension words, zero after the list."""
    return draw(mechanism, word, lambda number: extension[number] if number < len(extension) else 0)
