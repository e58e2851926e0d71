"""Contract, truncated staircases: from float64 parameters to r, the end and the centre, and from words to integers.

`CASES` here are for the mechanism on a fine lattice; truncated_discrete_staircase has the cases on the integers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from mpmath import mp

from tests.oracles import draw, intervals, search
from tests.oracles.intervals import Interval
from tests.oracles.lattice import Lattice, Refused, first_stair, lattice
from tests.oracles.survival import Staircase

MOST_STEPS = 2**61
MOST_CELLS = 512
DIGITS = 60
SEED = 5152
STAGES = (0,)
CASES: tuple[tuple[float, float, float, float | str, float | None, float | None], ...] = (
    (1.0, 1e-6, 1.0, 0.4, None, None),
    (1.0, 1e-6, 1.0, "l1", None, None),
    (4.0, 1e-3, 0.3, "l2", 0.0, None),
    (8.0, 1e-6, 1.0, "l2", None, 0.0),
    (0.5, 0.5, 1.0, 1.0, None, None),
    (0.3, 0.2, 7.0, 0.125, -3.0, None),
    (2.0, 1e-9, 1.0, 0.25, -8.1, 30.0),
    (2.0**-40, 0.25, 1.0, 0.5, None, None),
    (1e-3, 2.0**-128, 1e-3, 0.7, 1.0, None),
    (20.0, 1e-12, 1e6, 1e-4, None, -1e6),
    (700.0, 1e-3, 1.0, 0.3, None, None),
)


@dataclass(frozen=True)
class Truncated:
    """The staircase on -end … end."""

    inner: Staircase
    end: int
    centre: int = 0
    gamma: float | None = None

    def survival(self, j: int) -> Interval:
        beyond = self.inner.survival(self.end + 1)
        return (self.inner.survival(j) - beyond) / (1 - beyond) if j <= self.end else intervals.rational(-1)

    def guess(self, v: Fraction) -> int:
        with mp.workdps(DIGITS):
            beyond = _approximate(self.inner, self.end + 1)
            exact = Fraction(int(beyond * 2**512), 2**512)
        return min(self.inner.guess(v + (1 - v) * exact), self.end)


def mechanism(
    eps: float, delta: float, sensitivity: float, shape: float | str, lower: float | None, upper: float | None
) -> tuple[Lattice, Truncated]:
    """The lattice, and the mechanism on it."""
    where = lattice("staircase", eps, sensitivity, 1.0)
    return where, on_lattice(Fraction(eps), Fraction(delta), where, shape, lower, upper)


def on_lattice(
    eps: Fraction, delta: Fraction, where: Lattice, shape: float | str, lower: float | None, upper: float | None
) -> Truncated:
    """The mechanism on a lattice, or Refused."""
    sensitivity_steps = where.sensitivity_steps
    if isinstance(shape, str):
        r, gamma = best(eps, delta, sensitivity_steps, shape)
    else:
        whole = where.log2_g == 0
        r, gamma = (
            (int(shape), None)
            if whole and isinstance(shape, int)
            else (math.ceil(Fraction(shape) * sensitivity_steps), float(shape))
        )
    end = end_of(eps, delta, sensitivity_steps, r)
    steps = where.granularity
    least = None if lower is None else math.ceil(Fraction(lower) / steps)
    most = None if upper is None else math.floor(Fraction(upper) / steps)
    if any(bound is not None and abs(bound) > MOST_STEPS for bound in (least, most)):
        raise Refused("a bound is too far")
    return Truncated(Staircase(eps, sensitivity_steps, r), end, centre_of(end, least, most), gamma)


def lengths(mechanism: Truncated) -> dict[str, int | str]:
    """Return the mechanism's own numbers as in an entry of the vectors."""
    from tests.oracles.generate.encoding import float_bits

    own: dict[str, int | str] = {"r": mechanism.inner.r, "end": mechanism.end, "centre": mechanism.centre}
    return own if mechanism.gamma is None else own | {"gamma": float_bits(mechanism.gamma)}


def value(mechanism: Truncated, key: bytes, fill: int, index: int) -> int:
    """Value `index` of a fill."""
    return mechanism.centre + draw.at(mechanism, key, fill, index).value


def centre_of(end: int, least: int | None, most: int | None) -> int:
    """The integer nearest to 0 that keeps the mechanism between its bounds, or Refused."""
    low = None if least is None else least + end
    high = None if most is None else most - end
    if low is not None and high is not None and low > high:
        raise Refused("the mechanism does not fit")
    if low is not None and low > 0:
        return low
    return high if high is not None and high < 0 else 0


