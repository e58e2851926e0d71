"""The least μ of Skellam noise for (ε, δ): of one value, or of k values that one person changes together.

δ falls with μ, whatever the number of values: noise of a larger μ is noise of the smaller one plus independent noise. So
bisection finds the least μ.

One value: δ = Σ P(k) (1 - e^(ε - L(k))) over the outcomes with a loss L(k) above ε, a sum of positive terms. Several values:
the bound of the Rényi divergence at integer orders, turned into a δ [1]_; or ε/k and δ/k for each, where that takes less.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020: proposition 12.
"""

from __future__ import annotations

import math

import numpy as np

from stairnoise import _native
from stairnoise.mechanisms.skellam import distribution as theory
from stairnoise.mechanisms.skellam.loss import rdp_bound
from stairnoise.numerics import candidates

# Exponents of the least and the largest candidate for μ.
_LOG2_LEAST, _LOG2_MOST = -20, 30
# Part of δ that is left unused: more than the relative error of the profile.
_MARGIN = 2.0**-32
# Orders of the Rényi divergence for several values: the integers of 8 significant bits below 2**20.
_ORDERS = np.unique(np.ldexp(np.arange(2.0, 256.0), np.arange(13)[:, None]))
# Outcomes less probable than the first by more nepers have no part in a sum.
_SHORT = 45.0


def least_mu(eps: float, delta: float, shift: int, k: int) -> float:
    """Return the least candidate with which `k` values are (ε, δ)-differentially private together; inf if there is none."""
    each_eps = _native.largest_quotient(eps, k)
    each_delta = _native.largest_quotient(delta, k)

    def enough(mu: float) -> bool:
        return _one_is_enough(mu, each_eps, each_delta, shift) or (k > 1 and _many_are_enough(mu, eps, delta, shift, k))

    return candidates.least(enough, _LOG2_LEAST, _LOG2_MOST)


def _one_is_enough(mu: float, eps: float, delta: float, shift: int) -> bool:
    # The outcomes k <= last lose more than ε.
    def loses(k: int) -> bool:
        return float(theory.loss(mu, np.array([float(k)]), shift)[0]) > eps

    low, high = -1, shift
    while not loses(low):
        low *= 2
        if theory.fall(mu, -low) > _SHORT - math.log(delta):
            return True
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if loses(middle) else (low, middle)
    first = min(-theory.reach(mu, theory.fall(mu, abs(min(low, 0))) + _SHORT), low)
    k = np.arange(first, low + 1.0)
    gains = -np.expm1(eps - theory.loss(mu, k, shift))
    found = float(np.sum(np.exp(theory.log_pmf(mu, k)) * np.maximum(gains, 0.0)))
    return found * (1 + _MARGIN) <= delta


def _many_are_enough(mu: float, eps: float, delta: float, shift: int, k: int) -> bool:
    """Tell whether δ <= exp((α-1)(D - ε))·(1 - 1/α)^α/(α - 1) is small enough for an order α."""
    alpha = _ORDERS
    divergence = rdp_bound(mu, alpha, float(k) * shift, math.sqrt(k) * shift)
    logs = (alpha - 1) * (divergence - eps) + alpha * np.log1p(-1 / alpha) - np.log(alpha - 1)
    return float(np.min(logs)) + math.log1p(_MARGIN) <= math.log(delta)
