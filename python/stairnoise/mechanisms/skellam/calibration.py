"""The least μ of Skellam noise for (ε, δ): of one value, or of k values that one person changes together.

δ falls with μ for any number of values, because noise of a larger μ is noise of a smaller μ plus independent noise. So bisection
finds the least μ.

For one value, δ = Σ P(k) (1 - e^(ε - L(k))) over the outcomes with a loss L(k) above ε, a sum of positive terms. For several
values, δ follows from the bound of the Rényi divergence at integer orders [1]_; or every value has ε/k and δ/k, if that allows a
smaller μ.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020: proposition 12.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from stairnoise import _native
from stairnoise._parameters import REMEMBERED
from stairnoise._types import Floats
from stairnoise.mechanisms.gaussian.calibration import shift_in_float64
from stairnoise.mechanisms.skellam import distribution as theory
from stairnoise.mechanisms.skellam.loss import rdp_bound
from stairnoise.numerics.roots import Rising, bisection, least_candidate, least_integer

# log2 of the least and of the largest candidate for μ.
_LOG2_LEAST, _LOG2_MOST = -20, 30
# More than the relative error of the profile, and than what this error moves the least μ by, relatively.
_MARGIN, _APART = 2.0**-32, 2.0**-20
# How far an ε may be above the least, relatively.
_NEAR = 2.0**-36
# Orders of the Rényi divergence for several values: the integers of 8 significant bits below 2**20.
_ORDERS = np.unique(np.ldexp(np.arange(2.0, 256.0), np.arange(13)[:, None]))
# In nepers: outcomes that are less probable than the first by more do not matter in a sum.
_SHORT = 45.0
# A larger slope is that of an outcome that does not matter.
_MOST_SLOPE = 50.0


@lru_cache(maxsize=REMEMBERED)
def least_mu(eps: float, delta: float, shift: int, k: int) -> float:
    """Return the least candidate with which `k` values are (ε, δ)-differentially private together; inf if there is none."""
    share = _native.largest_quotient(eps, k), _native.largest_quotient(delta, k)

    def log_margin(mu: float) -> float:
        return max(_log_margin_of_one(mu, *share, shift), _log_margin_of_many(mu, eps, delta, shift, k) if k > 1 else -math.inf)

    enough = Rising(log_margin)
    # Gaussian noise needs nearly the same variance.
    variance = k * (shift / shift_in_float64(eps, delta)) ** 2
    if 2.0**_LOG2_LEAST < variance < 2.0**_LOG2_MOST:
        enough.close_in(0.9 * variance, 1.3 * variance, _APART)
    return least_candidate(enough, _LOG2_LEAST, _LOG2_MOST)


@lru_cache(maxsize=REMEMBERED)
def least_eps(mu: float, delta: float, shift: int) -> float:
    """Return an ε, near the least, with which one value that moves by `shift` is (ε, δ)-differentially private."""
    enough = Rising(lambda eps: _log_margin_of_one(mu, eps, delta, shift))
    if shift == 0 or enough(0.0):
        return 0.0
    high = bound_of_eps(mu, delta, float(shift), float(shift))
    enough.close_in(high / 2, high, _NEAR)
    return bisection(enough, 0.0, high, relative=_NEAR)


def bound_of_eps(mu: float, delta: float, l1: float, l2: float) -> float:
    """Return an ε with which values that move by these norms together are (ε, δ)-differentially private."""
    if l1 == 0:
        return 0.0
    found = float(np.min((_log_bounds(mu, 0.0, l1, l2) - math.log(delta) + _MARGIN) / (_ORDERS - 1)))
    return max(found * (1 + _MARGIN), 0.0)


def _log_margin_of_one(mu: float, eps: float, delta: float, shift: int) -> float:
    # The loss is above ε up to some outcome.
    def loses(k: int) -> bool:
        return float(theory.loss(mu, np.array([float(k)]), shift)[0]) > eps

    # Where asinh, the slope of ln P, has this loss.
    guess = math.floor(shift / 2 - mu * math.sinh(min(eps / shift, _MOST_SLOPE)))
    rare = _SHORT - math.log(delta)
    low = max(min(guess, -1), -theory.reach(mu, rare))
    while not loses(low):
        if theory.fall(mu, -low) >= rare:
            return math.inf
        low *= 2
    last = least_integer(lambda k: not loses(k), low, shift, guess + 1) - 1
    first = min(-theory.reach(mu, theory.fall(mu, abs(min(last, 0))) + _SHORT), last)
    k = np.arange(first, last + 1.0)
    gains = -np.expm1(eps - theory.loss(mu, k, shift))
    found = float(np.sum(np.exp(theory.log_pmf(mu, k)) * np.maximum(gains, 0.0)))
    return math.log(delta / found) - _MARGIN if found > 0 else math.inf


def _log_margin_of_many(mu: float, eps: float, delta: float, shift: int, k: int) -> float:
    """Return ln(δ/bound) for the least of the bounds of δ at the orders."""
    return math.log(delta) - float(np.min(_log_bounds(mu, eps, float(k) * shift, math.sqrt(k) * shift))) - _MARGIN


def _log_bounds(mu: float, eps: float, l1: float, l2: float) -> Floats:
    """Return ln of the bounds exp((α-1)(D - ε))·(1 - 1/α)^α/(α - 1) of δ at the orders α."""
    alpha = _ORDERS
    return np.asarray((alpha - 1) * (rdp_bound(mu, alpha, l1, l2) - eps) + alpha * np.log1p(-1 / alpha) - np.log(alpha - 1))
