"""A distribution on the integers from -m to m by its weights, with two geometric tails or none.

With weights w and a ratio ρ, the integers ±(m + j) have the weights w(±m) ρ**j. Probabilities are weights over the sum of all
weights, tails included.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stairnoise._types import Floats
from stairnoise.distributions.tabulated import Tabulated
from stairnoise.numerics import sums as listed

# Terms of a tail beyond this do not matter, even for moments of order 64.
_NEPERS = 800.0
# Useful tilts of a bounded variable, in nepers from the centre to the end.
_TILT = 30.0
# Relative error of the probabilities: many times their rounding error.
_ERROR = 1e-13
# Larger integers may be rounded to float64.
_EXACT = 2**52


class Weights(NamedTuple):
    """Weights of -m … m, scaled so that the largest is from 1 to 2, and their tails."""

    scaled: Floats
    ratio: float | None
    total: float
    """Sum of all weights."""

    @property
    def reach(self) -> int:
        """Return m."""
        return self.scaled.size // 2

    @property
    def log_ratio(self) -> float:
        """Logarithm of ρ, -inf without a tail."""
        return -math.inf if self.ratio is None else math.log(self.ratio)

    @property
    def probabilities(self) -> Floats:
        """Probabilities of -m … m."""
        return self.scaled / self.total

    @property
    def log_probabilities(self) -> Floats:
        """Logarithms of `probabilities`, also where these underflow."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.scaled) - math.log(self.total))


def weights_of(weights: Floats, ratio: float | None) -> Weights:
    """Scale weights by a power of two. That is exact, because the largest is at most 2**1022 times the least."""
    scaled = np.ldexp(weights, 1 - int(np.frexp(weights.max())[1]))
    tails = 0.0 if ratio is None else (float(scaled[0]) + float(scaled[-1])) * ratio / (1 - ratio)
    return Weights(scaled, ratio, math.fsum([*scaled.tolist(), tails]))


def functions(weights: Weights, step: float) -> Tabulated:
    """Return the functions of the distribution on the multiples of a step."""
    if weights.ratio is not None:
        return Tailed(weights, step)
    used = np.flatnonzero(weights.scaled)
    first, last = int(used[0]), int(used[-1])
    return Tabulated(first - weights.reach, weights.log_probabilities[first : last + 1], step, bounded=True)


