"""The best rule for people in one group each; for k groups it uses ε/k and δ/k."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._types import Floats
from stairnoise.accounting.losses import largest as largest_loss
from stairnoise.accounting.losses import listed
from stairnoise.mechanisms.partition_selection import distribution as partition_selection_distribution
from stairnoise.mechanisms.partition_selection.rules.rule import Rule

# At most this many values of noise are listed. The margin exceeds the rounding errors of sums of probabilities.
_MOST_LISTED = 2**22
_MARGIN = 1 - 2.0**-20


class TruncatedGeometric(Rule):
    """Noise ``threshold - N``, where N is the least n whose π(n) is above a random number."""

    __slots__ = ("_native", "achieved_delta", "pieces")

    sigma2 = None

    def __init__(self, eps: float, delta: float, k: int) -> None:
        self._native = _native.PartitionSelection(eps, delta, k)
        self.achieved_delta, self.pieces = delta, k

    @property
    def threshold(self) -> int:  # type: ignore[override]
        """Least n with π(n) > 1/2."""
        return self._native.median

    @property
    def always_shown(self) -> int:  # type: ignore[override]
        """Least n with π(n) = 1."""
        return self._native.certain

    def probability(self, people: Floats) -> Floats:
        """π(n)."""
        # `shown` takes the least of several numbers, and some may overflow.
        with np.errstate(all="ignore"):
            return partition_selection_distribution.shown(*self._constants, people)

    def noise_mean(self) -> float:
        """Return the mean of the noise in a count of at least `always_shown`."""
        chances, noise = self._listed()
        return float(np.sum(chances * noise))

    def noise_std(self) -> float:
        """Return the standard deviation of the noise in a count of at least `always_shown`."""
        chances, noise = self._listed()
        return float(np.sqrt(np.sum(chances * (noise - np.sum(chances * noise)) ** 2)))

    def _listed(self) -> tuple[Floats, NDArray[np.int64]]:
        """Return the probabilities of N = 1, 2, …, and the noise for these N."""
        if self.always_shown > _MOST_LISTED:
            raise ParameterError(
                "eps/max_partitions_contributed must leave at most 2**22 values of noise to list them, "
                f"got {self._native.eps!r} for each partition"
            )
        return np.exp(partition_selection_distribution.log_steps(*self._constants)), self.threshold - np.arange(
            1, self.always_shown + 1
        )

    def half_widths(self, values: NDArray[np.int64], confidence: float) -> NDArray[np.int64]:
        """Bounds of the noise in shown values.

        Small groups that are shown have other noise than large groups: a group of one person always has the largest noise. A
        value of threshold + always_shown - 1 or more cannot come from a group that may be hidden.
        """
        largest = max(self.threshold - 1, self.always_shown - self.threshold)
        of_large = self._half_width_of_large(confidence, largest)
        return np.where(values >= self.threshold + self.always_shown - 1, of_large, largest).astype(np.int64)

    def _half_width_of_large(self, confidence: float, largest: int) -> int:
        """Return the least t with P(|noise| > t) <= 1 - confidence for a group that is always shown."""
        if self.always_shown > _MOST_LISTED:
            return largest
        chances, noise = self._listed()
        beyond = np.cumsum(np.bincount(np.abs(noise), chances)[::-1])[::-1]
        # Entry t is P(|noise| >= t).
        return int(np.argmax(np.append(beyond[1:], 0.0) <= (1 - confidence) * _MARGIN))

    def loss(self) -> Any:
        """Loss of one group."""
        worst: list[Any] = []
        for chances, loss, infinite in partition_selection_distribution.losses(*self._constants):
            there = np.array(chances) > 0
            log_p, known = np.log(np.array(chances)[there]), np.array(loss)[there]
            key = ("partition selection", self._native.eps, self._native.delta, len(worst))
            worst.append(listed.Listed(key, log_p, log_p - known, np.inf, infinite, known))
        return largest_loss.Largest(worst)

    @property
    def _constants(self) -> tuple[float, float, int, int]:
        return self._native.eps, self._native.delta, self._native.rising, self._native.certain

    def select(self, stream: _native.Stream, people: NDArray[np.int64], threads: int) -> NDArray[np.bool_]:
        """Compare each group's random number with its π(n)."""
        shown = np.empty(people.shape, np.bool_)
        self._native.select(stream, people, shown, threads)
        return shown

    def release(self, stream: _native.Stream, people: NDArray[np.int64], threads: int) -> NDArray[np.int64]:
        """Return n - N + threshold where n >= N."""
        values = np.empty(people.shape, np.int64)
        self._native.release(stream, people, values, threads)
        return values
