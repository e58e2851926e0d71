"""Contract, partitions: from ε, δ and words to the smallest count that is shown, and to the release.

π is found by the recursion that defines it, in intervals. The rule for n + 1 is decided by comparison; precision grows until
every comparison is. Each is decided in the end: except for π(1) = δ, they have non-constant rational functions of e^ε.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from mpmath import iv

from tests.oracles import intervals, release, stream

LARGEST = 2**63 - 1


class Partitions(NamedTuple):
    """The arguments."""

    eps: float
    delta: float
    k: int


class Draw(NamedTuple):
    """The smallest count that is shown, and the number of words after which no other bit can change it."""

    needed: int
    words: int


class _Undecided(Exception):
    pass


def _less(x: Any, y: Any) -> bool:
    if x.b < y.a:
        return True
    if y.b < x.a:
        return False
    raise _Undecided


class Shown:
    """π of one partition."""

    def __init__(self, given: Partitions) -> None:
        self.eps, self.delta = (Fraction(release.share(x, given.k)) for x in (given.eps, given.delta))
        bits = intervals.FIRST_PRECISION
        while True:
            try:
                with intervals.precision(bits):
                    found, self.rising = self._recursion()
                break
            except _Undecided:
                bits *= 2
        # n₂; all counts from n₂ are shown.
        self.certain = len(found)

    def _recursion(self) -> tuple[list[Any], int]:
        """π(0), π(1), … below 1, and the last n that the first rule gives."""
        delta, grown, one = intervals.rational(self.delta), intervals.exp(self.eps), intervals.rational(1)
        shown, rising = [intervals.rational(0), delta], 1
        while True:
            n, last = len(shown), shown[-1]
            # The third rule: 1 - π - δ <= 0. At n = 1 this is a question about rationals.
            if (2 * self.delta >= 1) if n == 2 else _less(one - last, delta):
                return shown, rising
            up, down = last * grown + delta, one - (one - last - delta) / grown
            if _less(up, down):
                rising = n
            shown.append(up if rising == n else down)

    @cache  # noqa: B019 - an oracle lives as long as its test
    def _at(self, bits: int) -> list[Any]:
        with intervals.precision(bits):
            return self._recursion()[0]

    def _quantity(self, n: int) -> Any:
        try:
            return self._at(iv.prec)[n]
        except _Undecided:
            return iv.mpf([0, 1])

    def below(self, u: Fraction, n: int) -> bool:
        """Whether u < π(n)."""
        if n == 0 or n >= self.certain:
            return n > 0
        return u < self.delta if n == 1 else intervals.less(u, lambda: self._quantity(n))

    def scaled(self, n: int, bits: int) -> int:
        """The largest integer not above π(n)*2^bits, for 1 <= n < n₂."""
        if n == 1:
            return int(self.delta * 2**bits)
        return intervals.floor(lambda: self._quantity(n) * 2**bits)

    def needed(self, u: Fraction) -> int:
        """The smallest n with u < π(n)."""
        low, high = 0, self.certain
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.below(u, middle) else (middle, high)
        return high

    @property
    def median(self) -> int:
        """The smallest n with π(n) > ½."""
        return self.needed(Fraction(1, 2))

    def released(self, count: int, needed: int) -> int:
        """Return the released count, 0 if it is not shown."""
        return min(count - needed + self.median, LARGEST) if count >= needed else 0


def draw(shown: Shown, word: int, extension: Callable[[int], int]) -> Draw:
    """N from the word and the extension words of one value; all 64 bits of the word count."""
    bits, width, words = word, 64, 1
    while True:
        needed = shown.needed(Fraction(bits, 2**width))
        # No u below the end needs more, unless π(N) is below the end.
        end = Fraction(bits + 1, 2**width)
        if words > stream.EXTENSION_WORDS or shown.below(end, needed) or (needed == 1 and end == shown.delta):
            return Draw(needed, words)
        bits = bits * 2**64 + extension(words - 1)
        width += 64
        words += 1


def at(shown: Shown, key: bytes, fill: int, index: int) -> Draw:
    """Value `index` of a fill."""
    first = stream.word(key, fill, index)
    return draw(shown, first, lambda number: stream.extension_word(key, fill, index, number))


def listed(shown: Shown, word: int, extension: list[int]) -> Draw:
    """N from a word and a finite list of extension words, zero after the list."""
    return draw(shown, word, lambda number: extension[number] if number < len(extension) else 0)
