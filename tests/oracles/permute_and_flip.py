"""Contract, permute-and-flip and several candidates: coins of exact probability, and selections without replacement.

A coin is compared with e^(-x) by intervals, with more and more of its bits.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from tests.oracles import intervals, selection, stream
from tests.oracles.selection import Mechanism, Row, exponents

Words = Callable[[int], int]
Extension = Callable[[int, int], int]
COINS = 4


class Draw(NamedTuple):
    """An index, and the candidates whose coins fell heads."""

    index: int
    heads: list[int]


def words(candidates: int) -> int:
    """W: how many indices a selection takes."""
    return math.ceil(candidates / COINS) + 1


def coin(x: Fraction, bits: int, extension: Words) -> bool:
    """Whether u < e^-x for u = 0 . (16 bits) extension(0) extension(1) ..."""
    if x == 0:
        return True
    width, count = 16, 0
    while True:
        u, end = Fraction(bits, 2**width), Fraction(bits + 1, 2**width)
        # All further bits leave u in [u, end].
        if u > 0 and not intervals.less(u, lambda: intervals.exp(-x)):
            return False
        if intervals.less(end, lambda: intervals.exp(-x)) or COINS * (count + 1) > stream.EXTENSION_WORDS:
            return True
        bits = bits * 2**64 + extension(count)
        width += 64
        count += 1


def part(m: int, word: int, extension: Words) -> int:
    """floor(m*v) for v = 0 . word extension(0) extension(1) ..."""
    bits, width = word, 64
    for number in range(stream.EXTENSION_WORDS + 1):
        low, high = m * bits >> width, (m * (bits + 1) - 1) >> width
        if low == high:
            return low
        bits, width = bits * 2**64 + extension(number), width + 64
    return low


def draw(exponents: list[Fraction | None], words: Words, extension: Extension) -> Draw:
    """The candidate from the words of one selection, counted from 0."""
    least = min(x for x in exponents if x is not None)
    heads = []
    for j, x in enumerate(exponents):
        place, lane = 1 + j // COINS, j % COINS
        bits = words(place) >> 16 * lane & 0xFFFF
        more = lambda e, place=place, lane=lane: extension(place, COINS * e + lane)  # noqa: E731
        if x is not None and coin(x - least, bits, more):
            heads.append(j)
    return Draw(heads[part(len(heads), words(0), lambda e: extension(0, e))], heads)


def at(exponents: list[Fraction | None], key: bytes, fill: int, number: int) -> Draw:
    """Selection `number` of a fill."""
    first = number * words(len(exponents))
    return draw(
        exponents,
        lambda place: stream.word(key, fill, first + place),
        lambda place, e: stream.extension_word(key, fill, first + place, e),
    )


def one(flips: bool, exponents: list[Fraction | None], key: bytes, fill: int, number: int) -> int:
    """Return selection `number` of a fill, by permute-and-flip or in proportion to the weights."""
    if flips:
        return at(exponents, key, fill, number).index
    return selection.at(Row(exponents), key, fill, number).index


def top(flips: bool, mechanism: Mechanism, costs: list[float], k: int, key: bytes, fill: int, first: int) -> list[int]:
    """The k candidates of the row whose values begin with number `first` of a fill."""
    left, chosen = list(costs), []
    for number in range(first, first + k):
        chosen.append(one(flips, exponents(mechanism, left, k), key, fill, number))
        left[chosen[-1]] = math.inf
    return chosen
