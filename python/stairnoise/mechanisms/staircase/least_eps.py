"""The least eps whose noise keeps within t with probability 1 - alpha or more.

Every function here rounds up: the inequality holds at the float64 returned, whatever the rounding
errors of the survival functions (below 2**-40, relatively).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from stairnoise.mechanisms.staircase import calibration as shapes
from stairnoise.mechanisms.staircase import distribution as stairs
from stairnoise.numerics.elementwise import Floats
from stairnoise.numerics.roots import least_float

_MARGIN = 1 + 2.0**-40
# From here on exp(-eps) is 0, and no larger eps makes a difference.
_LARGEST = 2048.0

Gamma = Callable[[float], float]
R = Callable[[float], int]


def laplace(t: float, alpha: float, D: float) -> float:
    """``ln(1/alpha) D/t``."""
    return -math.log(alpha) * (D / t) * (1 + 2.0**-50)


def discrete_laplace(t: float, alpha: float, D: float, least: float) -> float | None:
    """Least eps from `least` on; P(|X| <= t) grows with eps."""
    return _first(lambda eps: exceeds(t + 0.5, stairs.lattice(eps / D, 1.0, 1.0), alpha), least, _LARGEST * D)


def staircase(t: float, alpha: float, D: float, gamma: float | str, least: float) -> float | None:
    """Least eps from `least` on, None if there is none; P(|X| <= t) grows with eps, for the optimal shapes too.

    With s = exp(-eps/2) and u = t/D the "l1" shape has ``P(|X| > t) = s**2J + (J - u) (s**(2J-1) - s**(2J+1))``,
    continuous, and growing in s on every stair.
    """
    shape: Gamma
    if isinstance(gamma, str):
        optimal = shapes.gamma_l1 if gamma == "l1" else shapes.gamma_l2

        def shape(eps: float) -> float:
            return float(optimal(eps))
    else:
        fixed = gamma

        def shape(eps: float) -> float:
            return fixed

    return _first(lambda eps: exceeds(t, stairs.continuous(eps, D, shape(eps)), alpha), least, _LARGEST)


def discrete_staircase(t: float, alpha: float, D: float, r: float | R, least: float) -> float | None:
    """Least eps from `least` on, None if there is none.

    For a given r, P(|X| <= t) grows with eps. The optimal r falls as eps grows, and P(|X| <= t) may drop where it
    does. Its values at the ends of the intervals with one r each do grow: there, with ``x = r - 1``, which is D gamma
    for "l1", P(|X| > t) is that of the continuous distribution times ``(x + D c)/(x + D c + 1/2)``. So the first interval
    that will do is found by bisection.
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
    """Tell whether P(|X| > y) may be above alpha."""
    tail: float = 2 * stairs.survival(Floats, y, constants)
    return not tail * _MARGIN <= alpha


def raised(fails: Callable[[float], bool], eps: float | None) -> float | None:
    """Return an eps from the one given on that does not fail, by steps that double; None or inf where there is none."""
    part = 2.0**-52
    while eps is not None and not math.isinf(eps) and fails(eps):
        eps, part = eps * (1 + part), 2 * part
    return eps


def _first(fails: Callable[[float], bool], least: float, largest: float) -> float | None:
    """Return the least float64 in [least, largest] that does not fail; if one fails, all below it do."""
    if not fails(least):
        return least
    if fails(largest):
        return None
    return least_float(lambda eps: not fails(eps), least, largest)
