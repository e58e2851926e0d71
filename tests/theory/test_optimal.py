"""The optimal staircase: equations in higher precision, brute force, limits from the paper, and refusals."""

import doctest
import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise import optimal
from stairnoise import optimal as so
from stairnoise.mechanisms.staircase import cost as cost_function
from stairnoise.mechanisms.staircase import power_cost
from tests.combinations import in_turn, looped, rest_long

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT.parent / "shared" / "reference" / "values.json"
EPS = [2.0**-40, 1e-8, 1e-3, 0.1, 1.0, 1.999, 2.0, 4.0, 10.0, 36.0, 100.0, 355.0, 700.0]


# ---------------------------------------------------------------- independent formulas, high precision


def lerch(eps, s, x):
    return mp.fsum(mp.exp(-eps * m) * (m + x) ** s for m in range(int((70 + 7 * s) / eps) + 3))


def staircase_cost(p, eps, gamma):
    eps, p = mp.mpf(eps), mp.mpf(p)
    return -mp.expm1(-eps) * lerch(eps, p + 1, gamma) / ((p + 1) * (gamma + 1 / mp.expm1(eps)))


def lattice_costs(cost, eps, D):
    """Return expected costs for r = 1 ... D as sums over probabilities, in mpmath's working precision."""
    eps = mp.mpf(eps)
    stairs = int(110 / eps) + 3
    values = [cost(i) for i in range((stairs + 2) * D)]
    prefix = [values[0] / mp.mpf(2)]  # each side gets half of 0
    for value in values[1:]:
        prefix.append(prefix[-1] + value)
    weights = [mp.exp(-eps * m) for m in range(stairs)]
    c = 1 / mp.expm1(eps)
    means = []
    for r in range(1, D + 1):
        total = prefix[r - 1]
        for m in range(1, stairs):
            total += weights[m] * (prefix[r - 1 + m * D] - prefix[r - 1 + (m - 1) * D])
        means.append(2 * total / (2 * r - 1 + 2 * D * c))
    return means


# ---------------------------------------------------------------- optimal_gamma


@pytest.mark.parametrize("eps", EPS)
def test_closed_forms(eps):
    """Compared with the textbook formulas in 400 digits, enough for their cancellation."""
    with mp.workdps(400):
        b = mp.exp(-mp.mpf(eps))
        first = 1 / (1 + mp.exp(mp.mpf(eps) / 2))
        second = (mp.cbrt(b * (1 + b) / 2) - b) / (1 - b)
        for cost, exact in (("l1", first), ("l2", second), (1, first), (2.0, second)):
            assert abs(so.optimal_gamma(eps, cost) - exact) <= 1e-12 * exact


def test_the_equation_for_p_has_the_closed_forms_as_roots():
    """The root finder agrees with the closed forms, of another derivation, over all eps."""
    eps = np.concatenate([2.0 ** np.arange(-40, 9, 0.37), np.nextafter(2.0, [0, 4])])
    for p, cost in ((1.0, "l1"), (2.0, "l2")):
        np.testing.assert_allclose(power_cost.gamma_power(p, eps), so.optimal_gamma(eps, cost), rtol=1e-13)


@pytest.mark.slow
@looped("p", [2.0**-10, 0.1, 0.5, 1.5, 3.0, 8.0, 30.0, 64.0])
@looped("eps", [0.25, 1.0, 1.999, 2.0, 3.0, 10.0, 60.0, 700.0])
def test_stationarity(p, eps):
    """The equation of the docstring, summed in mpmath, changes sign within 1e-12/p of the answer."""
    tolerance = mp.mpf(1e-12 / min(p, 1.0))
    with mp.workdps(60):

        def equation(gamma):
            c = 1 / mp.expm1(mp.mpf(eps))
            return (p + 1) * (gamma + c) * lerch(mp.mpf(eps), mp.mpf(p), gamma) - lerch(mp.mpf(eps), mp.mpf(p) + 1, gamma)

        gamma = mp.mpf(so.optimal_gamma(eps, p))
        assert equation(gamma * (1 - tolerance)) < 0 < equation(gamma * (1 + tolerance))


