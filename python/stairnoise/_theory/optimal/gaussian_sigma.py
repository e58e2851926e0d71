"""The least σ of Gaussian noise for (ε, δ), to the last bit, on the lattice that the noise is drawn on.

Notation: ``B(ε, s) = Φ(s/2 - ε/s) - e^ε Φ(-s/2 - ε/s)`` is the least δ of Gaussian noise whose σ is 1/s of the l2 sensitivity
(Balle and Wang 2018, theorem 8). It grows with s, and ``dB/ds = φ(ε/s - s/2)`` is log-concave in s: so ln B is concave,
and Newton's steps for ln B = ln δ from a point to the left of the root stay there and converge.

Numbers are decimals with enough digits for an error far below 1e-30, so that a comparison with δ is certain.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from typing import NamedTuple

from stairnoise._errors import ParameterError

# Digits beyond those that differences cancel.
_DIGITS = 60
# Relative error claimed for B, far above that of its parts.
_ERROR = Decimal("1e-30")
# After a Newton step of this size, the next one would be below _ERROR.
_LAST_STEP = Decimal("1e-20")
# From here on the tail is a continued fraction, before a series.
_SERIES_END = 8


class Calibration(NamedTuple):
    """Noise is 2**log2_granularity times the discrete Gaussian distribution of `sigma2`."""

    log2_granularity: int
    sigma2: float
    cells: int


def calibrate(eps: float, delta: float, sensitivity: float, partitions: int) -> Calibration:
    """Least variance, in steps of the lattice, of noise for a release in which one person changes `partitions` values.

    The distribution on the lattice is compared with normal noise rounded to it, cell by cell: with h = 1/(8σ²) and |y| <= Kσ + n,
    the probability of y is at most e**h that of the cell and at least e**(-(Kσ+n)²/(24σ⁴)) of it. So

        δ <= e**(k h) B(ε - k (K + n/σ)²/(24σ²) - k h, √k n/σ) + 2k e**h (1 - Φ(K))

    for k values of n cells each. K is such that ``2k exp(-K²/2) = e**-70 δ``, so the last term is negligible. The derivation
    is in docs/gaussian.md, and the numbers' definition in docs/contract.md.

    Raises
    ------
    ParameterError
        The lattice would not fit float64 or int64.
    """
    with decimal.localcontext(_context(_DIGITS)) as context:
        context.prec = _precision(Decimal(eps), Decimal(delta))
        exact_eps, exact_delta, wide = Decimal(eps), Decimal(delta), Decimal(partitions).sqrt()
        ideal = root(exact_eps, exact_delta, _lower_bound(exact_eps, exact_delta))
        sigma = Decimal(sensitivity) * wide / ideal
        log2_g = _log2_granularity(eps, delta, sensitivity, sigma)
        granularity = Decimal(2) ** log2_g
        cells = math.ceil(Decimal(sensitivity) / granularity)
        least = sigma / granularity
        loss = _lattice_loss(least, cells, exact_delta, partitions)
        goal = exact_delta * (1 - loss)
        shift = wide * cells
        sigma2 = _float_above((shift / root(exact_eps - loss, goal, ideal)) ** 2)
        while profile(exact_eps - loss, shift / Decimal(sigma2).sqrt()) * (1 + _ERROR) > goal:
            sigma2 = math.nextafter(sigma2, math.inf)
    return Calibration(log2_g, sigma2, cells)


def root(eps: Decimal, delta: Decimal, s: Decimal) -> Decimal:
    """Return s with B(eps, s) = delta, at the precision of the context, from a start that may be anywhere."""
    goal, least = delta.ln(), _lower_bound(eps, delta)
    while True:
        found = profile(eps, s)
        step = (goal - found.ln()) * found / _density(eps / s - s / 2)
        # From the right a step goes beyond the root, where ln B is flat so far that it must not be followed.
        s = max(s + step, least)
        # The next step would be the square of this one, relatively, times a number of the size of ln B.
        if abs(step) <= s * _LAST_STEP:
            return s


def profile(eps: Decimal, s: Decimal) -> Decimal:
    """B(eps, s)."""
    return _tail(eps / s - s / 2) - eps.exp() * _tail(eps / s + s / 2)


def _lattice_loss(sigma: Decimal, cells: int, delta: Decimal, partitions: int) -> Decimal:
    """Return the cost of the lattice: a small part of ε, and the same part of δ, relatively."""
    width = (2 * (2 * partitions / delta).ln() + 140).sqrt()
    return partitions * ((width + cells / sigma) ** 2 + 3) / (24 * sigma * sigma)


def _log2_granularity(eps: float, delta: float, sensitivity: float, sigma: Decimal) -> int:
    """At least 2**32 cells in σ and in the sensitivity, but no more than 2**44 in σ."""
    log2_sigma = _floor_log2(sigma)
    log2_sensitivity = math.frexp(sensitivity)[1] - 1
    log2_g = max(min(log2_sensitivity, log2_sigma) - 32, log2_sigma - 43)
    if log2_sensitivity - log2_g < 10:
        raise ParameterError(
            f"eps and delta must give a standard deviation below 2**33 times the sensitivity, got eps {eps!r} and delta {delta!r}"
        )
    if not -1074 <= log2_g <= 960:
        raise ParameterError(
            f"sensitivity must give a granularity from 2**-1074 to 2**960, got {sensitivity!r} (granularity 2**{log2_g})"
        )
    return log2_g


def _floor_log2(x: Decimal) -> int:
    guess = math.floor(x.ln() / Decimal(2).ln())
    return guess - (Decimal(2) ** guess > x) + (Decimal(2) ** (guess + 1) <= x)


def _lower_bound(eps: Decimal, delta: Decimal) -> Decimal:
    """Of the root: by zero-concentrated privacy (Bun and Steinke 2016), and by B(ε, s) <= s/√(2π) + |min(ε, 0)|."""
    odds, positive = -delta.ln(), max(eps, Decimal(0))
    return max((2 * (odds + positive)).sqrt() - (2 * odds).sqrt(), (delta + eps - positive) * (2 * _pi()).sqrt())


def _float_above(x: Decimal) -> float:
    nearest = float(x)
    return nearest if Decimal(nearest) >= x else math.nextafter(nearest, math.inf)


def _context(digits: int) -> decimal.Context:
    """Decimals without a bound on exponents that could matter."""
    return decimal.Context(prec=digits, Emin=-(10**15), Emax=10**15, traps=[decimal.InvalidOperation, decimal.DivisionByZero])


def _precision(eps: Decimal, delta: Decimal) -> int:
    """Digits: B is a difference of tails that agree in as many as s² is below max(ε, 1), and e**ε has some before its point."""
    least = _lower_bound(eps, delta)
    return _DIGITS + max(0, math.ceil(-2 * least.log10())) + max(0, math.ceil(eps.log10())) + 5


def _density(x: Decimal) -> Decimal:
    return (-x * x / 2).exp() / (2 * _pi()).sqrt()


def _tail(x: Decimal) -> Decimal:
    """1 - Φ(x)."""
    if x > _SERIES_END:
        return _density(x) * _continued_fraction(x)
    term = total = x
    k = 1
    while abs(term) > abs(total).scaleb(-decimal.getcontext().prec):
        k += 2
        term = term * x * x / k
        total += term
    return Decimal("0.5") - _density(x) * total


def _continued_fraction(x: Decimal) -> Decimal:
    """Mills' ratio 1/(x + 1/(x + 2/(x + 3/…))), whose convergents n and n + 1 differ by about exp(-2x √(2n))."""
    nats = decimal.getcontext().prec * math.log(10)
    value = x
    for k in range(math.ceil((nats / (2 * float(x))) ** 2 / 2 * 1.5) + 20, 0, -1):
        value = x + k / value
    return 1 / value


def _pi() -> Decimal:
    """π by Machin's formula, once for each precision."""
    digits = decimal.getcontext().prec
    if digits not in _PI:
        with decimal.localcontext() as context:
            context.prec = digits + 10
            machin = 16 * _inverse_arctan(5) - 4 * _inverse_arctan(239)
        _PI[digits] = +machin
    return _PI[digits]


_PI: dict[int, Decimal] = {}


def _inverse_arctan(n: int) -> Decimal:
    """Arc tangent of 1/n."""
    power = total = 1 / Decimal(n)
    k = 1
    while abs(power) > Decimal(10) ** -decimal.getcontext().prec:
        power /= -n * n
        k += 2
        total += power / k
    return total
