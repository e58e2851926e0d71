"""The least σ² of discrete Gaussian noise for (ε, δ): of one value, or of k values that one person changes together.

Each of k values moves by `shift` = Δ and has noise X of parameter σ². The privacy loss is a function of the sum S of the k
noises, whose probabilities are ``p(s) = C exp(-s²/(2kσ²)) ψ(s)`` with a ψ of period k, so that

    p(s + kΔ) = p(s) exp(-(s - c)Δ/σ² - ε),   c = εσ²/Δ - kΔ/2
    δ = sum over s > c of p(s) (1 - exp(-(s - c)Δ/σ²))

δ and 1 - δ are sums of positive terms. The one that must be below 1/2 is computed, as a logarithm. ψ is 1 to a relative
10 k exp(-π²σ²) (see `discrete_gaussian.sums`): below 1e-13 for σ² from `_SMOOTH` on, for every k that a comparison needs. For
smaller σ², S is listed by convolution of positive numbers.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np

from stairnoise._parameters import REMEMBERED
from stairnoise._types import Floats
from stairnoise.accounting.convolution import power
from stairnoise.mechanisms.discrete_gaussian.distribution import DiscreteGaussianDistribution
from stairnoise.mechanisms.gaussian import calibration as gaussian
from stairnoise.numerics import normal
from stairnoise.numerics.roots import Rising, bisection, least_candidate, least_integer

# log2 of the least candidate for σ² (for few and for many values), and of the largest.
_LOG2_LEAST, _LOG2_LEAST_OF_MANY, _LOG2_MOST = -4, 3, 90
# Sums of more values than this are not listed.
_MOST_LISTED = 2**12
_SMOOTH = 8.0
# More than the relative errors of δ and of 1 - δ.
_MARGIN = 2.0**-32
# σ² from which `log_profile` has several values; steps to the σ² of such values, and when one is the last, as its logarithm.
_LEAST_OF_PROFILE, _MOST_STEPS, _LAST_STEP = 4.0, 3, 2.0**-12
# A list leaves out exp(-60) of the probability.
_LEFT_OUT = 120.0
# From this σ of the sum and this many terms on, Euler and Maclaurin's formula replaces the sum.
_SUMMED, _FEW = 64.0, 512
# For c below so many standard deviations, 1 - δ is below the rounding errors of 1.
_LEAST_Z = -9.0
# For one value: more than the relative error of the profile, and the relative resolution of the least σ².
_PROFILE_ERROR = 4e-11
_RESOLUTION = 1e-9
# Rounding errors move the least σ² by less than this, relatively.
_APART = 1e-10
_LEAST_SIGMA2, _MOST_SIGMA2 = 2.0**-20, 2.0**90


# Keys are floats and integers, which the gates of parameters made.
@lru_cache(maxsize=REMEMBERED)
def least_sigma2(eps: float, delta: float, shift: int) -> float:
    """Least σ² with a profile of certainly at most δ, to a relative 1e-9; inf if that is above 2**90.

    Up to the end ``(m + Δ/2)Δ/ε`` of σ², the profile is that of the outcomes above m. Up to the end of m = 0 the profile falls
    with σ². Between two later ends it can rise before it falls, but it falls from each end to the next (docs/gaussian.md). So
    the first end that is enough is the upper end of an interval in which the profile crosses δ once. The search begins at the
    end for continuous noise.
    """

    @cache
    def log_margin(sigma2: float) -> float:
        return _log_margin(eps, delta, shift, sigma2)

    def end(m: int) -> float:
        return min((m + shift / 2) * shift / eps, _MOST_SIGMA2)

    def first_end(sigma2: float) -> int:
        return max(math.ceil(eps * sigma2 / shift - shift / 2), 0)

    if log_margin(_LEAST_SIGMA2) >= 0:
        return _LEAST_SIGMA2
    below = first_end(_LEAST_SIGMA2) - 1
    most = first_end(_enough_for_certain(eps, delta, shift))
    continuous = first_end(min(shift / gaussian.shift_in_float64(eps, delta), _MOST_SIGMA2**0.5) ** 2)
    m = least_integer(lambda m: log_margin(end(m)) >= 0, below, most, continuous)
    low, high = end(m - 1) if m - 1 > below else _LEAST_SIGMA2, end(m)
    enough = Rising(log_margin)
    if not enough(high):
        return math.inf
    enough.close_in(low, high, _APART)
    return bisection(enough, low, high, relative=_RESOLUTION, geometric=True)


def _log_margin(eps: float, delta: float, shift: int, sigma2: float) -> float:
    """Return ln(δ/profile) for one value, less the error of the profile."""
    return math.log(delta) - math.log1p(_PROFILE_ERROR) - log_profile(eps, sigma2, shift, 1)


@lru_cache(maxsize=REMEMBERED)
def is_private(eps: float, delta: float, shift: int, sigma2: float, k: int) -> bool:
    """Return whether `k` values with this σ², as from a pickle, are certainly (ε, δ)-differentially private together."""
    if not _LEAST_SIGMA2 <= sigma2 <= _MOST_SIGMA2:
        return False
    return _is_enough(eps, delta, shift, k, sigma2) if k > 1 else _log_margin(eps, delta, shift, sigma2) >= 0


def _enough_for_certain(eps: float, delta: float, shift: int) -> float:
    """Return a σ² that is enough; every larger σ² is enough too.

    Bun and Steinke's bound (2016, proposition 1.3) gives one. For small ε Pinsker's inequality gives a smaller one, because the
    total variation δ(0) is at most Δ/(2σ).
    """
    odds = -math.log(delta)
    root = shift * (math.sqrt(odds + eps) + math.sqrt(odds)) / eps
    pinsker = shift / (2 * delta)
    return min(root * root / 2, pinsker * pinsker, _MOST_SIGMA2)


@lru_cache(maxsize=REMEMBERED)
def partitions_sigma2(eps: float, delta: float, shift: int, k: int) -> float:
    """Return a σ² with which `k` >= 2 values are (ε, δ)-differentially private together; inf if no σ² up to 2**90 does."""
    log2_least = _LOG2_LEAST if k <= _MOST_LISTED else _LOG2_LEAST_OF_MANY
    guess = _nearly_enough(eps, delta, shift, k) if eps <= k and delta <= 0.5 else None
    return least_candidate(lambda sigma2: _is_enough(eps, delta, shift, k, sigma2), log2_least, _LOG2_MOST, guess)


def _nearly_enough(eps: float, delta: float, shift: int, k: int) -> float | None:
    """Return a σ² near the least one, by Newton's method from that of continuous noise; None if there is none of at least 4.

    From any guess the search ends at the same candidate, if δ falls with σ². It does for ε up to k: if c rises by 1, ln δ
    changes by at most a/2 - 1 + exp(-a) for a = ε/k, up to terms in 1/(kσ²), and this is below 0 for a < 1.59.
    """
    s = gaussian.shift_in_float64(eps, delta)
    sigma2, x = k * (shift / s) ** 2, eps / s - s / 2
    for _ in range(_MOST_STEPS):
        if not _LEAST_OF_PROFILE <= sigma2 < _MOST_SIGMA2:
            return None
        log_delta = log_profile(eps, sigma2, shift, k)
        # ln δ falls with ln σ² by s φ(x)/(2δ).
        step = 2 / s * (log_delta - math.log(delta)) * math.exp(x * x / 2 + normal.LOG_SQRT_2PI + log_delta)
        sigma2 *= math.exp(min(step, 1.0))
        if abs(step) < _LAST_STEP:
            break
    return sigma2


def _is_enough(eps: float, delta: float, shift: int, k: int, sigma2: float) -> bool:
    """Return whether k values with this σ² are (ε, δ)-differentially private together, with the margin."""
    first, loss, z = _threshold(eps, sigma2, shift, k)
    # X is sub-Gaussian (Canonne, Kamath and Steinke 2020): δ <= exp(-z²/2) for z > 0, and 1 - δ <= 2 exp(-z²/2) for z < 0.
    if z > 0 and -z * z / 2 < math.log(delta) - 1:
        return True
    if z < 0 and math.log(2) - z * z / 2 < math.log1p(-delta) - 1:
        return False
    sums = _Listed(k, sigma2, first) if sigma2 < _SMOOTH else Tail(k * sigma2, first)
    if delta <= 0.5:
        return sums.log_delta(loss, k * shift) + math.log1p(_MARGIN) <= math.log(delta)
    return sums.log_rest(loss, k * shift) + math.log1p(-_MARGIN) >= math.log1p(-delta)


def log_profile(eps: float, sigma2: float, shift: int, k: int) -> float:
    """Return ln δ at ε of k values with this σ², which is at least 4 if k > 1."""
    first, loss, z = _threshold(eps, sigma2, shift, k)
    # 1 - δ <= 2 exp(-z²/2).
    return Tail(k * sigma2, first).log_delta(loss, k * shift) if z > _LEAST_Z else 0.0


def _threshold(eps: float, sigma2: float, shift: int, k: int) -> tuple[int, float, float]:
    """Return the first sum above c, its loss beyond ε, and c in standard deviations of S.

    Computed in integers: if σ² is small, the probability of a sum is far above δ, and its side of c matters.
    """
    (a, p), (b, q) = eps.as_integer_ratio(), sigma2.as_integer_ratio()
    c, unit = 2 * a * b - k * shift * shift * p * q, 2 * shift * p * q
    first = c // unit + 1
    return first, (first * unit - c) / (2 * p * b), c / unit / math.sqrt(k * sigma2)


class _Listed:
    """Sums over a list of the probabilities of S near the threshold: k-fold convolution of the tilted probabilities of X."""

    def __init__(self, k: int, sigma2: float, first: int) -> None:
        self._k, self._sigma2, self._first = k, sigma2, first

    def log_delta(self, loss: float, shift: int) -> float:
        s, log_p = self._around(max(self._first / self._k, 0.0))
        beyond = s >= self._first
        gain = -np.expm1(-(loss + (s[beyond] - self._first) * (shift / (self._k * self._sigma2))))
        return float(np.logaddexp.reduce(log_p[beyond] + np.log(gain, where=gain > 0, out=np.full_like(gain, -np.inf))))

    def log_rest(self, loss: float, shift: int) -> float:
        s, log_p = self._around(min(self._first / self._k, 0.0))
        excess = loss + (s - self._first) * (shift / (self._k * self._sigma2))
        return float(np.logaddexp.reduce(log_p - np.maximum(excess, 0.0) * (s >= self._first)))

    def _around(self, centre: float) -> tuple[Floats, Floats]:
        """Values of S and logarithms of their probabilities: those that matter once X is tilted to a mean near `centre`."""
        reach = math.sqrt(_LEFT_OUT * self._sigma2) + 2
        x = np.arange(math.floor(centre - reach), math.ceil(centre + reach) + 1.0)
        tilted = np.exp(-((x - centre) ** 2) / (2 * self._sigma2))
        total = float(np.sum(tilted))
        # Half the length of the list for S; the lists for fewer values are cut to the same length.
        half = math.ceil(math.sqrt(_LEFT_OUT * self._sigma2 * self._k)) + 2
        start, p = _power(int(x[0]), tilted / total, self._k, centre, half)
        s = start + np.arange(p.size, dtype=np.float64)
        scale = math.log(total) - DiscreteGaussianDistribution(self._sigma2).log_total
        with np.errstate(divide="ignore"):
            log_p = np.log(p) + self._k * scale - centre * (s - self._k * centre / 2) / self._sigma2
        return s, log_p


def _power(start: int, p: Floats, k: int, centre: float, half: int) -> tuple[int, Floats]:
    """Return the k-th convolution power of a list that begins at `start`, cut to `half` on both sides of its centre."""

    def product(a: tuple[int, int, Floats], b: tuple[int, int, Floats]) -> tuple[int, int, Floats]:
        times, start, p = a[0] + b[0], a[1] + b[1], np.convolve(a[2], b[2])
        begin = max(math.floor(times * centre) - half - start, 0)
        return times, start + begin, p[begin : math.ceil(times * centre) + half - start + 1]

    return power((0, 0, np.ones(1)), (1, start, p), k, product)[1:]


class Tail:
    """Sums over the integers from `first` on, for the discrete Gaussian distribution of `sigma2`.

    `first` is above -9 standard deviations. A loss is that of the first integer, less ε.
    """

    def __init__(self, sigma2: float, first: int) -> None:
        self._noise, self._first = DiscreteGaussianDistribution(sigma2), float(first)
        sigma = self._noise.sigma
        z = self._z = self._first / sigma
        self._log_p = -z * z / 2 - self._noise.log_total
        terms = math.ceil(sigma * _LEFT_OUT / (z + math.sqrt(z * z + _LEFT_OUT))) + 3
        self._i = np.arange(terms, dtype=np.float64) if sigma < _SUMMED or terms < _FEW else None

    def log_sum(self) -> float:
        """Logarithm of the probability of the tail."""
        return self._log_p + math.log(self._mills(self._first)) if self._i is None else self._log_sum(np.ones_like(self._i))

    def log_delta(self, loss: float, shift: int) -> float:
        """Logarithm of δ."""
        if self._i is not None:
            return self._log_sum(np.expm1(self._i * (-shift / self._noise.sigma2) - loss), -1.0)
        noise, z, s = self._noise, self._z, shift / self._noise.sigma
        if s < 1:
            integral = noise.sigma * float(normal.weighted(z, lambda u: -np.expm1(-(loss + s * u))))
            ends = noise.derivatives(z) - math.exp(-loss) * noise.derivatives(z + s)
            return self._log_p + math.log(integral - math.expm1(-loss) / 2 + ends)
        return self._log_p + math.log(self._mills(self._first) - math.exp(-loss) * self._mills(self._first + shift))

    def log_rest(self, loss: float, shift: int) -> float:
        """Logarithm of 1 - δ."""
        below = float(self._noise.logcdf(np.array([self._first - 1]))[0])
        if self._i is not None:
            beyond = self._log_sum(np.exp(-self._i * (shift / self._noise.sigma2)))
        else:
            beyond = self._log_p + math.log(self._mills(self._first + shift))
        return float(np.logaddexp(below, beyond - loss))

    def _log_sum(self, weights: Floats, sign: float = 1.0) -> float:
        """Logarithm of the sum of the weights times the probabilities."""
        assert self._i is not None
        # The most probable integer is 0, or the first one.
        log_most = min(self._z, 0.0) ** 2 / 2
        p = np.exp((self._i + 2 * self._first) * self._i / (-2 * self._noise.sigma2) - log_most)
        return self._log_p + log_most + math.log(sign * float(p @ weights))

    def _mills(self, m: float) -> float:
        return float(self._noise.mills(np.array([m]))[0])