@pytest.mark.slow
def test_stationarity_at_small_eps():
    """The root near 1/2 - eps/12 at tiny eps, by the zeta expansion of Lerch's function in 60 digits."""
    with mp.workdps(60):
        for p, eps in ((0.5, 1e-3), (3.0, 1e-3), (0.5, 2.0**-40), (7.5, 2.0**-40)):
            e, q = mp.mpf(eps), mp.mpf(p)

            def phi(s, x, e=e):
                series = mp.fsum(mp.zeta(-s - n, x) * (-e) ** n / mp.factorial(n) for n in range(8))
                return mp.exp(e * x) * (mp.gamma(s + 1) * e ** (-s - 1) + series)

            def equation(x, e=e, q=q, phi=phi):
                return (q + 1) * (x + 1 / mp.expm1(e)) * phi(q, x) - phi(q + 1, x)

            gamma = mp.mpf(so.optimal_gamma(eps, p))
            assert equation(gamma - mp.mpf(1e-13)) < 0 < equation(gamma + mp.mpf(1e-13))


ORDERS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.5)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "eps"), rest_long(in_turn(ORDERS, (0.5, 2.0, 8.0)), product(ORDERS, (0.5, 2.0, 8.0))))
def test_no_gamma_on_a_grid_is_better(p, eps):
    """Global optimality by brute force: expected costs from mpmath, 60 shapes from 1e-6 to 1."""
    with mp.workdps(30):
        best = staircase_cost(p, eps, mp.mpf(so.optimal_gamma(eps, p)))
        grid = np.concatenate([np.linspace(0.025, 1, 40), np.geomspace(1e-6, 0.02, 20)])
        costs = [staircase_cost(p, eps, mp.mpf(gamma)) for gamma in grid]
        assert all(best <= cost for cost in costs)
        assert best < min(costs) or abs(best - min(costs)) < 1e-20


def test_order_and_monotony():
    """Known for p = 1 and 2: g2 > g1, and both fall from 1/2 to 0. The test sees this for p from 0.1 to 3 at 300 points."""
    eps = np.geomspace(1e-3, 300, 300)
    gamma = so.optimal_gamma(eps, np.array([[0.1], [0.5], [1], [2], [3]]))
    assert gamma.shape == (5, 300)
    assert np.all(np.diff(gamma, axis=1) < 0)
    assert np.all(np.diff(gamma[:4], axis=0) > 0)
    assert so.optimal_gamma(1e-9, "l1") == pytest.approx(0.5, abs=1e-9)
    assert so.optimal_gamma(1e-9, "l2") == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.5])
def test_large_eps_limits(p):
    """gamma ~ (b/p)**(1/(p+1)) and the minimum E|X|**p ~ D**p (b/p)**(p/(p+1)): for p = 1 and 2 corollaries 5 and 7."""
    eps = 120.0
    b = math.exp(-eps)
    assert so.optimal_gamma(eps, p) == pytest.approx((b / p) ** (1 / (p + 1)), rel=1e-10)
    assert so.optimal_cost(eps, 3.0, p) == pytest.approx(3.0**p * (b / p) ** (p / (p + 1)), rel=1e-10)


# ---------------------------------------------------------------- optimal_cost


@pytest.mark.parametrize("eps", EPS)
def test_least_costs(eps):
    """V1 and V2 from mpmath, by their textbook forms."""
    with mp.workdps(60):
        e, D = mp.mpf(eps), mp.mpf(2.5)
        b = mp.exp(-e)
        first = D / (2 * mp.sinh(e / 2))
        second = D**2 * (mp.mpf(2) ** (-mp.mpf(2) / 3) * mp.cbrt(b * (1 + b)) ** 2 + b) / (1 - b) ** 2
        assert abs(so.optimal_cost(eps, 2.5) - first) <= 1e-13 * first
        assert abs(so.optimal_cost(eps, 2.5, "l2") - second) <= 1e-13 * second


