"""Contract, canonical noise: from float64 parameters to the end, and from words to integers."""

from dataclasses import dataclass
from fractions import Fraction

from mpmath import mp

from tests.oracles import draw, intervals
from tests.oracles.intervals import Interval
from tests.oracles.lattice import Lattice, Refused, lattice
from tests.oracles.survival import LARGEST, Geometric

DIGITS = 60
SEED = 5160
STAGES = (0,)
CASES: tuple[tuple[float, float], ...] = (
    (1.0, 1e-6),
    (0.1, 0.01),
    (0.5, 1e-3),
    (3.0, 0.05),
    (0.01, 1e-9),
    (1e-3, 0.3),
    (2.0**-40, 2.0**-3),
    (2.0**-40, 2.0**-1074),
    (0.7, 2.0**-128),
    (30.0, 1e-20),
    (700.0, 1e-300),
    (1e6, 0.5),
    (2.0, 1 - 2.0**-53),
    (0.25, 0.999),
    (1.0, 0.0),
    (1e-3, 0.0),
)


@dataclass(frozen=True)
class Canonical:
    """Canonical noise for (eps, delta), delta > 0, on -end … end."""

    eps: Fraction
    delta: Fraction
    end: int = LARGEST

    def survival(self, j: int) -> Interval:
        """2 a_j; nothing is beyond the end."""
        if j > self.end:
            return intervals.rational(-1)
        first = (1 - intervals.rational(self.delta)) / (1 + intervals.exp(self.eps))
        fixed = intervals.rational(self.delta) / (intervals.exp(self.eps) - 1)
        return 2 * ((first + fixed) * intervals.exp(-self.eps * (j - 1)) - fixed)

    def guess(self, v: Fraction) -> int:
        with mp.workdps(DIGITS):
            eps, delta = _mpf(self.eps), _mpf(self.delta)
            fixed = delta / mp.expm1(eps)
            height = (1 - delta) / (1 + mp.exp(eps)) + fixed
            return min(1 + max(0, int(mp.floor(-mp.log((_mpf(v) / 2 + fixed) / height) / eps))), self.end)


def mechanism(eps: float, delta: float, sensitivity: int = 1) -> tuple[Lattice, Canonical | Geometric]:
    """The lattice, and the mechanism on it, or Refused."""
    where = lattice("discrete_laplace", eps, 1.0)
    if not 0 <= delta < 1 or sensitivity != 1:
        raise Refused("no such delta, or no such sensitivity")
    if delta == 0:
        return where, Geometric(Fraction(eps), 1)
    endless = Canonical(Fraction(eps), Fraction(delta))
    return where, Canonical(endless.eps, endless.delta, _end(endless))


def _end(mechanism: Canonical) -> int:
    """The last j with S(j) > 0."""

    def positive(j: int) -> bool:
        return intervals.less(Fraction(0), lambda: mechanism.survival(j))

    low = max(1, mechanism.guess(Fraction(0)) - 2)
    assert positive(low)
    while positive(low + 1):
        low += 1
    return low


def lengths(mechanism: Canonical | Geometric) -> dict[str, int]:
    """Return the mechanism's own numbers, as in an entry of the vectors."""
    return {"end": mechanism.end if isinstance(mechanism, Canonical) else LARGEST}


def value(mechanism: Canonical | Geometric, key: bytes, fill: int, index: int) -> int:
    """Value `index` of a fill."""
    return draw.at(mechanism, key, fill, index).value


def _mpf(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator
