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


def _of_argument(measure: str) -> Any:
    def by_elements(self: ElementLosses, argument: Floats) -> Floats:
        return by_element([getattr(loss, measure) for loss in self._losses], self._which, argument)

    return by_elements


def _of_no_argument(measure: str) -> Any:
    def by_elements(self: ElementLosses) -> Floats:
        return np.array([float(getattr(loss, measure)()) for loss in self._losses], np.float64)[self._which]

    return by_elements


class ElementLosses(Part):
    """Losses of Gaussian noise, of which every element has the one whose number is in `which`."""

    __slots__ = ("_losses", "_which", "eps", "infinite")

    def __init__(self, losses: Sequence[Any], which: NDArray[np.intp]) -> None:
        self._losses, self._which = losses, which
        self.eps, self.infinite, self.top = np.full(which.shape, math.inf), 0.0, math.inf

    def key(self) -> tuple[Any, ...]:
        """Return what two equal releases have in common."""
        return (tuple(loss.key() for loss in self._losses), self._which.shape, self._which.tobytes())

    profile, eps_for_delta, tradeoff, rdp = map(_of_argument, ("profile", "eps_for_delta", "tradeoff", "rdp"))
    mean, var = map(_of_no_argument, ("mean", "var"))
