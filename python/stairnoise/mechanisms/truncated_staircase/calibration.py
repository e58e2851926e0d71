"""The best first stair of a truncated staircase on the integers, for an ε, a δ and a cost, by trying all candidates.

The distribution on -A..A is a mixture of uniform distributions: on -(N-1)..N-1 with N = r + mD and weights proportional to
``(1 - b) b**m (2N-1)`` for m from 0 to L - 1, and on -A..A with ``b**L (2A+1)``, where L is the stair of A + 1. So each cost is a
quotient of sums of positive terms. They are summed in float64, and in decimals if more than one candidate is left.

An exact A takes 4 µs a candidate. So A is first computed in floating point, and then exactly for the candidates whose cost may
be the least.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

import numpy as np

from stairnoise import _native
from stairnoise._types import Bools, Floats, Ints
from stairnoise.mechanisms.truncated_staircase.distribution import sum_of_terms

# Up to this D every r is a candidate; beyond, only γ of 8 significant bits, whose cost is within 1e-5 of the least.
_MOST_STEPS = 512
_BITS = 8
# Relative: far above the rounding errors of a cost in float64, and of A in floating point.
_TIE = 1e-9
_UNSURE = 1e-9
# Times 1/D: relative error of a cost if A is wrong by 1. E|X|**power changes by at most a relative (power + 1)/A, because no
# integer is less probable than A, and A is at least D.
_NEAR = 4
# Sums of powers up to 3 lose up to 4 times the digits that a small ε loses, which are 12 at most.
_DIGITS = 120


class First(NamedTuple):
    """A first stair: r, and the γ that it was made from, or r/D."""

    r: int
    gamma: float


@lru_cache(maxsize=256)
def best(eps: float, delta: float, steps: int, start: int, power: int) -> First:
    """Return the narrowest first stair of least E|X|**power; `start` is that of the staircase without ends."""
    candidates = _candidates(steps, start)
    r = np.array(list(candidates))
    # A product that overflows is the exponent of a term that is 0.
    with np.errstate(over="ignore"):
        ends, unsure = _approximate_ends(eps, delta, steps, r)
        r = r[_least(_costs(eps, steps, r, ends, power), np.where(unsure, _NEAR / steps + _UNSURE, _UNSURE))]
        exact = dict(zip(r.tolist(), _native.truncated_staircase_ends(eps, delta, steps, r.tolist()), strict=True))
        near = r[_least(_costs(eps, steps, r, np.array(list(exact.values())), power), _TIE)].tolist()
    least: int = near[0] if len(near) == 1 else _least_exactly(eps, steps, {r: exact[r] for r in near}, power)
    return First(least, candidates[least])


def _candidates(steps: int, start: int) -> dict[int, float]:
    """Return candidates r with their γ, the narrowest first.

    They are all r, or ⌈γD⌉ for γ of 8 significant bits from start/(4D) to min(4 start/D, 1).
    """
    if steps <= _MOST_STEPS:
        return {r: r / steps for r in range(1, steps + 1)}
    found: dict[int, float] = {}
    half = 1 << (_BITS - 1)
    shift = (4 * steps // start).bit_length() + _BITS + 1
    for exponent in range(shift, -1, -1):
        # γ = i/2**exponent
        one = 1 << exponent
        low, high = -(-start * one // (4 * steps)), min(4 * start * one // steps, one)
        for i in range(max(half, low), min(2 * half - 1, high) + 1):
            found.setdefault(-(-i * steps >> exponent), i / one)
    return dict(sorted(found.items()))


def _least(costs: Floats, margin: Floats | float) -> Bools:
    """Return which costs, known to a relative margin, may be the least."""
    return np.asarray(costs <= (costs * (1 + margin)).min() * (1 + margin))


def _approximate_ends(eps: float, delta: float, steps: int, r: Ints) -> tuple[Floats, Bools]:
    """Return A for each r, and whether it may be wrong by 1.

    This solves the equation of `_native.truncated_staircase_ends` in floating point: W(A + 1 - D) = h, where W is D b**J at the
    start of stair J, D b**(J + 1) at its end, and linear between.
    """
    b, drop = np.exp(-eps), -np.expm1(-eps)
    odd = 2.0 * r - 1
    # ln(D/h)/ε
    stairs = np.log1p(drop * (steps - delta * odd) / (delta * (odd * drop + 2 * steps * b))) / eps
    whole = np.floor(stairs)
    left = steps * np.exp(-eps * (stairs - whole)) * np.expm1(-eps * (1 - (stairs - whole))) / np.expm1(-eps)
    # W(j) > h for j up to `most`.
    most = np.maximum(r + steps * whole - left, 0.0)
    ends = steps + np.maximum(np.ceil(most) - 1, 0.0)
    return ends, np.abs(most - np.rint(most)) <= _UNSURE * ends


def _costs(eps: float, steps: int, r: Ints, ends: Floats | Ints, power: int) -> Floats:
    last, place = np.unique((ends + 1 - r) // steps + 1, return_inverse=True)
    S: Any = np.array([[_power_sum(eps, n, q) for n in last.tolist()] for q in range(4)])[:, place]
    N = ends.astype(np.float64) + 1
    kept, drop = np.exp(-eps * last[place]), -np.expm1(-eps)
    total, cost = _quotient(float(steps), r.astype(np.float64), N, S, kept, drop, power)
    return np.asarray(cost / total)


def _power_sum(eps: float, n: float, q: int) -> float:
    return sum_of_terms(lambda m: np.exp(-eps * m) * m**q, n)


def _least_exactly(eps: float, steps: int, ends: dict[int, int], power: int) -> int:
    """Return the first r of least cost, from each r and its A."""
    with localcontext() as context:
        context.prec = _DIGITS
        sums = {n: _decimal_sums(eps, n) for n in {(end + 1 - r) // steps + 1 for r, end in ends.items()}}

        def cost(r: int) -> Decimal:
            end = ends[r]
            S, kept, drop = sums[(end + 1 - r) // steps + 1]
            total, cost = _quotient(Decimal(steps), Decimal(r), Decimal(end + 1), S, kept, drop, power)
            return Decimal(cost / total)

        return min(ends, key=cost)


def _decimal_sums(eps: float, n: int) -> tuple[list[Decimal], Decimal, Decimal]:
    b, kept = (-Decimal(eps)).exp(), (-Decimal(eps) * n).exp()
    S = [(1 - kept) / (1 - b)]
    for q in range(1, 4):
        S.append((b * sum(comb(q, i) * S[i] for i in range(q)) - Decimal(n) ** q * kept) / (1 - b))
    return S, kept, 1 - b


def _quotient(D: Any, r: Any, N: Any, S: Any, kept: Any, drop: Any, power: int) -> tuple[Any, Any]:
    """Return the sums over the uniform distributions of their sizes and of their powers, up to a common factor."""
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
