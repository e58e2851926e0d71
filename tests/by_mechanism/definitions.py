"""The staircase and Laplace distributions from their definitions, to 500 digits: exact rationals decide the step, mpmath computes
the rest.
"""

import math
from fractions import Fraction

import mpmath as mp

TOLERANCE = 1e-12


EPS = [2.0**-38, 1e-6, 0.01, 0.3, 1.0, 4.0, 10.0, 50.0, 700.0]


PROBABILITIES = [5e-324, 1e-310, 1e-300, 1e-100, 1e-17, 1e-6, 0.05, 0.3, 0.49999, 0.5]


def close(value, exact):
    """Compare relative to the exact value, with the smallest normal float64 as a floor and its largest as a ceiling."""
    if exact >= mp.mpf(2) ** 1024:
        return value == math.inf
    return abs(mp.mpf(value) - exact) <= TOLERANCE * abs(exact) + mp.mpf(2) ** -1022


def real(x):
    """Return a rational as a real of the working precision."""
    return mp.mpf(x.numerator) / x.denominator


class StairOracle:
    """Both staircase mechanisms from their definition: exact rationals decide the step, mpmath computes the rest."""

    def __init__(self, eps, D, w):
        self.eps, self.D, self.w = mp.mpf(eps), Fraction(D), Fraction(w)
        self.c = 1 / mp.expm1(self.eps)
        self.t = 2 * (real(self.w) + real(self.D) * self.c)

    def stair(self, y):
        y = Fraction(y)
        return 0 if y < self.w else math.floor((y - self.w) / self.D) + 1

    def density(self, y):
        return mp.exp(-self.eps * self.stair(y)) / self.t

    def survival(self, y):
        J = self.stair(y)
        rest = J * self.D + self.w - Fraction(y)
        return mp.exp(-self.eps * J) * (real(rest) + real(self.D) * self.c) / self.t

    def inverse(self, s):
        s = mp.mpf(s)
        share = real(self.D) * self.c / self.t
        if s >= share:
            return real(self.w) + real(self.D) * self.c - s * self.t
        m = int(mp.floor(mp.log(share / s) / self.eps))
        return real(self.w) + real(self.D) * (m + (1 - s / share * mp.exp(self.eps * m)) / -mp.expm1(-self.eps))


class LaplaceOracle:
    def __init__(self, eps, D):
        self.rate = mp.mpf(eps) / mp.mpf(D)

    def density(self, y):
        return self.rate / 2 * mp.exp(-self.rate * mp.mpf(y))

    def survival(self, y):
        return mp.exp(-self.rate * mp.mpf(y)) / 2

    def inverse(self, s):
        return -mp.log(2 * mp.mpf(s)) / self.rate


def check_line(mechanism, oracle, x):
    """Check all functions of a continuous distribution at x."""
    y = abs(x)
    density, tail = oracle.density(y), oracle.survival(y)
    lower, upper = (1 - tail, tail) if x > 0 else (tail, 1 - tail)
    assert close(mechanism.pdf(x), density)
    assert close(mechanism.logpdf(x), mp.log(density)) or abs(mechanism.logpdf(x) - mp.log(density)) < 1e-15
    assert close(mechanism.cdf(x), lower)
    assert close(mechanism.sf(x), upper)
    assert close(mechanism.logcdf(x), mp.log(lower))
    assert close(mechanism.logsf(x), mp.log(upper))


def check_lattice(mechanism, oracle, i):
    """Check all functions of a discrete mechanism at the integer i."""
    pmf = oracle.density(abs(i))
    outside = oracle.survival(abs(i) + Fraction(1, 2)) if i >= 0 else oracle.survival(abs(i) - Fraction(1, 2))
    lower, upper = (1 - outside, outside) if i >= 0 else (outside, 1 - outside)
    assert close(mechanism.pmf(i), pmf)
    assert close(mechanism.logpmf(i), mp.log(pmf)) or abs(mechanism.logpmf(i) - mp.log(pmf)) < 1e-15
    assert close(mechanism.cdf(i), lower)
    assert close(mechanism.sf(i), upper)
    assert close(mechanism.logcdf(i), mp.log(lower))
    assert close(mechanism.logsf(i), mp.log(upper))
    assert mechanism.cdf(i + 0.5) == mechanism.cdf(i) or abs(i) > 2**51


def edges(eps, D, gamma):
    """Return float64 numbers at the edges of steps and next to them, out to 700 nats."""
    last = int(700 / eps)
    for m in {0, 1, 2, 3, 7, last // 2, last}:
        edge = float((Fraction(gamma) + m) * Fraction(D))
        yield from (edge, math.nextafter(edge, 0), math.nextafter(edge, math.inf))


def check_quantiles(mechanism, oracle):
    """Check quantiles of both tails and error bounds of a continuous distribution."""
    for s in PROBABILITIES:
        exact = oracle.inverse(s)
        assert close(mechanism.isf(s), exact)
        assert close(mechanism.ppf(s), -exact)
        if s > 2**-1022:
            assert close(mechanism._tail_bound(2 * s), exact)
    for u in (0.7, 0.999, 1 - 2.0**-53):
        assert close(mechanism.ppf(u), oracle.inverse(1 - u))
        assert close(mechanism.isf(u), -oracle.inverse(1 - u))
