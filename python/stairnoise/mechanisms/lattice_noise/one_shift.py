"""One release under one shift: a list of outcomes, some of which the other centre's distribution does not have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise.accounting.losses.listed import Listed
from stairnoise.accounting.losses.loss import Model

Array = NDArray[np.float64]


class OneShift(Listed):
    """The loss of outcomes that both centres have, and an infinite one with probability `infinite`.

    Parameters
    ----------
    key : tuple
        What equal losses have in common.
    log_p : ndarray of float64
        Logarithms of the probabilities under the true centre.
    losses : ndarray of float64
        Their losses.
    eps : float
        The largest finite loss.
    infinite : float
        Probability of the outcomes that the other centre's distribution does not have.
    """

    __slots__ = ("_infinite",)

    def __init__(self, key: tuple[Any, ...], log_p: Array, losses: Array, eps: float, infinite: float) -> None:
        self._infinite = infinite
        if losses.size == 0:
            # One that never happens, so that there is a list.
            log_p, losses = np.array([-math.inf]), np.zeros(1)
        bounded = infinite == 0
        super().__init__(key, log_p, log_p - losses, eps if bounded else math.inf, infinite, losses)
        self.top = max(self.top, eps)
        # It is no part of what a list leaves out.
        self.beyond = 0.0

    @property
    def infinite_mass(self) -> float:
        """Probability of an infinite loss."""
        return self._infinite

    def _rdp(self, order: float) -> float:
        """Below 1 the sum of the list itself: its probabilities do not add up to 1 where a loss is infinite."""
        if order > 1 or self._infinite == 0:
            return super()._rdp(order)
        log_terms = order * self._log_p + (1 - order) * self._log_q
        moment = float(np.sum(np.exp(log_terms)))
        return math.log(moment) / (order - 1) if moment > 0 else math.inf

    def lower_model(self, step: float) -> Model:
        """Merge outcomes; where both centres have none in common there is an infinite loss alone."""
        if np.isfinite(self._log_p).any():
            return super().lower_model(step)
        return Model(0.0, np.zeros(1), 1.0)
