"""Moments and bounds against mpmath: other formulas, other precision, extreme parameters."""

import inspect
import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.combinations import looped, pairs

EPS = [2.0**-38, 1e-8, 1e-3, 0.1, 1.0, 4.0, 10.0, 36.0, 100.0, 355.0, 700.0]
SENSITIVITY = [1, 2, 3, 10, 1000, 10**6]
TOLERANCE = 1e-12


@pytest.fixture(autouse=True)
def _sixty_digits():
    with mp.workdps(60):
        yield


def close(value, exact):
    """Compare relative to the exact value, with the smallest normal float64 as a floor."""
    return abs(mp.mpf(value) - exact) <= TOLERANCE * abs(exact) + mp.mpf(2) ** -1022


def odds(eps):
    return 1 / mp.expm1(mp.mpf(eps))


def fits(eps, sensitivity):
    return sensitivity + sensitivity / eps <= 2**54


# The closed forms below cancel digits, and 60 digits are enough.


def lattice_moment(p, eps, D, r):
    c = odds(eps)
    t = 2 * r - 1 + 2 * D * c
    if p == 1:
        return (t + ((D / mp.sinh(mp.mpf(eps) / 2)) ** 2 - 1) / t) / 4
    return (t**2 - 1) / 12 + D**2 * c * (1 + c) + 2 * D**3 * c * (1 + c) * (1 + 2 * c) / (3 * t)


def staircase_moment(p, eps, D, gamma):
    c, D, gamma = odds(eps), mp.mpf(D), mp.mpf(gamma)
    t = 2 * D * (gamma + c)
    if p == 1:
        return t / 4 + D**2 * c * (1 + c) / t
    return t**2 / 12 + D**2 * c * (1 + c) + 2 * D**3 * c * (1 + c) * (1 + 2 * c) / (3 * t)


def optimal_gamma(cost, eps):
    b = mp.exp(-mp.mpf(eps))
    if cost == "l1":
        return 1 / (1 + mp.exp(mp.mpf(eps) / 2))
    return ((b * (1 + b) / 2) ** (mp.mpf(1) / 3) - b) / (1 - b)


@looped("eps", EPS)
@looped("cost", ["l1", "l2"])
def test_optimal_gamma(eps, cost):
    with mp.workdps(400):
        assert close(sn.Staircase(eps, 1, cost).gamma, optimal_gamma(cost, eps))


@looped(("eps", "gamma", "sensitivity", "p"), pairs(EPS, ["l1", "l2", 1.0, 0.5, 0.01, 1e-6], [1, 0.1, 1e-100, 1e100], [1, 2]))
def test_staircase_moments(eps, sensitivity, gamma, p):
    d = sn.Staircase(eps, sensitivity, gamma)
    assert close(d.abs_moment(p), staircase_moment(p, eps, sensitivity, d.gamma))


@pytest.mark.parametrize(("eps", "sensitivity", "r", "p"), pairs(EPS, SENSITIVITY, ["l1", "l2", 1, "sensitivity"], [1, 2]))
def test_discrete_staircase_moments(eps, sensitivity, r, p):
    if not fits(eps, sensitivity):
        pytest.skip("beyond 64-bit integers")
    d = sn.DiscreteStaircase(eps, sensitivity, sensitivity if r == "sensitivity" else r)
    with mp.workdps(700):
        assert close(d.abs_moment(p), lattice_moment(p, eps, sensitivity, d.r))


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("sensitivity", SENSITIVITY)
def test_discrete_laplace_moments(eps, sensitivity):
    if not fits(eps, sensitivity):
        pytest.skip("beyond 64-bit integers")
    d = sn.DiscreteLaplace(eps, sensitivity)
    b = mp.exp(-mp.mpf(eps) / sensitivity)
    assert close(d.abs_moment(1), 2 * b / (1 - b**2))
    assert close(d.var(), 2 * b / (1 - b) ** 2)


@pytest.mark.parametrize("eps", EPS)
def test_laplace_moments(eps):
    for p in range(17):
        assert close(sn.Laplace(eps, 2.5).abs_moment(p), mp.factorial(p) * (mp.mpf(2.5) / mp.mpf(eps)) ** p)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize(("eps", "D", "r"), [(0.3, 1, 1), (0.5, 7, 3), (2.0, 5, 5), (9.0, 30, 1)])