@pytest.mark.parametrize("cost", ["l1", "l2", 0.5, 3.0])
def test_the_least_cost_is_that_of_the_optimal_mechanism(cost):
    """The closed form agrees with the cost of the mechanism made with the optimal shape."""
    eps = np.array([1e-4, 0.3, 1.0, 3.0, 20.0])
    mechanism = sn.Staircase(eps, 2.5, so.optimal_gamma(eps, cost))
    np.testing.assert_allclose(so.optimal_cost(eps, 2.5, cost), so.expected_cost(mechanism, cost), rtol=1e-13)
    mechanism = sn.DiscreteStaircase(eps, 20, so.optimal_r(eps, 20, cost))
    least = so.optimal_cost(eps, 20, cost, mechanism="discrete_staircase")
    np.testing.assert_allclose(least, so.expected_cost(mechanism, cost), rtol=1e-13)


def test_small_eps_limits():
    """Laplace noise exceeds the optimum by D eps/24 in E|X| and D**2/12 in E X**2 (theorem 8), with the next terms."""
    D = 3.0
    for eps in (1e-2, 1e-3):
        assert D / eps - so.optimal_cost(eps, D) == pytest.approx(D * eps / 24, rel=1e-4)
        excess = 2 * D**2 / eps**2 - so.optimal_cost(eps, D, "l2")
        assert excess == pytest.approx(D**2 * (1 / 12 - eps**2 / 720), rel=1e-5)


def test_gains_over_laplace_at_ten():
    """The paper states "about 15-fold and 23-fold"."""
    assert sn.Laplace(10).abs_moment(1) / so.optimal_cost(10) == pytest.approx(14.8406, abs=5e-5)
    assert sn.Laplace(10).var() / so.optimal_cost(10, 1.0, "l2") == pytest.approx(23.6069, abs=5e-5)


def test_beyond_700():
    """Results underflow to 0, and none is nan."""
    for eps in (746.0, 1e5, 1e300):
        for cost in ("l1", "l2", 0.5, 7.0):
            assert 0 < so.optimal_gamma(eps, cost) < 1e-35
            assert 0 <= so.optimal_cost(eps, 1.0, cost) < 1e-90
            assert so.optimal_r(eps, 2, cost) == 1


# ---------------------------------------------------------------- optimal_r


# mpmath is too slow for more terms.
SUMMED = [(eps, D) for eps, D in product((0.05, 0.5, 1.999, 2.0, 4.0, 9.0), (1, 2, 5, 10, 37, 120)) if D / eps <= 400]


@pytest.mark.slow
@pytest.mark.parametrize(("eps", "D"), rest_long([(eps, D) for eps, D in SUMMED if D <= 10 and D / eps <= 30], SUMMED))
def test_r_by_brute_force(eps, D):
    """Every r in 1..D, its expected cost summed in 40 digits: the smallest best one, no mismatch allowed."""
    with mp.workdps(40):
        for p in (0.5, 1, 2, 3, 4.5):
            costs = lattice_costs(lambda i, p=p: mp.mpf(i) ** p, eps, D)
            # Differences of 1e-30 are ties, because the sums end there.
            best = 1 + next(i for i, cost in enumerate(costs) if cost <= min(costs) * (1 + mp.mpf(10) ** -30))
            assert so.optimal_r(eps, D, p) == best
            if p in (1, 2):
                assert power_cost.r_power(float(p), eps, D) == best
                assert so.optimal_r(eps, D, f"l{p}") == best


@pytest.mark.slow
def test_r_of_wide_sensitivities():
    """The float64 search agrees with the extension's exact arithmetic for 2000 pairs per cost, D to 2**40."""
    rng = np.random.default_rng(7)
    eps = np.exp(rng.uniform(math.log(1e-3), math.log(60), 2000))
    D = np.floor(np.exp(rng.uniform(0, math.log(2.0**40), 2000)))
    for p, cost in ((1.0, "l1"), (2.0, "l2")):
        assert np.array_equal(power_cost.r_power(p, eps, D), so.optimal_r(eps, D, cost))


