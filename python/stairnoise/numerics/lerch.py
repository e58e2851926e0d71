r"""Sums over the stairs, ``sum over m >= 0 of b**m P(x + m)``, to nearly the last digit.

Every staircase distribution is a mixture of uniform distributions on centred intervals, so its moments of real order
are such sums, with `P` the integral of a power; ``P(x) = x**s`` gives the Lerch transcendent
Phi(b, -s, x). On the lattice of steps ``1/D`` the integral is a sum over the integers below ``xD``,

    P(x) = s D**-s (1**(s-1) + 2**(s-1) + ... + (n-1)**(s-1)),      n = xD + 1/2,

and ``D = inf`` means the continuous distribution. From ``eps`` = 2 on, adding up is enough. Below,
thousands to 2**46 stairs matter, and the sum ends in the Euler-Maclaurin formula, whose integral is an
incomplete gamma function. The series that the literature uses there, in Hurwitz zeta functions [1]_, loses digits near
eps = 2 pi; this one does not, and it covers the lattice.

References
----------
.. [1] Olver and others, NIST Handbook of Mathematical Functions, 2.10.1 (Euler-Maclaurin),
   24.2.9 (midpoint coefficients), 25.14 (Lerch's transcendent).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np

from stairnoise._parameters import Real
from stairnoise._types import Floats
from stairnoise.numerics.elementwise import or_infinite

FEW_STAIRS = 2.0
"""From this eps on `outer_stairs` adds up every stair that counts; `excess` is for the eps below."""

# Derivatives in the two Euler-Maclaurin formulas, over stairs and over lattice steps. With the sums
# before them as long as below, the first neglected terms are under 1e-17 of the whole.
_STAIR_ORDER = 26
_STEP_ORDER = 20
_LEAST_SUMMED = 12
_LEAST_STEPS = 16


def gamma_function(a: Real) -> Floats:
    """Euler's gamma function of positive numbers; inf where it overflows."""
    return np.asarray(_gamma(a), np.float64)


def excess(s: Floats, eps: Floats, x: Floats, D: Floats) -> Floats:
    """``exp(-eps x) eps**(s+1) sum_m b**m P(x + m)`` minus its limit at small eps, Gamma(s+1).

    All arguments have one shape, of one axis; ``s`` > -1, ``eps`` < `FEW_STAIRS`, ``x`` > 0. The absolute
    error is about 1e-15 times the larger of the result and the first terms summed, so that it vanishes
    with eps as the result does.
    """
    summed = _LEAST_SUMMED + math.ceil(s.max(initial=0.0))
    s, eps, x, D = (column[:, None] for column in (s, eps, x, D))
    lattice = not np.all(np.isinf(D))
    w = eps * (x + np.arange(summed))
    steps, constant = _step_sum(s, w, D / eps) if lattice else (w**s, np.zeros_like(s))
    end = eps * (x + summed)
    below = _lower_gamma(s[:, 0] + 1, end[:, 0])[:, None]
    total = eps * np.sum(np.exp(-w) * steps, axis=1, keepdims=True) - below
    total += eps * _boundary(s, eps, x + summed, end, D, constant, lattice)
    if lattice:
        total += constant * np.exp(-end) + _cell_integrals(s, eps, x + summed, end, D, below)
    return np.asarray(total[:, 0])


def outer_stairs(s: Floats, eps: Floats, x: Floats, D: Floats) -> Floats:
    """``sum over m >= 1 of b**(m-1) P(x + m)``, for eps of `FEW_STAIRS` and more."""
    s, eps, x, D = (column[:, None] for column in (s, eps, x, D))
    m = np.arange(stair_count(s.max(initial=0.0), eps.min(initial=np.inf)))
    return np.asarray(np.sum(np.exp(-eps * m) * step_sum(s, x + 1 + m, D), axis=1))


def step_sum(s: Floats, x: Floats, D: Floats) -> Floats:
    """``P(x)`` where ``D`` is finite, ``x**s`` where it is infinite."""
    if np.all(np.isinf(D)):
        return np.asarray(x**s)
    return _step_sum(s, x, D)[0]


def _step_sum(s: Floats, x: Floats, D: Floats) -> tuple[Floats, Floats]:
    """``P(x)`` for x of shape (k, n), and the constant in its expansion at large x, of shape (k, 1).

    Few steps are added up; many follow ``x**s + sum_k c_k D**-k s(s-1)...(s-k+1) x**(s-k) + constant``.
    """
    most = _LEAST_STEPS + math.ceil(s.max(initial=0.0))
    with np.errstate(all="ignore"):
        sums = np.cumsum(np.arange(1.0, most) ** (s - 1), axis=1) * s
        sums = np.concatenate([np.zeros((*s.shape[:-1], 2)), sums], axis=1)  # index n, from 0 to most
        unit = np.where(np.isinf(D), 0.0, D**-s)
        coefficients = _falling(s, _STEP_ORDER)[:, ::2] * midpoint_coefficients()
        constant = (sums[:, -1:] - _smooth(most - 0.5, np.ones_like(s), s, coefficients)) * unit
        n = np.rint(x * D + 0.5)
        many = n >= most
        few = np.take_along_axis(np.broadcast_to(sums, (len(x), most + 1)), np.where(many, 0, n).astype(int), axis=1)
        return np.where(many, _smooth(x, D, s, coefficients) + constant, few * unit), constant


