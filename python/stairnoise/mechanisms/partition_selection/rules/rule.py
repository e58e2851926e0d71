"""The base class of rules that show groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._types import Floats


class Rule(ABC):
    """The probability of showing a group of n people, and the noise in the counts that are shown."""

    __slots__ = ()

    threshold: int
    """Least n that is shown with a probability above 1/2; also the least count that is released."""
    always_shown: int | None
    """Least n that is always shown; None if there is none."""
    sigma2: float | None
    """σ² of Gaussian noise; None for other noise."""
    achieved_delta: float
    """δ of one release, for a person in as many groups as allowed."""
    pieces: int
    """Number of equal and independent losses that compose the privacy loss."""

    @abstractmethod
    def probability(self, people: Floats) -> Floats:
        """Return the probabilities of showing groups with these numbers of people."""

    @abstractmethod
    def noise_mean(self) -> float:
        """Return the mean of the noise in a large count."""

    @abstractmethod
    def noise_std(self) -> float:
        """Return the standard deviation of the noise in a large count."""

    @abstractmethod
    def half_widths(self, values: NDArray[np.int64], confidence: float) -> NDArray[np.int64]:
        """Return bounds of the noise in shown values, which hold with the probability `confidence` for a group of any size."""

    @abstractmethod
    def loss(self) -> Any:
        """Return the privacy loss of one piece."""

    @abstractmethod
    def select(self, stream: _native.Stream, people: NDArray[np.int64], threads: int) -> NDArray[np.bool_]:
        """Check that counts are not negative, and draw which groups are shown."""

    @abstractmethod
    def release(self, stream: _native.Stream, people: NDArray[np.int64], threads: int) -> NDArray[np.int64]:
        """Draw as `select` does, and return the noisy counts of the groups that are shown, and 0 for the others."""
