"""E|X|**p for real p: against mpmath, the closed forms, and densities summed step by step."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from stairnoise.distributions import moments
from stairnoise.distributions import real_moments as fractional
from tests.combinations import in_turn, rest_long

FILE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "values.json"
TOLERANCE = 1e-12
EPS = [2.0**-40, 1e-8, 1e-3, 0.3, 1.0, 1.999, 2.0, 5.0, 36.0, 100.0, 700.0]
POWERS = [-0.999, -0.5, 0.001, 0.5, 1.5, 3.5, 7.25, 16.0]


@pytest.fixture(autouse=True)
def _thirty_digits():
    with mp.workdps(30):
        yield


def close(value, exact):
    """Compare relative to the exact value, with the smallest normal float64 as a floor."""
    return abs(mp.mpf(float(value)) - exact) <= TOLERANCE * abs(exact) + mp.mpf(2) ** -1022


def lerch(eps, s, x):
    """Return Phi(b, -s, x) by its sum if that is short, otherwise by its expansion in Hurwitz zeta functions."""
    eps, s, x = mp.mpf(eps), mp.mpf(s), mp.mpf(x)
    if eps >= 0.25:
        return mp.fsum(mp.exp(-eps * m) * (m + x) ** s for m in range(int((70 + 7 * s) / eps) + 3))
    orders = int(26 / -math.log10(eps / 6.28)) + 2
    series = mp.fsum(mp.zeta(-s - n, x) * (-eps) ** n / mp.factorial(n) for n in range(orders))
    return mp.exp(eps * x) * (mp.gamma(s + 1) * eps ** (-s - 1) + series)


def staircase(p, eps, D, gamma):
    p, b, c = mp.mpf(p), mp.exp(-mp.mpf(eps)), 1 / mp.expm1(mp.mpf(eps))
    return mp.mpf(D) ** p * (1 - b) * lerch(eps, p + 1, gamma) / ((p + 1) * (mp.mpf(gamma) + c))


def lattice(p, eps, D, r):
    """Return the direct sum over the integers."""
    eps, c = mp.mpf(eps), 1 / mp.expm1(mp.mpf(eps))
    reach = int((75 + 8 * p) * D / float(eps)) + 2 * D + 40
    weights = [mp.exp(-eps * m) for m in range(reach // D + 3)]
    total = mp.fsum(weights[0 if i < r else (i - r) // D + 1] * mp.mpf(i) ** p for i in range(1, reach))
    return 2 * total / (2 * r - 1 + 2 * D * c)


@pytest.mark.parametrize("eps", rest_long(EPS[::2], EPS))
@pytest.mark.parametrize("gamma", [1e-8, 0.1, 1.0])
def test_staircase(eps, gamma):
    """Compared with the formula in Lerch's transcendent, from its definition or its zeta expansion, in 30 digits."""
    together = fractional.staircase_abs_moment(np.array(POWERS), eps, 2.5, gamma)
    for p, value in zip(POWERS, together, strict=True):
        exact = staircase(p, eps, 2.5, gamma)
        alone = fractional.staircase_abs_moment(p, eps, 2.5, gamma)  # fewer terms than for larger powers
        for number in (value, alone):
            assert close(number, exact) or (math.isinf(number) and exact > mp.mpf(2) ** 1023)


SUMMED = [(0.1, 1, 1), (0.3, 7, 3), (1.999, 40, 17), (2.0, 40, 17), (2.0, 17, 16), (0.5, 50, 50), (9.0, 100, 1), (700.0, 30, 2)]
ORDERS = (0.001, 0.5, 1.5, 3.5, 16.0)


@pytest.mark.parametrize(("parameters", "p"), rest_long(in_turn(SUMMED, ORDERS), product(SUMMED, ORDERS)))
def test_lattice_by_direct_summation(parameters, p):
    """Compared with the sum over all integers that matter, in 30 digits."""
    assert close(fractional.lattice_abs_moment(p, *parameters), lattice(p, *parameters))


