"""The probabilities π(n) of showing a partition of n people, in closed form.

π(n+1) = min(e^ε π(n) + δ, 1 - e^-ε (1 - π(n) - δ), 1). The first term is the least up to n₁ = `rising`, the second beyond,
and π(n) = 1 from n₂ = `certain` on. π is the distribution function of N, the least n that a random number shows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stairnoise._parameters import Real
from stairnoise._types import Floats


def shown(eps: float, delta: float, rising: int, certain: int, n: Real) -> Real:
    """π(n) of whole numbers n >= 0."""
    if isinstance(n, float):
        return 1.0 if n >= certain else float(_rising(eps, delta, n) if n <= rising else 1 - _hidden(eps, delta, rising, n))
    # Of these numbers one is taken, and some may overflow.
    with np.errstate(all="ignore"):
        up, down = _rising(eps, delta, np.minimum(n, rising)), 1 - _hidden(eps, delta, rising, n)
    return np.where(n >= certain, 1.0, np.where(n <= rising, up, down))


def _rising(eps: float, delta: float, n: Real) -> Floats:
    """π(n) up to n₁, without e^(nε), which can overflow where e^((n-1)ε) δ does not."""
    return np.asarray(delta * np.exp((n - 1) * eps) * np.expm1(-n * eps) / math.expm1(-eps))


def _hidden(eps: float, delta: float, rising: int, n: Real) -> Floats:
    """1 - π(n) from n₁ on."""
    above = np.maximum(n - rising, 0.0)
    top = 1 - _rising(eps, delta, float(rising))
    return np.asarray(np.exp(-above * eps) * top + delta * math.exp(-eps) * np.expm1(-above * eps) / -math.expm1(-eps))


class Steps(NamedTuple):
    """The steps m(n) = π(n) - π(n-1) at the places where their ratio changes."""

    # m(n₁), m(n₁+1), m(n₂-1) and m(n₂). If n₂ = n₁ + 1, `after` is `last` and `before` is `top`.
    top: float
    after: float
    before: float
    last: float


def steps(eps: float, delta: float, rising: int, certain: int) -> Steps:
    """Return the steps. Up to n₁ a step is e^ε times the one before; from n₁ + 2 to n₂ - 1 it is e^-ε times the one before."""
    top = delta * math.exp(eps * (rising - 1))
    last = float(_hidden(eps, delta, rising, np.array(certain - 1.0)))
    if certain == rising + 1:
        return Steps(top, last, top, last)
    hidden = float(_hidden(eps, delta, rising, np.array(float(rising))))
    after = hidden * -math.expm1(-eps) + math.exp(-eps) * delta
    return Steps(top, after, after * math.exp(-eps * (certain - rising - 2)), last)


def log_steps(eps: float, delta: float, rising: int, certain: int) -> Floats:
    """Logarithms of the steps for n from 1 to n₂."""
    found = steps(eps, delta, rising, certain)
    up = math.log(delta) + eps * np.arange(rising)
    down = math.log(found.after) - eps * np.arange(certain - rising - 1)
    return np.concatenate([up, down, [math.log(found.last) if found.last else -math.inf]])


def losses(eps: float, delta: float, rising: int, certain: int) -> list[tuple[list[float], list[float], float]]:
    """Return probabilities, finite losses, and the probability of an infinite loss, for one person more and for one fewer.

    With one person more, N + 1 gives the count that N gave. Outcomes of equal losses are merged.
    """
    top, after, before, last = steps(eps, delta, rising, certain)
    at_top = math.log(top / after)
    # From m(2) to m(n₁), and from m(n₁+2) to m(n₂-1).
    up, middle = top * _sum(eps, rising - 1), certain - rising - 2
    if certain == rising + 1:
        return [([up * math.exp(-eps), top], [-eps, at_top], last), ([up, last], [eps, -at_top], delta)]
    # m(n₂) = e^-ε (m(n₂-1) + m(n₂) - δ), and m(n₂-1)/m(n₂) may overflow.
    at_end = eps + math.log(before / (before + last - delta))
    down = after * math.exp(-eps) * _sum(eps, middle)
    return [
        ([up * math.exp(-eps), top, after * _sum(eps, middle), before], [-eps, at_top, eps, at_end], last),
        ([up, after, down, last], [eps, -at_top, -eps, -at_end], delta),
    ]


def _sum(eps: float, count: int) -> float:
    """1 + e^-ε + …, a sum of `count` terms."""
    return math.expm1(-eps * count) / math.expm1(-eps)
