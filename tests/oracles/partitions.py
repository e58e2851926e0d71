"""Contract, releases in which one person changes k values: the parameters of the mechanism of each value.

Exact rationals for quotients and for the losses of merged mechanisms. For the discrete Gaussian distribution sums of fixed-point
integers where the sum of the noises has few values, and elsewhere mpmath's erfc with Euler and Maclaurin's terms.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from mpmath import mp

from tests.oracles import merged_laplace, release
from tests.oracles.lattice import Refused

MARGIN = Fraction(1, 2**32)
TO_AN_OCTAVE = 2**15
# Bits of a probability after the point, and digits of everything else.
BITS = 256
DIGITS = 60
# Variances of a sum up to which its probabilities are listed.
LISTED = 4000


def truncated(eps: float, delta: float, k: int) -> tuple[float, float]:
    """ε and δ of each value."""
    return release.share(eps, k), release.share(delta, k)


def merged(eps: Sequence[float], breakpoints: Sequence[float], sensitivity: float, k: int) -> list[float]:
    """Rates of each value."""
    allowed = loss(eps, breakpoints, sensitivity) / k
    rates = [Fraction(rate) / k for rate in eps]
    while True:
        found = [_down(rate) for rate in rates]
        excess = loss(found, breakpoints, sensitivity) / allowed
        if excess <= 1:
            return found
        rates = [rate / excess for rate in rates]


def loss(eps: Sequence[float], breakpoints: Sequence[float], sensitivity: float) -> Fraction:
    """Largest loss of a merged mechanism on its lattice."""
    where, mechanism = merged_laplace.mechanism(eps, breakpoints, sensitivity)
    sensitivity_steps = where.sensitivity_steps
    breaks = [part.first - 1 for part in mechanism.parts[2:]]

    def height(x: int) -> Fraction:
        ends = [*breaks, max(x, 0, *breaks)]
        starts = [0, *breaks]
        steps = [max(min(x, end) - start, 0) for start, end in zip(starts, ends, strict=True)]
        return sum((Fraction(rate) * n / sensitivity_steps for rate, n in zip(eps, steps, strict=True)), Fraction(0))

    corners = [0, *breaks, *(c - sensitivity_steps for c in breaks if c > sensitivity_steps)]
    return max(height(x + sensitivity_steps) - height(x) for x in corners)


def gaussian_sigma2(eps: float, delta: float, shift: int, k: int) -> float:
    """σ² of each value of a discrete Gaussian distribution for (ε, δ)."""
    low, high = (-4 if k <= 4096 else 3) * TO_AN_OCTAVE, 90 * TO_AN_OCTAVE
    budget, slack = Fraction(eps), Fraction(delta)
    if enough(budget, slack, shift, k, candidate(low)):
        return float(candidate(low))
    if not enough(budget, slack, shift, k, candidate(high)):
        raise Refused("no variance is enough")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(budget, slack, shift, k, candidate(middle)) else (middle, high)
    return float(candidate(high))


def candidate(i: int) -> Fraction:
    return Fraction(2) ** (i // TO_AN_OCTAVE) * (1 + Fraction(i % TO_AN_OCTAVE, TO_AN_OCTAVE))


def enough(eps: Fraction, delta: Fraction, shift: int, k: int, sigma2: Fraction) -> bool:
    with mp.workdps(DIGITS):
        found = delta_of(eps, shift, k, sigma2)
        if delta <= Fraction(1, 2):
            return bool(found * _mp(1 + MARGIN) <= _mp(delta))
        return bool((1 - found) * _mp(1 - MARGIN) >= _mp(1 - delta))


def delta_of(eps: Fraction, shift: int, k: int, sigma2: Fraction) -> mp.mpf:
    """δ of k values that move by `shift` each."""
    if k * sigma2 <= LISTED:
        p = sum_probabilities(k, sigma2)
        growth = mp.exp(_mp(eps))
        return mp.fsum(max(q - growth * p.get(s + k * shift, mp.mpf(0)), mp.mpf(0)) for s, q in p.items())
    # The sum's probabilities are those of the mechanism of kσ² to a relative 10 k e^(-π² 8) or less.
    assert sigma2 >= 8
    variance, slope = _mp(k * sigma2), _mp(shift / sigma2)
    threshold = eps * sigma2 / shift - Fraction(k * shift, 2)
    first = math.floor(threshold) + 1
    start = _mp(first - threshold) * slope
    root = mp.sqrt(2 * variance)

    def term(s: mp.mpf) -> mp.mpf:
        return mp.exp(-s * s / (2 * variance)) * -mp.expm1(-start - (s - first) * slope)

    moved = mp.exp(slope * slope * variance / 2 + slope * first - start)
    integral = mp.sqrt(mp.pi * variance / 2) * (mp.erfc(first / root) - moved * mp.erfc((first + slope * variance) / root))
    series = mp.taylor(term, mp.mpf(first), 11)
    ends = mp.fsum(mp.bernoulli(2 * j) / (2 * j) * series[2 * j - 1] for j in range(1, 7))
    return (integral + series[0] / 2 - ends) / mp.sqrt(2 * mp.pi * variance)


def sum_probabilities(k: int, sigma2: Fraction) -> dict[int, mp.mpf]:
    """Probabilities of the sum of k draws, those of 2^-256 and more."""
    with mp.workprec(2 * BITS):
        reach = _reach(sigma2)
        mechanism = [int(mp.floor(mp.exp(-(mp.mpf(x) ** 2) / (2 * _mp(sigma2))) * 2**BITS)) for x in range(-reach, reach + 1)]
        total = sum(mechanism)
        power = _power([(w << BITS) // total for w in mechanism], k, sigma2)
        middle = len(power) // 2
        return {i - middle: mp.mpf(w) / 2**BITS for i, w in enumerate(power)}


def _reach(variance: Fraction) -> int:
    return math.isqrt(math.ceil(2 * variance * BITS)) + 1


def _power(mechanism: list[int], k: int, sigma2: Fraction) -> list[int]:
    if k == 1:
        return mechanism
    half = _power(mechanism, k // 2, sigma2)
    whole = _product(half, half)
    if k % 2:
        whole = _product(whole, mechanism)
    beyond = max((len(whole) - 1) // 2 - _reach(k * sigma2), 0)
    return whole[beyond : len(whole) - beyond]


def _product(a: list[int], b: list[int]) -> list[int]:
    """Convolution of fixed-point numbers as one product of integers (Kronecker)."""
    slot = (2 * BITS + len(a).bit_length() + 8) // 8
    packed = [int.from_bytes(b"".join(w.to_bytes(slot, "little") for w in mechanism), "little") for mechanism in (a, b)]
    count = len(a) + len(b) - 1
    found = (packed[0] * packed[1]).to_bytes(slot * (count + 1), "little")
    return [int.from_bytes(found[i * slot : (i + 1) * slot], "little") >> BITS for i in range(count)]


def skellam_mu(eps: float, delta: float, shift: int, k: int) -> float:
    """μ of each value of a Skellam distribution for (ε, δ)."""
    low, high = -20 * TO_AN_OCTAVE, 30 * TO_AN_OCTAVE

    def enough(i: int) -> bool:
        return skellam_enough(eps, delta, shift, k, candidate(i))

    if enough(low):
        return float(candidate(low))
    if not enough(high):
        raise Refused("no variance is enough")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(candidate(high))


def skellam_enough(eps: float, delta: float, shift: int, k: int, mu: Fraction) -> bool:
    with mp.workdps(DIGITS):
        each_eps, each_delta = truncated(eps, delta, k)
        if skellam_delta(Fraction(each_eps), shift, mu) * _mp(1 + MARGIN) <= each_delta:
            return True
        orders = {m * 2**i for m in range(2, 256) for i in range(13)}
        return k > 1 and any(_renyi_delta(order, eps, shift, k, mu) * _mp(1 + MARGIN) <= delta for order in orders)


def skellam_delta(eps: Fraction, shift: int, mu: Fraction) -> mp.mpf:
    """δ of one value that moves by `shift`, from all outcomes that matter."""
    x, growth = _mp(mu), mp.exp(_mp(eps))
    nepers = DIGITS * 3
    end = math.ceil(nepers + math.sqrt(nepers * nepers + 2 * nepers * float(mu))) + shift
    # Miller's algorithm starts twice as far out, where the probability is negligible.
    ratio, ratios = mp.mpf(0), []
    for j in range(2 * end, 0, -1):
        ratio = 1 / (2 * j / x + ratio)
        ratios.append(ratio)
    weights = [mp.mpf(1)]
    for ratio in reversed(ratios):
        weights.append(weights[-1] * ratio)
    total = weights[0] + 2 * mp.fsum(weights[1:])
    return mp.fsum(max(weights[abs(j)] - growth * weights[abs(j - shift)], 0) for j in range(-end, end)) / total


def _renyi_delta(order: int, eps: float, shift: int, k: int, mu: Fraction) -> mp.mpf:
    small = min(((2 * order - 1) * k * shift**2 + 6 * k * shift) / (4 * mu * mu), 3 * k * shift / (2 * mu))
    divergence = order * k * shift**2 / (2 * mu) + small
    return mp.exp((order - 1) * _mp(divergence - Fraction(eps))) * (1 - mp.mpf(1) / order) ** order / (order - 1)


def _mp(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def _down(exact: Fraction) -> float:
    """Largest float64 not above a positive number."""
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, 0.0)
