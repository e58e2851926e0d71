r"""One release of canonical noise on the integers: a privacy loss of four finite values, and an infinite one.

Under a shift of 1 the loss is infinite at one end, where the other centre never is. It is ε from there to 0 and -ε beyond, but
beside the end, whose probability is only the part e of what it would be if the noise went on: there it is ε - ln e, and at the
other end -ε + ln e. So δ at ε is P(A) + P(A - 1) - e**ε P(A), which is the δ of the noise.
"""

from __future__ import annotations

import math
from copy import copy
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise.accounting.losses.loss import Model
from stairnoise.mechanisms.discrete_canonical.distribution import end_of
from stairnoise.mechanisms.truncated_staircase.loss import EndedAtoms

Array = NDArray[np.float64]

_DIGITS = 60


class CanonicalAtoms(EndedAtoms):
    """The loss of one release. On a lattice the losses ε and -ε are nodes: they are more likely than the others."""

    __slots__ = ("_node",)

    def __init__(self, key: tuple[Any, ...], log_p: Array, losses: Array, infinite: float, node: float) -> None:
        super().__init__(key, log_p, losses, infinite)
        self._node = node

    def suitable_step(self, step: float) -> float:
        """Return a step that divides ε."""
        return self._node / math.ceil(self._node / step)

    def upper_model(self, step: float, *, aligned: bool = False) -> Model:
        """Split the loss between the nodes beside it, which begin where ε is one of them."""
        lifted = copy(self)
        lifted.top = self._node + step * math.ceil((self.top - self._node) / step)
        return super(CanonicalAtoms, lifted).upper_model(step, aligned=aligned)


def canonical_atoms(eps: float, delta: float, end: int) -> CanonicalAtoms:
    """Return the loss at a shift of 1: probabilities under the true centre, to float64's last digits."""
    last = end_of(eps, delta, end)
    wide = eps - last.log_part
    # P(A) and, as P(A - 1) b e is P(A), its neighbour.
    log_p, losses = [last.log_mass + wide, last.log_mass], [wide, -wide]
    if end > 1:
        with localcontext() as context:
            context.prec = _DIGITS
            b, d = (-Decimal(eps)).exp(), Decimal(delta)
            # P(1) + ... + P(A - 1).
            inside = (1 - b + 2 * d * b) * b * (1 - (-Decimal(eps) * (end - 1)).exp()) / ((1 - b) * (1 + b))
            log_inside = float(inside.ln())
        log_p += [log_inside + eps, log_inside]
        losses += [eps, -eps]
    key = ("canonical atoms", eps, delta, end)
    # Where the end is 1 there is no loss ε.
    node = eps if end > 1 else wide
    return CanonicalAtoms(key, np.array(log_p), np.array(losses), math.exp(last.log_mass), node)
