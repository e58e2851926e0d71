"""The privacy loss under one shift: a list of outcomes, some of which are impossible under the other centre."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.listed import Listed
from stairnoise.accounting.losses.loss import Model


class OneShift(Listed):
    """The loss of outcomes that both centres can have, and an infinite loss with probability `infinite`.

    Parameters
    ----------
    key : tuple
        Equal for equal losses.
    log_p : ndarray of float64
        Logarithms of the probabilities under the true centre.
    losses : ndarray of float64
        Their losses.
    eps : float
        The largest finite loss.
    infinite : float
        Probability of the outcomes that are impossible under the other centre.
    """

    __slots__ = ("_infinite",)

    def __init__(self, key: tuple[Any, ...], log_p: Floats, losses: Floats, eps: float, infinite: float) -> None:
        self._infinite = infinite
        if losses.size == 0:
            # An outcome of probability 0, so that the list is not empty.
            log_p, losses = np.array([-math.inf]), np.zeros(1)
        bounded = infinite == 0
        super().__init__(key, log_p, log_p - losses, eps if bounded else math.inf, infinite, losses)
        self.top = max(self.top, eps)
        # The list leaves out no outcomes.
        self.beyond = 0.0

    @property
    def infinite_mass(self) -> float:
        """Probability of an infinite loss."""
        return self._infinite

    def _rdp(self, order: float) -> float:
        """Return the Rényi divergence. With an infinite loss the listed probabilities add up to less than 1."""
        if order > 1 or self._infinite == 0:
            return super()._rdp(order)
        log_terms = order * self._log_p + (1 - order) * self._log_q
        moment = float(np.sum(np.exp(log_terms)))
        return math.log(moment) / (order - 1) if moment > 0 else math.inf

    def lower_model(self, step: float) -> Model:
        """Merge outcomes; without common outcomes the loss is always infinite."""
        if np.isfinite(self._log_p).any():
            return super().lower_model(step)
        return Model(0.0, np.zeros(1), 1.0)