def test_r_when_the_guess_is_bad(monkeypatch):
    """The search by halving gives the same answers; no known case needs it."""
    eps, D = np.geomspace(0.01, 20, 60), np.tile([7.0, 300.0, 10.0**6], 20)
    expected = power_cost.r_power(3.0, eps, D)
    monkeypatch.setattr(power_cost, "_gamma", lambda p, eps: np.full_like(p, 0.9))
    assert np.array_equal(power_cost.r_power(3.0, eps, D), expected)


def test_r_ties_go_to_the_smaller():
    """D/(1 + exp(eps/2)) is never an integer for a float eps > 0; for functions ties are common."""
    assert so.optimal_r(1, 10, lambda x: 0 * x) == 1
    assert so.optimal_r(1, 10, lambda x: x > 3) == 4
    costs = [so.expected_cost(sn.DiscreteStaircase(1, 10, r), lambda x: x > 3) for r in range(1, 11)]
    assert min(costs) == pytest.approx(costs[3], rel=1e-15)


@pytest.mark.parametrize("D", [5, 10, 100, 1000])
def test_where_one_becomes_optimal(D):
    """For E X**2, r = 1 is optimal from about eps = ln(2 D**3/3); the exact point for D = 10 is 6.4513."""
    about = math.log(2 * D**3 / 3)
    assert so.optimal_r(about + 0.1, D, "l2") == 1
    assert so.optimal_r(about - 0.3, D, "l2") > 1
    assert [so.optimal_r(eps, 10, "l2") for eps in (6.45, 6.452)] == [2, 1]


# ---------------------------------------------------------------- functions


LEVELS, POWERS = (0.05, 0.5, 2.0, 4.0, 20.0, 700.0), (0.5, 1.0, 2.0, 3.5)


