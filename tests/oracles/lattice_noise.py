"""Contract, noise by given weights: from float64 weights to exact probabilities, and from words to integers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.oracles import stream
from tests.oracles.lattice import Lattice, Refused

SEED = 5154
STAGES = (0,)
CASES: tuple[tuple[tuple[float, ...], float | None, float, float], ...] = (
    ((1.0, 2.0, 4.0, 2.0, 1.0), None, 1.0, 1.0),
    ((1.0, 2.0, 4.0, 2.0, 1.0), 0.5, 1.0, 1.0),
    ((0.0, 0.3, 0.0, 0.1, 1e-300), None, 1.0, 2.0),
    ((5.0, 0.0, 0.125), None, 0.25, 0.75),
    ((0.1, 0.7, 0.4), 0.9, 0.5, 1.0),
    ((1.0, 1.0, 1.0), 1 - 2.0**-11, 1.0, 3.0),
    ((2.0**-1000, 3.0, 1e-5), 0.75, 2.0**-20, 2.0**-19),
    ((2.0**-40, 1.0, 2.0**-40), 1e-300, 1024.0, 1024.0),
    (tuple(1 / (1 + k * k) for k in range(-60, 61)), None, 1.0, 1.0),
    (tuple(2.0 ** -abs(k / 8) for k in range(-100, 101)), 2.0**-0.125, 1.0, 10.0),
    (tuple(float((k * k * 37) % 101) for k in range(-300, 301)), None, 1.0, 2.0),
)


@dataclass(frozen=True)
class Given:
    """Weights of -m … m, and the ratio of a tail, 0 for none."""

    weights: tuple[Fraction, ...]
    ratio: Fraction

    @property
    def reach(self) -> int:
        return len(self.weights) // 2

    @property
    def tails(self) -> Fraction:
        """Sum of all weights beyond m, of both signs."""
        return (self.weights[0] + self.weights[-1]) * self.ratio / (1 - self.ratio)

    def weight(self, k: int) -> Fraction:
        """w(k)."""
        beyond = abs(k) - self.reach
        if beyond <= 0:
            return self.weights[k + self.reach]
        return self.weights[0 if k < 0 else -1] * self.ratio**beyond

    def probability(self, k: int) -> Fraction:
        """P(X = k)."""
        return self.weight(k) / (sum(self.weights) + self.tails)

    def integer(self, index: int) -> int:
        """The integer at a place of the table."""
        beyond = index - len(self.weights)
        if beyond < 0:
            return index - self.reach
        return (self.reach + 1 + beyond // 2) * (-1 if beyond % 2 else 1)

    def tail(self, j: int) -> Fraction:
        """S(j) of the table."""
        beyond = j - len(self.weights)
        if beyond < 0:
            rest = sum(self.weights[j:]) + self.tails
        else:
            rest = self.tails * self.ratio ** (beyond // 2)
            if beyond % 2:
                rest -= self.weights[-1] * self.ratio ** (beyond // 2 + 1)
        return rest / (sum(self.weights) + self.tails)


def mechanism(
    weights: Sequence[float], tail_ratio: float | None, granularity: float, sensitivity: float
) -> tuple[Lattice, Given]:
    """The lattice, and the mechanism on it."""
    sensitivity_steps = Fraction(sensitivity) / Fraction(granularity)
    if sensitivity_steps.denominator != 1:
        raise Refused("the sensitivity is no multiple of the granularity")
    where = Lattice(math.frexp(granularity)[1] - 1, int(sensitivity_steps), 0)
    return where, Given(tuple(map(Fraction, weights)), Fraction(tail_ratio or 0))


def lengths(mechanism: Given) -> dict[str, int]:
    """Return no lengths; the mechanism has none."""
    del mechanism
    return {}


def least_integers(mechanism: Given) -> list[int]:
    """Return the weights in an address, section 13: the smallest integers in their proportion."""
    weights = list(mechanism.weights)
    while mechanism.ratio == 0 and weights[0] == weights[-1] == 0:
        weights = weights[1:-1]
    unit = math.lcm(*(weight.denominator for weight in weights))
    whole = [int(weight * unit) for weight in weights]
    return [weight // math.gcd(*whole) for weight in whole]


def index(mechanism: Given, v: Fraction) -> int:
    """The number of j >= 1 with v < S(j)."""
    high = 1
    while v < mechanism.tail(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if v < mechanism.tail(middle) else (low, middle)
    return low


def value(mechanism: Given, key: bytes, fill: int, at: int) -> int:
    """Value `at` of a fill, in lattice steps."""
    bits, width, words = stream.word(key, fill, at) % 2**63, 63, 0
    while True:
        found = index(mechanism, Fraction(bits, 2**width))
        # All numbers with these bits are at least this one, and below the last threshold.
        if found == 0 or words == stream.EXTENSION_WORDS or Fraction(bits + 1, 2**width) <= mechanism.tail(found):
            return mechanism.integer(found)
        bits = bits * 2**64 + stream.extension_word(key, fill, at, words)
        width, words = width + 64, words + 1
