"""The privacy profile and the trade-off curve of a loss on a lattice.

For nodes t[i] = top - i step >= 0 with probabilities P[i] under the true centre, two sums of
positive terms determine the profile::

    B[i] = sum over j <= i of P[j] exp(t[i] - t[j])          A[i] = δ(t[i])
    B[i] = P[i] + exp(-step) B[i-1]                          A[i] = A[i-1] + (1 - exp(-step)) B[i-1]

Between two nodes, for t = t[i] - y, δ(t) = A[i] + (1 - exp(-y)) B[i]. ``exp(-t[i]) B[i]`` is the
probability under the other centre of a loss of t[i] or more. What lies below zero follows by symmetry.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stairnoise._types import Floats

# In nepers, and entries: a row of a sum of discounted probabilities.
_ROW, _WIDEST = 8.0, 2**12
# Largest difference of the sum of a symmetric loss's probabilities from 1.
_COMPLETE = 1e-8


class Curve:
    """A composed privacy loss, exact or a bound on one."""

    __slots__ = ("_A", "_B", "_above", "_allowance", "_below", "_false", "_last", "_missed", "_t", "infinite", "step", "top")

    def __init__(
        self, top: float, step: float, P: Floats, *, infinite: float = 0.0, symmetric: bool = True, allowance: float = 0.0
    ) -> None:
        """Take the probabilities of the nodes, down to the last one that is not below zero.

        `infinite` is the probability of an unbounded loss. Without `symmetric`, only the losses
        above zero count. `allowance` is the relative change of δ, upwards, that covers rounding.
        """
        rising = -math.expm1(-step)
        self.top, self.step, self.infinite, self._allowance = top, step, infinite, allowance
        self._B = _discounted(P, step)
        self._A = np.cumsum(np.concatenate([[infinite], rising * self._B[:-1]]))
        self._last = P.size - 1
        self._t = top - step * np.arange(P.size)
        self._prepare_tests(P, symmetric)

    def _prepare_tests(self, P: Floats, symmetric: bool) -> None:
        """Probabilities of false alarms and of missed detections at the thresholds above zero."""
        t = self._t
        centre = symmetric and abs(t[-1]) < self.step / 4
        n = P.size - 1 if centre else P.size
        self._false = np.exp(-t[:n]) * self._B[:n]
        self._above = self.infinite + np.concatenate([[0.0], np.cumsum(P[:n])])
        last_false = float(self._false[-1]) if n else 0.0
        if symmetric:
            # what mirrors the false alarms, and what lies at zero
            last_missed = last_false + (float(P[-1]) if centre else 0.0)
        else:
            # a difference of numbers near 1, whose rounding is relative to 1
            last_missed = max(1 - float(self._above[-1]) - self._allowance, 0.0)
        # Missing probabilities would look like privacy.
        if symmetric and abs(self._above[-1] + last_missed - 1) > _COMPLETE:
            raise ArithmeticError(f"probabilities must add up to 1, got {self._above[-1] + last_missed}")
        self._missed = last_missed + (np.concatenate([np.cumsum(P[1:n][::-1])[::-1], [0.0]]) if n else np.empty(0))
        self._below = np.concatenate([[1 - self.infinite], self._missed])

    def profile_scalar(self, t: float) -> float:
        """δ at one t >= 0, in a microsecond; without the allowance."""
        i = math.ceil((self.top - t) / self.step) - 1
        if i < 0:
            return self.infinite
        i = min(i, self._last)
        y = max(self.top - self.step * i - t, 0.0)
        return float(self._A.item(i) - math.expm1(-y) * self._B.item(i))

    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0."""
        place = np.ceil((self.top - t) / self.step) - 1
        i = np.clip(place, 0, self._last).astype(np.int64)
        y = np.maximum(self.top - self.step * i - t, 0.0)
        delta = np.where(place < 0, self.infinite, self._A[i] - np.expm1(-y) * self._B[i])
        return np.asarray(np.minimum(delta * (1 + self._allowance), 1.0))

    def eps_for_delta(self, delta: Floats) -> Floats:
        """Least t >= 0 with δ(t) <= delta, inf where the unbounded loss alone is more."""
        allowed = delta / (1 + self._allowance)
        i = np.maximum(np.searchsorted(self._A, allowed, side="right") - 1, 0)
        share = np.minimum((allowed - self._A[i]) / np.maximum(self._B[i], np.finfo(np.float64).tiny), 1.0)
        t = np.maximum(self.top - self.step * i + np.log1p(-np.maximum(share, 0.0)), 0.0)
        # probabilities too small for float64 are not 0
        t = np.where(allowed <= self.infinite, self.top, t)
        return np.where(allowed < self.infinite, math.inf, t)

    def tradeoff(self, alpha: Floats) -> Floats:
        """Least probability of a missed detection, straight lines between the thresholds."""
        missed = self._lines(np.minimum(alpha * (1 + self._allowance), 1.0)) * (1 - self._allowance)
        return np.asarray(np.clip(missed, 0.0, 1.0))

    def _lines(self, alpha: Floats) -> Floats:
        false, missed, t = self._false, self._missed, self._t
        if false.size == 0:
            return np.asarray(1 - alpha)
        last = false.size - 1
        i = np.minimum(np.searchsorted(false, alpha), last)
        steep = missed[i] + (self._B[i] - np.exp(t[i] + np.log(alpha)))
        j, excess = self._last_kept(alpha)
        before = np.where(j > 0, false[np.maximum(j - 1, 0)], 0.0)
        flat = before + np.exp(-t[j]) * np.maximum(excess, 0.0)
        middle = missed[last] + (false[last] - alpha)
        # The last threshold of an unsymmetric curve may lie beyond the diagonal: both lines count there.
        left, right = alpha <= false[last], alpha >= missed[last]
        line = np.maximum(np.where(left, steep, -1.0), np.where(right, flat, -1.0))
        return np.where(left | right, line, middle)

    def _last_kept(self, alpha: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Threshold above which less than 1 - alpha lies, and how much less; by what lies below it where alpha is small."""
        kept, last = 1 - alpha, self._false.size - 1
        by_above = np.clip(np.searchsorted(self._above, kept, side="right") - 1, 0, last)
        by_below = np.clip(np.searchsorted(-self._below, -alpha, side="right") - 1, 0, last)
        small = alpha < 0.5
        j = np.where(small, by_below, by_above)
        return j, np.where(small, self._below[j] - alpha, kept - self._above[j])


def _discounted(P: Floats, step: float) -> Floats:
    """Return B[i] = P[i] + exp(-step) B[i-1], by sums of rows: a weight is never below exp(-_ROW)."""
    width = min(max(int(_ROW / step), 1), _WIDEST) if step else _WIDEST
    rows = np.pad(P, (0, -P.size % width)).reshape(-1, width)
    weight = np.exp(-step * np.arange(width))
    B: Floats = np.cumsum(rows / weight, axis=1) * weight
    for before, row in pairwise(B):
        row += before[-1] * math.exp(-step) * weight
    return B.reshape(-1)[: P.size]
