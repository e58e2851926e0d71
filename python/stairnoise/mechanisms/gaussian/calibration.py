"""The σ of Gaussian noise on its lattice: the least for (ε, δ), to the last bit, or the caller's σ.

``B(ε, s) = Φ(s/2 - ε/s) - e^ε Φ(-s/2 - ε/s)`` is the least δ of Gaussian noise with a σ of 1/s times the l2 sensitivity (Balle
and Wang 2018, theorem 8). B grows with s, and ``dB/ds = φ(ε/s - s/2)`` is log-concave in s. So ln B is concave, and Newton's
steps for ln B = ln δ from the left of the root stay there and converge.

Because ``e^ε φ(ε/s + s/2) = φ(ε/s - s/2)``, B is this density times the difference of two Mills ratios.

Numbers are integers in units of 2**-bits. The bits leave an error far below 1e-30, so a comparison with δ is certain. The search
begins in float64, after which one such step is enough. With fewer bits this step mostly leaves no choice of σ² either.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

from stairnoise._errors import ParameterError
from stairnoise._parameters import REMEMBERED
from stairnoise.numerics.fixed_point import FixedPoint, fixed_point
from stairnoise.numerics.rounding import quotient_up

# Bits beyond those that differences cancel. The largest error of ln B was 3e-35, where Mills' ratio changes its formula.
_BITS = 160
# With fewer bits it was 2**-89. They are enough if no float64 is nearer to σ² than a relative 2**-_CLEAR.
_FEW_BITS, _CLEAR = 128, 68
# Bits are a multiple of this, so that few arithmetics have to be made.
_ROUND = 16
# Reciprocal of the relative error claimed for B, which is far above the error of its terms.
_ERROR = 10**30
# The root is below this many times its lower bound; 6.7 was the most, at a δ of 1 - 7e-16.
_MOST_ABOVE = 16
_LEAST_LOG2_G, _MOST_LOG2_G = -1074, 960
# A step below this, relatively, is the last: the next one is of the order of its third power.
_LAST_STEP_BITS = 40
# More steps than any search in float64 has taken, and the size of its last step.
_FLOAT_STEPS, _LAST_FLOAT_STEP = 60, 1e-13
# From this x on, Mills' ratio in float64 is a continued fraction of so many terms.
_SERIES_END, _FRACTIONS = 5.0, 40


class Calibration(NamedTuple):
    """Noise is 2**log2_granularity times the discrete Gaussian distribution of `sigma2`; the sensitivity has so many `steps`.

    A mechanism of array parameters has one of arrays.
    """

    log2_granularity: Any
    sigma2: Any
    steps: Any


# Keys are floats and an int, which the gates of parameters made.
@lru_cache(maxsize=REMEMBERED)
def calibrate(eps: float, delta: float, sensitivity: float, partitions: int) -> Calibration:
    """Least variance, in lattice steps, of noise for a release in which one person changes `partitions` values.

    The distribution on the lattice is compared with normal noise rounded to it. With h = 1/(8σ²) and |y| <= Kσ + n, the
    probability of y is at most e**h times that of the rounded noise, and at least e**(-(Kσ+n)²/(24σ⁴)) times that. So

        δ <= e**(k h) B(ε - k (K + n/σ)²/(24σ²) - k h, √k n/σ) + 2k e**h (1 - Φ(K))

    for k values of n steps each. K is such that ``2k exp(-K²/2) = e**-70 δ``, so the last term is negligible. The derivation
    is in docs/gaussian.md, and the numbers' definition in docs/contract.md.

    Raises
    ------
    ParameterError
        The lattice would not fit float64 or int64.
    """
    return _calibrated(eps, delta, sensitivity, partitions, _FEW_BITS) or _calibrated(eps, delta, sensitivity, partitions, _BITS)  # type: ignore[return-value]


def _calibrated(eps: float, delta: float, sensitivity: float, partitions: int, bits: int) -> Calibration | None:
    """Return the result of `calibrate`; None if so few bits leave it open."""
    least = _lower_bound(eps, delta, -math.log(delta))
    n = fixed_point(_bits(eps, least, bits))
    exact_eps, log_delta = n.of(eps), n.log(*_as_integer(delta))
    ideal, mills = root(n, exact_eps, log_delta, n.of(shift_in_float64(eps, delta)), n.of(least))
    change, exponent = _as_integer(sensitivity)
    wide = n.sqrt(partitions << n.bits)
    log2_sigma = exponent + _floor_log2(change * wide, ideal)
    log2_g = _log2_granularity(sensitivity, log2_sigma, "eps and delta must give a standard deviation", eps=eps, delta=delta)
    steps = _shifted_up(change, exponent - log2_g)
    sigma = _shifted(n.over(change * wide, ideal), exponent - log2_g)
    loss = _lattice_loss(n, sigma, steps, log_delta, partitions)
    shift2 = partitions * steps * steps
    # dB/dε = -e^ε Φ(-s/2 - ε/s), by which s falls.
    near = ideal - n.times(loss, mills)
    if bits < _BITS:
        square, apart = near * near, near * near >> _CLEAR
        sigma2, other = (quotient_up(shift2 << 2 * n.bits, square + error) for error in (apart, -apart))
        # The step towards `near` is accurate to the order of its square, and the error of s is a multiple of Mills' ratio.
        sure = sigma2 == other and (ideal - near) << _CLEAR // 2 + 12 < ideal and mills < (ideal + n.one) << 4
        return Calibration(log2_g, sigma2, steps) if sure else None
    goal = log_delta + n.log(n.one - loss)
    if near < ideal // 2:
        # δ is so near 1 that the loss matters more than 1 - δ.
        left, log_left = (exact_eps - loss) / n.one, goal / n.one
        start = n.of(_lower_bound(left, math.exp(log_left), -log_left))
        near, _ = root(n, exact_eps - loss, goal, start, start)
    sigma2 = _least_sigma2(n, exact_eps - loss, goal, shift2, near)
    return Calibration(log2_g, sigma2, steps)


@lru_cache(maxsize=REMEMBERED)
def is_private(eps: float, delta: float, sensitivity: float, partitions: int, found: Calibration) -> bool:
    """Return whether `partitions` values with this calibration, as from a pickle, are certainly (ε, δ)-private together."""
    log2_g, sigma2, steps = found
    change, exponent = _as_integer(sensitivity)
    if not _LEAST_LOG2_G <= log2_g <= _MOST_LOG2_G or steps < _shifted_up(change, exponent - log2_g) or not 0 < sigma2 < math.inf:
        return False
    least = _lower_bound(eps, delta, -math.log(delta))
    n = fixed_point(_bits(eps, least))
    s = _shift_over_sigma(n, partitions * steps * steps, sigma2)
    # For far smaller σ than is enough, Mills' ratio would have very many digits.
    if s > n.of(least * _MOST_ABOVE):
        return False
    log_delta = n.log(*_as_integer(delta))
    loss = _lattice_loss(n, n.sqrt(n.of(sigma2)), steps, log_delta, partitions)
    return log_profile(n, n.of(eps) - loss, s) + n.one // _ERROR <= log_delta + n.log(n.one - loss)


@lru_cache(maxsize=REMEMBERED)
def of_sigma(sigma: float, sensitivity: float, partitions: int) -> Calibration:
    """Noise of a standard deviation of at least `sigma`; for k values at least √k times that, so that they keep the ρ of one.

    ρ is D²/(2σ²) for a sensitivity of D lattice steps. The lattice of k values can be coarser, so that D is rounded up by more.

    Raises
    ------
    ParameterError
        The lattice would not fit float64 or int64.
    """
    deviation, exponent = _as_integer(sigma)
    log2_sigma = exponent + (52 if partitions == 1 else ((deviation * deviation * partitions).bit_length() - 1) // 2)
    remedy = " (std needs no sensitivity)"
    log2_g = _log2_granularity(sensitivity, log2_sigma, "sigma must be", remedy, sigma=sigma, sensitivity=sensitivity)
    # Exact, because g is a power of two.
    steps = math.ceil(math.ldexp(sensitivity, -log2_g))
    if partitions == 1:
        # σ is at least 2**32 steps, so its last bit is at least 2**-20 of a step.
        deviation <<= exponent - log2_g + 20
        return Calibration(log2_g, quotient_up(deviation * deviation, 1 << 40), steps)
    one = of_sigma(sigma, sensitivity, 1)
    numerator, denominator = one.sigma2.as_integer_ratio()
    sigma2 = quotient_up(partitions * numerator * steps**2, denominator * one.steps**2)
    return Calibration(log2_g, sigma2, steps)


def _least_sigma2(n: FixedPoint, eps: int, goal: int, shift2: int, s: int) -> float:
    """Return the least float64 σ² with B(ε, √shift2/σ) certainly below e^goal, from an s near the root."""
    found = quotient_up(shift2 << 2 * n.bits, s * s)
    sigma2 = log_b = 0.0
    while found != sigma2:
        sigma2 = found
        here = _shift_over_sigma(n, shift2, sigma2)
        log_b, step, _ = _step(n, eps, goal, here)
        found = quotient_up(shift2 << 2 * n.bits, (here + step) ** 2)
    while log_b + n.one // _ERROR > goal:
        sigma2 = math.nextafter(sigma2, math.inf)
        log_b = log_profile(n, eps, _shift_over_sigma(n, shift2, sigma2))
    return sigma2


def _shift_over_sigma(n: FixedPoint, shift2: int, sigma2: float) -> int:
    numerator, denominator = sigma2.as_integer_ratio()
    return math.isqrt((shift2 * denominator << 2 * n.bits) // numerator)


def root(n: FixedPoint, eps: int, goal: int, s: int, least: int) -> tuple[int, int]:
    """Return s with ln B(eps, s) = goal, and Mills' ratio of ε/s - s/2, from any start above `least`."""
    while True:
        _, step, mills = _step(n, eps, goal, s)
        small = abs(step) << _LAST_STEP_BITS <= s
        # A step from the right can go far beyond the root, because ln B is flat there.
        s = max(s + step, least)
        if small:
            return s, mills


