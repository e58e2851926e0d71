"""Contract, randomized response: from ε and k to the shift of a category."""

from fractions import Fraction
from typing import NamedTuple

from tests.oracles import intervals, stream
from tests.oracles.lattice import Lattice, Refused

SEED = 5161
STAGES = (0,)
CASES: tuple[tuple[float, int], ...] = (
    (1.0, 2),
    (0.1, 5),
    (4.0, 1000),
    (0.5, 2**53),
    (30.0, 2**53),
    (42.0, 3),
    (50.0, 17),
    (700.0, 2),
    (2.0**-40, 7),
    (2.0**21, 4),
)

KEYED = (([1.0, 4], 1), ([0.3, 5], 2))
ANSWERS = (0, 1, 2, 3)


def address(eps: float, categories: int) -> list[tuple[str, float | int]]:
    """The parameters of an address, section 13."""
    return [("eps", eps), ("categories", categories)]


class Response(NamedTuple):
    """ε and k."""

    eps: Fraction
    categories: int

    def tail(self, j: int) -> intervals.Interval:
        """S(j): the probability of a shift of j or more."""
        b = intervals.exp(-self.eps)
        return (self.categories - j) * b / (1 + (self.categories - 1) * b)


def mechanism(eps: float, categories: int) -> tuple[Lattice, Response]:
    """The lattice, and the mechanism on it."""
    if not (2.0**-40 <= eps < float("inf") and 2 <= categories <= 2**53):
        raise Refused("eps or the number of categories is out of range")
    return Lattice(0, 0, 0), Response(Fraction(eps), categories)


def lengths(mechanism: Response) -> dict[str, int]:
    """Return no lengths; the mechanism has none."""
    del mechanism
    return {}


def value(mechanism: Response, key: bytes, fill: int, at: int) -> int:
    """Value `at` of a fill: the number of j from 1 to k - 1 with v < S(j)."""
    low, high = 0, mechanism.categories
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_below(mechanism, middle, key, fill, at) else (low, middle)
    return low


def _is_below(mechanism: Response, j: int, key: bytes, fill: int, at: int) -> bool:
    """Return whether v < S(j), with as many words of v as needed."""
    bits, width, words = stream.word(key, fill, at) % 2**63, 63, 0
    while True:
        low, high = Fraction(bits, 2**width), Fraction(bits + 1, 2**width)
        if words == stream.EXTENSION_WORDS:
            return intervals.less(low, lambda: mechanism.tail(j))
        if intervals.less(high, lambda: mechanism.tail(j)):
            return True
        if not intervals.less(low, lambda: mechanism.tail(j)):
            return False
        bits = bits * 2**64 + stream.extension_word(key, fill, at, words)
        width, words = width + 64, words + 1
