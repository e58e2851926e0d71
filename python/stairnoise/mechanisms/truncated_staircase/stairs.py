"""Both truncated staircase distributions: density, survival function and its inverse on the half line y >= 0.

The formulas serve both, as in `staircase`: the discrete distribution on -A..A is the continuous distribution that ends at
A + 1/2, rounded to the nearest integer. With the last stair L, its part e before the end, and the stair J of y, the mass above y
is, up to a common factor,

    R(y) = b**J (J D + w - y  +  D (b + ... + b**(n-1))  +  e b**n),   n = L - J > 0
    R(y) = b**L (the rest of e),                                       n = 0

and the survival function is R(y) / (2 R(0)).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stairnoise.mechanisms.staircase import distribution as staircase
from stairnoise.numerics.elementwise import Scalars

# Most stairs that are added up; Euler and Maclaurin's formula sums more, and its next term is below 1e-15.
MOST_STAIRS = 2**18


class Ended(NamedTuple):
    """Constants of one distribution; lengths in units of a power of two, as in `staircase.Stairs`."""

    eps: Any
    scale: Any
    D: Any
    D_high: Any
    D_low: Any
    w: Any
    w_low: Any
    drop: Any
    """1 - b."""
    end: Any
    """Where the distribution ends, in the caller's unit."""
    last: Any
    """L, from 1 on."""
    part: Any
    """e."""
    half: Any
    """R(0)."""
    outer: Any
    """R(w)."""


def ended(stairs: staircase.Stairs, end: float, last: float, part: float) -> Ended:
    """Make the constants of a staircase that ends at `end`, after `part` of its stair number `last`, in the caller's unit."""
    kept = {name: getattr(stairs, name) for name in ("eps", "scale", "D", "D_high", "D_low", "w", "w_low", "drop")}
    k = Ended(**kept, end=end, last=last, part=part * stairs.scale, half=math.nan, outer=math.nan)
    outer = _left(Scalars, 0.0, 0.0, k)
    return k._replace(half=k.w + outer, outer=outer)


def _full(xp: Any, n: Any, k: Ended) -> Any:
    """B + ... + b**(n-1)."""
    return xp.exp(-k.eps) * (xp.expm1(-xp.maximum(n - 1, 0.0) * k.eps) / -k.drop)


def _left(xp: Any, J: Any, rest: Any, k: Ended) -> Any:
    """R/b**J at a point of stair J, `rest` before its right end."""
    n = k.last - J
    inside = rest + k.D * _full(xp, n, k) + k.part * xp.exp(-k.eps * n)
    return xp.where(n > 0, inside, xp.maximum(rest - (k.D - k.part), 0.0))


def log_density(xp: Any, y: Any, k: Ended) -> Any:
    """Natural logarithm of the density."""
    J, _ = staircase.stair_of(xp, y * k.scale, k)  # type: ignore[arg-type]
    return xp.where(y <= k.end, xp.log(k.scale) - xp.log(2 * k.half) - k.eps * J, -xp.inf)


def survival(xp: Any, y: Any, k: Ended) -> Any:
    """P(X > y), 1/2 at y = 0."""
    J, rest = staircase.stair_of(xp, y * k.scale, k)  # type: ignore[arg-type]
    J = xp.minimum(J, k.last)
    return xp.where(y < k.end, xp.exp(-k.eps * J) * (_left(xp, J, rest, k) / (2 * k.half)), 0.0)


def log_survival(xp: Any, y: Any, k: Ended) -> Any:
    """Natural logarithm of `survival`."""
    J, rest = staircase.stair_of(xp, y * k.scale, k)  # type: ignore[arg-type]
    J = xp.minimum(J, k.last)
    return xp.where(y < k.end, xp.log(_left(xp, J, rest, k) / (2 * k.half)) - k.eps * J, -xp.inf)


def survival_inverse(xp: Any, s: Any, k: Ended) -> Any:
    """Return the y with P(X > y) = s, for 0 <= s <= 1/2."""
    # `passed` is the mass between the centre's edge and y; `left` is the mass above y.
    y = 2 * k.half * (0.5 - s)
    passed, left = xp.maximum(y - k.w, 0.0), 2 * k.half * s
    b = 1 - k.drop
    near = left > k.outer / 2
    with_b = xp.where(b > 0, b, 1.0)
    gone = xp.minimum(passed * k.drop / (k.D * with_b), 1.0)
    above_last = left - k.part * xp.exp(-k.eps * k.last)
    kept = xp.maximum(above_last, 0.0) * k.drop / k.D + xp.exp(-k.eps * k.last)
    J = xp.where(near, 1 - xp.log1p(-xp.minimum(gone, 0.999)) / k.eps, -xp.log(kept) / k.eps)
    J = xp.minimum(xp.maximum(xp.floor(xp.where(J >= 0, J, k.last)), 1.0), k.last)
    # The last stair may be short, so the formula of the others does not hold for it.
    J = xp.where(above_last < 0, k.last, J)
    growth = xp.exp(k.eps * J)
    before = k.D * (b * (xp.expm1(-(J - 1) * k.eps) / -k.drop))
    from_centre = (J - 1) * k.D + (passed - before) * growth
    n = k.last - J
    beyond = xp.where(n > 0, k.D * _full(xp, n, k) + k.part * xp.exp(-k.eps * n), k.part - k.D)
    from_end = J * k.D - (left * growth - beyond)
    outside = k.w + xp.minimum(xp.maximum(xp.where(near, from_centre, from_end), (J - 1) * k.D), J * k.D)
    found = xp.where(passed > 0, outside, y) / k.scale
    # A NaN, for a probability outside [0, 1], stays NaN.
    return xp.where(s > 0, xp.minimum(found, k.end), xp.where(s <= 0, k.end, s))


def entropy(xp: Any, k: Ended) -> Any:
    """Entropy in nats: the logarithm of 2 R(0) in the caller's unit, and ε times the mean stair."""
    n = k.last - 1
    if n <= MOST_STAIRS:
        J = np.arange(n + 1.0)
        total = float(np.sum(J * np.exp(-k.eps * J)))
    else:
        z = k.eps * n
        # 1 - (1 + z) e^-z, and the first terms of Euler and Maclaurin.
        curve = z * z / 2 * (1 - 2 * z / 3 + z * z / 4) if z < 1e-4 else -math.expm1(-z) - z * math.exp(-z)
        total = curve / k.eps**2 + n * math.exp(-z) / 2 + ((1 - z) * math.exp(-z) - 1) / 12
    mean = (k.D * total + k.last * math.exp(-k.eps * k.last) * k.part) / k.half
    return math.log(2 * k.half) - math.log(k.scale) + k.eps * mean
