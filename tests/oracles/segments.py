"""Contract, merged Laplace: a segment from a table of weights, a place in it from a one-sided geometric number."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mpmath import mp

from tests.oracles import draw, intervals, stream
from tests.oracles.intervals import Interval
from tests.oracles.survival import GUESS_BITS, LARGEST

STAGE = 2**40


@dataclass(frozen=True)
class OneSided:
    """one-sided(eps, sensitivity_steps)."""

    eps: Fraction
    sensitivity_steps: int

    def survival(self, j: int) -> Interval:
        return intervals.exp(-self.eps * j / self.sensitivity_steps)

    def guess(self, v: Fraction) -> int:
        with mp.workprec(GUESS_BITS):
            per_step = mp.mpf(self.eps.numerator) / self.eps.denominator / self.sensitivity_steps
            return int(mp.floor(-mp.log(mp.mpf(v.numerator) / v.denominator) / per_step))


@dataclass(frozen=True)
class Segment:
    """Integers at magnitudes first, first + 1, ...: `length` of them, or without end."""

    first: int
    length: int | None
    eps: Fraction
    exponent: Fraction  # the weight of the first integer is e^-exponent


@dataclass(frozen=True)
class Segments:
    """A mechanism of segments on a lattice."""

    sensitivity_steps: int
    parts: tuple[Segment, ...]

    def weight(self, part: Segment) -> Interval:
        rate = part.eps / self.sensitivity_steps
        sum_ = 1 / (1 - intervals.exp(-rate))
        if part.length is not None:
            sum_ *= 1 - intervals.exp(-rate * part.length)
        return sum_ * intervals.exp(-part.exponent) / (2 if part.first == 0 else 1)

    def tail(self, j: int) -> Interval:
        """S(j) of the table."""
        weights = [self.weight(part) for part in self.parts]
        return sum(weights[j:]) / sum(weights)

    def probability(self, k: int) -> Interval:
        """P(X = k)."""
        total = sum(self.weight(part) for part in self.parts)
        for part in self.parts:
            place = abs(k) - part.first
            if place >= 0 and (part.length is None or place < part.length):
                return intervals.exp(-part.exponent - part.eps * place / self.sensitivity_steps) / total / 2
        return intervals.rational(0)


def table_index(mechanism: Segments, word: int, extension: Callable[[int], int]) -> int:
    """The number of j >= 1 with v < S(j)."""
    bits, width, words = word % 2**63, 63, 0
    while True:
        index = _count(mechanism, Fraction(bits, 2**width))
        end = Fraction(bits + 1, 2**width)
        if index == 0 or words == stream.EXTENSION_WORDS or _below_tail(mechanism, end, index):
            return index
        bits, width, words = bits * 2**64 + extension(words), width + 64, words + 1


def _count(mechanism: Segments, v: Fraction) -> int:
    index = 0
    while index + 1 < len(mechanism.parts) and _below_tail(mechanism, v, index + 1):
        index += 1
    return index


def _below_tail(mechanism: Segments, v: Fraction, j: int) -> bool:
    return intervals.less(v, lambda: mechanism.tail(j))


def value(mechanism: Segments, key: bytes, fill: int, index: int) -> int:
    """Value `index` of a fill, in lattice steps."""
    word = stream.word(key, fill, index)
    part = mechanism.parts[table_index(mechanism, word, lambda number: stream.extension_word(key, fill, index, number))]
    distance = abs(draw.at(OneSided(part.eps, mechanism.sensitivity_steps), key, fill, index + STAGE).value)
    place = distance if part.length is None else distance % part.length
    magnitude = min(part.first + place, LARGEST)
    return -magnitude if word >> 63 else magnitude


def merged(eps: Sequence[Fraction], breaks: Sequence[int], sensitivity_steps: int) -> Segments:
    """The merged mechanism with breaks in lattice steps."""
    parts = [Segment(0, 1, eps[0], Fraction(0))]
    exponent, start = Fraction(0), 0
    for number, rate in enumerate(eps):
        end = breaks[number] if number < len(breaks) else None
        parts.append(Segment(start + 1, None if end is None else end - start, rate, exponent + rate / sensitivity_steps))
        if end is not None:
            exponent += rate * (end - start) / sensitivity_steps
            start = end
    return Segments(sensitivity_steps, tuple(parts))