def test_lattice_moments_by_summing_the_pmf(p, eps, D, r):
    exact = sum(2 * i**p * pmf(i, eps, D, r) for i in range(1, int(150 * D / eps)))
    assert close(sn.DiscreteStaircase(eps, D, r).abs_moment(p), exact)


def pmf(i, eps, D, r):
    stair = 0 if abs(i) < r else (abs(i) - r) // D + 1
    return mp.exp(-mp.mpf(eps) * stair) / (2 * r - 1 + 2 * D * odds(eps))


@looped("p", [1, 2, 3, 4, 7, 16])
@looped(("eps", "gamma"), [(0.3, 0.5), (1.0, 0.125), (2.0, 1.0), (9.0, 0.01)])
def test_staircase_moments_by_integrating_the_density(p, eps, gamma):
    D, gamma_exact = mp.mpf(2.5), mp.mpf(gamma)
    height = 1 / (2 * D * (gamma_exact + odds(eps)))
    edges = [mp.mpf(0), *(D * (gamma_exact + m) for m in range(int(150 / eps)))]
    exact = sum(
        2 * height * mp.exp(-mp.mpf(eps) * m) * (right ** (p + 1) - left ** (p + 1)) / (p + 1)
        for m, (left, right) in enumerate(pairwise(edges))
    )
    assert close(sn.Staircase(eps, 2.5, gamma).abs_moment(p), exact)


ALPHAS = [1.0, 0.999, 0.5, 0.1, 0.05, 1e-3, 1e-12, 1e-300]


def lattice_survival(t, eps, D, r):
    """Return P(|X| > t)."""
    j = t + 1
    stair = 0 if j < r else (j - r) // D + 1
    height = r + stair * D - j + D * odds(eps)
    return 2 * mp.exp(-mp.mpf(eps) * stair) * height / (2 * r - 1 + 2 * D * odds(eps))


@looped(("eps", "sensitivity", "r"), pairs([1e-6, *EPS[2:]], SENSITIVITY, ["l1", "l2", 1, "sensitivity"]))
def test_discrete_staircase_error_bound(eps, sensitivity, r):
    d = sn.DiscreteStaircase(eps, sensitivity, sensitivity if r == "sensitivity" else r)
    for alpha in ALPHAS:
        t = d._tail_bound(alpha)
        assert type(t) is int
        assert lattice_survival(t, eps, sensitivity, d.r) <= alpha * (1 + TOLERANCE)
        if t:
            assert lattice_survival(t - 1, eps, sensitivity, d.r) > alpha * (1 - TOLERANCE)


@looped("eps", EPS)
@looped("sensitivity", [1, 10])
def test_discrete_laplace_error_bound(eps, sensitivity):
    d = sn.DiscreteLaplace(eps, sensitivity)
    per_integer = mp.mpf(eps) / sensitivity
    for alpha in ALPHAS:
        t = d._tail_bound(alpha)
        survival = [2 * mp.exp(-per_integer * (t + i)) / (1 + mp.exp(-per_integer)) for i in (1, 0)]
        assert survival[0] <= alpha * (1 + TOLERANCE)
        assert t == 0 or survival[1] > alpha * (1 - TOLERANCE)


@looped("eps", EPS)
@looped("gamma", ["l1", "l2", 1.0, 0.5, 1e-6])
def test_staircase_error_bound(eps, gamma):
    d = sn.Staircase(eps, 2.5, gamma)
    c, g = odds(eps), mp.mpf(d.gamma)

    def survival(x):
        stair = 0 if x < g else mp.floor(x - g) + 1
        return mp.exp(-mp.mpf(eps) * stair) * (stair + g - x + c) / (g + c)

    for alpha in ALPHAS:
        x = mp.mpf(d._tail_bound(alpha)) / mp.mpf(2.5)
        assert survival(x * (1 + mp.mpf(TOLERANCE))) <= alpha
        assert survival(x * (1 - mp.mpf(TOLERANCE))) >= alpha


