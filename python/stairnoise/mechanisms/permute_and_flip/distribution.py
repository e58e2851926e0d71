"""The probabilities of permute-and-flip.

Every candidate has a random time, uniform on [0, 1], at which its coin of probability a = e^(-x) is tossed. The first candidate
whose coin shows heads is selected. No candidate is selected before the time t with probability Π(1 - a_j t). So candidate i has
the probability

    p_i = a_i q_i,    q_i = ∫₀¹ Π_{j≠i} (1 - a_j t) dt.

The integrand is a polynomial with values from 0 to 1. Quadrature adds positive terms only, while the expanded polynomial would
subtract. For few candidates Gauss's rule is exact.

For many candidates, let A = Σa_j. Because 1 - y ≤ e^(-y) ≤ 1 for y ≥ 0 and (1 - t)^a ≤ 1 - at, the integral lies between
1/(A + 1) and ∫e^(-(A - 1)t). The part beyond T = 48/A is then less than 10⁻¹⁸ of it. On a panel of width h = 8/A from t₀ the
integrand is at most e^(-A t₀ + A|t - t₀|) at complex t. On the ellipse with the sum of semi-axes 16 half-widths that is
below e^(4 + 2·16 + 1/8), so that 16 points leave less than e^36.2·16^(-32)·10 < 10⁻²¹ of the integral.
"""

from __future__ import annotations

import numpy as np

from stairnoise._types import Floats
from stairnoise.numerics.quadrature import gauss_legendre

# Gauss's rule of half as many points is exact; up to this many candidates it is used.
_FEW = 64
_PANELS, _POINTS = 6, 16
_REACH = 48.0


def first_accepted(exponents: Floats, numbers: Floats | None = None) -> Floats:
    """Return q_i for candidates whose exponents x_i ≥ 0 lie along the last axis; the least one of each row is 0.

    With `numbers`, every exponent is that of so many candidates, and q_i that of one of them. The relative error is below
    1e-13 for rows of up to 10⁵ candidates.
    """
    numbers = np.ones(1) if numbers is None else numbers
    with np.errstate(under="ignore"):
        chances = np.exp(-exponents)
    tails = -np.expm1(-exponents)  # 1 - a, without cancellation
    candidates = int(np.broadcast_to(numbers, exponents.shape).sum(axis=-1).max(initial=1))
    if candidates <= _FEW:
        nodes, weights = gauss_legendre((candidates + 1) // 2)
        end = np.ones((*exponents.shape[:-1], 1))
    else:
        points, parts = gauss_legendre(_POINTS)
        nodes = (np.arange(_PANELS)[:, None] + points).ravel() / _PANELS
        weights = np.tile(parts, _PANELS) / _PANELS
        end = np.minimum(1.0, _REACH / (chances * numbers).sum(axis=-1, keepdims=True))
    total = np.zeros(exponents.shape)
    for node, mirrored, weight in zip(nodes, nodes[::-1], weights, strict=True):
        # The rule is symmetric: 1 - node is the mirrored node.
        early, late = chances * (end * node), tails + chances * ((1 - end) + end * mirrored)
        with np.errstate(under="ignore", divide="ignore"):
            logs = np.where(early < 0.5, np.log1p(-early), np.log(late))
            total += weight * np.exp((logs * numbers).sum(axis=-1, keepdims=True)) / late
    return np.asarray(total * end)
