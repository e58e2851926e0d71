"""The best first stair of a truncated staircase on the integers, for its ε, its δ and a cost, by trying all candidates.

The distribution on -A..A is a mixture of uniform ones: on -(N-1)..N-1 with N = r + mD and a weight proportional to
``(1 - b) b**m (2N-1)`` for m from 0 to L - 1, and on -A..A with ``b**L (2A+1)``, where L is the stair of A + 1. So each cost is a
quotient of sums of positive terms. They are summed in float64, and in decimals where that leaves more than one candidate.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._theory.laws.truncated_staircase import sum_of_terms

Array = NDArray[np.float64]

# Up to here every r is a candidate; beyond, only those of 8 significant bits, whose cost is within 1e-5 of the least.
_MOST_CELLS = 512
_BITS = 8
# Relative: far above the rounding of a cost in float64.
_TIE = 1e-9
# Decimals: sums of powers up to 3 lose up to 4 times the digits of ε, 12 at most.
_DIGITS = 120


class First(NamedTuple):
    """A first stair: r, and the γ that it was made from, or r/D."""

    r: int
    gamma: float


@lru_cache(maxsize=256)
def best(eps: float, delta: float, cells: int, start: int, power: int) -> First:
    """Return the first stair of least E|X|**power, and of these the narrowest; `start` is that of the staircase without end."""
    candidates = _candidates(cells, start)
    r = [candidate.r for candidate in candidates]
    ends = _native.truncated_staircase_ends(eps, delta, cells, r)
    # A product beyond float64 is the exponent of what is 0.
    with np.errstate(over="ignore"):
        costs = _costs(eps, cells, np.array(r, np.float64), ends, power)
    near: list[int] = np.flatnonzero(costs <= costs.min() * (1 + _TIE)).tolist()
    if len(near) > 1:
        near.sort(key=lambda i: _exact_cost(eps, cells, r[i], ends[i], power))
    return candidates[near[0]]


def _candidates(cells: int, start: int) -> list[First]:
    """Return every r, or ⌈γD⌉ for the γ of 8 significant bits from start/(4D) to 4 start/D, and to 1: the narrowest first."""
    if cells <= _MOST_CELLS:
        return [First(r, r / cells) for r in range(1, cells + 1)]
    found: dict[int, First] = {}
    half = 1 << (_BITS - 1)
    shift = (4 * cells // start).bit_length() + _BITS + 1
    for exponent in range(shift, -1, -1):
        # γ = i/2**exponent
        for i in range(half, 2 * half):
            product = i * cells
            if i <= 1 << exponent and (start << exponent) <= 4 * product and product <= (4 * start << exponent):
                r = -(-product >> exponent)
                found.setdefault(r, First(r, i / 2.0**exponent))
    return [found[r] for r in sorted(found)]


def _last(cells: int, r: int, end: int) -> int:
    return (end + 1 - r) // cells + 1


def _costs(eps: float, cells: int, r: Array, ends: list[int], power: int) -> Array:
    last = [_last(cells, int(first), end) for first, end in zip(r.tolist(), ends, strict=True)]
    sums = {n: [_power_sum(eps, n, q) for q in range(4)] for n in set(last)}
    S: Any = np.array([sums[n] for n in last]).T
    N = np.array(ends, np.float64) + 1
    kept, drop = np.exp(-eps * np.array(last, np.float64)), -np.expm1(-eps)
    total, cost = _quotient(float(cells), r, N, S, kept, drop, power)
    return np.asarray(cost / total)


def _power_sum(eps: float, n: int, q: int) -> float:
    return sum_of_terms(lambda m: np.exp(-eps * m) * m**q, float(n))


def _exact_cost(eps: float, cells: int, r: int, end: int, power: int) -> Decimal:
    with localcontext() as context:
        context.prec = _DIGITS
        n = _last(cells, r, end)
        b, kept = (-Decimal(eps)).exp(), (-Decimal(eps) * n).exp()
        S = [(1 - kept) / (1 - b)]
        for q in range(1, 4):
            S.append((b * sum(comb(q, i) * S[i] for i in range(q)) - Decimal(n) ** q * kept) / (1 - b))
        total, cost = _quotient(Decimal(cells), Decimal(r), Decimal(end + 1), S, kept, 1 - b, power)
        return Decimal(cost / total)


def _quotient(D: Any, r: Any, N: Any, S: Any, kept: Any, drop: Any, power: int) -> tuple[Any, Any]:
    """Return the sums of the numbers, and of their powers, of the uniform distributions, up to a common factor."""
    total = drop * ((2 * r - 1) * S[0] + 2 * D * S[1]) + kept * (2 * N - 1)
    # N(N - 1) and (N - 1)N(2N - 1)/3, as polynomials in m without a negative coefficient.
    factors = [(r, D), (r - 1, D)] if power == 1 else [(r, D), (r - 1, D), ((2 * r - 1) / 3, 2 * D / 3)]
    polynomial = _product(factors)
    centre = sum(coefficient * S[q] for q, coefficient in enumerate(polynomial))
    outer = N * (N - 1) if power == 1 else N * (N - 1) * (2 * N - 1) / 3
    return total, drop * centre + kept * outer


def _product(factors: list[tuple[Any, Any]]) -> list[Any]:
    polynomial: list[Any] = [1]
    for constant, slope in factors:
        longer = [*(constant * coefficient for coefficient in polynomial), 0]
        for q, coefficient in enumerate(polynomial):
            longer[q + 1] = longer[q + 1] + slope * coefficient
        polynomial = longer
    return polynomial