def log_profile(n: FixedPoint, eps: int, s: int) -> int:
    """Return ln B(eps, s)."""
    return _step(n, eps, 0, s)[0]


def _step(n: FixedPoint, eps: int, goal: int, s: int) -> tuple[int, int, int]:
    """Return ln B(ε, s), the step of s towards ln B = goal, and Mills' ratio of ε/s - s/2.

    The step is Newton's, or Halley's if it is small. `ratio` is B over its derivative, `bend` the second derivative over the
    first.
    """
    near = n.over(eps, s) - s // 2
    mills = n.mills(near)
    ratio = mills - n.mills(near + s)
    log_b = n.log(ratio) - n.times(near, near) // 2 - n.half_log_2pi
    step = n.times(goal - log_b, ratio)
    if abs(step) << _LAST_STEP_BITS // 2 <= s:
        bend = n.times(near, n.over(n.over(eps, s), s) + n.one // 2)
        step -= n.times(n.times(step, step), bend - n.over(n.one, ratio)) // 2
    return log_b, step, mills


def shift_in_float64(eps: float, delta: float) -> float:
    """Return s near the root, or the lower bound if float64 rounds too much or overflows: Newton's method in float64."""
    s = least = _lower_bound(eps, delta, -math.log(delta))
    goal = math.log(delta) + math.log(2 * math.pi) / 2
    for _ in range(_FLOAT_STEPS):
        near = eps / s - s / 2
        ratio = _float_mills(near) - _float_mills(near + s)
        if not 0 < ratio < math.inf:
            return least
        step = (goal + near * near / 2 - math.log(ratio)) * ratio
        s = max(s + step, least)
        if abs(step) <= s * _LAST_FLOAT_STEP:
            break
    return s


def _float_mills(x: float) -> float:
    """(1 - Φ(x))/φ(x) to about fourteen digits; inf if it overflows."""
    if x < _SERIES_END:
        return math.sqrt(math.pi / 2) * math.erfc(x / math.sqrt(2)) * math.exp(x * x / 2) if x > -37 else math.inf
    value = x
    for k in range(_FRACTIONS, 0, -1):
        value = x + k / value
    return 1 / value


def _lattice_loss(n: FixedPoint, sigma: int, steps: int, log_delta: int, partitions: int) -> int:
    """Return the cost of the lattice: a small loss of ε, and the same relative loss of δ."""
    width = n.sqrt(2 * (n.log(2 * partitions, 0) - log_delta) + 140 * n.one)
    square = (width + n.over(steps << n.bits, sigma)) ** 2 + (3 << 2 * n.bits)
    return n.over(partitions * square, 24 * sigma * sigma)


def _log2_granularity(change: float, log2_sigma: int, subject: str, remedy: str = "", **given: float) -> int:
    """Return log2 of g: σ has at least 2**32 steps and the sensitivity 2**20, but σ has no more than 2**44.

    If σ is too large for that, the error begins with `subject` and ends with the remedy and what was given.
    """
    log2_sensitivity = math.frexp(change)[1] - 1
    log2_g = max(min(log2_sigma - 32, log2_sensitivity - 20), log2_sigma - 43)
    if log2_sensitivity - log2_g < 10:
        shown = " and ".join(f"{name} {value!r}" for name, value in given.items())
        rule = "below 2**34 times the sensitivity, rounded down to a power of two"
        raise ParameterError(f"{subject} {rule}{remedy}, got {shown}")
    if not _LEAST_LOG2_G <= log2_g <= _MOST_LOG2_G:
        raise ParameterError(
            f"sensitivity must give a granularity from 2**-1074 to 2**960, got {change!r} (granularity 2**{log2_g})"
        )
    return log2_g


def _lower_bound(eps: float, delta: float, odds: float) -> float:
    """Lower bound of the root, by zero-concentrated privacy (Bun and Steinke 2016) and by B(ε, s) <= s/√(2π)."""
    bound = max(2 * eps / (math.sqrt(2 * (odds + eps)) + math.sqrt(2 * odds)), delta * math.sqrt(2 * math.pi))
    return bound * (1 - 2.0**-40)


def _bits(eps: float, least: float, beyond: int = _BITS) -> int:
    """Return how many bits numbers have: B is a difference of ratios that agree in about log2(max(ε, 1)/s²) bits."""
    bits = beyond + max(0, math.ceil(-2 * math.log2(least))) + max(0, math.ceil(math.log2(eps)))
    return bits + -bits % _ROUND


def _as_integer(x: float) -> tuple[int, int]:
    """Return n and e with n * 2**e = x."""
    fraction, exponent = math.frexp(x)
    return int(math.ldexp(fraction, 53)), exponent - 53


def _floor_log2(a: int, b: int) -> int:
    """Return the floor of log2(a/b)."""
    guess = a.bit_length() - b.bit_length()
    below = a << -guess < b if guess < 0 else a < b << guess
    return guess - below


def _shifted(x: int, places: int) -> int:
    return x << places if places >= 0 else x >> -places


def _shifted_up(x: int, places: int) -> int:
    return -_shifted(-x, places)