class Tailed(Tabulated):
    """Functions of a distribution with tails: sums of the list, and closed forms beyond."""

    def __init__(self, weights: Weights, step: float) -> None:
        ratio, log_pmf = weights.ratio or 0.0, weights.log_probabilities
        self._m, self._log_ratio, self._ratio = weights.reach, weights.log_ratio, ratio
        self._rest = math.log1p(-ratio)
        self._ends = float(log_pmf[0]), float(log_pmf[-1])
        left, right = (end + self._log_ratio - self._rest for end in self._ends)
        super().__init__(-weights.reach, log_pmf, step, log_tails=(left, right))

    def _log_left(self, k: Floats) -> Floats:
        """Logarithm of P(X <= k), for k <= -m."""
        return np.asarray(self._ends[0] + (-self._m - k) * self._log_ratio - self._rest)

    def _log_right(self, k: Floats) -> Floats:
        """Logarithm of P(X > k), for k >= m."""
        return np.asarray(self._ends[1] + (k - self._m + 1) * self._log_ratio - self._rest)

    def pmf(self, x: Floats) -> Floats:
        """P(X = x)."""
        return np.asarray(np.exp(self.logpmf(x)))

    def logpmf(self, x: Floats) -> Floats:
        """Natural logarithm of P(X = x)."""
        k = x / self._step
        end = np.where(k < 0, *self._ends)
        beyond = np.where(k == np.floor(k), end + (np.abs(k) - self._m) * self._log_ratio, -math.inf)
        return np.where(np.abs(k) > self._m, beyond, self._at(x, self._log_pmf, -math.inf))

    def cdf(self, x: Floats) -> Floats:
        """P(X <= x)."""
        return self._tailed(x, self._cdf, np.exp, lambda log: -np.expm1(log))

    def sf(self, x: Floats) -> Floats:
        """P(X > x)."""
        return self._tailed(x, self._sf, lambda log: -np.expm1(log), np.exp)

    def logcdf(self, x: Floats) -> Floats:
        """Natural logarithm of P(X <= x)."""
        return self._tailed(x, self._log_cdf, np.asarray, lambda log: np.log(-np.expm1(log)))

    def logsf(self, x: Floats) -> Floats:
        """Natural logarithm of P(X > x)."""
        return self._tailed(x, self._log_sf, lambda log: np.log(-np.expm1(log)), np.asarray)

    def _tailed(self, x: Floats, values: Floats, left: Any, right: Any) -> Floats:
        """Return values of the list, and functions of the logarithm of a tail on both sides of it."""
        k = np.floor(x / self._step)
        inside = self._up_to(x, values, 0.0, 0.0)
        return np.where(k < -self._m, left(self._log_left(k)), np.where(k > self._m, right(self._log_right(k)), inside))

    def ppf(self, q: Floats) -> Floats:
        """Least x with P(X <= x) >= q."""
        inside = np.searchsorted(self._cdf, q)
        return self._tailed_quantile(q, 1 - np.asarray(q), q <= self._cdf[0], q > self._cdf[-1], inside)

    def isf(self, q: Floats) -> Floats:
        """Least x with P(X > x) <= q."""
        inside = self._sf.size - np.searchsorted(self._sf[::-1], q, side="right")
        return self._tailed_quantile(1 - np.asarray(q), q, q >= self._sf[0], q < self._sf[-1], inside)

    def _tailed_quantile(self, below: Floats, above: Floats, on_left: Any, on_right: Any, inside: Any) -> Floats:
        """Return the least x with P(X <= x) >= `below`, which is P(X > x) <= `above`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            # P(X <= k) falls with -k, P(X > k) with k.
            left = -self._m - np.floor((np.log(below) + self._rest - self._ends[0]) / self._log_ratio)
            right = self._m - 1 + np.ceil((np.log(above) + self._rest - self._ends[1]) / self._log_ratio)
            # A whole quotient may be rounded to either side.
            left = np.where(np.exp(self._log_left(left - 1)) >= below, left - 1, left)
            left = np.where(np.exp(self._log_left(left)) < below, left + 1, left)
            right = np.where(np.exp(self._log_right(right - 1)) <= above, right - 1, right)
            right = np.where(np.exp(self._log_right(right)) > above, right + 1, right)
        k = np.where(
            on_left, np.minimum(left, -self._m), np.where(on_right, np.maximum(right, self._m + 1), self._inside(inside))
        )
        k = np.where(below <= 0, -math.inf, np.where(above <= 0, math.inf, k))
        return np.where((below >= 0) & (above >= 0), k * self._step, np.nan)

    def _inside(self, index: Any) -> Floats:
        return np.asarray(self._k[np.minimum(index, self._k.size - 1)])

    def error_bound(self, alpha: Floats) -> Floats:
        """Least t with P(|X| > t) <= alpha."""
        t = np.arange(self._m + 1, dtype=np.float64) * self._step
        beyond = self.sf(t) + self.cdf(-t - self._step)
        listed = np.minimum(t.size - np.searchsorted(beyond[::-1], alpha, side="right"), t.size - 1)
        both = np.logaddexp(*self._ends) - self._rest
        place = np.ceil((np.log(alpha) - both) / self._log_ratio)
        place = np.where(np.exp(both + (place - 1) * self._log_ratio) <= alpha, place - 1, place)
        place = np.where(np.exp(both + place * self._log_ratio) > alpha, place + 1, place)
        far = (self._m - 1 + np.maximum(place, 2.0)) * self._step
        return np.asarray(np.where(alpha < beyond[-1], far, t[listed]))

    def entropy(self) -> float:
        """Shannon's entropy in nats."""
        odds = self._ratio / (1 - self._ratio)
        tails = sum(-math.exp(end) * odds * (end + self._log_ratio / (1 - self._ratio)) for end in self._ends)
        return super().entropy() + tails

    def var(self) -> float:
        """E (X - E X)²."""
        mean = self.mean()
        inside = float(np.sum(self._pmf * (self._k * self._step - mean) ** 2))
        return inside + self._tails(lambda x: (x - mean) ** 2)

    def moment(self, order: int) -> float:
        """E X**order."""
        return super().moment(order) + self._tails(lambda x: x ** float(order))

    def abs_moment(self, p: float) -> float:
        """E|X|**p; inf for p < 0 if 0 has a positive probability."""
        return super().abs_moment(p) + self._tails(lambda x: np.abs(x) ** float(p))

    def _tails(self, function: Any) -> float:
        """Return the expected value of a power of X, beyond the list."""
        j = np.arange(1.0, math.ceil(_NEPERS / -self._log_ratio) + 1)
        masses = np.exp(j * self._log_ratio)
        x = (self._m + j) * self._step
        left, right = (math.exp(end) for end in self._ends)
        return float(np.sum(masses * (left * function(-x) + right * function(x))))


def error_bound(weights: Weights, k: int, alpha: float) -> int:
    """Return t with P(|S| > t) <= alpha, in steps, for the sum S of k variables: the smallest for one, nearly so for more."""
    if k == 1:
        t = float(functions(weights, 1.0).error_bound(np.array(alpha)))
        return math.ceil(t if t < _EXACT else t * (1 + 2.0**-50))
    end, masses = _listed_around_0(weights)
    decay = -weights.log_ratio if weights.ratio is not None else _TILT / end
    variable = listed.Summand(-end, masses, decay, k)
    mirrored = variable._replace(weights=masses[::-1])
    lower = None if np.array_equal(masses, mirrored.weights) else lambda h: listed.rounded_up(mirrored, h)
    return listed.bound(lambda h: listed.rounded_up(variable, h), lower, alpha * math.exp(-_ERROR * k))


def _listed_around_0(weights: Weights) -> tuple[int, Floats]:
    """Probabilities of the integers around 0, the same number on both sides."""
    logs = weights.log_probabilities
    if weights.ratio is None:
        used = np.flatnonzero(weights.scaled) - weights.reach
        end = int(np.abs(used).max())
        return end, np.exp(logs[weights.reach - end : weights.reach + end + 1])
    beyond = weights.log_ratio * np.arange(1, math.ceil(listed.LISTED / -weights.log_ratio) + 1)
    logs = np.concatenate([logs[0] + beyond[::-1], logs, logs[-1] + beyond])
    return logs.size // 2, np.exp(logs)
