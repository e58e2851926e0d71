"""The privacy loss of groups that may appear because of a person.

The groups of this person alone are all hidden with probability q; without the person they are always hidden. The other groups
have noise with the loss L. With the person against without, the loss is infinite with probability 1 - q and otherwise L + ln q.
Without against with, the loss is L - ln q.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.general import General
from stairnoise.accounting.losses.listed import Listed
from stairnoise.mechanisms.discrete_gaussian.loss import LatticeGaussian


def alone(log_q: float) -> list[Listed]:
    """Return the losses of groups of this person alone, with the person against without and the other way."""
    hidden = np.array([log_q])
    return [
        Listed(("alone", log_q), hidden, np.zeros(1), np.inf, -math.expm1(log_q), hidden),
        Listed(("alone", -log_q), np.zeros(1), hidden, np.inf, 0.0, -hidden),
    ]


class Appearing(General):
    """The loss if a person is added or removed: `noise` for large groups, exp(`log_q`) for hiding the small ones."""

    __slots__ = ("_added", "_log_q", "_noise", "_rise", "bottom", "infinite", "top")

    eps = np.array(math.inf)
    beyond = 0.0
    infinite: float
    top: float

    def __init__(self, noise: LatticeGaussian, log_q: float, *, added: bool) -> None:
        self._noise, self._log_q, self._added = noise, log_q, added
        self.infinite = -math.expm1(log_q) if added else 0.0
        # Added to a loss, this is the loss of the noise.
        self._rise = -log_q if added else log_q
        self.top, self.bottom = noise.top - self._rise, noise.bottom - self._rise

    def key(self) -> tuple[Any, ...]:
        """Return what two equal releases have in common."""
        return ("appearing", *self._noise.key(), self._log_q, self._added)

    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0."""
        size = np.abs(t + self._rise)
        known = self._noise.profile(size)
        known = np.where(t + self._rise < 0, -np.expm1(-size) + np.exp(-size) * known, known)
        return np.asarray(self.infinite + (1 - self.infinite) * known)

    def tradeoff(self, alpha: Floats) -> Floats:
        """Least probability of a missed detection: a group that appears is never a false alarm."""
        if self._added:
            return np.asarray((1 - self.infinite) * self._noise.tradeoff(alpha))
        return self._noise.tradeoff(np.minimum(np.exp(-self._log_q) * alpha, 1.0))

    def mean(self) -> Floats:
        """Kullback-Leibler divergence."""
        return np.asarray(math.inf if self.infinite else self._noise.mean() - self._log_q)

    def var(self) -> Floats:
        """Variance of the loss."""
        return np.asarray(math.inf if self.infinite else self._noise.var())

    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1."""
        order = np.asarray(alpha, np.float64)
        if not self._added:
            return np.asarray(self._noise.rdp(order) - self._log_q)
        below = np.where(order < 1, order, 0.5)
        finite = self._noise.rdp(below) + below / (below - 1) * self._log_q
        return np.asarray(np.where(order < 1, finite, math.inf if self.infinite else self._noise.rdp(order)))

    def masses(self, nodes: Floats) -> tuple[Floats, Floats, float]:
        """Logarithms of the probabilities, under both centres, of a loss in (nodes[i+1], nodes[i]], -inf for none.

        And the probability, under the true centre, of a finite loss above the first node.
        """
        log_p, log_q, above = self._noise.masses(nodes + self._rise)
        if self._added:
            return log_p + self._log_q, log_q, above * (1 - self.infinite)
        return log_p, log_q + self._log_q, above
