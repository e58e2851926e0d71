"""The discrete Gaussian distribution of any variance.

Sums of few terms are added up; Euler and Maclaurin's formula replaces sums of many terms.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from stairnoise._types import Bools, Floats
from stairnoise.mechanisms.gaussian.distribution import Centred, NormalDistribution
from stairnoise.numerics import normal
from stairnoise.numerics.elementary import product
from stairnoise.numerics.elementwise import in_chunks
from stairnoise.numerics.sums import LISTED, Summand, bound, rounded_up

# From this σ on, and for tails that start below _EM_SLOPE·σ², Euler and Maclaurin's formula has an error below 1e-16.
_EM_SIGMA = 30.0
_EM_SLOPE = 0.15
# B_2/2!, B_4/4!, …, B_10/10!
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160)
# Below this σ moments are sums over the integers.
_SUMMED_SIGMA = 1000.0
# In standard deviations; beyond this, k**64 times the probability is negligible.
_WIDTH = 45.0
_FARTHEST = 2.0**1000
# Below the margin of confidence intervals for rounding errors.
_CLOSE = 2.0**-40


class DiscreteGaussianDistribution(Centred):
    """Functions of the distribution P(X = k) ∝ exp(-k²/(2 sigma2)) on the integers, relative errors below 1e-12.

    Tails are probabilities times Mills' ratio of the lattice, ``M(m) = sum of exp(-(2mi + i²)/(2 sigma2))`` over i >= 0:
    P(X >= m) = P(X = m) M(m).
    """

    def __init__(self, sigma2: float) -> None:
        self.sigma2 = sigma2
        self.sigma = math.sqrt(sigma2)
        self.log_total = _log_total(sigma2)

    def logpmf(self, x: Floats) -> Floats:
        """Logarithm of P(X = x)."""
        return np.where(x == np.floor(x), self._log_weight(x), np.where(np.isnan(x), np.nan, -np.inf))

    def logsf(self, x: Floats) -> Floats:
        """Logarithm of P(X > x)."""
        return self._log_tail(np.floor(x) + 1)

    def ppf(self, q: Floats) -> Floats:
        """Least k with P(X <= k) >= q."""
        return self._least(q, 1 - q)

    def isf(self, q: Floats) -> Floats:
        """Least k with P(X > k) <= q."""
        return self._least(1 - q, q)

    def _least(self, below: Floats, above: Floats) -> Floats:
        """Least k with P(X <= k) >= `below`, which is P(X > k) <= `above`; the smaller of the two decides."""
        low = -self._last_at_least(np.log(np.minimum(below, 0.5)))
        high = self._first_at_most(np.log(np.minimum(above, 0.5))) - 1
        k = np.where(below == 0, -np.inf, np.where(above == 0, np.inf, np.where(below <= above, low, high)))
        # Adding 0.0 turns -0.0 into 0.0.
        return np.where((below >= 0) & (above >= 0), k, np.nan) + 0.0

    def error_bound(self, alpha: Floats) -> Floats:
        """Least t with P(|X| > t) <= alpha."""
        # Halved as a logarithm, because half of the least float is 0.
        return self._first_at_most(np.log(alpha) - math.log(2.0)) - 1

    def entropy(self) -> float:
        """Shannon's entropy in nats."""
        return self.log_total + self.var() / (2 * self.sigma2)

    def abs_moment(self, p: float) -> float:
        """E|X|**p; inf for p < 0, because P(X = 0) > 0."""
        if p < 0:
            return math.inf
        if p == 0:
            return 1.0
        if self.sigma < _SUMMED_SIGMA:
            k = np.arange(1.0, math.ceil(_WIDTH * self.sigma) + 6)
            return float(2 * np.sum(np.exp(p * np.log(k) + self._log_weight(k))))
        normal_moment = NormalDistribution(self.sigma).abs_moment(p)
        # |k|**p has a kink at 0: the sum over the integers is the integral and 2 ζ(-p) - ζ(-p-2)/sigma2 + …
        return float(normal_moment + (2 * _zeta(-p) * math.exp(-self.log_total) if p < 4 else 0.0))

    def hockey_stick(self, eps: Floats, shift: float) -> Floats:
        """Least δ with P(X in A) <= e**eps P(X + shift in A) + δ for all A, for a `shift` of at least 1.

        It is P(X > c) - e**eps P(X > c + shift) with c = eps sigma2/shift - shift/2 (Canonne, Kamath and Steinke 2020, theorem
        7), computed as the sum of the positive terms P(X = k) - e**eps P(X = k + shift) over k > c.
        """
        found = in_chunks(lambda eps: self._hockey_stick(eps, shift), normal.CHUNK, eps)
        return np.asarray(np.where(np.isnan(eps), np.nan, found))

    def _hockey_stick(self, eps: Floats, shift: float) -> Floats:
        threshold = eps * self.sigma2 / shift - shift / 2
        far = ~(threshold < 1e15 * self.sigma)
        eps = np.where(far, 0.0, eps)
        first, rise = self._first_above(eps, shift)
        slope = shift / self.sigma2
        delta = np.empty_like(eps)
        near = self._is_smooth(np.abs(first) + shift) & (shift < self.sigma)
        if near.any():
            delta[near] = self._summed_difference(first[near], rise[near], shift)
        apart = ~near & (self.sigma >= _EM_SIGMA) & (shift >= self.sigma)
        if apart.any():
            delta[apart] = self._difference_of_tails(eps[apart], first[apart], rise[apart], shift)
        rough = ~(near | apart)
        if rough.any():
            i = np.arange(np.max(self._terms(first[rough])))
            weights = np.exp(self._log_weight(first[rough][:, None] + i))
            delta[rough] = np.sum(weights * -np.expm1(-(rise[rough][:, None] + i * slope)), axis=1)
        return np.where(far, 0.0, delta)

    def _first_above(self, eps: Floats, shift: float) -> tuple[Floats, Floats]:
        """Return the first integer k above the threshold, and by how much ``(k + shift/2) shift/sigma2`` exceeds eps.

        If sigma2 is small and the threshold is nearly an integer, the probability of that integer is far above δ. So its side
        of the threshold and its distance matter: both products are exact.
        """
        high, low = product(eps, self.sigma2)

        def excess(k: Floats) -> Floats:
            rounded, rest = product(k + shift / 2, shift)
            return np.asarray((rounded - high) + (rest - low))

        first = np.floor(high / shift - shift / 2) + 1
        first = np.where(excess(first) <= 0, first + 1, np.where(excess(first - 1) > 0, first - 1, first))
        # Integers farther to the left have negligible probabilities.
        first = np.maximum(first, -math.ceil(_WIDTH * self.sigma) - 6.0)
        return first, np.maximum(excess(first), 0.0) / self.sigma2

    def _summed_difference(self, first: Floats, rise: Floats, shift: float) -> Floats:
        """Sum from `first` on of P(X = k) (1 - exp(-rise - (k - first) shift/sigma2)), by Euler and Maclaurin."""
        z, s = first / self.sigma, shift / self.sigma
        integral = self.sigma * normal.weighted(z, lambda u: -np.expm1(-(rise[:, None] + s * u)))
        edge = -np.expm1(-rise) / 2
        here, there = self.derivatives(z), self.derivatives(z + s)
        return np.asarray(np.exp(self._log_weight(first)) * (integral + edge + here - np.exp(-rise) * there))

    def _difference_of_tails(self, eps: Floats, first: Floats, rise: Floats, shift: float) -> Floats:
        """Return the same sum as the difference of two tails, which is large unless the shift is small."""
        right = np.maximum(first, 1.0)
        relative = self.mills(right) - np.exp(-rise) * self.mills(right + shift)
        beyond = np.exp(eps + self._log_tail(first + shift))
        left = np.exp(self._log_tail(first)) - beyond
        return np.where(first >= 1, np.exp(self._log_weight(right)) * relative, left)

    def _log_weight(self, k: Floats) -> Floats:
        return -k * k / (2 * self.sigma2) - self.log_total

    def _log_tail(self, m: Floats) -> Floats:
        """Logarithm of P(X >= m) for integers m."""
        beyond = np.maximum(np.where(m >= 1, m, 1 - m), 1.0)
        tail = self._log_upper_tail(beyond, self.mills(beyond))
        return np.where(np.isnan(m), np.nan, np.where(m >= 1, tail, np.log1p(-np.exp(tail))))

    def _log_upper_tail(self, m: Floats, mills: Floats) -> Floats:
        """Logarithm of P(X >= m) for integers m >= 1, from M(m)."""
        return np.where(np.isinf(m), -np.inf, self._log_weight(m) + np.log(mills))

    def _is_smooth(self, m: Floats) -> Bools:
        return (m <= _EM_SLOPE * self.sigma2) & (self.sigma >= _EM_SIGMA)

    def mills(self, m: Floats) -> Floats:
        """M(m) for integers m >= 1, or above -10 standard deviations if sigma is at least 64."""
        flat = np.ravel(m)
        found = np.ones_like(flat)
        smooth = self._is_smooth(flat)
        if smooth.any():
            z = flat[smooth] / self.sigma
            found[smooth] = self.sigma * normal.mills(z) + 0.5 + self.derivatives(z)
        # Beyond _FARTHEST every term but the first is 0, and twice m may be inf.
        rough = np.flatnonzero(~smooth & (flat < _FARTHEST))
        for begin in range(0, rough.size, normal.CHUNK):
            part = rough[begin : begin + normal.CHUNK]
            i = np.arange(np.max(self._terms(flat[part])))
            found[part] = np.sum(np.exp(-(2 * flat[part][:, None] + i) * i / (2 * self.sigma2)), axis=1)
        return np.asarray(found.reshape(np.shape(m)))

    def _terms(self, m: Floats) -> Floats:
        """Return how many terms of M(m) are not negligible."""
        return np.asarray(np.ceil(self.sigma * normal.reach(m / self.sigma)) + 2)

    def derivatives(self, z: Any) -> Any:
        """Euler and Maclaurin's correction: derivatives of the weight by Hermite's polynomials, relative to the weight at z."""
        before, now, total = 1.0, z, 0.0
        power = 1 / self.sigma
        for j, bernoulli in enumerate(_BERNOULLI):
            total = total + bernoulli * power * now
            for n in (2 * j + 1, 2 * j + 2):
                before, now = now, z * now - n * before
            power /= self.sigma2
        return total

    def _last_at_least(self, log_q: Floats) -> Floats:
        """Largest m with P(X >= m) >= q, for q from 0 to 1/2; inf for 0."""
        return self._search(log_q, lambda tail, log_q: tail >= log_q)

    def _first_at_most(self, log_q: Floats) -> Floats:
        """Least m with P(X >= m) <= q, for q from 0 to 1/2; inf for 0."""
        return self._search(log_q, lambda tail, log_q: tail > log_q) + 1

    def _search(self, log_q: Floats, holds: Callable[[Floats, Floats], Bools]) -> Floats:
        """Largest m >= 0 for which `holds`, which is true from 0 to some m.

        Newton's method starts from the right and stays there, because the logarithm of the tail is concave. Steps of 1 follow.
        """
        finite = np.isfinite(log_q)
        # P(X >= m) <= exp(-m²/(2 sigma2)).
        m = np.where(finite, np.ceil(np.sqrt(np.maximum(-2 * log_q, 0.0)) * self.sigma) + 1, 1.0)
        for _ in range(64):
            mills = self.mills(m)
            excess = self._log_upper_tail(m, mills) - log_q
            nearer = np.where(finite, np.maximum(np.ceil(m + excess * mills), 1.0), m)
            if np.all(nearer >= m):
                break
            m = np.minimum(m, nearer)
        for step in (-1.0, 1.0):
            for _ in range(64):
                candidate = m if step < 0 else m + 1
                move = (holds(self._log_tail(candidate), log_q) ^ (step < 0)) & finite & (m + step >= 0)
                if not np.any(move):
                    break
                m = np.where(move, m + step, m)
        return np.where(finite, m, np.where(np.isnan(log_q), np.nan, np.inf))


