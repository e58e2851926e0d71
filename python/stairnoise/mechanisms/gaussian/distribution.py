"""The normal distribution of mean 0, and what it shares with symmetric distributions on the integers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stairnoise._types import Floats
from stairnoise.numerics import normal


class Centred:
    """A symmetric distribution on the integers, without bounds, from the logarithms of a tail and of its probabilities."""

    if TYPE_CHECKING:

        def logsf(self, x: Floats) -> Floats: ...
        def logpmf(self, x: Floats) -> Floats: ...
        def abs_moment(self, p: float) -> float: ...

    def pmf(self, x: Floats) -> Floats:
        """P(X = x)."""
        return np.exp(self.logpmf(x))

    def logcdf(self, x: Floats) -> Floats:
        """Logarithm of P(X <= x), which is P(X > -x - 1)."""
        return self.logsf(-np.floor(x) - 1)

    def sf(self, x: Floats) -> Floats:
        """P(X > x)."""
        return np.exp(self.logsf(x))

    def cdf(self, x: Floats) -> Floats:
        """P(X <= x)."""
        return np.exp(self.logcdf(x))

    def mean(self) -> float:
        """E X, which is 0 by symmetry."""
        return 0.0

    def var(self) -> float:
        """E X²."""
        return self.abs_moment(2.0)

    def moment(self, order: int) -> float:
        """E X**order; 0 for an odd order."""
        return 0.0 if order % 2 else self.abs_moment(float(order))

    def support(self) -> tuple[float, float]:
        """Return the ends of the support."""
        return -math.inf, math.inf


class NormalDistribution(Centred):
    """Functions of the normal distribution of mean 0 and standard deviation `sigma`, relative errors below 1e-12."""

    def __init__(self, sigma: float) -> None:
        self.sigma = self.unit = sigma

    def in_units(self) -> NormalDistribution:
        """Return the distribution of X/unit."""
        return NormalDistribution(1.0)

    def logpdf(self, x: Floats) -> Floats:
        """Logarithm of the density."""
        return -0.5 * (x / self.sigma) ** 2 - (normal.LOG_SQRT_2PI + math.log(self.sigma))

    def pdf(self, x: Floats) -> Floats:
        """Density."""
        return np.exp(-((x / self.sigma) ** 2) / 2) / (self.sigma * math.sqrt(2 * math.pi))

    def logsf(self, x: Floats) -> Floats:
        """Logarithm of P(X > x)."""
        return normal.log_sf(x / self.sigma)

    def logcdf(self, x: Floats) -> Floats:
        """Logarithm of P(X <= x)."""
        return normal.log_sf(-x / self.sigma)

    def ppf(self, q: Floats) -> Floats:
        """Quantile of a lower tail."""
        return 0.0 - self.isf(q)

    def isf(self, q: Floats) -> Floats:
        """Quantile of an upper tail."""
        tail = normal.isf(np.minimum(q, 1 - q))
        return np.where((q >= 0) & (q <= 1), self.sigma * np.where(q <= 0.5, tail, -tail), np.nan) + 0.0

    def error_bound(self, alpha: Floats) -> Floats:
        """Least t with P(|X| > t) <= alpha."""
        return self.sigma * normal.isf(alpha / 2)

    def entropy(self) -> float:
        """Differential entropy in nats."""
        return 0.5 + normal.LOG_SQRT_2PI + math.log(self.sigma)

    def var(self) -> float:
        """E X²."""
        return self.sigma * self.sigma

    def abs_moment(self, p: float) -> float:
        """E|X|**p for p > -1."""
        try:
            return float(self.sigma**p * (2 ** (p / 2) * math.gamma((p + 1) / 2) / math.sqrt(math.pi)))
        except OverflowError:
            return math.inf
