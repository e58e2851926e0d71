"""Contract, section "Gaussian": the discrete Gaussian distribution by its survival function, and the calibration of noise.

Intervals for the draws; for the calibration mpmath's root finder and erfc at hundreds of digits.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mpmath import iv, mp

from tests.oracles import draw, intervals, stream
from tests.oracles.intervals import Interval

EXTENSION_WORDS = 31
DIGITS = 250
SUMMED = 2**14


@dataclass(frozen=True)
class DiscreteGaussian:
    """P(k) in proportion to exp(-k^2/(2 sigma2))."""

    sigma2: Fraction

    def survival(self, j: int) -> Interval:
        """S(j), at the current interval precision."""
        if self.sigma2 < SUMMED:
            tails = _tails(self.sigma2, iv.prec)
            tail = tails[j] if j < len(tails) else iv.mpf([0, tails[-1].b])
            return 2 * tail / (2 * tails[0] - 1)
        return _by_euler_maclaurin(self.sigma2, j, iv.prec)

    def guess(self, v: Fraction) -> int:
        """Return the approximate number of j with v < S(j)."""
        with mp.workprec(256 + 2 * v.denominator.bit_length()):
            return int(mp.floor(mp.sqrt(2 * _mpf(self.sigma2)) * mp.erfinv(1 - _mpf(v)) + mp.mpf(0.5)))


@lru_cache
def _tails(sigma2: Fraction, bits: int) -> list[Interval]:
    """Sums of the weights from j on, j = 0, 1, …; the last contains all that is left."""
    del bits  # the interval precision, which the sums depend on
    weights = []
    while not weights or weights[-1].b > mp.mpf(2) ** (-2 * iv.prec):
        weights.append(intervals.exp(-Fraction(len(weights) ** 2) / (2 * sigma2)))
    # What follows is less than the integral of the weights, at most the last one times σ²/j.
    tails = [iv.mpf([0, weights[-1].b * int(sigma2 + 1)])]
    for weight in reversed(weights):
        tails.append(tails[-1] + weight)
    return tails[:0:-1]


def _by_euler_maclaurin(sigma2: Fraction, j: int, bits: int) -> Interval:
    """S(j) by the formula at j itself, with Bernoulli's numbers: ∫ f + f(j)/2 - Σ B_2i/(2i)! f^(2i-1)(j).

    The remainder is at most |B_2m|/(2m)! ∫|f^(2m)|, and |He_n(z)| exp(-z²/2) <= 1.09 sqrt(n!) exp(-z²/4) (Cramér). All weights
    together are σ√(2π) times 1 + 2 exp(-2π²σ²), which is 1 to 466 000 bits.
    """
    with mp.workprec(bits + 200):
        sigma = mp.sqrt(_mpf(sigma2))
        z, h = j / sigma, 1 / sigma
        f = mp.exp(-z * z / 2)
        total = sigma * mp.sqrt(2 * mp.pi)
        found = total * mp.erfc(z / mp.sqrt(2)) / 2 + f / 2
        before, here = mp.mpf(1), z  # Hermite's polynomials He_0, He_1
        for n in range(1, 10**6):
            if n % 2 == 1:
                found += mp.bernoulli(n + 1) / mp.factorial(n + 1) * h**n * here * f
            else:
                left = abs(mp.bernoulli(n)) / mp.factorial(n) * h ** (n - 1) * 1.09 * mp.sqrt(mp.factorial(n) * mp.pi)
                if left < mp.mpf(2) ** (-bits - 64):
                    break
            before, here = here, z * here - n * before
        error = (left + mp.mpf(2) ** (-bits - 64)) / total
        return iv.mpf([2 * (found / total - error), 2 * (found / total + error)])


def listed(sigma2: Fraction, word: int, extension: Callable[[int], int]) -> draw.Draw:
    """X from a word and extension words, of which 31 count."""
    return draw.draw(DiscreteGaussian(sigma2), word, lambda number: extension(number) if number < EXTENSION_WORDS else 0)


def at(sigma2: float, key: bytes, fill: int, index: int) -> draw.Draw:
    """Value `index` of a fill, in lattice steps."""
    first = stream.word(key, fill, index)
    return listed(Fraction(sigma2), first, lambda number: stream.extension_word(key, fill, index, number))


def profile(eps: mp.mpf, s: mp.mpf) -> mp.mpf:
    """B(eps, s) = Φ(s/2 - eps/s) - e^eps Φ(-s/2 - eps/s)."""
    root = mp.sqrt(2)
    return (mp.erfc((eps / s - s / 2) / root) - mp.exp(eps) * mp.erfc((eps / s + s / 2) / root)) / 2


def ratio(eps: mp.mpf, delta: mp.mpf) -> mp.mpf:
    """s with B(eps, s) = delta, by bisection of ln s and a secant's last digits."""
    low, high = mp.mpf(10) ** -25, mp.mpf(10) ** 5
    while high / low > 1 + mp.mpf(2) ** -40:
        middle = mp.sqrt(low * high)
        low, high = (middle, high) if profile(eps, middle) < delta else (low, middle)
    return mp.findroot(lambda s: mp.log(profile(eps, s) / delta), (low, high), solver="anderson", tol=mp.mpf(10) ** -90)


