"""Contract, selection: from costs to weights, and from words to a candidate.

A row is a list of exact exponents x_i, weight e^(-x_i), or None for the weight 0. Candidates of equal exponent are counted
together, so a rational threshold is compared as a rational; an irrational one is compared by intervals, which then
decide.
"""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from mpmath import iv

from tests.oracles import intervals, stream

HIGHEST_STAIR = 2**63 - 1


class Mechanism(NamedTuple):
    """Parameters; gamma is None for the exponential mechanism."""

    eps: float
    sensitivity: float
    gamma: float | None
    monotonic: bool


class Draw(NamedTuple):
    """An index, and the number of words after which no other bit can change it."""

    index: int
    words: int


def stair(cost: float, sensitivity: float, gamma: float) -> int:
    """J of one cost."""
    unit, width = Fraction(sensitivity), Fraction(gamma)
    if Fraction(cost) < width * unit:
        return 0
    return min(math.floor(Fraction(cost) / unit - width) + 1, HIGHEST_STAIR)


def exponents(mechanism: Mechanism, costs: list[float], parts: int = 1) -> list[Fraction | None]:
    """x_i, as the contract writes them, for a selection with eps/parts: nothing is subtracted."""
    share = Fraction(mechanism.eps) / (1 if mechanism.monotonic else 2) / parts

    def exponent(cost: float) -> Fraction:
        if mechanism.gamma is None:
            return share * Fraction(cost) / Fraction(mechanism.sensitivity)
        return share * stair(cost, mechanism.sensitivity, mechanism.gamma)

    return [None if math.isinf(cost) else exponent(cost) for cost in costs]


class Row:
    """The mechanism of one row."""

    def __init__(self, exponents: list[Fraction | None], multiplicities: list[int] | None = None) -> None:
        multiplicities = [1] * len(exponents) if multiplicities is None else multiplicities
        exponents = [x if many else None for x, many in zip(exponents, multiplicities, strict=True)]
        least = min(x for x in exponents if x is not None)
        self._exponents = [None if x is None else x - least for x in exponents]
        self._multiplicities = multiplicities
        self._all = self._counts(0)

    def __len__(self) -> int:
        return len(self._exponents)

    def probability(self, i: int) -> Any:
        """P(i) at the current interval precision."""
        x = self._exponents[i]
        return self._share(Counter({} if x is None else {x: self._multiplicities[i]}))

    def _counts(self, j: int) -> Counter[Fraction]:
        """Counts of the exponents from candidate j on."""
        counts: Counter[Fraction] = Counter()
        for x, many in zip(self._exponents[j:], self._multiplicities[j:], strict=True):
            if x is not None:
                counts[x] += many
        return counts

    def _share(self, part: Counter[Fraction]) -> Any:
        return self._weigh(part) / self._weigh(self._all)

    def _weigh(self, part: Counter[Fraction]) -> Any:
        """The sum of weights at the current interval precision."""
        return sum((count * intervals.exp(-x) for x, count in part.items()), iv.mpf(0))

    def _ratio(self, j: int) -> Fraction | None:
        """S(j) if it is rational: every class has the same share of its candidates from j on."""
        tail = self._counts(j)
        shares = {Fraction(tail[x], count) for x, count in self._all.items()}
        return shares.pop() if len(shares) == 1 else None

    def scaled(self, j: int, bits: int) -> int:
        """The largest integer not above S(j)*2^bits, for 1 <= j < n."""
        ratio = self._ratio(j)
        if ratio is not None:
            return math.floor(ratio * 2**bits)
        return intervals.floor(lambda: self._share(self._counts(j)) * 2**bits)

    def below(self, v: Fraction, j: int) -> bool:
        """Whether v < S(j) = P(index >= j)."""
        if j <= 0 or j >= len(self):
            return j <= 0
        ratio = self._ratio(j)
        if ratio is not None:
            return v < ratio
        return intervals.less(v, lambda: self._share(self._counts(j)))

    def reaches(self, end: Fraction, j: int) -> bool:
        """Whether v < S(j) for every v below `end`: only an S(j) that is rational can be `end` itself."""
        return self.below(end, j) or (j > 0 and end == self._ratio(j))

    def index(self, v: Fraction) -> int:
        """The number of j from 1 to n - 1 with v < S(j)."""
        low, high = 0, len(self)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.below(v, middle) else (low, middle)
        return low


def draw(row: Row, word: int, extension: Callable[[int], int]) -> Draw:
    """The candidate from the word and the extension words of one value; all 64 bits of the word are bits of v."""
    bits, width, words = word, 64, 1
    while True:
        index = row.index(Fraction(bits, 2**width))
        if words > stream.EXTENSION_WORDS or row.reaches(Fraction(bits + 1, 2**width), index):
            return Draw(index, words)
        bits = bits * 2**64 + extension(words - 1)
        width += 64
        words += 1


def at(row: Row, key: bytes, fill: int, index: int) -> Draw:
    """Value `index` of a fill."""
    first = stream.word(key, fill, index)
    return draw(row, first, lambda number: stream.extension_word(key, fill, index, number))


def listed(row: Row, word: int, extension: list[int]) -> Draw:
    """The candidate from a word and a finite list of extension words, zero after the list."""
    return draw(row, word, lambda number: extension[number] if number < len(extension) else 0)