def _log_total(sigma2: float) -> float:
    """Logarithm of the sum of exp(-k²/(2 sigma2)) over all integers, by Poisson's formula where that is quicker."""
    if sigma2 >= 1:
        return normal.LOG_SQRT_2PI + math.log(sigma2) / 2 + math.log1p(2 * math.exp(-2 * math.pi**2 * sigma2))
    return math.log1p(2 * sum(math.exp(-k * k / (2 * sigma2)) for k in range(1, 10)))


def _zeta(s: float) -> float:
    """Riemann's zeta for -4 < s < 0, absolute error below 1e-12: Euler and Maclaurin's formula from 8 on."""
    n = 8.0
    total = math.fsum(k**-s for k in range(1, 8)) + n ** (1 - s) / (s - 1) + n**-s / 2
    factor = s * n ** (-s - 1)
    for j, bernoulli in enumerate(_BERNOULLI):
        total += bernoulli * factor
        factor *= (s + 2 * j + 1) * (s + 2 * j + 2) / (n * n)
    return float(total)


@lru_cache(maxsize=256)
def sum_bound(sigma2: float, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha for the sum S of k variables: the smallest, up to rounding.

    P(S = s) differs from the probability under k sigma2 by a factor from exp(-e) to exp(e), e = 10 (k - 1) exp(-π² sigma2).
    Proof for one sum: the sum of ``exp(-i²/(2u) - (s-i)²/(2v))`` over all i is ``exp(-s²/(2(u+v)))`` times a theta function of
    variance uv/(u+v) >= sigma2/2, which stays within ``1 ± 2 exp(-π² sigma2) ± …`` of its mean. If e matters, sigma2 is small,
    so the few probabilities are listed.
    """
    with np.errstate(all="ignore"):
        if 10 * (k - 1) * math.exp(-(math.pi**2) * sigma2) < _CLOSE:
            return int(DiscreteGaussianDistribution(k * sigma2).error_bound(np.array([alpha]))[0])
        reach = math.ceil(math.sqrt(2 * LISTED * sigma2)) + 1
        weights = DiscreteGaussianDistribution(sigma2).pmf(np.arange(-reach, reach + 1.0))
        variable = Summand(-reach, weights, LISTED / reach, k)
        return bound(lambda h: rounded_up(variable, h), None, alpha)
