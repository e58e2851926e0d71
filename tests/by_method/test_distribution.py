"""The distribution functions of the four laws.

Evidence: 80-digit arithmetic on other formulas (counting stairs by exact rationals, closed sums), the
definitions of the quantiles, and the table of edge cases in docs/distributions.md.
"""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn

TOLERANCE = 1e-12
EPS = [2.0**-38, 1e-6, 0.01, 0.3, 1.0, 4.0, 10.0, 50.0, 700.0]


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(500):
        yield


def close(value, exact):
    """Compare relative to the exact value, with the smallest normal float64 as a floor and its largest as a ceiling."""
    if exact >= mp.mpf(2) ** 1024:
        return value == math.inf
    return abs(mp.mpf(value) - exact) <= TOLERANCE * abs(exact) + mp.mpf(2) ** -1022


def real(x):
    """A rational as a real of the working precision."""
    return mp.mpf(x.numerator) / x.denominator


class StairOracle:
    """Both staircase laws from their definition: exact rationals say which stair, mpmath the rest."""

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


def check_line(law, oracle, x):
    """All functions of a continuous law at x."""
    y = abs(x)
    density, tail = oracle.density(y), oracle.survival(y)
    lower, upper = (1 - tail, tail) if x > 0 else (tail, 1 - tail)
    assert close(law.pdf(x), density)
    assert close(law.logpdf(x), mp.log(density)) or abs(law.logpdf(x) - mp.log(density)) < 1e-15
    assert close(law.cdf(x), lower)
    assert close(law.sf(x), upper)
    assert close(law.logcdf(x), mp.log(lower))
    assert close(law.logsf(x), mp.log(upper))


