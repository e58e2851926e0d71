r"""The privacy loss of discrete Gaussian noise for integers that one person changes by at most s together, in the l2 norm.

The loss of a change a depends on ``T = Σ a_i X_i`` alone: it is ``(n - 2T)/(2σ²)`` with ``n = Σ a_i²``. To change more
coordinates is worse, so n is the largest integer up to s², and a is one of the ways to write n as a sum of squares. No way is
the worst for every ε: at the Rényi order 3/2, one change by 2 reaches the bound of theorem 14 [1]_ and four changes by 1 do
not. At σ² = 2 and δ = 1e-6, the four cost ε = 7.33 and the one 7.00. So all ways are computed if they are few.

Otherwise continuous noise of variance σ² - 4 replaces the discrete noise. Round its value y at random, to the integer k
with a probability in proportion to ``exp(-(k - y)²/8)``. The product of both weights is ``exp(-k²/(2σ²))`` times one whose
integral over y does not depend on k. So k has the discrete distribution, up to a factor between θ(½)/θ(0) > 1 - 4 exp(-8π²)
and its inverse. Values that differ by an integer are rounded alike. So the release is a function of the continuous release, whose
loss depends on s/σ alone. In the same way the continuous release is a function of a release on a fine lattice. All factors
together are within 1e-24 of 1.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.largest import Largest
from stairnoise.accounting.losses.listed import Listed
from stairnoise.accounting.losses.loss import Part
from stairnoise.mechanisms.discrete_gaussian.distribution import DiscreteGaussianDistribution
from stairnoise.mechanisms.discrete_gaussian.loss import LatticeGaussian
from stairnoise.numerics.rounding import rounded_down

# All changes are computed for n up to 25 (19 changes), and for lists of some thousand outcomes.
MOST_LISTED, _MOST_SIGMA2 = 25, 1024.0
# The least σ² for which continuous noise may replace the discrete noise, and the variance of the rounding.
LEAST_ROUNDED, _ROUNDED = 16.0, 4
# Largest square of a change: the factors of all coordinates stay near 1.
MOST_SQUARE = 2**30
# Steps of the fine lattice to a change by s.
_FINE = 2**20
# In standard deviations; all sums are subgaussian. Outcomes beyond count as an infinite loss.
_REACH = 16.0


def loss_of_change(sigma2: float, n: int) -> Part:
    """Return the loss for all changes of integers whose squares add up to at most `n`."""
    if n == 1:
        return LatticeGaussian(sigma2, 1.0)
    if n <= MOST_LISTED and sigma2 <= _MOST_SIGMA2:
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
