"""Contract, infinitely divisible noise: from words to sums of differences of negative binomial draws.

Slow and from the definition: the survival function of a negative binomial variable is one minus a running sum of its
probabilities, in interval arithmetic; the least precision leaves some 120 bits beyond those of a word.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from mpmath import iv

from tests.oracles import draw, intervals, stream
from tests.oracles.intervals import Interval
from tests.oracles.lattice import Refused
from tests.oracles.survival import Geometric

STAGE = 2**40
LARGEST = 2**63 - 1
FIRST_BITS = 192


@dataclass(frozen=True)
class NegativeBinomial:
    """P(N = k) proportional to b(b+1)...(b+k-1)/k! e^(-rate k)."""

    shape: Fraction
    rate: Fraction

    def survival(self, j: int) -> Interval:
        """P(N >= j) at the current interval precision."""
        return 1 - _sums(self, iv.prec).up_to(j)


class _Sums:
    """Running sums of the probabilities, extended on request."""

    def __init__(self, mechanism: NegativeBinomial) -> None:
        self.mechanism = mechanism
        self.q = intervals.exp(-mechanism.rate)
        self.term = iv.exp(intervals.rational(mechanism.shape) * iv.log(1 - self.q))
        self.sums = [iv.mpf(0)]

    def up_to(self, j: int) -> Interval:
        """P(N < j)."""
        while len(self.sums) <= j:
            k = len(self.sums) - 1
            self.sums.append(self.sums[-1] + self.term)
            self.term = self.term * self.q * intervals.rational((self.mechanism.shape + k) / (k + 1))
        return self.sums[j]


@lru_cache(maxsize=64)
def _sums(mechanism: NegativeBinomial, bits: int) -> _Sums:
    assert bits == iv.prec
    return _Sums(mechanism)


def below(mechanism: NegativeBinomial, v: Fraction, j: int) -> bool:
    """Whether v < P(N >= j)."""
    return j <= 0 or intervals.less(v, partial(mechanism.survival, j))


def index(mechanism: NegativeBinomial, v: Fraction) -> int:
    """The number of j >= 1 with v < P(N >= j), for v > 0."""
    high = 1
    while below(mechanism, v, high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if below(mechanism, v, middle) else (low, middle)
    return low


def drawn(mechanism: NegativeBinomial, key: bytes, fill: int, at: int) -> int:
    """N from the word and the extension words of one index of the stream; bit 63 of the word is left out."""
    bits, width, words = stream.word(key, fill, at) % 2**63, 63, 0
    while True:
        if bits:
            n = index(mechanism, Fraction(bits, 2**width))
            if below(mechanism, Fraction(bits + 1, 2**width), n) or words == stream.EXTENSION_WORDS:
                return n
        bits = bits * 2**64 + stream.extension_word(key, fill, at, words)
        width += 64
        words += 1


def difference(mechanism: NegativeBinomial, key: bytes, fill: int, first: int) -> int:
    """N - N' from two stages."""
    return drawn(mechanism, key, fill, first) - drawn(mechanism, key, fill, first + STAGE)


def saturated(n: int) -> int:
    return min(max(n, -LARGEST), LARGEST)


def generalized(beta: float, a: float, share: Fraction, key: bytes, fill: int, i: int) -> int:
    """The generalized discrete Laplace distribution."""
    return saturated(difference(NegativeBinomial(Fraction(beta) * share, Fraction(a)), key, fill, i))


def check_multi_scale(eps: float, sensitivity: int, share: Fraction) -> None:
    """Refuse parameters that the multi-scale discrete Laplace mechanism does not allow."""
    if not 2.0**-11 <= eps <= 2.0**10 or not 1 <= sensitivity <= 2**16 or share < Fraction(1, 2**40):
        raise Refused("a parameter is out of range")


def multi_scale(eps: float, sensitivity: int, share: Fraction, key: bytes, fill: int, i: int) -> int:
    """The multi-scale discrete Laplace distribution: one stage a term for the whole, two for a share."""
    total = 0
    for m in range(1, sensitivity + 1):
        if share == 1:
            total += m * draw.at(Geometric(Fraction(eps), 1), key, fill, i + (m - 1) * STAGE).value
        else:
            total += m * difference(NegativeBinomial(share, Fraction(eps)), key, fill, i + 2 * (m - 1) * STAGE)
    return saturated(total)


def arete_log2_g(theta: float, lam: float) -> int:
    """log2 of the lattice step."""
    return math.frexp(max(theta, lam))[1] - 11


def arete(alpha: float, theta: float, lam: float, share: Fraction, key: bytes, fill: int, i: int) -> int:
    """The Arete mechanism, in lattice steps."""
    g = Fraction(2) ** arete_log2_g(theta, lam)
    gamma = difference(NegativeBinomial(Fraction(alpha) * share, g / Fraction(theta)), key, fill, i)
    if share == 1:
        rate = g / Fraction(lam)
        # geometric(eps, D) needs an integer D: the denominator of the rate.
        laplace = draw.at(Geometric(Fraction(rate.numerator), rate.denominator), key, fill, i + 2 * STAGE).value
    else:
        laplace = difference(NegativeBinomial(share, g / Fraction(lam)), key, fill, i + 2 * STAGE)
    return saturated(gamma + laplace)