def edges(eps, D, gamma):
    """Float64 numbers at the edges of the stairs and next to them, out to 700 nats."""
    last = int(700 / eps)
    for m in {0, 1, 2, 3, 7, last // 2, last}:
        edge = float((Fraction(gamma) + m) * Fraction(D))
        yield from (edge, math.nextafter(edge, 0), math.nextafter(edge, math.inf))


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("D", [1.0, 0.1, 3.7e5, 1e-100])
@pytest.mark.parametrize("gamma", ["l1", "l2", 0.5, 0.3, 1.0])
def test_staircase(eps, D, gamma):
    law = sn.Staircase(eps, D, gamma)
    oracle = StairOracle(eps, D, Fraction(law.gamma) * Fraction(D))
    anywhere = [D * f / eps for f in (1e-9, 0.01, 0.3, 1.1, 17.3, 333.3, 699.9)]
    for x in [0.0, *anywhere, *edges(eps, D, law.gamma)]:
        check_line(law, oracle, x)
        check_line(law, oracle, -x)


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("D", [1.0, 0.1, 3.7e5, 1e-100])
def test_laplace(eps, D):
    for x in [0.0, *(D * f / eps for f in (1e-9, 0.01, 0.3, 1.1, 17.3, 333.3, 699.9))]:
        check_line(sn.Laplace(eps, D), LaplaceOracle(eps, D), x)
        check_line(sn.Laplace(eps, D), LaplaceOracle(eps, D), -x)


PROBABILITIES = [5e-324, 1e-310, 1e-300, 1e-100, 1e-17, 1e-6, 0.05, 0.3, 0.49999, 0.5]


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("D", [1.0, 0.1, 3.7e5])
@pytest.mark.parametrize("gamma", [None, "l1", "l2", 0.3, 1.0])
def test_quantiles(eps, D, gamma):
    if gamma is None:
        law, oracle = sn.Laplace(eps, D), LaplaceOracle(eps, D)
    else:
        law = sn.Staircase(eps, D, gamma)
        oracle = StairOracle(eps, D, Fraction(law.gamma) * Fraction(D))
    for s in PROBABILITIES:
        exact = oracle.inverse(s)
        assert close(law.isf(s), exact)
        assert close(law.ppf(s), -exact)
        if s > 2**-1022:
            assert close(law.error_bound(2 * s), exact)
    for u in (0.7, 0.999, 1 - 2.0**-53):
        assert close(law.ppf(u), oracle.inverse(1 - u))
        assert close(law.isf(u), -oracle.inverse(1 - u))


def check_lattice(law, oracle, i):
    """All functions of a discrete law at the integer i."""
    pmf = oracle.density(abs(i))
    outside = oracle.survival(abs(i) + Fraction(1, 2)) if i >= 0 else oracle.survival(abs(i) - Fraction(1, 2))
    lower, upper = (1 - outside, outside) if i >= 0 else (outside, 1 - outside)
    assert close(law.pmf(i), pmf)
    assert close(law.logpmf(i), mp.log(pmf)) or abs(law.logpmf(i) - mp.log(pmf)) < 1e-15
    assert close(law.cdf(i), lower)
    assert close(law.sf(i), upper)
    assert close(law.logcdf(i), mp.log(lower))
    assert close(law.logsf(i), mp.log(upper))
    assert law.cdf(i + 0.5) == law.cdf(i) or abs(i) > 2**51


@pytest.mark.parametrize("eps", EPS[1:])
@pytest.mark.parametrize("D", [1, 2, 7, 1000, 10**6])
@pytest.mark.parametrize("r", ["l1", "l2", 1, "sensitivity"])
def test_discrete_staircase(eps, D, r):
    law = sn.DiscreteStaircase(eps, D, D if r == "sensitivity" else r)
    oracle = StairOracle(eps, D, law.r - Fraction(1, 2))
    last = int(700 / eps)
    starts = [law.r + m * D for m in (0, 1, 2, last // 2, last)]
    for i in [0, 1, 2, *(int(D * f / eps) for f in (0.3, 1.1, 17.3, 333.3)), *starts, *(s - 1 for s in starts)]:
        check_lattice(law, oracle, i)
        check_lattice(law, oracle, -i)


@pytest.mark.parametrize("eps", EPS[1:])
@pytest.mark.parametrize("D", [1, 3, 1000])
def test_discrete_laplace(eps, D):
    law = sn.DiscreteLaplace(eps, D)
    oracle = StairOracle(mp.mpf(eps) / D, 1, Fraction(1, 2))
    for i in (0, 1, 2, *(int(D * f / eps) for f in (0.3, 1.1, 17.3, 333.3, 700))):
        check_lattice(law, oracle, i)
        check_lattice(law, oracle, -i)


@pytest.mark.parametrize("law", [sn.DiscreteLaplace(0.3), sn.Laplace(0.3), sn.Staircase(1), sn.DiscreteStaircase(1, 5)])
def test_a_nan_leaves_the_other_elements_alone(law):
    """Evidence: equality with each element alone. One bound serves a block of quantiles, and NaN is no bound."""
    points = {
        "ppf": [0.0, 1e-310, 0.2, 1.0],
        "isf": [0.0, 1e-310, 0.2, 1.0],
        "logcdf": [-math.inf, -900.0, 3.0],
        "logsf": [-math.inf, 900.0],
    }
    for name, x in points.items():
        function = getattr(law, name)
        together = function(np.array([*x, math.nan]))
        assert together[:-1].tolist() == [function(value) for value in x], name
        assert np.isnan(together[-1])


@pytest.mark.parametrize("moments", [None, 1, 1.5, ["m"], [[]], np.array(["m", "v"]), b"m"])
def test_stats_are_asked_for_by_a_string(moments):
    with pytest.raises(sn.ParameterTypeError, match=r'^moments must be letters out of "mvsk", got '):
        sn.Laplace(1.0).stats(moments)


@pytest.mark.parametrize("law", [sn.Staircase, sn.DiscreteStaircase, sn.Laplace, sn.DiscreteLaplace])
@pytest.mark.parametrize("eps", [700.0, 1e300, np.finfo(float).max])
def test_entropy_of_the_largest_eps(law, eps):
    """Of the largest eps only the centre is left: Shannon's entropy is 0 there, the staircase's the logarithm of its width."""
    entropy = law(eps).entropy()
    assert not math.isnan(entropy)
    if law in (sn.DiscreteStaircase, sn.DiscreteLaplace):
        assert entropy == pytest.approx(0.0, abs=1e-290)
