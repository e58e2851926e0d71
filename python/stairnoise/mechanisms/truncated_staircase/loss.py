r"""The privacy loss of truncated staircase noise: three finite values, and an infinite one.

Under a shift of s <= D steps the loss is infinite on the s outermost integers of one end, and +ε, 0 or -ε elsewhere. So the
profile is a straight line in exp(t) on [0, ε], from the total variation to the mass of those s integers. Both grow with s, so D
is the worst shift for every measure.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.listed import Listed
from stairnoise.mechanisms.truncated_staircase.distribution import DIGITS, tail_weight


class EndedAtoms(Listed):
    """The loss of one release, of a few finite values and an infinite one.

    Parameters
    ----------
    key : tuple
        Equal for equal losses.
    log_p, losses : ndarray of float64
        Logarithms of the probabilities under the true centre, and the losses.
    infinite : float
        Probability of an infinite loss.
    """

    __slots__ = ()

    def __init__(self, key: tuple[Any, ...], log_p: Floats, losses: Floats, infinite: float) -> None:
        there = log_p > -math.inf
        super().__init__(key, log_p[there], (log_p - losses)[there], math.inf, infinite, losses[there])
        # The list leaves out no outcomes.
        self.beyond = 0.0

    def suitable_step(self, step: float) -> float:
        """Return ε: every loss is on a node, and a composed loss has few."""
        return self.top


def ended_atoms(eps: float, steps: int, r: int, end: int) -> EndedAtoms:
    """Return the loss at a shift of D steps; probabilities are computed to 40 digits and rounded once."""
    with localcontext() as context:
        context.prec = DIGITS
        b = (-Decimal(eps)).exp()
        w = 1 - b
        first, outermost, tail = (tail_weight(eps, steps, r, j) for j in (1, end + 1 - steps, end + 1))
        total = (2 * r - 1) * w + 2 * steps * b - 2 * tail
        infinite = (outermost - tail) / total
        # The loss is +ε from D - A to 0, and on the central stair's points from 1 on that the shift moves out of it.
        fallen = first - outermost
        up = (fallen + (1 + min(r - 1, steps - r)) * w) / total
        zero = max(1 - infinite - up * (1 + b), Decimal(0))
        losses, masses = np.array([eps, 0.0, -eps]), np.array([float(up), float(zero), float(up)])
        with np.errstate(divide="ignore"):
            log_p = np.log(masses) - np.array([0.0, 0.0, eps])
        return EndedAtoms(("ended atoms", eps, steps, r, end), log_p, losses, float(infinite))
