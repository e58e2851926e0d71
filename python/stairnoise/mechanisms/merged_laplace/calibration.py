"""The merged Laplace distribution with one breakpoint and the least cost for a pure ε."""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise._types import Floats

# A grid that shrinks by a third around its best point: after 40 rounds its steps are 1e-7 times the first ones.
_POINTS = 33
_ROUNDS = 40
_INDICES = np.arange(float(_POINTS))
_SHRINK = 2 / 3
# A gain below this is rounding: the best distribution is Laplace's.
_GAIN = 1e-9


def best_one_break(eps: float, p: int) -> tuple[float, float, float] | None:
    """Rates and breakpoint, at sensitivity 1, of the least E|X|**p; None if no distribution with a breakpoint beats Laplace's.

    The centre has width c < 1 and rate e1, the flatter tails have rate e2 <= ε. The largest loss over one sensitivity is
    c e1 + (1 - c) e2 or, in the tails, e2.
    """
    middle, width = (np.float64(0.5), np.float64(0.5)), 0.5
    for _ in range(_ROUNDS):
        # NumPy's `linspace` and `clip` would take 0.5 ms longer in all.
        steps = _INDICES * (2 * width / (_POINTS - 1)) - width
        c = np.minimum(np.maximum(middle[0] + steps, 1e-9), 1 - 1e-9)
        share = np.minimum(np.maximum(middle[1] + steps, 1e-9), 1.0)
        i, j = divmod(int(np.argmin(_cost(eps, c[:, None], share[None, :], p))), _POINTS)
        middle, width = (c[i], share[j]), width * _SHRINK
    c, share = middle
    laplace = _cost(eps, np.array(0.5), np.array(1.0), p)
    if not _cost(eps, c, share, p) < laplace * (1 - _GAIN):
        return None
    return (eps - (1 - c) * share * eps) / c, share * eps, float(c)


def _cost(eps: float, c: Any, share: Any, p: int) -> Floats:
    """E|X|**p for p = 1 or 2, with tails of rate `share`·eps."""
    outer = share * eps
    inner = (eps - (1 - c) * outer) / c
    u, v = inner * c, outer * c
    fall = np.exp(-u)
    # Integrals of x**p e^(-rate x) up to c, and from c on with the same height at c.
    mass = (1 - fall) / inner + fall / outer
    if p == 1:
        moment = (1 - (1 + u) * fall) / inner**2 + (1 + v) * fall / outer**2
    else:
        moment = (2 - (u**2 + 2 * u + 2) * fall) / inner**3 + (v**2 + 2 * v + 2) * fall / outer**3
    return np.asarray(moment / mass)