def calibrate(eps: float, delta: float, sensitivity: float, partitions: int = 1) -> tuple[int, float, int]:
    """(log2 g, σ² in lattice steps, lattice steps in the sensitivity) of Gaussian noise."""
    with mp.workdps(DIGITS):
        budget, slack, k = mp.mpf(eps), mp.mpf(delta), mp.mpf(partitions)
        sigma = mp.sqrt(k) * sensitivity / ratio(budget, slack)
        log2_sigma, log2_sensitivity = _floor_log2(sigma), _floor_log2(mp.mpf(sensitivity))
        log2_g = _log2_granularity(log2_sigma, log2_sensitivity)
        sensitivity_steps = math.ceil(Fraction(sensitivity) / Fraction(2) ** log2_g)
        least = sigma / mp.mpf(2) ** log2_g
        width = mp.sqrt(2 * mp.log(2 * k / slack) + 140)
        loss = k * ((width + sensitivity_steps / least) ** 2 + 3) / (24 * least**2)
        variance = k * sensitivity_steps**2 / ratio(budget - loss, slack * (1 - loss)) ** 2
        nearest = float(variance)
        return log2_g, nearest if mp.mpf(nearest) >= variance else math.nextafter(nearest, math.inf), sensitivity_steps


def of_sigma(sigma: float, sensitivity: float, partitions: int = 1) -> tuple[int, float, int]:
    """(log2 g, σ² in lattice steps, lattice steps in the sensitivity) of Gaussian noise of a given σ."""
    with mp.workdps(DIGITS):
        log2_sigma = _floor_log2(mp.sqrt(partitions) * mp.mpf(sigma))
        log2_g = _log2_granularity(log2_sigma, _floor_log2(mp.mpf(sensitivity)))
    sensitivity_steps = math.ceil(Fraction(sensitivity) / Fraction(2) ** log2_g)
    if partitions == 1:
        return log2_g, _least_float((Fraction(sigma) / Fraction(2) ** log2_g) ** 2), sensitivity_steps
    _, sigma2, cells_of_one = of_sigma(sigma, sensitivity)
    return log2_g, _least_float(partitions * Fraction(sigma2) * Fraction(sensitivity_steps, cells_of_one) ** 2), sensitivity_steps


def _least_float(exact: Fraction) -> float:
    """Return the smallest float64 that is not below a number."""
    found = float(exact)
    while Fraction(found) < exact:
        found = math.nextafter(found, math.inf)
    while Fraction(math.nextafter(found, 0.0)) >= exact:
        found = math.nextafter(found, 0.0)
    return found


def pmf(sigma2: float, k: int) -> mp.mpf:
    """P(X = k) by direct summation, for a moderate σ²."""
    variance = mp.mpf(sigma2)
    reach = int(mp.ceil(mp.sqrt(2 * variance * 300))) + 2
    total = 1 + 2 * mp.fsum(mp.exp(-(mp.mpf(j) ** 2) / (2 * variance)) for j in range(1, reach))
    return mp.exp(-(mp.mpf(k) ** 2) / (2 * variance)) / total


def _log2_granularity(log2_sigma: int, log2_sensitivity: int) -> int:
    return max(min(log2_sigma - 32, log2_sensitivity - 20), log2_sigma - 43)


def _mpf(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def _floor_log2(x: mp.mpf) -> int:
    return int(mp.frexp(x)[1]) - 1
