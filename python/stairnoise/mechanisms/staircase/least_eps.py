"""The least eps whose noise stays within t with probability 1 - alpha or more.

Every function rounds up: the inequality holds at the float64 returned, in spite of the rounding errors of the survival functions
(below a relative 2**-40).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from stairnoise.mechanisms.staircase import calibration as shapes
from stairnoise.mechanisms.staircase import distribution as stairs
from stairnoise.numerics.elementwise import Scalars
from stairnoise.numerics.roots import least_float

_MARGIN = 1 + 2.0**-40
# From this eps on exp(-eps) is 0, so larger eps make no difference.
_LARGEST = 2048.0

R = Callable[[float], int]


def laplace(t: float, alpha: float, D: float) -> float:
    """``ln(1/alpha) D/t``."""
    return -math.log(alpha) * (D / t) * (1 + 2.0**-50)


def discrete_laplace(t: float, alpha: float, D: float, least: float) -> float | None:
    """Least eps from `least` on; P(|X| <= t) grows with eps."""
    return _first(lambda eps: exceeds(t + 0.5, stairs.lattice(eps / D, 1.0, 1.0), alpha), least, _LARGEST * D)


def staircase(t: float, alpha: float, D: float, gamma: float | str, least: float) -> float | None:
    """Least eps from `least` on, None if there is none; P(|X| <= t) grows with eps, for the optimal shapes too.

    With s = exp(-eps/2) and u = t/D the "l1" shape has ``P(|X| > t) = s**2J + (J - u) (s**(2J-1) - s**(2J+1))``, which is
    continuous, and grows with s on every stair.
    """
    optimal = shapes.gamma_l1 if gamma == "l1" else shapes.gamma_l2

    def shape(eps: float) -> float:
        return float(optimal(eps)) if isinstance(gamma, str) else gamma

    return _first(lambda eps: exceeds(t, stairs.continuous(eps, D, shape(eps)), alpha), least, _LARGEST)


def discrete_staircase(t: float, alpha: float, D: float, r: float | R, least: float) -> float | None:
    """Least eps from `least` on, None if there is none.

    For a fixed r, P(|X| <= t) grows with eps. The optimal r falls as eps grows, and there P(|X| <= t) can drop. But its values
    at the ends of the intervals with equal r grow: with ``x = r - 1``, which is D gamma for "l1", P(|X| > t) there is that of
    the continuous distribution times ``(x + D c)/(x + D c + 1/2)``. So bisection finds the first interval that is enough.
    """
    if not callable(r):
        return _first(lambda eps: exceeds(t + 0.5, stairs.lattice(eps, D, r), alpha), least, _LARGEST)
    optimal = lru_cache(maxsize=None)(r)

    def end_exceeds(eps: float) -> bool:
        here = optimal(eps)
        after = _first(lambda other: optimal(other) >= here, eps, _LARGEST)
        end = _LARGEST if after is None else math.nextafter(after, 0)
        return exceeds(t + 0.5, stairs.lattice(end, D, float(here)), alpha)

    start = _first(end_exceeds, least, _LARGEST)
    if start is None:
        return None
    here = float(optimal(start))
    return _first(lambda eps: exceeds(t + 0.5, stairs.lattice(eps, D, here), alpha), start, _LARGEST)


def exceeds(y: float, constants: Any, alpha: float) -> bool:
    """Return whether P(|X| > y) may be above alpha."""
    tail: float = 2 * stairs.survival(Scalars, y, constants)
    return not tail * _MARGIN <= alpha


def raised(fails: Callable[[float], bool], eps: float | None) -> float | None:
    """Raise `eps` by doubling steps until it does not fail; None and inf are returned as they are."""
    part = 2.0**-52
    while eps is not None and not math.isinf(eps) and fails(eps):
        eps, part = eps * (1 + part), 2 * part
    return eps


def _first(fails: Callable[[float], bool], least: float, largest: float) -> float | None:
    """Return the least float64 in [least, largest] that does not fail, or None. (Below an eps that fails, all fail.)"""
    if not fails(least):
        return least
    if fails(largest):
        return None
    return least_float(lambda eps: not fails(eps), least, largest)
