"""Contract, section "Gaussian": the discrete Gaussian distribution by rejection, and the calibration of Gaussian noise.

Exact rationals and intervals for the draws; for the calibration mpmath's root finder and erfc at hundreds of digits.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from mpmath import mp

from tests.oracles import draw, intervals, stream
from tests.oracles.survival import Geometric

ATTEMPT = 2**40
DIGITS = 250


class Draw(NamedTuple):
    """A value, its number of attempts, and the maximum number of words for one of its coins."""

    value: int
    attempts: int
    words: int


def scale(sigma2: Fraction) -> int:
    """t, the integer nearest σ (ties upwards), at least 1."""
    t = max(1, math.isqrt(math.floor(sigma2)))
    while (2 * t + 1) ** 2 <= 4 * sigma2:
        t += 1
    return t


def exponent(sigma2: Fraction, magnitude: int) -> Fraction:
    """Minus the logarithm of the probability that a proposal is accepted."""
    return (magnitude - sigma2 / scale(sigma2)) ** 2 / (2 * sigma2)


def coin(x: Fraction, word: int, extension: Callable[[int], int]) -> tuple[bool, int]:
    """Return whether u < e^-x, and the number of words that decide."""
    if x == 0:
        return True, 1
    bits, width, words = word, 64, 1
    while True:
        if intervals.less(Fraction(bits + 1, 2**width), lambda: intervals.exp(-x)):
            return True, words
        if not intervals.less(Fraction(bits, 2**width), lambda: intervals.exp(-x)):
            return False, words
        bits = bits * 2**64 + extension(words - 1)
        width += 64
        words += 1


def at(sigma2: float, key: bytes, fill: int, index: int) -> Draw:
    """Value `index` of a fill, in lattice steps."""
    variance = Fraction(sigma2)
    proposals = Geometric(Fraction(1), scale(variance))
    most = 1
    attempt = 0
    while True:
        pair = 2 * (index + attempt * ATTEMPT)
        proposal = draw.at(proposals, key, fill, pair).value
        x = exponent(variance, abs(proposal))
        first = stream.word(key, fill, pair + 1)
        accepted, words = coin(x, first, lambda number, pair=pair: stream.extension_word(key, fill, pair + 1, number))
        most = max(most, words)
        attempt += 1
        if accepted:
            return Draw(proposal, attempt, most)


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
        log2_g = max(min(log2_sigma, log2_sensitivity) - 32, log2_sigma - 43)
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
        log2_g = max(min(log2_sigma, _floor_log2(mp.mpf(sensitivity))) - 32, log2_sigma - 43)
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


def _floor_log2(x: mp.mpf) -> int:
    return int(mp.frexp(x)[1]) - 1