@pytest.mark.parametrize(("eps", "p"), rest_long(in_turn(LEVELS, POWERS), product(LEVELS, POWERS)))
def test_functions_that_are_powers(eps, p):
    """Quadrature agrees with the formulas for powers; they share only the code of the step weights."""
    if eps == 700 and p == 0.5:
        p = 0.75  # below this, gamma**p times b leaves float64's range
    assert so.optimal_gamma(eps, lambda x: x**p) == pytest.approx(so.optimal_gamma(eps, p), rel=1e-11, abs=0)
    least = so.optimal_cost(eps, 2.5, lambda x: 4 + x**p)
    assert least - 4 == pytest.approx(so.optimal_cost(eps, 2.5, p), rel=1e-12, abs=1e-14)
    if eps < 100:
        assert so.optimal_r(eps, 23, lambda x: x**p) == so.optimal_r(eps, 23, p)
        least = so.optimal_cost(eps, 23, p, mechanism="discrete_staircase")
        assert so.optimal_cost(eps, 23, lambda x: x**p, mechanism="discrete_staircase") == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("eps", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("t", [0.3, 1.7, 2.25])
def test_indicators(eps, t):
    """For cost 1 beyond t, the best step edge is at t, and the cost is 1 minus the known probability."""
    assert so.optimal_gamma(eps, lambda x: x > t) == pytest.approx(t % 1, rel=1e-14)
    mechanism = sn.Staircase(eps, 1.0, t % 1)
    c, k = 1 / math.expm1(eps), math.floor(t)
    exact = math.exp(-eps * (k + 1)) * (1 + c) / (t % 1 + c)  # probability of the steps beyond t
    assert so.expected_cost(mechanism, lambda x: x > t) == pytest.approx(exact, rel=1e-12)
    assert so.optimal_cost(eps, 1.0, lambda x: x > t) == pytest.approx(exact, rel=1e-12)
    assert so.optimal_gamma(eps, lambda x: x > 5 * t, sensitivity=5.0) == pytest.approx(t % 1, rel=1e-14)


@pytest.mark.slow
def test_all_shapes_equally_good():
    """P(|X| > k D) does not depend on gamma; nor does a constant."""
    assert so.optimal_gamma(3, lambda x: x > 2) == 1
    assert so.optimal_gamma(3, np.zeros_like) == 1
    assert so.optimal_cost(3, 1.0, lambda x: 0 * x - 7) == -7


def test_every_place_of_a_jump_is_seen():
    """The rule on a panel differs from the rule on its two parts for a jump at any of 2000 places."""
    nodes, weights = cost_function.lobatto()
    assert weights.sum() == pytest.approx(1, rel=1e-15)
    assert (weights * nodes**29).sum() == pytest.approx(1 / 30, rel=1e-14)
    at = np.linspace(0, 1, 2003)[1:-1, None]
    s = cost_function._SPLIT
    whole = (nodes > at) @ weights
    parts = s * ((s * nodes > at) @ weights) + (1 - s) * ((s + (1 - s) * nodes > at) @ weights)
    assert np.abs(whole - parts).min() > 0.0018


steps = st.lists(st.tuples(st.floats(0, 4), st.floats(0.01, 5)), min_size=1, max_size=3)


@pytest.mark.slow
@settings(max_examples=4, deadline=None, derandomize=True)
@given(eps=st.floats(0.3, 8), jumps=steps)
def test_step_costs_have_no_better_gamma(eps, jumps):
    """Brute force for costs with jumps: for such a cost E is monotone between the jumps' places, so those are the candidates."""
    c = 1 / math.expm1(eps)

    def cost(x):
        return sum(height * (x > at) for at, height in jumps)

    def exact(gamma):
        total = 0.0
        for at, height in jumps:
            J = 0 if at < gamma else math.floor(at - gamma) + 1
            total += height * math.exp(-eps * J) * (gamma + J - at + c) / (gamma + c)
        return total

    candidates = [1.0, *(at % 1 for at, _ in jumps if at % 1 > 1e-9)]
    found = so.optimal_gamma(eps, cost)
    assert exact(found) <= min(map(exact, candidates)) * (1 + 1e-12)
    assert so.optimal_cost(eps, 1.0, cost) == pytest.approx(min(map(exact, candidates)), rel=1e-11)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(eps=st.floats(0.2, 6), D=st.integers(1, 12), heights=st.lists(st.integers(0, 9), min_size=20, max_size=20))
def test_any_cost_of_integers_by_brute_force(eps, D, heights):
    """A random nondecreasing table: expected costs for all r by summing probabilities in mpmath."""
    table = np.cumsum(np.array(heights, float))

    def cost(x):
        return table[np.minimum(x, 19).astype(int)]

    with mp.workdps(30):
        costs = lattice_costs(lambda i: mp.mpf(table[min(i, 19)]), eps, D)
        r = so.optimal_r(eps, D, cost)
        assert costs[r - 1] <= min(costs) + abs(min(costs)) * mp.mpf(1e-13)
        assert r == 1 or costs[r - 2] > min(costs) or costs[r - 2] >= costs[r - 1] - abs(costs[r - 1]) * mp.mpf(1e-12)
        least = so.optimal_cost(eps, D, cost, mechanism="discrete_staircase")
        assert least == pytest.approx(float(min(costs)), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(
    "mechanism",
    [sn.Staircase(2, 3.0, 0.3), sn.Laplace(2, 3.0), sn.DiscreteStaircase(2, 30, 7), sn.DiscreteLaplace(2, 3)],
    ids=repr,
)
def test_expected_cost_of_every_mechanism(mechanism):
    """Costs as functions agree with powers, and powers agree with the mechanism's own integer moments."""
    assert so.expected_cost(mechanism, "l1") == mechanism.abs_moment(1)
    assert so.expected_cost(mechanism, 3) == pytest.approx(mechanism.abs_moment(3), rel=1e-13)
    assert so.expected_cost(mechanism, lambda x: x**2.5) == pytest.approx(so.expected_cost(mechanism, 2.5), rel=1e-12)
    assert so.expected_cost(mechanism, 0) == 1
    negative = so.expected_cost(mechanism, -0.5)
    assert negative == math.inf if isinstance(mechanism, (sn.DiscreteStaircase, sn.DiscreteLaplace)) else 0 < negative < math.inf


@pytest.mark.slow
def test_arrays():
    """Shapes broadcast, and every element is what the scalars give."""
    eps, sensitivity, p = np.array([0.5, 2.0]), np.array([[3.0], [8.0], [20.0]]), np.array([[0.5], [1.0], [2.0]])
    for function in (
        lambda e, D, p: so.optimal_gamma(e, p, sensitivity=D),
        lambda e, D, p: so.optimal_r(e, D, p),
        lambda e, D, p: so.optimal_cost(e, D, p),
        lambda e, D, p: so.optimal_cost(e, D, p, mechanism="discrete_staircase"),
        lambda e, D, p: so.optimal_gamma(e, lambda x: x**3, sensitivity=D),
        lambda e, D, p: so.optimal_r(e, D, lambda x: x**3),
        lambda e, D, p: so.optimal_cost(e, D, np.sqrt),
    ):
        values = function(eps, sensitivity, p)
        assert values.shape == (3, 2)
        for i, j in np.ndindex(3, 2):
            one = function(float(eps[j]), float(sensitivity[i, 0]), float(p[i, 0]))
            assert type(one) in (int, float)
            assert values[i, j] == pytest.approx(one, rel=1e-13)
    assert so.optimal_r(eps, sensitivity).dtype == np.int64
    mechanism = sn.Staircase(eps, sensitivity)
    assert so.expected_cost(mechanism, np.square).shape == (3, 2)
    assert so.expected_cost(mechanism, [0.5, 3]).shape == (3, 2)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: so.optimal_gamma(0), "eps must be finite and greater than 0, got 0.0"),
        (lambda: so.optimal_gamma(math.nan, "l1"), "eps must be finite and greater than 0, got nan"),
        (lambda: so.optimal_gamma(1, sensitivity=-1.0), "sensitivity must be finite and greater than 0, got -1.0"),
        (lambda: so.optimal_r(1, 2.5), "sensitivity must be a whole number for a discrete mechanism, got 2.5"),
        (lambda: so.optimal_gamma(1, "l3"), "cost must be \"l1\", \"l2\", a number or a function, got 'l3'"),
        (lambda: so.optimal_gamma(1, 0), "cost must be a power from 2**-10 to 64, got 0.0"),
        (lambda: so.optimal_gamma(1, [1.0, 65]), "cost must be a power from 2**-10 to 64, got 65.0"),
        (lambda: so.optimal_r(1, 5, math.nan), "cost must be a power from 2**-10 to 64, got nan"),
        (lambda: so.expected_cost(sn.Laplace(1), -1), "cost must be a power greater than -1 and at most 64, got -1.0"),
        (lambda: so.optimal_cost(1, mechanism="laplace"), 'mechanism must be "staircase" or "discrete_staircase", got'),
        (lambda: so.optimal_gamma([1.0, 2.0], [1.0, 2.0, 3.0]), "cost and eps and sensitivity must have shapes that broadcast"),
        (lambda: so.optimal_gamma(2.0**-8, np.square), "eps must be from 2**-7 to 700 where cost is a function, got eps 0.0039"),
        (lambda: so.optimal_gamma(701, np.square), "eps must be from 2**-7 to 700 where cost is a function, got eps 701.0"),
        (lambda: so.optimal_r(1, 2**21, np.square), "sensitivity and sensitivity/eps must be at most 2**20, and eps at most 700"),
        (lambda: so.optimal_gamma(4, lambda x: -x), "cost must not fall as |x| grows, got -0.0625 at |x| = 0.0625"),
        (lambda: so.optimal_gamma(4, lambda x: np.exp(4 * x)), "cost must have a finite expected value, got one that grows"),
        (lambda: so.optimal_gamma(4, lambda x: np.exp(5 * x)), "cost must be finite up to |x| = 700 sensitivity/eps, got inf at"),
        (lambda: so.optimal_gamma(4, lambda x: x * np.nan), "cost must be a number greater than -inf, got nan at |x| = 0.0"),
        (lambda: so.optimal_gamma(4, lambda x: x[:1]), "cost must return an array of the shape of its argument, "),
    ],
)  # fmt: skip
def test_values_refused(call, text):
    """Texts name the parameter, the rule and the value."""
    with pytest.raises(sn.ParameterError) as caught:
        call()
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: so.optimal_gamma("4"), "eps must be a real number or an array of real numbers, got '4'"),
        (lambda: so.optimal_gamma(4, True), "cost must be a real number or an array of real numbers, got True"),
        (lambda: so.optimal_gamma(4, None), "cost must be a real number or an array of real numbers, got None"),
        (lambda: so.optimal_gamma(4, lambda x: "x"), "cost must return real numbers, got "),
        (lambda: so.optimal_cost(4, mechanism=1), 'mechanism must be "staircase" or "discrete_staircase", got 1'),
        (lambda: so.expected_cost(4, "l1"), "mechanism must be a mechanism of numbers, got 4"),
    ],
)
def test_types_refused(call, text):
    """Texts name the parameter, the rule and the value."""
    with pytest.raises(sn.ParameterTypeError) as caught:
        call()
    assert str(caught.value).startswith(text)


