"""The losses of array parameters, element by element: measures of one release alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from stairnoise.accounting.losses.loss import Model, Part
from stairnoise.distributions.elements import by_element

Array = NDArray[np.float64]


class ElementLosses(Part):
    """Losses of Gaussian noise, of which every element has the one whose number is in `which`."""

    __slots__ = ("_losses", "_which", "eps", "infinite", "top")

    eps: Array
    infinite: float
    top: float

    def __init__(self, losses: Sequence[Any], which: NDArray[np.intp]) -> None:
        self._losses, self._which = losses, which
        self.eps, self.infinite, self.top = np.full(which.shape, math.inf), 0.0, math.inf

    def key(self) -> tuple[Any, ...]:
        """Return what two equal releases have in common."""
        return (tuple(loss.key() for loss in self._losses), self._which.shape, self._which.tobytes())

    def profile(self, t: Array) -> Array:
        """δ at t >= 0."""
        return by_element([loss.profile for loss in self._losses], self._which, t)

    def eps_for_delta(self, delta: Array) -> Array:
        """Least t >= 0 with δ(t) <= delta."""
        return by_element([loss.eps_for_delta for loss in self._losses], self._which, delta)

    def tradeoff(self, alpha: Array) -> Array:
        """Least probability of a missed detection."""
        return by_element([loss.tradeoff for loss in self._losses], self._which, alpha)

    def rdp(self, alpha: Array) -> Array:
        """Rényi divergence at a finite order other than 1."""
        return by_element([loss.rdp for loss in self._losses], self._which, alpha)

    def mean(self) -> Array:
        """Kullback-Leibler divergence."""
        return self._of_each(lambda loss: loss.mean())

    def var(self) -> Array:
        """Variance of the loss."""
        return self._of_each(lambda loss: loss.var())

    def _of_each(self, number: Callable[[Any], Any]) -> Array:
        return np.array([float(number(loss)) for loss in self._losses], np.float64)[self._which]

    # Only a loss of scalar parameters is asked for these.

    def profile_scalar(self, t: float) -> NoReturn:
        """Raise: there are several."""
        raise NotImplementedError

    def upper_model(self, step: float, *, aligned: bool = False) -> Model:
        """Raise: losses of array parameters are not composed."""
        raise NotImplementedError

    def lower_model(self, step: float) -> Model:
        """Raise: losses of array parameters are not composed."""
        raise NotImplementedError