def delta_of(mechanism: Staircase, end: int) -> Interval:
    """The mass of the outermost D integers of one end."""
    beyond = mechanism.survival(end + 1)
    return (mechanism.survival(end + 1 - mechanism.sensitivity_steps) - beyond) / 2 / (1 - beyond)


def end_of(eps: Fraction, delta: Fraction, sensitivity_steps: int, r: int) -> int:
    """Return A: the smallest end of at least D that leaves at most δ."""
    mechanism = Staircase(eps, sensitivity_steps, r)

    def enough(end: int) -> bool:
        return not intervals.less(delta, lambda: delta_of(mechanism, end))

    with mp.workdps(DIGITS):
        b = mp.exp(-mp.mpf(eps.numerator) / eps.denominator)
        share = mp.mpf(delta.numerator) / delta.denominator
        threshold = 2 * share / (1 - b + 2 * share * b)
        guess = sensitivity_steps + max(0, mechanism.guess(Fraction(int(threshold * 2**256), 2**256))) - 2
    # This only begins the search: every end from the smallest valid one on is valid, and none before.
    return search.least(enough, sensitivity_steps if guess <= sensitivity_steps or enough(guess) else guess)


def best(eps: Fraction, delta: Fraction, sensitivity_steps: int, cost: str) -> tuple[int, float | None]:
    """Return r of minimum cost, and its γ if candidates have one, by trying every candidate."""
    found = min(
        (cost_of(Staircase(eps, sensitivity_steps, r), end_of(eps, delta, sensitivity_steps, r), cost), r, gamma)
        for r, gamma in candidates(eps, sensitivity_steps, cost)
    )
    return found[1], found[2]


def candidates(eps: Fraction, sensitivity_steps: int, cost: str) -> list[tuple[int, float]]:
    if sensitivity_steps <= MOST_CELLS:
        return [(r, r / sensitivity_steps) for r in range(1, sensitivity_steps + 1)]
    start = first_stair("staircase", eps, sensitivity_steps, cost)
    gammas = {
        Fraction(digits) * Fraction(2) ** -exponent
        for digits in range(128, 256)
        for exponent in range(7, sensitivity_steps.bit_length() + 12)
    }
    kept = [
        gamma
        for gamma in gammas
        if gamma <= 1 and Fraction(start, 4 * sensitivity_steps) <= gamma <= Fraction(4 * start, sensitivity_steps)
    ]
    # Among several γ with the same r, the smallest.
    return list({math.ceil(gamma * sensitivity_steps): float(gamma) for gamma in sorted(kept, reverse=True)}.items())


def cost_of(mechanism: Staircase, end: int, cost: str) -> mp.mpf:
    """E|X| is the sum of S_A(j), and E X² that of (2j - 1) S_A(j), j from 1 to A; S_A is a line on every step."""
    with mp.workdps(DIGITS):
        beyond, total, first = _approximate(mechanism, end + 1), mp.mpf(0), 1
        while first <= end:
            last = min(mechanism.r + mechanism.stair(first) * mechanism.sensitivity_steps - 1, end)
            n, high = last - first + 1, _approximate(mechanism, first) - beyond
            fall = _approximate(mechanism, first) - _approximate(mechanism, last)
            slope = fall / (n - 1) if n > 1 else mp.mpf(0)
            # Sums of 1, i and i² for i from 0 to n - 1; j = first + i.
            ones, linear, squares = n, n * (n - 1) // 2, (n - 1) * n * (2 * n - 1) // 6
            if cost == "l1":
                total += high * ones - slope * linear
            else:
                odd = 2 * first - 1
                total += high * (odd * ones + 2 * linear) - slope * (odd * linear + 2 * squares)
            first = last + 1
        return total / (1 - beyond)


def _approximate(mechanism: Staircase, j: int) -> mp.mpf:
    """Return S(j) to mpmath's digits, minus the digits of ε."""
    b = mp.exp(-mp.mpf(mechanism.eps.numerator) / mechanism.eps.denominator)
    c, stair = b / (1 - b), mechanism.stair(j)
    return (
        2
        * b**stair
        * (mechanism.r + stair * mechanism.sensitivity_steps - j + mechanism.sensitivity_steps * c)
        / (2 * mechanism.r - 1 + 2 * mechanism.sensitivity_steps * c)
    )
