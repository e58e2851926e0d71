"""The rule for people in several groups: a group is shown if its count with discrete Gaussian noise reaches a threshold."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._types import Floats
from stairnoise._values import require
from stairnoise.accounting.losses import largest
from stairnoise.mechanisms.discrete_gaussian import loss as discrete_gaussian_loss
from stairnoise.mechanisms.discrete_gaussian.distribution import DiscreteGaussianDistribution
from stairnoise.mechanisms.partition_selection import calibration as partition_selection_calibration
from stairnoise.mechanisms.partition_selection import loss as partition_selection_loss
from stairnoise.mechanisms.partition_selection.rules.rule import Rule

if TYPE_CHECKING:
    from stairnoise.mechanisms.partition_selection.calibration import Found

# More than the rounding errors of a probability.
_MARGIN = 1 - 2.0**-20


class GaussianThreshold(Rule):
    """Every group has noise Z, and is shown if it has people and n + Z >= threshold."""

    always_shown = None
    pieces = 1
    sigma2: float

    def __init__(self, eps: float, k: int, found: Found) -> None:
        self._eps, self._k = eps, k
        self.sigma2, self.threshold, self.achieved_delta = found

    @cached_property
    def _noise(self) -> DiscreteGaussianDistribution:
        return DiscreteGaussianDistribution(self.sigma2)

    def probability(self, people: Floats) -> Floats:
        """P(Z >= threshold - n), and 0 for nobody."""
        with np.errstate(all="ignore"):
            return np.where(people > 0, np.exp(self._noise.logsf(self.threshold - 1 - people)), 0.0)

    def noise_mean(self) -> float:
        """Return 0.0."""
        return 0.0

    def noise_std(self) -> float:
        """Return the standard deviation of Z."""
        return math.sqrt(self._noise.var())

    def half_widths(self, values: NDArray[np.int64], confidence: float) -> NDArray[np.int64]:
        """Bounds of the noise in shown values: t for large values, and v - 1 for a smaller value v, whose group has a person.

        t is the least number with P(|Z| > t) <= (1 - confidence)·P(Z > -threshold). A group of 2·threshold - 1 people or more
        is shown with at least the probability P(Z > -threshold). A smaller group has a value of 2·threshold + t - 1 or more
        only if Z is above t, which is as improbable among the Z that show the group, because the tail of Z is log-concave.
        The noise of a shown value v is at least 1 - v.
        """
        rare = (1 - confidence) * _MARGIN * -math.expm1(float(self._noise.logsf(np.array([self.threshold - 1.0]))[0]))
        t = int(self._noise.error_bound(np.array([rare]))[0])
        return np.where(values >= 2 * self.threshold + t - 1, t, np.maximum(values - 1, t)).astype(np.int64)

    def loss(self) -> Any:
        """Loss of all groups of a person: the worst over the ranges that `worst` returns."""
        log_q = partition_selection_calibration.log_hidden(self.sigma2, self.threshold)
        pairs = []
        for first, last in partition_selection_calibration.worst(self._eps, self.sigma2, self.threshold, self._k).ranges:
            # A person without a large group is covered by a person with one.
            large = max(self._k - first, 1)
            noise = discrete_gaussian_loss.LatticeGaussian(large * self.sigma2, float(large))
            pairs += [partition_selection_loss.Appearing(noise, last * log_q, added=added) for added in (True, False)]
        return largest.Largest(pairs)

    def select(self, stream: _native.Stream, people: NDArray[np.int64], threads: int) -> NDArray[np.bool_]:
        """Return which groups `release` would show."""
        return np.asarray(self.release(stream, people, threads) != 0)

    def release(self, stream: _native.Stream, people: NDArray[np.int64], threads: int) -> NDArray[np.int64]:
        """Return n + Z for the groups that are shown."""
        # Counts are read several times, and another thread may write to the caller's memory.
        counts = np.array(people, order="C")
        require("counts", counts >= 0, "at least 0")
        noisy = np.empty(counts.shape, np.int64)
        _native.discrete_gaussian(self.sigma2).release(stream, counts, noisy, threads)
        return np.where((counts > 0) & (noisy >= self.threshold), noisy, 0)
