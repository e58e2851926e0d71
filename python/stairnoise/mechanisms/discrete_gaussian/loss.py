r"""The privacy loss of discrete Gaussian noise on a lattice of any fineness: unbounded, and linear in the noise.

For a change by D steps the loss of the outcome k is ``(D² - 2kD)/(2σ²)``: above t for k < c(t) = D/2 - tσ²/D.

`loss_of_change` has the loss for integers that one person changes by at most s together, in the l2 norm. The loss of a change a
depends on ``T = Σ a_i X_i`` alone: it is ``(n - 2T)/(2σ²)`` with ``n = Σ a_i²``. To change more coordinates is worse, so n is
the largest integer up to s², and a is one of the ways to write n as a sum of squares. No way is the worst for every ε: at the
Rényi order 3/2, one change by 2 reaches the bound of theorem 14 [1]_ and four changes by 1 do not. At σ² = 2 and δ = 1e-6, the
four cost ε = 7.33 and the one 7.00. So all ways are computed if they are few.

Otherwise continuous noise of variance σ² - 4 replaces the discrete noise. Round its value y at random, to the integer k
with a probability in proportion to ``exp(-(k - y)²/8)``. The product of both weights is ``exp(-k²/(2σ²))`` times one whose
integral over y does not depend on k. So k has the discrete distribution, up to a factor between θ(½)/θ(0) > 1 - 4 exp(-8π²)
and its inverse. Values that differ by an integer are rounded alike. So the release is a function of the continuous release, whose
loss depends on s/σ alone. In the same way the continuous release is a function of a release on a fine lattice. All factors
together are within 1e-24 of 1.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020: proposition 5 is the bound
   on the Rényi divergence that `LatticeGaussian.rdp` attains where (1 - α) D is an integer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.general import General
from stairnoise.accounting.losses.largest import Largest
from stairnoise.accounting.losses.listed import Listed
from stairnoise.accounting.losses.loss import Part
from stairnoise.mechanisms.discrete_gaussian.distribution import DiscreteGaussianDistribution
from stairnoise.numerics.rounding import rounded_down

# In standard deviations; 1e-56 of the probability lies beyond, on each side. All sums are subgaussian.
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


# Changes of several integers

# All changes are computed for n up to 25 (19 changes), and for lists of some thousand outcomes.
MOST_LISTED, _MOST_LISTED_SIGMA2 = 25, 1024.0
# The least σ² for which continuous noise may replace the discrete noise, and the variance of the rounding.
LEAST_ROUNDED, _ROUNDED = 16.0, 4
# Largest square of a change: the factors of all coordinates stay near 1.
MOST_SQUARE = 2**30
# Steps of the fine lattice to a change by s.
_FINE = 2**20


def loss_of_change(sigma2: float, n: int) -> Part:
    """Return the loss for all changes of integers whose squares add up to at most `n`."""
    if n == 1:
        return LatticeGaussian(sigma2, 1.0)
    if n <= MOST_LISTED and sigma2 <= _MOST_LISTED_SIGMA2:
        return Largest([_of_one(sigma2, n, change) for change in ways(n, n)])
    # The change is `_FINE` steps of the lattice. Its noise has the variance of the continuous noise, less `_ROUNDED`.
    fine = (Fraction(sigma2) - _ROUNDED) * _FINE**2 / n - _ROUNDED
    return LatticeGaussian(rounded_down(fine), float(_FINE))


def can_be_computed(sigma2: float, n: int) -> bool:
    """Return whether `loss_of_change` can compute the loss of this noise."""
    return n <= MOST_LISTED or (sigma2 >= LEAST_ROUNDED and n <= MOST_SQUARE)


def ways(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write `n` as a sum of squares, as falling tuples of roots up to `largest`."""
    if n == 0:
        yield ()
    for root in range(min(largest, math.isqrt(n)), 0, -1):
        for rest in ways(n - root * root, root):
            yield (root, *rest)


def _of_one(sigma2: float, n: int, change: tuple[int, ...]) -> Listed:
    """Return the loss of one change, from the list of probabilities of T divided by the common factor of the change."""
    factor = math.gcd(*change)
    size = math.ceil(_REACH * math.sqrt(n * sigma2) / factor)
    p = reduce(lambda p, root: _sum(p, root // factor, sigma2, size), change, np.array([1.0]))
    middle = p.size // 2
    reach = min(size, middle)
    p = p[middle - reach : middle + reach + 1]
    outcomes = np.flatnonzero(p)
    log_p, loss = np.log(p[outcomes]), np.asarray((n - 2.0 * factor * (outcomes - reach)) / (2 * sigma2), np.float64)
    # Bounds what the lists of coordinates and of sums leave out, on both sides.
    beyond = 4 * (len(change) + 1) * math.exp(-_REACH * _REACH / 2)
    return Listed(("gaussian change", sigma2, *change), log_p, log_p - loss, math.inf, beyond, loss)


def _sum(p: Floats, root: int, sigma2: float, size: int) -> Floats:
    """Return the probabilities, from -m to m, of a variable with probabilities `p` plus `root` times the noise."""
    distribution = DiscreteGaussianDistribution(sigma2)
    reach = math.ceil(_REACH * distribution.sigma) + 1
    noise = np.zeros(2 * root * reach + 1)
    noise[::root] = distribution.pmf(np.arange(-reach, reach + 1, dtype=np.float64))
    found = np.convolve(p, noise)
    cut = max((found.size - 1) // 2 - size, 0)
    return np.asarray(found[cut : found.size - cut])
