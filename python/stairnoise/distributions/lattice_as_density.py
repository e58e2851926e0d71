"""A distribution on a coarse lattice as a density: each value spread evenly over the step around it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stairnoise._types import Floats

# In steps: beyond the lists of all distributions, and far from the integers that float64 does not hold.
_FARTHEST = 2.0**40


class Spread:
    """Functions of X + U: X a symmetric distribution on the multiples of a step, U uniform from -step/2 to step/2."""

    def __init__(self, distribution: Any) -> None:
        self._distribution = distribution
        self._step = float(distribution.granularity)

    def pdf(self, x: Floats) -> Floats:
        """Probability of the multiple nearest to x, over the step."""
        return np.asarray(self._distribution.pdf(x))

    def logpdf(self, x: Floats) -> Floats:
        """Natural logarithm of `pdf`."""
        return np.asarray(self._distribution.logpdf(x))

    def sf(self, x: Floats) -> Floats:
        """P(X + U > x): what lies in the steps above, and x's own share of its step."""
        place = np.clip(np.asarray(x) / self._step, -_FARTHEST, _FARTHEST)
        k = np.floor(place + 0.5)
        own = self._distribution.pdf(k * self._step) * self._step
        return np.asarray(self._distribution.sf(k * self._step) + (k + 0.5 - place) * own)

    def cdf(self, x: Floats) -> Floats:
        """P(X + U <= x), by symmetry."""
        return self.sf(-np.asarray(x))

    def logsf(self, x: Floats) -> Floats:
        """Natural logarithm of `sf`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.sf(x)))

    def logcdf(self, x: Floats) -> Floats:
        """Natural logarithm of `cdf`."""
        return self.logsf(-np.asarray(x))

    def isf(self, q: Floats) -> Floats:
        """Return the x with sf(x) = q, from the nearer end."""
        tail = np.minimum(q, 1 - np.asarray(q))
        centre = np.asarray(self._distribution.isf(tail))
        own = self._distribution.pdf(centre) * self._step
        x = centre + (0.5 - (tail - self._distribution.sf(centre)) / own) * self._step
        return np.where(tail < 0.5, np.where(np.asarray(q) > 0.5, -x, x), 0.0)

    def ppf(self, q: Floats) -> Floats:
        """Return the x with cdf(x) = q."""
        return -self.isf(q)

    def moment(self, order: int) -> float:
        """E (X + U)**order: odd powers of U have the mean 0."""
        half = np.float64(self._step / 2)
        powers = range(0, order + 1, 2)
        with np.errstate(over="ignore"):
            return math.fsum(math.comb(order, j) * self._distribution.moment(order - j) * half**j / (j + 1) for j in powers)

    def std(self) -> float:
        """Return the standard deviation, also where float64 does not hold the variance."""
        return math.hypot(self._distribution.std(), self._step / math.sqrt(12))

    def stats(self, moments: str) -> tuple[float, float, float, float]:
        """Mean, variance, skewness and excess kurtosis, which is that of X and U weighted by their squared variances."""
        std = self.std()
        of_x, of_u = self._distribution.std() / std, self._step / math.sqrt(12) / std
        return 0.0, std * std, 0.0, self._distribution.stats("k") * of_x**4 - 1.2 * of_u**4

    def sample(self, size: Any, rng: Any) -> Any:
        """Values of X alone."""
        return self._distribution.sample(size, rng=rng)
