r"""One release of canonical noise on the integers: a privacy loss of four finite values, and an infinite one.

Under a shift of 1 the loss is infinite at one end, which the other centre cannot reach. From there to 0 the loss is ε, and beyond
0 it is -ε. The exceptions are next to the ends, because an end has only the part e of its probability without an end: there the
losses are ε - ln e and -ε + ln e. So δ at ε is P(A) + P(A - 1) - e**ε P(A), which is the δ of the noise.
"""

from __future__ import annotations

import math
from copy import copy
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.loss import Model
from stairnoise.mechanisms.discrete_canonical.distribution import end_of
from stairnoise.mechanisms.truncated_staircase.loss import EndedAtoms

_DIGITS = 60
# Only rare losses are not on a node, and change by the square of the step, relative to δ.
_SHORTEST = 2.0**-9


class CanonicalAtoms(EndedAtoms):
    """The loss of one release. Lattices have nodes at ε and -ε, the most probable losses."""

    __slots__ = ("_node",)

    def __init__(self, key: tuple[Any, ...], log_p: Floats, losses: Floats, infinite: float, node: float) -> None:
        super().__init__(key, log_p, losses, infinite)
        self._node = node

    def suitable_step(self, step: float) -> float:
        """Return a step that divides ε, and is no shorter than need be."""
        return self._node / math.ceil(self._node / max(step, _SHORTEST))

    def upper_model(self, step: float, *, aligned: bool = False) -> Model:
        """Split every loss between its two neighbouring nodes; ε is a node."""
        return super(CanonicalAtoms, self._with_node(step)).upper_model(step, aligned=aligned)

    def lower_model(self, step: float) -> Model:
        """Merge outcomes until their ratio is that of a node; ε is a node."""
        return super(CanonicalAtoms, self._with_node(step)).lower_model(step)

    def _with_node(self, step: float) -> CanonicalAtoms:
        lifted = copy(self)
        lifted.top = self._node + step * math.ceil((self.top - self._node) / step)
        return lifted


def canonical_atoms(eps: float, delta: float, end: int) -> CanonicalAtoms:
    """Return the loss at a shift of 1: probabilities under the true centre, to float64's last digits."""
    last = end_of(eps, delta, end)
    wide = eps - last.log_part
    # P(A) and its neighbour: P(A) = P(A - 1) b e.
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
    # With an end of 1 no loss is ε.
    node = eps if end > 1 else wide
    return CanonicalAtoms(key, np.array(log_p), np.array(losses), math.exp(last.log_mass), node)
