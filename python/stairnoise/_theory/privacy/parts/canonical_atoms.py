r"""One release of canonical noise on the integers: a privacy loss of four finite values, and an infinite one.

Under a shift of 1 the loss is infinite at one end, where the other centre never is. It is ε from there to 0 and -ε beyond, but
beside the end, whose probability is only the part e of what it would be if the noise went on: there it is ε - ln e, and at the
other end -ε + ln e. So δ at ε is P(A) + P(A - 1) - e**ε P(A), which is the δ of the noise.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np

from stairnoise._theory.laws.discrete_canonical import end_of
from stairnoise._theory.privacy.parts.ended_atoms import EndedAtoms

_DIGITS = 60


def canonical_atoms(eps: float, delta: float, end: int) -> EndedAtoms:
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
    return EndedAtoms(("canonical atoms", eps, delta, end), np.array(log_p), np.array(losses), math.exp(last.log_mass))
