"""The losses of array parameters, element by element: measures of one release alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._types import Floats
from stairnoise.accounting.losses.loss import Part
from stairnoise.distributions.elements import by_element


class ElementLosses(Part):
    """Losses of Gaussian noise, of which every element has the one whose number is in `which`."""

    __slots__ = ("_losses", "_which", "eps", "infinite", "top")

    eps: Floats
    infinite: float
    top: float

    def __init__(self, losses: Sequence[Any], which: NDArray[np.intp]) -> None:
        self._losses, self._which = losses, which
        self.eps, self.infinite, self.top = np.full(which.shape, math.inf), 0.0, math.inf

    def key(self) -> tuple[Any, ...]:
        """Return what two equal releases have in common."""
        return (tuple(loss.key() for loss in self._losses), self._which.shape, self._which.tobytes())

    def _by_element(self, measure: str, argument: Floats) -> Floats:
        return by_element([getattr(loss, measure) for loss in self._losses], self._which, argument)

    def _by_number(self, number: str) -> Floats:
        return np.array([float(getattr(loss, number)()) for loss in self._losses], np.float64)[self._which]

    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0."""
        return self._by_element("profile", t)

    def eps_for_delta(self, delta: Floats) -> Floats:
        """Least t >= 0 with δ(t) <= delta."""
        return self._by_element("eps_for_delta", delta)

    def tradeoff(self, alpha: Floats) -> Floats:
        """Least probability of a missed detection."""
        return self._by_element("tradeoff", alpha)

    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1."""
        return self._by_element("rdp", alpha)

    def mean(self) -> Floats:
        """Kullback-Leibler divergence."""
        return self._by_number("mean")

    def var(self) -> Floats:
        """Variance of the loss."""
        return self._by_number("var")