@pytest.mark.parametrize("eps", rest_long(EPS[::2], EPS))
@pytest.mark.parametrize("D", [1, 2, 16, 17, 1000, 2**40, 2**53])
def test_integer_orders_agree_with_the_closed_forms(eps, D):
    """The package has two formulas of different derivation: difference tables for integers, Euler-Maclaurin here."""
    for p in (1, 2, 3, 7, 16):
        for r in sorted({1, 2, (D + 1) // 2, D} & set(range(1, 3)) | {max(1, D // 2), D}):
            closed = float(moments.lattice_abs_moment(p, eps, float(D), float(r)))
            if math.isfinite(closed) and closed > 1e-290:
                assert float(fractional.lattice_abs_moment(p, eps, D, r)) == pytest.approx(closed, rel=TOLERANCE, abs=0)


@pytest.mark.parametrize("eps", EPS)
def test_integer_orders_of_densities_agree_with_the_closed_forms(eps):
    """The same for mechanisms of real numbers."""
    for p in range(1, 17):
        for gamma in (1e-3, 0.5, 1.0):
            closed = float(moments.staircase_abs_moment(p, eps, 3.0, gamma))
            assert float(fractional.staircase_abs_moment(p, eps, 3.0, gamma)) == pytest.approx(closed, rel=TOLERANCE, abs=0)
        closed = float(moments.laplace_abs_moment(p, eps, 3.0))
        assert float(fractional.laplace_abs_moment(p, eps, 3.0)) == pytest.approx(closed, rel=TOLERANCE, abs=0)


@pytest.mark.parametrize("p", [*POWERS, 40.5])
def test_laplace(p):
    """Against mpmath's gamma function."""
    exact = mp.gamma(mp.mpf(p) + 1) * (mp.mpf(3) / mp.mpf(0.7)) ** mp.mpf(p)
    assert close(fractional.laplace_abs_moment(p, 0.7, 3.0), exact)


@pytest.mark.parametrize("eps", [0.01, 0.5, 1.0, 3.0, 40.0])
def test_the_lattice_mechanism_is_the_continuous_mechanism_rounded(eps):
    """On a fine lattice (D = 10**7), the two mechanisms agree to O(1/D**2)."""
    D, r = 10**7, 2 * 10**6 + 1
    lattice_moment = fractional.lattice_abs_moment(2.5, eps, D, r)
    assert float(lattice_moment) == pytest.approx(float(fractional.staircase_abs_moment(2.5, eps, D, (r - 0.5) / D)), rel=1e-11)


def test_order_zero_is_one_and_negative_orders_of_a_lattice_are_infinite():
    """The reason is P(X = 0) > 0 on a lattice."""
    assert fractional.staircase_abs_moment(0, [0.1, 5], 3, 0.2).tolist() == [1, 1]
    assert fractional.lattice_abs_moment(0.0, [0.1, 5], 3, 2).tolist() == [1, 1]
    assert fractional.lattice_abs_moment([-0.5, -1e-9], 1, 3, 2).tolist() == [math.inf, math.inf]


def test_arguments_broadcast():
    """An array's elements equal the scalars' results; the array is longer than one chunk."""
    p, eps, D = np.array([-0.5, 0.5, 3.0])[:, None, None], np.geomspace(1e-6, 50, 400)[:, None], np.array([1.0, 7.0])
    many = fractional.staircase_abs_moment(p, eps, D, 0.3)
    assert many.shape == (3, 400, 2)
    for index in [(0, 0, 0), (1, 150, 1), (2, 399, 0)]:
        one = fractional.staircase_abs_moment(p[index[0], 0, 0], eps[index[1], 0], D[index[2]], 0.3)
        assert many[index] == pytest.approx(float(one), rel=1e-13)
    assert fractional.lattice_abs_moment(p, eps, D, 1).shape == (3, 400, 2)


@pytest.mark.parametrize("eps", [800.0, 1400.0, 1e5])
def test_beyond_700_nothing_breaks(eps):
    """The noise vanishes; products of exp(eps) and exp(-eps) would give nan."""
    for gamma in (2.0**-1022, 1e-100, 1.0):
        assert float(fractional.staircase_abs_moment(0.5, eps, 1.0, gamma)) == pytest.approx(
            float(
                mp.mpf(gamma) ** 1.5 / (mp.mpf(gamma) + mp.exp(-eps)) / 1.5 + mp.exp(-eps) / (mp.mpf(gamma) + mp.exp(-eps)) / 1.5
            ),
            rel=1e-9,
        )
    assert 0 <= float(fractional.lattice_abs_moment(0.5, eps, 5, 1)) < 1e-300


def _reference():
    if not FILE.is_file():
        return []
    values = json.loads(FILE.read_text(encoding="utf-8"))["values"]
    return [v for v in values if v["group"] == "cs_moment" and v["quantity"] == "E|X|^p"]


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
@pytest.mark.parametrize("entry", _reference(), ids=lambda entry: entry["id"])
def test_reference_value(entry):
    """Compared with 30 digits computed elsewhere."""
    p, eps, D, gamma = (float(Fraction(str(entry["params"][name]))) for name in ("p", "eps", "D", "gamma"))
    exact = Fraction(entry["value"])
    assert abs(Fraction(float(fractional.staircase_abs_moment(p, eps, D, gamma))) - exact) <= TOLERANCE * exact


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
def test_the_file_has_moments_of_fractional_order():
    assert {entry["params"]["p"] for entry in _reference()} >= {"0.5", "1.5", "2.5"}
