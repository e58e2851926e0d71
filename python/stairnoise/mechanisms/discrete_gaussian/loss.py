"""The privacy loss of discrete Gaussian noise on a lattice of any fineness: unbounded, and linear in the noise.

For a change by D steps the loss of the outcome k is ``(D² - 2kD)/(2σ²)``: above t for k < c(t) = D/2 - tσ²/D.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020: proposition 5 is the bound
   on the Rényi divergence that `LatticeGaussian.rdp` attains where (1 - α) D is an integer.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.general import General
from stairnoise.mechanisms.discrete_gaussian.distribution import DiscreteGaussianDistribution

# In standard deviations; 1e-56 of the probability lies beyond, on each side.
_REACH = 16.0
# In standard deviations of the weights, which are 1e-80 there.
_WINDOW = 20.0
# From this σ² on, the sum of k draws has the distribution of kσ², to a relative 10 k exp(-π²σ²) (see `sum_bound`).
_SMOOTH = 8.0
# Largest σ² of a sum: squares do not overflow. Rounding more than 2**53 steps moves δ by a relative 1e-14.
_MOST_SIGMA2 = 2.0**200


class LatticeGaussian(General):
    """The loss of the distribution P(X = k) ∝ exp(-k²/(2σ²)) under a shift of `steps`."""

    __slots__ = ("_distribution", "pitch", "steps")

    # The loss is unbounded, but never infinite.
    eps = np.array(math.inf)
    infinite = beyond = 0.0

    def __init__(self, sigma2: float, steps: float) -> None:
        self._distribution = DiscreteGaussianDistribution(sigma2)
        self.steps = steps
        self.pitch = steps / sigma2
        # The losses of two outcomes: a lattice whose step divides the pitch then has all losses between them.
        middle, width = steps * self.pitch / 2, math.ceil(_REACH * self._distribution.sigma) * self.pitch
        self.top, self.bottom = middle + width, middle - width

    def key(self) -> tuple[Any, ...]:
        """Return what two equal releases have in common."""
        return ("lattice gaussian", self._distribution.sigma2, self.steps)

    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0."""
        return self._distribution.hockey_stick(t, self.steps)

    def tradeoff(self, alpha: Floats) -> Floats:
        """Least probability of a missed detection: an alarm for k < m, and at k = m in proportion."""
        flat = np.ravel(alpha)
        x = self._distribution.ppf(flat)
        share = (flat - self._distribution.cdf(x - 1)) / self._distribution.pmf(x)
        m = x + self.steps
        missed = self._distribution.sf(m) + self._distribution.pmf(m) * np.clip(1 - share, 0.0, 1.0)
        return np.asarray(np.where((flat > 0) & (flat < 1), missed, 1 - flat).reshape(np.shape(alpha)))

    def mean(self) -> Floats:
        """Kullback-Leibler divergence."""
        return np.array(self.steps * self.steps / (2 * self._distribution.sigma2))

    def var(self) -> Floats:
        """Variance of the loss."""
        slope = self.steps / self._distribution.sigma2
        return np.array(slope * slope * self._distribution.var())

    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1: αD²/(2σ²), or less if (1 - α) D is not an integer.

        The moment is ``exp(α(α-1)D²/(2σ²)) θ((1-α)D)/θ(0)``, θ(c) the sum of ``exp(-(k-c)²/(2σ²))``.
        """
        order = np.asarray(alpha, np.float64)
        centre = (1 - order) * self.steps
        distance = np.abs(centre - np.round(centre))
        return np.asarray(order * self.mean() + self._log_theta_ratio(distance) / (order - 1))

    def _log_theta_ratio(self, c: Floats) -> Floats:
        sigma2 = self._distribution.sigma2
        if sigma2 >= 1:
            # Poisson's formula: 1 + 2 Σ exp(-2π²σ²n²) cos(2πnc); terms beyond the second are below 1e-77
            first, second = (2 * math.exp(-2 * math.pi**2 * sigma2 * n * n) for n in (1, 2))
            less = first * 2 * np.sin(math.pi * c) ** 2 + second * 2 * np.sin(2 * math.pi * c) ** 2
            return np.log1p(-less / (1 + first + second))
        k = np.arange(-math.ceil(_WINDOW) - 1, math.ceil(_WINDOW) + 2, dtype=np.float64)
        apart = np.sum(np.exp(-((k - np.expand_dims(c, -1)) ** 2 - np.expand_dims(c, -1) ** 2) / (2 * sigma2)), axis=-1)
        return np.asarray(np.log(apart) - c * c / (2 * sigma2) - math.log(float(np.sum(np.exp(-k * k / (2 * sigma2))))))

    def masses(self, nodes: Floats) -> tuple[Floats, Floats, float]:
        """Logarithms of the probabilities, under both centres, of a loss in (nodes[i+1], nodes[i]], -inf for none.

        And the probability, under the true centre, of a loss above the first node.
        """
        # The largest k with a loss above a node.
        last = np.ceil(self.steps / 2 - nodes * (self._distribution.sigma2 / self.steps)) - 1
        return self._between(last), self._between(last - self.steps), float(self._distribution.cdf(last[:1])[0])

    def together(self, k: int) -> LatticeGaussian | None:
        """Return the loss of the sum of the k outcomes, because their loss depends on the sum alone."""
        if k == 1:
            return self
        sigma2, steps = self._distribution.sigma2, k * self.steps
        if sigma2 < _SMOOTH or k * sigma2 > _MOST_SIGMA2:
            return None
        return LatticeGaussian(k * sigma2, steps)

    def suitable_step(self, step: float) -> float:
        """Return a step that divides the distance between two losses; a longer `step` is returned as it is."""
        return step if self.pitch < step else self.pitch / math.ceil(self.pitch / step)

    def _between(self, last: Floats) -> Floats:
        """Logarithms of P(last[i] < X <= last[i+1]), from the tails on the nearer side."""
        below, above = self._distribution.cdf(last), self._distribution.sf(last)
        masses = np.where(last[1:] < 0, np.diff(below), -np.diff(above))
        with np.errstate(divide="ignore"):
            return np.log(np.where(np.diff(last) > 0, np.maximum(masses, 0.0), 0.0))