def test_laplace_error_bound():
    d = sn.Laplace(0.5, 3.0)
    for alpha in ALPHAS:
        assert close(d._tail_bound(alpha), -mp.log(mp.mpf(alpha)) * 6)


@pytest.mark.parametrize("eps", [745.0, 1000.0, 1400.0, 1e4, 1e300])
def test_beyond_700_nothing_breaks(eps):
    """The noise vanishes; formulas in exp(eps) would give nan or the wrong order."""
    for cost in ("l1", "l2"):
        d = sn.Staircase(eps, 1.0, cost)
        assert 0 < d.gamma < 1e-100
        for p, m in ((1, d.abs_moment(1)), (2, d.var())):
            if eps <= 1400:
                assert close(m, staircase_moment(p, eps, 1.0, d.gamma))
            assert 0 <= m < 1e-100
        assert 0 <= d.error_bound(0.95) < 1e-100
    assert sn.DiscreteStaircase(eps, 5).var() == pytest.approx(0, abs=1e-300)
    assert sn.DiscreteStaircase(eps, 5).error_bound(0.95) == 0
    assert sn.DiscreteLaplace(eps).abs_moment(1) == pytest.approx(0, abs=1e-300)


MECHANISMS = [sn.Staircase(2, 3.0), sn.DiscreteStaircase(2, 3), sn.Laplace(2, 3.0), sn.DiscreteLaplace(2)]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_small_print(mechanism):
    assert mechanism.mean() == 0.0
    assert mechanism.abs_moment(0) == 1.0
    assert mechanism.std() == math.sqrt(mechanism.var())
    assert mechanism.var() == mechanism.abs_moment(2)
    assert mechanism._tail_bound(1.0) == 0
    for value in (mechanism.mean(), mechanism.var(), mechanism.std(), mechanism.abs_moment(np.int8(4))):
        assert type(value) is float


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_sample_agrees_with_the_moments(mechanism):
    """Fixed seed; each z is within 5 with probability 1 - 6e-7."""
    n = 200_000
    x = np.abs(mechanism.sample(n, rng=sn.SeededRng(77)).astype(float))
    for p in (1, 2):
        deviation = (x**p).mean() - mechanism.abs_moment(p)
        error = math.sqrt((mechanism.abs_moment(2 * p) - mechanism.abs_moment(p) ** 2) / n)
        assert abs(deviation) < 5 * error
    beyond = (x > mechanism.error_bound(0.95)).mean()
    assert beyond < 0.05 + 5 * math.sqrt(0.05 * 0.95 / n)


def test_array_parameters():
    eps, sensitivity = np.array([0.5, 1, 2]), np.array([[1.0], [5.0]])
    for mechanism in (sn.Staircase, sn.DiscreteStaircase, sn.Laplace, sn.DiscreteLaplace):
        d = mechanism(eps, sensitivity)
        for method, arguments in [
            ("mean", ()), ("var", ()), ("std", ()), ("abs_moment", (3,)), ("abs_moment", (0,)),
            ("error_bound", (0.9,)), ("error_bound", (np.full((2, 1), 0.9),)),
        ]:  # fmt: skip
            values = getattr(d, method)(*arguments)
            assert values.shape == (2, 3)
            for i, j in np.ndindex(2, 3):
                one = mechanism(eps[j], sensitivity[i, 0])
                scalars = [0.9] if method == "error_bound" else arguments
                assert values[i, j] == pytest.approx(getattr(one, method)(*scalars), rel=1e-14)


def test_gamma_for_arrays_is_that_for_scalars():
    eps = np.array([0.5, 8.0])
    for cost in ("l1", "l2"):
        expected = [sn.Staircase(e, 1, cost).gamma for e in eps]
        assert sn.Staircase(eps, 1, cost).gamma.tolist() == expected


@pytest.mark.parametrize("p", [-1, -2.5, 64.5, 65, float("nan"), float("inf")])
def test_power_out_of_range(p):
    with pytest.raises(sn.ParameterError) as caught:
        sn.Laplace(1).abs_moment(p)
    assert str(caught.value) == f"p must be greater than -1 and at most 64, got {p}"


