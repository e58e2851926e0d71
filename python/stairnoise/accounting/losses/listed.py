r"""The loss of one release with a list of outcomes, from their probabilities under both centres.

With the losses in falling order and P the probabilities under the true centre, two sums of positive terms give the profile, as
in `curve`, but with steps of any length::

    B[i] = P[i] + exp(L[i] - L[i-1]) B[i-1]          A[i] = A[i-1] + (1 - exp(L[i] - L[i-1])) B[i-1]
    δ(t) = A[i] + (1 - exp(t - L[i])) B[i],  L[i] the least loss above t
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.general import General
from stairnoise.numerics.elementary import exp_beyond_linear

# From here on a moment is summed by its logarithms.
_LARGE = 30.0


class Listed(General):
    """The loss of a list of outcomes.

    Parameters
    ----------
    key : tuple
        What equal losses have in common.
    log_p, log_q : ndarray of float64
        Logarithms of the probabilities of the outcomes under the true centre and under the other one.
    eps : float
        The largest loss, inf where it has no bound.
    beyond : float
        Probability of all outcomes that are not listed; they count with the largest loss.
    losses : ndarray of float64 or None
        The losses where they are known without rounding; None for the differences of the logarithms.
    """

    __slots__ = ("_A", "_B", "_falling", "_log_p", "_log_q", "_loss", "_missed", "beyond", "eps", "infinite")

    def __init__(
        self, key: tuple[Any, ...], log_p: Floats, log_q: Floats, eps: float, beyond: float = 0.0, losses: Floats | None = None
    ) -> None:
        known = log_p - log_q if losses is None else losses
        falling = np.argsort(-known, kind="stable")
        self._key = key
        self._log_p, self._log_q = log_p[falling], log_q[falling]
        self._loss = known[falling]
        self.eps = np.array(eps)
        self.top, self.bottom = float(self._loss[0]), float(self._loss[-1])
        if math.isfinite(eps):
            # The outcomes not listed are at eps; the list may exceed it by its rounding.
            self.top = max(self.top, eps)
        self.beyond = beyond
        self._sum_up(np.exp(self._log_p))

    def _sum_up(self, p: Floats) -> None:
        loss = np.append(self.top, self._loss)
        masses = np.append(self.beyond if math.isfinite(float(self.eps)) else 0.0, p)
        drops = np.exp(np.diff(loss))
        rises = -np.expm1(np.diff(loss))
        B, values = [masses.item(0)], drops.tolist()
        for mass, drop in zip(masses[1:].tolist(), values, strict=True):
            B.append(mass + drop * B[-1])
        start = 0.0 if math.isfinite(float(self.eps)) else self.beyond
        A = list(accumulate((rises * B[:-1]).tolist(), initial=start))
        self._falling = -loss
        self._A, self._B = np.array(A), np.array(B)
        self.infinite = A[0]
        # P(loss < L[i])
        self._missed = np.append(np.cumsum(masses[:0:-1])[::-1], 0.0)

    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0."""
        i = np.searchsorted(self._falling, -np.asarray(t), side="left") - 1
        j = np.maximum(i, 0)
        inside = self._A[j] - np.expm1(np.minimum(t + self._falling[j], 0.0)) * self._B[j]
        return np.asarray(np.where(i < 0, self._A[0], inside))

    def eps_for_delta(self, delta: Floats) -> Floats:
        """Least t >= 0 with δ(t) <= delta, inf where the unbounded loss alone is more."""
        i = np.maximum(np.searchsorted(self._A, delta, side="right") - 1, 0)
        share = np.minimum((delta - self._A[i]) / np.maximum(self._B[i], np.finfo(np.float64).tiny), 1.0)
        t = np.maximum(-self._falling[i] + np.log1p(-np.maximum(share, 0.0)), 0.0)
        return np.where(delta < self._A[0], math.inf, t)

    def tradeoff(self, alpha: Floats) -> Floats:
        """Least probability of a missed detection: straight lines between the thresholds."""
        loss = -self._falling
        with np.errstate(over="ignore", under="ignore"):
            false = np.exp(-loss) * self._B
        i = np.minimum(np.searchsorted(false, alpha), loss.size - 1)
        steep = self._B[i] - np.exp(np.maximum(loss[i], 0.0) + np.log(alpha))
        flat = np.exp(np.minimum(loss[i], 0.0)) * (false[i] - alpha)
        return np.asarray(np.maximum(self._missed[i] + np.where(loss[i] > 0, steep, flat), 0.0))

    def mean(self) -> Floats:
        """Kullback-Leibler divergence: terms ``P (exp(-L) - 1 + L)``, none of them negative."""
        if self.infinite > 0:
            return np.array(math.inf)
        p, q, loss = np.exp(self._log_p), np.exp(self._log_q), self._loss
        near = np.abs(loss) < 1
        terms = np.where(near, p * exp_beyond_linear(np.where(near, -loss, 0.0)), (q - p) + p * loss)
        return np.asarray(np.sum(terms))

    def var(self) -> Floats:
        """Variance of the loss."""
        if self.infinite > 0:
            return np.array(math.inf)
        return np.asarray(np.sum(np.exp(self._log_p) * (self._loss - self.mean()) ** 2))

    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1."""
        return np.asarray(np.vectorize(self._rdp, [np.float64])(alpha))

    def _rdp(self, order: float) -> float:
        """With terms ``P (exp((α-1) L) - 1) + (α-1)(Q - P)``, whose sum is the moment less 1: of one sign for α > 1."""
        if order > 1 and self.infinite > 0:
            return math.inf
        log_terms = order * self._log_p + (1 - order) * self._log_q
        largest = float(log_terms.max())
        if (order - 1) * self.top <= _LARGE:
            p, q, loss = np.exp(self._log_p), np.exp(self._log_q), self._loss
            near = np.abs(loss) < 1
            small = np.where(near, loss, 0.0)
            beyond = exp_beyond_linear((order - 1) * small) + (order - 1) * exp_beyond_linear(-small)
            excess = float(np.sum(np.where(near, p * beyond, np.exp(log_terms) - p + (order - 1) * (q - p))))
            if excess > -0.5:
                return math.log1p(excess) / (order - 1)
        return (largest + math.log(float(np.sum(np.exp(log_terms - largest))))) / (order - 1)

    def masses(self, nodes: Floats) -> tuple[Floats, Floats, float]:
        """Logarithms of the probabilities, under both centres, of a loss in (nodes[i+1], nodes[i]], -inf for none.

        And the probability, under the true centre, of a loss above the first node.
        """
        bins = np.searchsorted(-nodes, -self._loss, side="right") - 1
        log_p, log_q = np.full(nodes.size - 1, -np.inf), np.full(nodes.size - 1, -np.inf)
        first, last = np.searchsorted(bins, [0, log_p.size])
        if first < last:
            used, starts = np.unique(bins[first:last], return_index=True)
            log_p[used] = np.logaddexp.reduceat(self._log_p[first:last], starts)
            log_q[used] = np.logaddexp.reduceat(self._log_q[first:last], starts)
        return log_p, log_q, float(np.sum(np.exp(self._log_p[:first])))
