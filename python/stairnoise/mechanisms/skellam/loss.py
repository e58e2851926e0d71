"""The privacy loss of Skellam noise: unbounded, and falling with the outcome, because the distribution is log-concave.

For a change by s the loss of the outcome k is ``ln I_k(μ) - ln I_{k-s}(μ)``.

References
----------
.. [1] Agarwal, Kairouz and Liu, "The Skellam Mechanism for Differentially Private Federated Learning", NeurIPS 2021.
"""

from __future__ import annotations

import math

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.listed import Listed
from stairnoise.mechanisms.skellam import distribution as theory
from stairnoise.numerics.roots import least_integer

# In nepers: where the list of outcomes ends, and where losses for composition end.
_LISTED, _COMPOSED = 400.0, 130.0
# In nepers: terms of a moment that are smaller than the largest by more do not matter.
_SHORT = 45.0
# If a moment has more terms, they are bounded by the largest.
_MOST_TERMS = 2**22
# Order times shift beyond which float64 cannot distinguish outcomes.
_FARTHEST = 2.0**100


class SkellamLoss(Listed):
    """The loss of the distribution of variance `mu` under a shift.

    Outcomes less probable than about e^(-400) under both centres are left out; in compositions, those below e^(-130).
    """

    __slots__ = ("_mu", "_shift")

    def __init__(self, mu: float, shift: int) -> None:
        self._mu, self._shift = mu, shift
        end = theory.reach(mu, _LISTED)
        k = np.arange(-end, end + 1.0)
        # Outcomes near the other centre.
        k = np.concatenate([k, np.arange(max(end + 1, shift - end), shift + end + 1.0)])
        log_p, losses = theory.log_pmf(mu, k), theory.loss(mu, k, shift)
        super().__init__(("skellam", mu, shift), log_p, log_p - losses, math.inf, losses=losses)
        # Losses beyond are less probable than e^(-130) under the true centre.
        near = float(theory.reach(mu, _COMPOSED))
        self.top, self.bottom = (float(theory.loss(mu, np.array([k]), shift)[0]) for k in (-near, near + shift))

    def tradeoff(self, alpha: Floats) -> Floats:
        """Least probability of a missed detection; 0 if both distributions are too far apart for float64."""
        return np.nan_to_num(super().tradeoff(alpha), nan=0.0)

    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1."""
        return np.asarray(np.vectorize(self._divergence, [np.float64])(alpha))

    def _divergence(self, order: float) -> float:
        # Outcomes between two distant centres are not listed; they matter for orders below 1 only.
        between = order < 1 and self._loss.size < 2 * self._shift
        if (order - 1) * self.top <= 1 and not between:
            return self._rdp(order)
        if order * self._shift > _FARTHEST:
            return float(rdp_bound(self._mu, np.array(order), float(self._shift), float(self._shift)))
        # The terms P^α Q^(1-α) rise up to the outcome `largest`, and then fall.
        largest = self._largest(order)
        peak = self._log_term(order, largest)
        first, last = (self._edge(order, largest, peak, side) for side in (-1, 1))
        if last - first > _MOST_TERMS:
            # All terms count as the largest; the logarithm of their number is negligible beside the peak.
            return (peak + math.log(last - first)) / (order - 1)
        terms = self._log_terms(order, np.arange(first, last + 1.0))
        return (peak + math.log(float(np.sum(np.exp(terms - peak))))) / (order - 1)

    def _log_terms(self, order: float, k: Floats) -> Floats:
        return theory.log_pmf(self._mu, k) + (order - 1) * theory.loss(self._mu, k, self._shift)

    def _log_term(self, order: float, k: int) -> float:
        return float(self._log_terms(order, np.array([float(k)]))[0])

    def _largest(self, order: float) -> int:
        """Return the first k from which the terms fall: at most 0, or for orders below 1 between the centres too."""

        def falls(k: int) -> bool:
            return self._log_term(order, k) > self._log_term(order, k + 1)

        low = -1
        while falls(low):
            low *= 2
        return least_integer(falls, low, self._shift if order < 1 else 0)

    def _edge(self, order: float, largest: int, peak: float, side: int) -> int:
        step = 1
        while self._log_term(order, largest + side * step) > peak - _SHORT:
            step *= 2
        return largest + side * step


def rdp_bound(mu: float, alpha: Floats, l1: float, l2: float) -> Floats:
    """Theorem 3.5 of [1]_ at integer orders; between them, (α - 1) times the bound is the chord, which is 0 at α = 1."""

    def at(order: Floats) -> Floats:
        small = np.minimum(((2 * order - 1) * l2 * l2 + 6 * l1) / (4 * mu * mu), 3 * l1 / (2 * mu))
        return np.asarray(order * l2 * l2 / (2 * mu) + small)

    below = np.floor(alpha)
    part = alpha - below
    # A bound that overflows is inf.
    with np.errstate(over="ignore", invalid="ignore"):
        chord = (1 - part) * ((below - 1) / (alpha - 1)) * at(below) + part * (below / (alpha - 1)) * at(below + 1)
        return np.where(part > 0, chord, at(alpha))
