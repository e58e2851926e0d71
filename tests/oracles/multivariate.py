"""Contract, `MultivariateStaircase`: from parameters to the lattice, and from words to a vector.

Numbers known to some bits are pairs of rationals; a coordinate is settled when both ends round alike.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from mpmath import iv, mp

from tests.oracles import intervals, stream

ATTEMPTS = 128
MANY_DIMENSIONS = 4096
Range = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Multivariate:
    """The mechanism on the lattice vectors; noise is 2^log2_g times one."""

    eps: Fraction
    dim: int
    norm: str
    log2_g: int
    sensitivity_steps: int
    r: int

    @cached_property
    def tails(self) -> "Tails":
        return Tails(self)

    def vector(self, key: bytes, fill: int, index: int) -> list[int]:
        """The vector with this index of a fill."""
        return self.coordinates(key, fill, index, range(self.dim))

    def coordinates(self, key: bytes, fill: int, index: int, places: Iterable[int]) -> list[int]:
        """Some coordinates of a vector."""
        words = Words(key, fill, index, 2**28 if self.dim > MANY_DIMENSIONS else 2**40)
        m = self.tails.index(words)
        radius = min(self.r + m * self.sensitivity_steps, 2**62)
        return [self._coordinate(words, radius, i) for i in places]

    def _coordinate(self, words: "Words", radius: int, i: int) -> int:
        extensions = 1
        while True:
            found = self._bounds(words, radius, i, extensions)
            if found is not None:
                magnitude, stage = found
                return -magnitude if words.negative(stage) else magnitude
            extensions *= 2

    def _bounds(self, words: "Words", radius: int, i: int, extensions: int) -> tuple[int, int] | None:
        """Magnitude of coordinate i and the stage of its sign, if so many extension words settle it."""
        if self.norm == "l2":
            square, stage = self._ball(words, i, extensions)
            ends = [(math.isqrt(math.floor(4 * radius**2 * end)) + 1) // 2 for end in square]
        else:
            y, stage = self._flat(words, i, extensions)
            ends = [math.floor(radius * end + Fraction(1, 2)) for end in y]
        return (ends[0], stage) if ends[0] == ends[1] else None

    def _flat(self, words: "Words", i: int, extensions: int) -> tuple[Range, int]:
        if self.norm == "linf":
            return words.uniform(1 + i, extensions), 1 + i
        sorted_numbers = words.once(
            ("numbers", extensions), lambda: in_order([words.uniform(1 + j, extensions) for j in range(self.dim)])
        )
        return spacing(sorted_numbers, i), 1 + i

    def _ball(self, words: "Words", i: int, extensions: int) -> tuple[Range, int]:
        """The square of y."""
        h = -(-self.dim // 2)
        stages = words.once("stages", lambda: [self._accepted(words, h, j) for j in range(h)])
        pairs = words.once(("pairs", extensions), lambda: [words.pair(s, extensions, halved) for s, halved in stages])
        squares = words.once(("squares", extensions), lambda: [plus(times(u, u), times(v, v)) for u, v in pairs])
        sorted_squares = words.once(("order", extensions), lambda: in_order(squares))
        j, which = divmod(i, 2)
        below = squares[j]
        if self.dim % 2:
            dropped = times(spacing(sorted_squares, h - 1), times(pairs[-1][1], pairs[-1][1]))
            rest = over(dropped, squares[-1])
            below = times(below, (max(Fraction(0), 1 - rest[1]), 1 - rest[0]))
        x = pairs[j][which]
        return over(times(times(x, x), spacing(sorted_squares, j)), below), stages[j][0] + which

    def _accepted(self, words: "Words", h: int, j: int) -> tuple[int, bool]:
        """Stage of u of the attempt that counts, and whether its numbers are halved."""
        for t in range(ATTEMPTS - 1):
            s = 1 + 2 * (t * h + j)
            extensions = 1
            while True:
                u, v = words.pair(s, extensions)
                low, high = plus(times(u, u), times(v, v))
                if high <= 1:
                    return s, False
                if low >= 1:
                    break
                extensions *= 2
        return 1 + 2 * ((ATTEMPTS - 1) * h + j), True


class Words:
    """The words of one vector."""

    def __init__(self, key: bytes, fill: int, index: int, stride: int) -> None:
        self._key, self._fill, self._vector, self._stride = key, fill, index, stride
        self._known: dict[Any, Any] = {}

    def once(self, name: Any, make: Callable[[], Any]) -> Any:
        """Values shared by all coordinates of the vector."""
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]

    def _index(self, stage: int) -> int:
        return self._vector + stage * self._stride

    def word(self, stage: int) -> int:
        return stream.word(self._key, self._fill, self._index(stage))

    def negative(self, stage: int) -> bool:
        return self.word(stage) >> 63 == 1

    def extension(self, stage: int, number: int) -> int:
        return stream.extension_word(self._key, self._fill, self._index(stage), number)

    def pair(self, stage: int, extensions: int, halved: bool = False) -> tuple[Range, Range]:
        return self.uniform(stage, extensions, halved), self.uniform(stage + 1, extensions, halved)

    def uniform(self, stage: int, extensions: int, halved: bool = False) -> Range:
        """What is known of U(stage) from so many extension words; halved: of 0 . 0 w_62 ... w_1 e_0[63] ..."""
        bits = self.word(stage) % 2**63 >> halved
        for number in range(extensions):
            bits = bits * 2**64 + self.extension(stage, number)
        width = Fraction(1, 2 ** (63 + 64 * extensions))
        return bits * width, (bits + 1) * width


class Tails:
    """The table of balls: the number of j >= 1 with v < S(j)."""

    def __init__(self, mechanism: Multivariate) -> None:
        self._mechanism = mechanism
        self._sums: dict[int, list[Any]] = {}

    def index(self, words: Words) -> int:
        extensions = 1
        while True:
            low, high = words.uniform(0, extensions)
            bits = 192 * extensions
            with intervals.precision(bits):
                sums = self._partial_sums(bits)
                total = sums[0]
                decided = [
                    True
                    if (intervals.rational(high) * total).b < tail.a
                    else False
                    if (intervals.rational(low) * total).a > tail.b
                    else None
                    for tail in sums[1:]
                ]
            if None not in decided and False in decided:
                return decided.index(False)
            extensions *= 2

    def _partial_sums(self, bits: int) -> list[Any]:
        """Sums of all weights from the j-th on."""
        if bits not in self._sums:
            mechanism = self._mechanism
            decay = intervals.exp(-mechanism.eps)
            weights, m = [], 0
            while True:
                weights.append(decay**m * iv.mpf(mechanism.r + m * mechanism.sensitivity_steps) ** mechanism.dim)
                # From 2d/eps on each weight is less than e^(-eps/2) times the one before.
                if m * mechanism.eps > 2 * mechanism.dim and weights[-1].b < weights[0].a * iv.mpf(2) ** -bits:
                    break
                m += 1
            rest = weights[-1] / (intervals.exp(mechanism.eps / 2) - 1)
            tail = iv.mpf([0, rest.b])
            sums = []
            for weight in reversed(weights):
                tail = tail + weight
                sums.append(tail)
            self._sums[bits] = sums[::-1]
        return self._sums[bits]


def mechanism(eps: float, sensitivity: float, dim: int, gamma: str | float, norm: str) -> Multivariate:
    """The mechanism for parameters that the contract accepts."""
    refinement = min(20, math.floor(1.5 * eps / (dim + 1)))
    log2_g = math.frexp(sensitivity)[1] - 1 - 32 - refinement
    extra = {"l1": dim - 1, "l2": math.isqrt(dim - 1) + 1, "linf": 0}[norm]
    sensitivity_steps = math.ceil(Fraction(sensitivity) / Fraction(2) ** log2_g) + extra
    number = best_gamma(eps, dim, {"l1": 1, "l2": 2}[gamma]) if isinstance(gamma, str) else Fraction(gamma)
    return Multivariate(
        Fraction(eps), dim, norm, log2_g, sensitivity_steps, math.ceil(number * sensitivity_steps) or sensitivity_steps
    )


@lru_cache(maxsize=64)
def best_gamma(eps: float, dim: int, p: int) -> Fraction:
    """The best gamma to 24 bits: find all stationary points between neighbours of a fine grid, then take the minimum cost."""
    with mp.workdps(60):
        phi = lerch(mp.mpf(eps))
        slope = lambda g: (dim + p) * phi(dim + p - 1, g) * phi(dim, g) - dim * phi(dim - 1, g) * phi(dim + p, g)  # noqa: E731
        cost = lambda g: phi(dim + p, g) / phi(dim, g)  # noqa: E731
        grid = [mp.mpf(i) / 200 for i in range(1, 201)]
        grid = [mp.exp(-mp.mpf(eps) * k / 40) * grid[0] for k in range(40, 0, -1)] + grid
        roots = [_root(slope, a, b) for a, b in itertools.pairwise(grid) if slope(a) < 0 < slope(b)]
        best = min([*roots, grid[-1]], key=cost)
        exponent = 24 - int(mp.frexp(best)[1])
        return Fraction(int(mp.nint(best * mp.mpf(2) ** exponent))) / Fraction(2) ** exponent


def lerch(eps: Any) -> Callable[[int, Any], Any]:
    """sum b^m (m + g)^s for integers s, by the forward differences of (x + g)^s at 0."""
    c = 1 / mp.expm1(eps)

    def phi(s: int, g: Any) -> Any:
        column, total = [(mp.mpf(x) + g) ** s for x in range(s + 1)], mp.mpf(0)
        for i in range(s + 1):
            total += column[0] * c**i
            column = [b - a for a, b in itertools.pairwise(column)]
        return (1 + c) * total

    return phi


def _root(slope: Callable[[Any], Any], low: Any, high: Any) -> Any:
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low


def in_order(numbers: list[Range]) -> tuple[list[Fraction], list[Fraction]]:
    """The lower ends in ascending order, and the upper ends."""
    return sorted(x[0] for x in numbers), sorted(x[1] for x in numbers)


def spacing(ends: tuple[list[Fraction], list[Fraction]], i: int) -> Range:
    """The i-th smallest number minus the one before."""
    low, high = ends
    if i == 0:
        return low[0], high[0]
    return max(Fraction(0), low[i] - high[i - 1]), high[i] - low[i - 1]


def plus(x: Range, y: Range) -> Range:
    return x[0] + y[0], x[1] + y[1]


def times(x: Range, y: Range) -> Range:
    return x[0] * y[0], x[1] * y[1]


def over(x: Range, y: Range) -> Range:
    """A quotient; a divisor that may be 0 gives a large upper end, which settles nothing."""
    return x[0] / y[1], x[1] / y[0] if y[0] else x[1] * 2**200