def _smooth(x: Real, D: Floats, s: Floats, coefficients: Floats) -> Floats:
    """``x**s`` times the even polynomial in ``1/(xD)`` of the midpoint formula."""
    squares = (1 / (x * D)) ** 2
    series = np.zeros_like(squares)
    for k in range(coefficients.shape[1] - 1, -1, -1):
        series = series * squares + coefficients[:, k : k + 1]
    return np.asarray(x**s * series)


def _boundary(s: Floats, eps: Floats, x: Floats, end: Floats, D: Floats, constant: Floats, lattice: bool) -> Floats:
    """Half the first omitted term, and the derivatives there, of the sum over the stairs."""
    orders = _STAIR_ORDER + (_STEP_ORDER if lattice else 0)
    derivatives = _derivatives(s, x, end, orders)
    if lattice:
        powers = (1 / D) ** np.arange(0, _STEP_ORDER + 1, 2) * midpoint_coefficients()
        at = np.arange(_STAIR_ORDER)[:, None] + np.arange(0, _STEP_ORDER + 1, 2)
        derivatives = np.einsum("nik,nk->ni", derivatives[:, at], powers)
        derivatives[:, :1] += constant * np.exp(-end)
    weights = eps ** np.arange(_STAIR_ORDER) @ _boundary_matrix()
    return np.asarray(np.sum(weights * derivatives[:, :_STAIR_ORDER], axis=1, keepdims=True))


def _cell_integrals(s: Floats, eps: Floats, x: Floats, end: Floats, D: Floats, below: Floats) -> Floats:
    """Integrals over ``w > end`` of ``exp(-w)`` times the terms of P after ``w**s``, by parts from one to the next."""
    derivatives = _derivatives(s, x, end, _STEP_ORDER)
    integral = gamma_function(s + 1) - below
    total = np.zeros_like(integral)
    for k in range(1, _STEP_ORDER + 1):
        integral = eps * (integral - derivatives[:, k - 1 : k])
        if k % 2 == 0:
            total += midpoint_coefficients()[k // 2] * D**-k * integral
    return total


def _derivatives(s: Floats, x: Floats, end: Floats, orders: int) -> Floats:
    """``eps**q exp(-end)`` times derivative number q of ``w**s`` at ``w = end = eps x``, q = 0, 1, ..."""
    return np.asarray(end**s * np.exp(-end) * _falling(s, orders) * x ** -np.arange(orders + 1.0))


def _falling(s: Floats, orders: int) -> Floats:
    """1, s, s(s-1), ..., up to `orders` factors, along the last axis."""
    factors = np.concatenate([np.ones_like(s), s - np.arange(orders)], axis=1)
    return np.asarray(np.cumprod(factors, axis=1))


def _lower_gamma(a: Floats, z: Floats) -> Floats:
    """Lower incomplete gamma function: the series of positive terms (NIST 8.7.1)."""
    terms = 2 * math.ceil(z.max(initial=0.0)) + 56  # the ratio is below 1/2 for the last 56
    ratios = z[:, None] / (a[:, None] + np.arange(1, terms))
    return np.asarray(z**a * np.exp(-z) / a * (1 + np.sum(np.cumprod(ratios, axis=1), axis=1)))


def stair_count(s: float, eps: float) -> int:
    """How many stairs until ``b**m (1+m)**s`` is below 1e-18 for good."""
    m = 42 / eps
    for _ in range(8):
        m = (42 + max(s, 0.0) * math.log1p(m)) / eps
    return math.ceil(m) + 1


@cache
def bernoulli_over_factorial(number: int) -> list[Fraction]:
    """B_j/j! for j < `number`, from x = (e^x - 1) · Σ B_j x^j/j!."""
    found = [Fraction(1)]
    for j in range(1, number):
        found.append(-sum((found[i] / math.factorial(j + 1 - i) for i in range(j)), Fraction(0)))
    return found


@cache
def even_bernoulli() -> Floats:
    """``B_2j/(2j)!`` for j = 0, 1, ..."""
    return np.array([float(value) for value in bernoulli_over_factorial(_STAIR_ORDER + 5)[::2]])


@cache
def midpoint_coefficients() -> Floats:
    """``B_k(1/2)/k!`` for k = 0, 2, ..., the coefficients of the midpoint formula."""
    k = np.arange(0, _STEP_ORDER + 1, 2)
    return np.asarray((2.0 ** (1 - k) - 1) * even_bernoulli()[: len(k)])


@cache
def _boundary_matrix() -> Floats:
    """Row: power of eps; column: derivative of P; of ``f/2 - sum_j B_2j/(2j)! f**(2j-1)``, ``f = b**m P``."""
    matrix = np.zeros((_STAIR_ORDER, _STAIR_ORDER))
    matrix[0, 0] = 0.5
    for k in range(1, _STAIR_ORDER, 2):
        for i in range(k + 1):
            matrix[k - i, i] -= even_bernoulli()[(k + 1) // 2] * math.comb(k, i) * (-1) ** (k - i)
    return matrix


_gamma = np.frompyfunc(or_infinite(math.gamma), 1, 1)
