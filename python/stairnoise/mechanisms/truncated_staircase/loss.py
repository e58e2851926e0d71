r"""One release of a truncated staircase: a privacy loss of three finite values, and an infinite one.

Under a shift of s <= D steps the loss is infinite on the s outermost integers of one end, and +ε, 0 or -ε elsewhere. So the
profile is a straight line in exp(t) on [0, ε], from the total variation to the mass of those s integers. Both grow with s:
D is the worst shift for every measure.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise.accounting.losses.listed import Listed

Array = NDArray[np.float64]

_DIGITS = 60


class EndedAtoms(Listed):
    """The loss of one release, of a few finite values and an infinite one.

    Parameters
    ----------
    key : tuple
        What equal losses have in common.
    log_p, losses : ndarray of float64
        Logarithms of the probabilities under the true centre, and the losses.
    infinite : float
        Probability of an infinite loss.
    """

    __slots__ = ("_infinite",)

    def __init__(self, key: tuple[Any, ...], log_p: Array, losses: Array, infinite: float) -> None:
        there = log_p > -math.inf
        super().__init__(key, log_p[there], (log_p - losses)[there], math.inf, infinite, losses[there])
        self._infinite = infinite
        # It is no part of what a list leaves out.
        self.beyond = 0.0

    @property
    def infinite_mass(self) -> float:
        """Probability of an infinite loss."""
        return self._infinite

    @property
    def steps_to_keep(self) -> float:
        """ε: then every loss is on a node."""
        return self.top


def ended_atoms(eps: float, steps: int, r: int, end: int) -> EndedAtoms:
    """Return the loss at a shift of D steps: probabilities under the true centre, to 40 digits before they are rounded."""
    with localcontext() as context:
        context.prec = _DIGITS
        b = (-Decimal(eps)).exp()
        w = 1 - b

        def weight(j: int) -> Decimal:
            """S(j) t (1 - b)/2, S that of the staircase without end."""
            J = 0 if j < r else (j - r) // steps + 1
            return (-Decimal(eps) * J).exp() * ((r + J * steps - j) * w + steps * b)

        tail = weight(end + 1)
        total = (2 * r - 1) * w + 2 * steps * b - 2 * tail
        infinite = (weight(end + 1 - steps) - tail) / total
        # The loss is +ε from D - A to 0, and on the centre's points from 1 on that are D from a point outside it.
        fallen = weight(1) - weight(end - steps + 1)
        up = (fallen + (1 + min(r - 1, steps - r)) * w) / total
        zero = max(1 - infinite - up * (1 + b), Decimal(0))
        losses, masses = np.array([eps, 0.0, -eps]), np.array([float(up), float(zero), float(up)])
        with np.errstate(divide="ignore"):
            log_p = np.log(masses) - np.array([0.0, 0.0, eps])
        return EndedAtoms(("ended atoms", eps, steps, r, end), log_p, losses, float(infinite))
