"""Contract, Skellam noise: from words to sums of draws by the survival function of |X|.

Ratios of neighbouring Bessel functions from far out inwards: I_{k+1}/I_k lies between 0 and 1, and is
1/(2(k+1)/ν + I_{k+2}/I_{k+1}). Intervals shrink on the way. What lies beyond k is at most ν/(k + 1) times the weight
of k, as adding up I_{j-1} - I_{j+1} = (2j/ν) I_j over j > k shows.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mpmath import iv

from tests.oracles import draw, intervals
from tests.oracles.intervals import Interval
from tests.oracles.lattice import Lattice
from tests.oracles.survival import magnitude

STAGE = 2**40
STAGES = (0,)
SEED = 5154
LARGEST_TERM = 2**24
CASES: tuple[tuple[float, int, int, int], ...] = (
    (1.0, 1, 1, 1),
    (2.0**-20, 1, 1, 1),
    (0.25, 3, 1, 1),
    (0.1, 1, 3, 2),
    (7.3, 1, 2**32 - 1, 2**31),
    (39.9, 1, 1000, 1),
    (100.0, 10, 1, 1),
    (150.0, 1, 50, 49),
    (1e4, 1, 1, 1),
    (1e6, 1, 1, 1),
    (1e9, 2**20, 4000, 1),
    (2.0**26, 1, 2, 1),
    (2.0**30, 1, 1, 1),
)


@dataclass(frozen=True)
class Magnitude:
    """The sign and magnitude of one term of variance ν."""

    nu: Fraction

    def survival(self, j: int) -> Interval:
        """P(|X| >= j)."""
        tails = _tails(self.nu, iv.prec)
        return tails[j] if j < len(tails) else iv.mpf([0, tails[-1].b])

    def guess(self, v: Fraction) -> int:
        with intervals.precision(intervals.FIRST_PRECISION):
            return bisect_left(_approximate(self.nu), -float(v)) - 1


@dataclass(frozen=True)
class Sum:
    """Independent equal terms."""

    terms: int
    term: Magnitude


def mechanism(mu: float, sensitivity: int, n_parties: int, present: int) -> tuple[Lattice, Sum]:
    """The integers, and the mechanism on them."""
    del sensitivity
    share = Fraction(mu) * present / n_parties
    terms = math.ceil(share / LARGEST_TERM)
    return Lattice(0, 0, 0), Sum(terms, Magnitude(share / terms))


def lengths(mechanism: Sum) -> dict[str, Any]:
    """How many terms a value has, and words beside the edges of a term: [word, extension word, |X|]."""
    return {"terms": mechanism.terms, "edges": [edge for j in _places(mechanism.term) for edge in _edges(mechanism.term, j)]}


def value(mechanism: Sum, key: bytes, fill: int, index: int) -> int:
    """Value `index` of a fill."""
    return sum(draw.at(mechanism.term, key, fill, index + stage * STAGE).value for stage in range(mechanism.terms))


def _places(term: Magnitude) -> list[int]:
    """Some j with an S(j) above 2^-60."""
    with intervals.precision(intervals.FIRST_PRECISION):
        last = bisect_left(_approximate(term.nu), -(2.0**-60)) - 1
    if last > 5000:
        # The exact path takes half a second for each j.
        return [last // 3]
    return sorted({min(max(j, 1), last) for j in (1, 2, 3, last // 9, last // 3, last // 2, last - 1, last)} - {0})


def _edges(term: Magnitude, j: int) -> Iterator[list[Any]]:
    """The expansion of S(j) cut after a word and an extension word, the next number, and the word with all zeros or ones."""
    cut = intervals.floor(lambda: term.survival(j) * 2**127)
    word = cut >> 64 << 64
    for v in (cut, cut + 1, word, word + 2**64 - 1):
        yield [f"{v >> 64:016x}", f"{v % 2**64:016x}", magnitude(term, Fraction(v, 2**127))]


@lru_cache(maxsize=8)
def _tails(nu: Fraction, bits: int) -> list[Interval]:
    """P(|X| >= j), j = 0, 1, ..."""
    assert bits == iv.prec
    end = _end(nu, bits)
    step, ratio = 2 / intervals.rational(nu), iv.mpf([0, 1])
    ratios = []
    for k in range(end, 0, -1):
        ratio = 1 / (k * step + ratio)
        ratios.append(ratio)
    weights = [iv.mpf(1)]
    for ratio in reversed(ratios):
        weights.append(weights[-1] * ratio)
    tails = [iv.mpf([0, (2 * weights[-1] * intervals.rational(nu) / (end + 1)).b])]
    for weight in weights[:0:-1]:
        tails.append(tails[-1] + 2 * weight)
    tails.append(tails[-1] + 1)
    total = tails[-1]
    return [tail / total for tail in reversed(tails)]


@lru_cache(maxsize=8)
def _approximate(nu: Fraction) -> list[float]:
    return [-float(tail.a) for tail in _tails(nu, iv.prec)]


def _end(nu: Fraction, bits: int) -> int:
    """A k far out: by Chernoff's bound P(X >= k) is at most exp(-k²/(2(ν + k)))."""
    nepers = (bits + 64) * math.log(2)
    return math.ceil(nepers + math.sqrt(nepers * nepers + 2 * nepers * float(nu))) + 2
