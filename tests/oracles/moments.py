"""Exact probabilities and moments of the mechanisms on the integers, for the statistical tests.

P(|X| >= j) is the survival function of `survival`; moments come from the mixture of centred uniform distributions
{-(N-1), ..., N-1}, N = r + M D, that every staircase mechanism is: P(M = m) proportional to b^m (2N - 1). The geometric
distribution is the staircase with D = 1 and eps/D. `test_oracle_reference` compares all of it with values computed elsewhere.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from mpmath import mp

from tests.oracles import intervals
from tests.oracles.survival import Geometric, Mechanism, Staircase

BITS = 256


def survival(mechanism: Mechanism, j: int) -> mp.mpf:
    """P(|X| >= j)."""
    if j <= 0:
        return mp.mpf(1)
    with intervals.precision(BITS):
        return mp.make_mpf(mechanism.survival(j)._mpi_[0])


def pmf(mechanism: Mechanism, i: int) -> mp.mpf:
    """P(X = i), from a difference of survival functions at a precision that survives it."""
    with mp.workprec(BITS):
        if i == 0:
            return 1 - survival(mechanism, 1)
        return (survival(mechanism, abs(i)) - survival(mechanism, abs(i) + 1)) / 2


def tail(mechanism: Mechanism, j: int) -> mp.mpf:
    """P(X >= j) for any integer j."""
    with mp.workprec(BITS):
        return survival(mechanism, j) / 2 if j >= 1 else 1 - survival(mechanism, 1 - j) / 2


def absolute_moment(mechanism: Mechanism, power: int) -> mp.mpf:
    """E|X|^power for power = 1, 2, 4."""
    staircase = _as_staircase(mechanism)
    with mp.workprec(BITS):
        # A uniform distribution on {-n, ..., n} has (2n + 1) E|X|^p = 2 (1^p + ... + n^p), a polynomial in n = r - 1 + m D.
        sums = _geometric_mean_of(lambda n: 2 * _power_sum(n, power), staircase, power + 1)
        return sums / _geometric_mean_of(lambda n: 2 * n + 1, staircase, 1)


def _as_staircase(mechanism: Mechanism) -> Staircase:
    if isinstance(mechanism, Geometric):
        return Staircase(mechanism.eps / mechanism.sensitivity_steps, 1, 1)
    assert isinstance(mechanism, Staircase)
    return mechanism


def _power_sum(n: int, power: int) -> Fraction:
    """1^p + ... + n^p (Faulhaber)."""
    if power == 1:
        return Fraction(n * (n + 1), 2)
    if power == 2:
        return Fraction(n * (n + 1) * (2 * n + 1), 6)
    assert power == 4
    return Fraction(n * (n + 1) * (2 * n + 1) * (3 * n * n + 3 * n - 1), 30)


def _geometric_mean_of(polynomial: Callable[[int], Fraction | int], mechanism: Staircase, degree: int) -> mp.mpf:
    """E polynomial(r - 1 + M D), M geometric with P(m) = (1 - b) b^m: the sum of forward differences at 0 times c^i."""
    row = [Fraction(polynomial(mechanism.r - 1 + m * mechanism.sensitivity_steps)) for m in range(degree + 1)]
    c = 1 / mp.expm1(mp.mpf(mechanism.eps.numerator) / mechanism.eps.denominator)
    total, power_of_c = mp.mpf(0), mp.mpf(1)
    while row:
        total += mp.mpf(row[0].numerator) / row[0].denominator * power_of_c
        power_of_c *= c
        row = [after - before for before, after in pairwise(row)]
    return total
