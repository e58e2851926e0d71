"""A distribution on consecutive integers, or on the multiples of a step, from a list of its probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stairnoise._types import Floats, Places

_NO_TAILS = -math.inf, -math.inf


class Tabulated:
    """Functions of the distribution with P(X = step·(first + i)) = exp(log_pmf[i]).

    Values outside of the list have no probability, so the list must hold all that matter. Both tails are summed from their
    far ends, where the smallest terms are. So small values of cdf and sf are as accurate as the list.

    Parameters
    ----------
    first : int
        The least integer of the list.
    log_pmf : ndarray of float64
        Logarithms of the probabilities, normalised.
    step : float
        A power of two.
    bounded : bool
        Whether the distribution ends with the list; otherwise its support is all the multiples.
    """

    def __init__(
        self, first: int, log_pmf: Floats, step: float = 1.0, *, bounded: bool = False, log_tails: Sequence[float] = _NO_TAILS
    ) -> None:
        self._step = step
        self._bounded = bounded
        self._k: Floats = np.arange(first, first + log_pmf.size, dtype=np.float64)
        self._log_pmf = log_pmf
        self._pmf = np.exp(log_pmf)
        # Entry i: the probabilities at or below, and above, the i-th integer.
        left, right = log_tails
        below = math.exp(left) + np.cumsum(self._pmf)
        above = math.exp(right) + np.append(np.cumsum(self._pmf[:0:-1])[::-1], 0.0)
        self._cdf = np.where(below < above, below, 1 - above)
        self._sf = np.where(above < below, above, 1 - below)
        log_below = np.logaddexp.accumulate(np.append(left, log_pmf))[1:]
        log_above = np.logaddexp.accumulate(np.append(right, log_pmf[:0:-1]))[::-1]
        # Sums of the whole list can round to more than 1; their logarithms are not used.
        with np.errstate(divide="ignore", invalid="ignore"):
            self._log_cdf = np.where(below < above, log_below, np.log1p(-above))
            self._log_sf = np.where(above < below, log_above, np.log1p(-below))

    def pmf(self, x: Floats) -> Floats:
        """P(X = x)."""
        return self._at(x, self._pmf, 0.0)

    def logpmf(self, x: Floats) -> Floats:
        """Natural logarithm of P(X = x)."""
        return self._at(x, self._log_pmf, -math.inf)

    def cdf(self, x: Floats) -> Floats:
        """P(X <= x)."""
        return self._up_to(x, self._cdf, 0.0, 1.0)

    def sf(self, x: Floats) -> Floats:
        """P(X > x)."""
        return self._up_to(x, self._sf, 1.0, 0.0)

    def logcdf(self, x: Floats) -> Floats:
        """Natural logarithm of P(X <= x)."""
        return self._up_to(x, self._log_cdf, -math.inf, 0.0)

    def logsf(self, x: Floats) -> Floats:
        """Natural logarithm of P(X > x)."""
        return self._up_to(x, self._log_sf, 0.0, -math.inf)

    def ppf(self, q: Floats) -> Floats:
        """Least x with cdf(x) >= q."""
        return self._quantile(q, np.searchsorted(self._cdf, q), q <= 0, q >= 1)

    def isf(self, q: Floats) -> Floats:
        """Least x with sf(x) <= q."""
        return self._quantile(q, self._sf.size - np.searchsorted(self._sf[::-1], q, side="right"), q >= 1, q <= 0)

    def error_bound(self, alpha: Floats) -> Floats:
        """Least t with P(|X| > t) <= alpha."""
        t: Floats = np.arange(max(abs(int(self._k[0])), abs(int(self._k[-1]))) + 1, dtype=np.float64) * self._step
        beyond = self.sf(t) + self.cdf(-t - self._step)
        return np.asarray(t[np.minimum(t.size - np.searchsorted(beyond[::-1], alpha, side="right"), t.size - 1)])

    def entropy(self) -> float:
        """Shannon's entropy in nats."""
        return -float(np.sum(self._pmf * np.where(self._pmf > 0, self._log_pmf, 0.0)))

    def mean(self) -> float:
        """E X."""
        return self.moment(1)

    def var(self) -> float:
        """E (X - E X)²."""
        return float(np.sum(self._pmf * (self._k * self._step - self.mean()) ** 2))

    def moment(self, order: int) -> float:
        """E X**order."""
        powers = (self._k * self._step) ** float(order)
        # A symmetric list sums to zero exactly if its ends are paired.
        terms = self._pmf * powers
        return float(np.sum(terms + terms[::-1]) / 2)

    def abs_moment(self, p: float) -> float:
        """E|X|**p; inf for p < 0 where 0 has a probability."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.sum(np.where(self._pmf > 0, self._pmf * np.abs(self._k * self._step) ** float(p), 0.0)))

    def support(self) -> tuple[float, float]:
        """Return the ends of the support."""
        if self._bounded:
            return float(self._k[0] * self._step), float(self._k[-1] * self._step)
        return -math.inf, math.inf

    def _at(self, x: Floats, values: Floats, elsewhere: float) -> Floats:
        places = x / self._step
        i = places - self._k[0]
        listed = (i >= 0) & (i < values.size) & (places == np.floor(places))
        found = values[np.where(listed, i, 0).astype(np.intp)]
        return np.where(np.isnan(x), np.nan, np.where(listed, found, elsewhere))

    def _up_to(self, x: Floats, values: Floats, before: float, after: float) -> Floats:
        i = np.floor(x / self._step) - self._k[0]
        inside = values[np.clip(np.nan_to_num(i), 0, values.size - 1).astype(np.intp)]
        outside = np.where(i < 0, before, np.where(i >= values.size, after, inside))
        return np.where(np.isnan(x), np.nan, outside)

    def _quantile(self, q: Floats, i: Places, lowest: Any, highest: Any) -> Floats:
        x = self._k[np.minimum(i, self._k.size - 1)] * self._step
        low, high = self.support()
        return np.where((q >= 0) & (q <= 1), np.where(lowest, low, np.where(highest, high, x)), np.nan)


class Mirrored(Tabulated):
    """A distribution that is symmetric about 0, from ln P(X = 0), ln P(X = step), … and the variance in closed form, in steps."""

    def __init__(self, above: Floats, variance: float, step: float = 1.0) -> None:
        # A sum of probabilities may exceed 1 by its rounding errors, where the other tail is the one that counts.
        with np.errstate(invalid="ignore", divide="ignore"):
            super().__init__(1 - above.size, np.concatenate([above[:0:-1], above]), step)
        self._variance_in_steps = variance

    def mean(self) -> float:
        """E X, zero by symmetry."""
        return 0.0

    def var(self) -> float:
        """E X²."""
        return self._step * self._variance_in_steps * self._step

    def moment(self, order: int) -> float:
        """E X**order; zero by symmetry where it is odd."""
        return 0.0 if order % 2 else super().moment(order)