def test_power_is_one_number():
    with pytest.raises(sn.ParameterError, match="p must be a single number, got an array"):
        sn.Laplace(1).abs_moment([1, 2])


@pytest.mark.parametrize("p", [True, "1", None])
def test_power_of_the_wrong_type(p):
    with pytest.raises(sn.ParameterTypeError) as caught:
        sn.Laplace(1).abs_moment(p)
    assert str(caught.value) == f"p must be a real number or an array of real numbers, got {p!r}"


@pytest.mark.parametrize(
    "mechanism", [sn.Staircase(2), sn.Laplace(2), sn.DiscreteStaircase(2, 9), sn.DiscreteLaplace(0.2)], ids=repr
)
def test_real_powers_meet_the_closed_forms_of_whole_ones(mechanism):
    for p in range(1, 17):
        around = math.sqrt(mechanism.abs_moment(p - 1e-6) * mechanism.abs_moment(p + 1e-6))
        assert mechanism.abs_moment(p) == pytest.approx(around, rel=1e-9)
        assert mechanism.abs_moment(float(p)) == mechanism.abs_moment(p)
    assert mechanism.abs_moment(-0.5) == (
        math.inf if "Discrete" in repr(mechanism) else pytest.approx(mechanism.abs_moment(-0.5 + 1e-12))
    )


@pytest.mark.parametrize("p", [16, 15.5])
def test_a_moment_whose_power_of_the_sensitivity_overflows(p):
    mechanism = sn.Staircase(700, 1e20)
    with mp.workdps(400):
        eps, D, gamma = mp.mpf(700), mp.mpf(1e20), mp.mpf(mechanism.gamma)
        height = 1 / (2 * D * (gamma + odds(eps)))
        edges = [mp.mpf(0), *(D * (gamma + m) for m in range(4))]
        integrals = (mp.exp(-eps * m) * (b ** (p + 1) - a ** (p + 1)) for m, (a, b) in enumerate(pairwise(edges)))
        assert close(mechanism.abs_moment(p), 2 * height * sum(integrals) / (p + 1))


@pytest.mark.parametrize(
    ("confidence", "said"),
    [
        *[(0, "from 0.5 to 1, got 0.0"), (-0.1, "from 0.5 to 1, got -0.1"), (1.5, "from 0.5 to 1, got 1.5")],
        *[(1, "less than 1, got 1.0"), (math.nan, "from 0.5 to 1, got nan"), ([0.5, 200.0], "from 0.5 to 1, got 200.0")],
        *[(0.05, "from 0.5 to 1, got 0.05; did you mean 0.95?"), (0.07, "from 0.5 to 1, got 0.07; did you mean 0.93?")],
        *[(99.9, "from 0.5 to 1, got 99.9; did you mean 0.999?"), ([0.5, 0.01], "from 0.5 to 1, got 0.01; did you mean 0.99?")],
    ],
)
def test_confidence_out_of_range(confidence, said):
    with pytest.raises(sn.ParameterError) as caught:
        sn.Laplace(1).error_bound(confidence)
    assert str(caught.value) == f"confidence must be {said}"


def test_every_bound_and_interval_has_one_confidence():
    """Every signature names it `confidence` and has the same default; only `interval` has SciPy's range."""
    for row in ROWS:
        kind = row.load()
        for name in ("error_bound", "eps_for_error", "confidence_interval"):
            if hasattr(kind, name):
                assert inspect.signature(getattr(kind, name)).parameters["confidence"].default == 0.95
    assert sn.Laplace(1).error_bound() == sn.Laplace(1).error_bound(confidence=0.95)
    assert sn.Laplace(1).interval(0.05) == pytest.approx((-0.0513, 0.0513), rel=1e-3)


def test_confidence_must_broadcast():
    with pytest.raises(sn.ParameterError, match="confidence and parameters must have shapes that"):
        sn.Laplace([1.0, 2.0]).error_bound([0.7, 0.8, 0.9])


def test_moments_overflow_to_infinity_without_a_warning():
    assert sn.Laplace(1e-3, 1e100).abs_moment(16) == math.inf
    assert sn.Staircase(1e-3, 1e100).abs_moment(16) == math.inf