def test_a_function_may_change_its_argument():
    """The function gets a copy, so results and errors are about the requested points."""

    def square(x):
        x *= x
        return x

    def falling(x):
        x *= -3
        return x

    assert so.optimal_gamma(4, square) == pytest.approx(so.optimal_gamma(4, "l2"), rel=1e-11)
    with pytest.raises(sn.ParameterError, match=r"got -0.1875 at \|x\| = 0.0625"):
        so.optimal_gamma(4, falling)


# ---------------------------------------------------------------- documents


@pytest.mark.parametrize("name", so.__all__)
def test_examples_run(name):
    """Docstring examples, executed."""
    tests = doctest.DocTestFinder().find(getattr(optimal, name), name, module=False)
    assert sum(len(test.examples) for test in tests) > 2
    for test in tests:
        assert doctest.DocTestRunner().run(test).failed == 0


# ---------------------------------------------------------------- reference values


def _reference():
    if not FILE.is_file():
        return []
    values = json.loads(FILE.read_text(encoding="utf-8"))["values"]
    return [v for v in values if v["group"] in ("cs_opt", "ds_opt") and not v["quantity"].startswith("gain")]


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
@looped("entry", _reference())
def test_reference_value(entry):
    """Against 30 digits computed elsewhere."""
    quantity, params = entry["quantity"], entry["params"]
    eps, D = float(Fraction(params["eps"])), float(Fraction(str(params.get("D", 1))))
    if quantity.startswith("r_"):
        assert so.optimal_r(eps, D, quantity.removeprefix("r_")) == int(entry["value"])
        return
    cost = {"gamma_l1": "l1", "gamma_l2": "l2", "V1": "l1", "V2": "l2"}.get(quantity) or float(Fraction(params["p"]))
    value = so.optimal_gamma(eps, cost) if quantity.startswith("gamma") else so.optimal_cost(eps, D, cost)
    assert abs(Fraction(value) - Fraction(entry["value"])) <= 1e-12 * Fraction(entry["value"])


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
def test_the_file_has_what_these_tests_are_for():
    quantities = {entry["quantity"] for entry in _reference()}
    assert quantities == {"gamma_l1", "gamma_l2", "gamma_p", "V1", "V2", "min_E|X|^p", "r_l1", "r_l2"}
