"""Privacy of one release, against the definitions: sums over the pmf, integrals of the density."""

import json
import math
import pickle
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.accounting.privacy_loss import PrivacyLoss
from tests.by_method.privacy_pairs import CASES, TOLERANCE, TRUNCATED, close, hockey_stick, merged, neyman_pearson, pmf, renyi
from tests.combinations import looped

FILE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "values.json"


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


@pytest.fixture(params=CASES, ids=lambda case: case[3])
def case(request):
    loss, make, arguments, _ = request.param
    return loss, merged(make(*arguments))


# ---------------------------------------------------------------- one release


def levels(eps):
    return [-2 * eps, -eps, -0.37 * eps, 0.0, 1e-9, 0.25 * eps, 0.61 * eps, 0.999 * eps, eps * (1 - 1e-9)]


def test_profile_is_the_hockey_stick_divergence(case):
    loss, pair = case
    for eps in levels(loss.eps):
        exact = hockey_stick(pair, eps)
        # ε' near ε is rounded relative to ε, and δ is proportional to ε - ε'.
        tolerance = TOLERANCE + 1e-15 * loss.eps / max(loss.eps - eps, 1e-300)
        assert close(loss.privacy_profile(eps), exact, tolerance)
        assert close(loss.privacy_profile(np.array([eps]))[0], exact, tolerance)


def test_nothing_is_lost_at_the_pure_eps(case):
    loss, _ = case
    for eps in (loss.eps, 2 * loss.eps, math.inf):
        assert loss.privacy_profile(eps) == 0
    assert loss.privacy_profile(-math.inf) == 1
    assert loss.eps_for_delta(0) == loss.eps
    assert loss.eps_for_delta(1) == 0


def test_rdp_is_the_renyi_divergence(case):
    loss, pair = case
    for alpha in (1e-3, 0.3, 0.5, 0.9, 1 - 1e-7, 1, 1 + 1e-7, 1.5, 2, 8, 64):
        assert close(loss.rdp(alpha), renyi(pair, alpha)), alpha


def test_mean_and_variance(case):
    loss, pair = case
    mean = mp.fsum(p * mp.log(p / q) for p, q in pair)
    assert close(loss.mean(), mean)
    assert close(loss.var(), mp.fsum(p * (mp.log(p / q) - mean) ** 2 for p, q in pair))
    assert loss.rdp(1) == loss.mean()
    assert loss.rdp(math.inf) == loss.eps


def test_tradeoff_is_the_best_test(case):
    loss, pair = case
    for alpha in (0, 1e-12, 1e-5, 0.01, 0.1, 0.25, 0.5, 0.7, 0.9, 0.999, 1 - 1e-9, 1):
        assert close(loss.tradeoff(alpha), neyman_pearson(pair, alpha), floor=TRUNCATED)


def test_eps_for_delta_inverts_the_profile(case):
    loss, _ = case
    delta = loss.privacy_profile(0.0) * np.linspace(0.001, 0.999, 11)
    for composed in (loss, loss.compose(5)):
        found = composed.eps_for_delta(delta)
        assert (np.diff(found) < 0).all()
        assert np.allclose(composed.privacy_profile(found), delta, rtol=1e-11, atol=0)


# Laplace by its definition: the density on both sides of the shift, and quadrature between.


def laplace_delta(eps, t):
    """Return the integral of (f(x) - e^t f(x - Δ))+ in units of Δ/ε; only x below (ε - t)/2 contributes."""
    eps, t = mp.mpf(eps), mp.mpf(t)
    edge = (eps - t) / 2
    cdf = [mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2 for x in (edge, edge - eps)]
    return cdf[0] - mp.exp(t) * cdf[1]


@pytest.mark.parametrize("eps", [2.0**-30, 1e-3, 0.7, 3.0, 40.0, 700.0])
def test_laplace_density(eps):
    loss = sn.Laplace(eps, 0.3).privacy_loss(lattice=False)
    with mp.workdps(700):
        for t in (0.0, 0.3 * eps, 0.99 * eps):
            assert close(loss.privacy_profile(t), laplace_delta(eps, t), 1e-12)
            delta = loss.privacy_profile(t)
            assert math.isclose(loss.privacy_profile(loss.eps_for_delta(delta)), delta, rel_tol=1e-12)
        exact = mp.mpf(eps)
        for alpha in (1e-3, 0.25, 0.4999, 0.75, 1 - 1e-6, 1 + 1e-9, 1.1, 2, 30, 1e4):
            a = mp.mpf(alpha)
            moment = (a * mp.exp((a - 1) * exact) + (a - 1) * mp.exp(-a * exact)) / (2 * a - 1)
            assert close(loss.rdp(alpha), mp.log(moment) / (a - 1))
        assert close(loss.rdp(0.5), -2 * mp.log(mp.exp(-exact / 2) * (1 + exact / 2)))
        assert close(loss.mean(), exact + mp.exp(-exact) - 1)
    with mp.workdps(30):
        density = mp.quad(lambda u: u**2 * mp.exp((u - exact) / 2) / 4, mp.linspace(-exact, exact, 5 if eps < 10 else 101))
        second = exact**2 * (1 + mp.exp(-exact)) / 2 + density
        assert close(loss.var(), second - (exact + mp.exp(-exact) - 1) ** 2)


@pytest.mark.parametrize("eps", [0.1, 1.0, 12.0])
def test_laplace_tradeoff_is_the_published_curve(eps):
    """Dong, Roth and Su, proposition A.6: three pieces."""
    loss = sn.Laplace(eps).privacy_loss(lattice=False)
    exact = mp.exp(-mp.mpf(eps))
    for alpha in (0, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.6, 0.99, 1):
        a = mp.mpf(alpha)
        curve = 1 - a / exact if a < exact / 2 else exact / (4 * a) if a <= 0.5 else exact * (1 - a)
        assert close(loss.tradeoff(alpha), curve)


@looped("eps", [2.0**-38, 1e-6, 0.01, 1.0, 30.0, 300.0, 700.0])
@looped("h", [Fraction(1, 2**20), Fraction(1, 4), Fraction(1), Fraction(3, 2), Fraction(2)])
def test_staircase_formulas_at_extreme_eps(eps, h):
    """The formulas of the three atoms, with enough digits for subtraction; h = 2 gamma."""
    loss = sn.Staircase(eps, 1, float(h / 2)).privacy_loss(lattice=False)
    with mp.workdps(800):
        b = mp.exp(-mp.mpf(eps))
        c, width = b / (1 - b), mp.mpf(h.numerator) / h.denominator
        p = (min(width, 1) + c) / (width + 2 * c)
        atoms = [(p, b * p), (1 - p * (1 + b), 1 - p * (1 + b)), (b * p, p)]
        atoms = [pair for pair in atoms if pair[0] > 0]
        for t in (0.0, 0.5 * eps):
            assert close(loss.privacy_profile(t), hockey_stick(atoms, t))
        for alpha in (0.01, 0.5, 0.99, 1, 1.01, 2, 1e3, 1e8):
            assert close(loss.rdp(alpha), renyi(atoms, alpha))
        assert close(loss.var(), mp.fsum(q * mp.log(q / u) ** 2 for q, u in atoms) - renyi(atoms, 1) ** 2)


@looped("sensitivity_steps", [1, 2, 3, 1000, 10**6])
@looped("eps", [1e-6, 0.01, 1.0, 30.0, 500.0])
def test_discrete_laplace_formulas_at_extreme_parameters(eps, sensitivity_steps):
    """Rényi divergence as an explicit sum of geometric series, with enough digits for subtraction."""
    loss = sn.DiscreteLaplace(eps, sensitivity_steps).privacy_loss()
    with mp.workdps(500):
        theta = mp.mpf(eps) / sensitivity_steps
        ratio = mp.exp(-theta)
        for alpha in (0.001, 0.3, 0.4999, 0.51, 0.9, 1 - 1e-6, 1 + 1e-9, 1.2, 2, 7, 500):
            a = mp.mpf(alpha)
            mu = ratio ** (2 * a - 1)
            ends = (ratio ** ((1 - a) * sensitivity_steps) + ratio ** (a * sensitivity_steps)) / (1 + ratio)
            inner = (1 - ratio) / (1 + ratio) * ratio ** ((1 - a) * sensitivity_steps) * (mu - mu**sensitivity_steps) / (1 - mu)
            assert close(loss.rdp(alpha), mp.log(ends + inner) / (a - 1))


# ---------------------------------------------------------------- the lattice of drawn values


@pytest.mark.parametrize(
    "mechanism", [sn.Staircase(1, 0.3), sn.Staircase(6, 10, 0.01), sn.Laplace(2, 3.3), sn.Laplace(40, 1)], ids=repr
)
def test_drawn_mechanism_is_the_discrete_one_of_its_cells(mechanism):
    drawn, density = mechanism.privacy_loss(), mechanism.privacy_loss(lattice=False)
    sensitivity_steps = math.ceil(Fraction(mechanism.sensitivity) / Fraction(mechanism.granularity))
    if isinstance(mechanism, sn.Staircase):
        r = (
            math.ceil(Fraction(mechanism.gamma) * sensitivity_steps)
            if not isinstance(mechanism._spec, str)
            else mechanism._granularity_and_r()[1]
        )
        c = 1 / mp.expm1(mp.mpf(mechanism.eps))
        p = (min(sensitivity_steps, 2 * r - 1) + sensitivity_steps * c) / (2 * r - 1 + 2 * sensitivity_steps * c)
        assert close(drawn.privacy_profile(0.0), p * (1 - mp.exp(-mp.mpf(mechanism.eps))), 1e-15)
    else:
        small = sn.DiscreteLaplace(mechanism.eps, 3)
        assert small.privacy_loss().privacy_profile(0.0) > drawn.privacy_profile(0.0) >= density.privacy_profile(0.0)
    for t in (-1.0, 0.0, 0.3, 0.9):
        assert math.isclose(drawn.privacy_profile(t * mechanism.eps), density.privacy_profile(t * mechanism.eps), rel_tol=1e-9)
    assert math.isclose(drawn.rdp(2), density.rdp(2), rel_tol=1e-9)


def test_smaller_shifts_lose_less():
    """The hockey-stick divergence of every shift below Δ is smaller, so Δ is the worst shift."""
    for mechanism in (sn.DiscreteStaircase(1, 5, 2), sn.DiscreteLaplace(1, 5)):
        probability = pmf(mechanism)
        for shift in range(1, 5):
            pair = [(probability(i), probability(i - shift)) for i in range(-300, 300)]
            for t in (0.0, 0.1, 0.5, 0.9):
                assert hockey_stick(pair, t) <= mechanism.privacy_loss().privacy_profile(t) + 1e-12


# ---------------------------------------------------------------- reference values


def entries():
    if not FILE.is_file():
        return []
    values = json.loads(FILE.read_text(encoding="utf-8"))["values"]
    return [entry for entry in values if entry["group"] in ("compose", "pld")]


def number(text):
    return float(Fraction(str(text)))


def reference_loss(params):
    if "r" in params:
        return sn.DiscreteStaircase(number(params["eps"]), int(params["D"]), int(params["r"])).privacy_loss()
    gamma = str(params["gamma"])
    shape = gamma.removeprefix("opt_") if gamma.startswith("opt_") else number(gamma)
    return sn.Staircase(number(params["eps"]), number(params["D"]), shape).privacy_loss(lattice=False)


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["id"])
def test_reference_value(entry):
    params, quantity = entry["params"], entry["quantity"].removesuffix("_discrete")
    loss = reference_loss(params)
    if quantity == "p_plus":
        # the public value is δ(0) = p (1 - e^-ε)
        value = loss.privacy_profile(0.0) / -math.expm1(-number(params["eps"]))
        if number(params["shift"]) < number(params["D"]):
            assert mp.mpf(entry["value"]) < value
            return
    elif quantity == "kl":
        value = loss.mean()
    elif quantity == "rdp":
        value = loss.rdp(number(params["alpha"]))
    else:
        assert quantity == "delta"
        value = loss.compose(params["k"]).privacy_profile(number(params["eps_prime"]))
    assert close(value, mp.mpf(entry["value"]))


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
def test_the_file_has_what_these_tests_are_for():
    assert len(entries()) == 81


# ---------------------------------------------------------------- arrays, errors, objects


MECHANISMS = [
    lambda eps: sn.Staircase(eps, [[1.0], [2.5]], "l2"),
    lambda eps: sn.Staircase(eps, 1, 0.3),
    lambda eps: sn.DiscreteStaircase(eps, [[1], [7]]),
    lambda eps: sn.Laplace(eps, [[1.0], [2.5]]),
    lambda eps: sn.DiscreteLaplace(eps, [[1], [7]]),
]


@pytest.mark.parametrize("lattice", [True, False])
@pytest.mark.parametrize("make", MECHANISMS)
def test_arrays_give_what_scalars_give(make, lattice):
    mechanism = make([0.5, 1.0, 4.0])
    loss = mechanism.privacy_loss(lattice=lattice)
    levels = np.array([0.01, 0.2, 0.9]).reshape(3, 1, 1)
    for method in ("privacy_profile", "rdp", "tradeoff", "eps_for_delta"):
        found = getattr(loss, method)(levels)
        assert found.shape == (3, *mechanism._parameter_shape[-2:]) if len(mechanism._parameter_shape) == 2 else (3, 1, 3)
        for index in np.ndindex(found.shape):
            shape = mechanism._parameter_shape
            eps, sensitivity, spec = (np.broadcast_to(a, shape)[index[-len(shape) :]].item()
                                      if not isinstance(a, str) else a for a in (*mechanism._arguments(), "")[:3])  # fmt: skip
            one = type(mechanism)(eps, sensitivity, *([spec] if spec != "" else []))
            expected = getattr(one.privacy_loss(lattice=lattice), method)(levels[index[0], 0, 0].item())
            assert type(expected) is float
            assert math.isclose(found[index], expected, rel_tol=1e-13)
    assert loss.mean().shape == loss.var().shape == mechanism._parameter_shape
    assert np.array_equal(
        np.broadcast_to(loss.eps, mechanism._parameter_shape), np.broadcast_to(mechanism.eps, mechanism._parameter_shape)
    )


def test_composed_arrays_give_what_scalars_give():
    for loss in (sn.Staircase(1).privacy_loss().compose(7), sn.DiscreteLaplace(1, 3).privacy_loss().compose(4)):
        for method, levels in (
            ("privacy_profile", [-1.0, 0.0, 2.1, 9.0]),
            ("tradeoff", [0, 0.2, 1]),
            ("eps_for_delta", [0, 0.1, 1]),
        ):
            f = getattr(loss, method)
            assert f(np.array([levels])).tolist() == [[f(x) for x in levels]]
            assert f(levels[1], bounds=True) == (f(levels[1]), f(levels[1]))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda d: d.privacy_profile(math.nan), sn.ParameterError, "eps must be a number, not NaN, got nan"),
        (lambda d: d.privacy_profile("1"), sn.ParameterTypeError, "eps must be a real number"),
        (lambda d: d.eps_for_delta(1.5), sn.ParameterError, "delta must be from 0 to 1, got 1.5"),
        (lambda d: d.eps_for_delta([0.5, -1]), sn.ParameterError, "delta must be from 0 to 1, got -1.0"),
        (lambda d: d.tradeoff(math.nan), sn.ParameterError, "false_alarm must be from 0 to 1, got nan"),
        (lambda d: d.rdp(0), sn.ParameterError, "alpha must be greater than 0, got 0.0"),
        (lambda d: d.compose(0), sn.ParameterError, "k must be an integer from 1 to 2**20, got 0"),
        (lambda d: d.compose(2.0), sn.ParameterTypeError, "k must be an integer, got 2.0"),
        (lambda d: d.compose(2**20).compose(2), sn.ParameterError, "k must leave at most 1048576 releases"),
        (lambda d: sn.Laplace(1).privacy_loss().compose(2**14 + 1), sn.ParameterError, "k must leave at most 16384 releases"),
        (
            lambda d: sn.Laplace([1, 2]).privacy_loss().compose(2),
            sn.ParameterError,
            "composition must be of mechanisms with scalar",
        ),
        (lambda d: d + sn.Laplace([1, 2]).privacy_loss(), sn.ParameterError, "composition must be of mechanisms with scalar"),
        (lambda d: sn.Laplace(513).privacy_loss().compose(2), sn.ParameterError, "must be at most 512 to compose"),
        (lambda d: d + 1, TypeError, "unsupported operand"),
        (lambda d: PrivacyLoss(), sn.ParameterTypeError, "PrivacyLoss must be made by"),
        (lambda d: sn.Laplace([1, 2]).privacy_loss().rdp([1, 2, 3]), sn.ParameterError, "alpha and parameters must have shapes"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error) as raised:
        call(sn.Staircase(1).privacy_loss())
    assert text in str(raised.value)


def test_objects_are_values():
    loss = sn.Staircase(1, 2).privacy_loss().compose(3) + sn.Laplace(0.5).privacy_loss(lattice=False)
    assert repr(loss) == ("PrivacyLoss(3 × Staircase(eps=1.0, sensitivity=2.0, gamma='l1') + Laplace(eps=0.5) as a density)")
    assert repr(sn.DiscreteLaplace(1).privacy_loss(lattice=False)) == "PrivacyLoss(DiscreteLaplace(eps=1.0))"
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert again.privacy_profile(1.0) == loss.privacy_profile(1.0)
    with pytest.raises(AttributeError, match="immutable"):
        loss.eps = 2
    with pytest.raises(AttributeError, match="immutable"):
        del loss._parts


def test_methods_of_the_mechanism_are_those_of_its_loss():
    mechanism, plain = sn.Staircase(2, 3), sn.Staircase(2, 3).privacy_loss()
    assert mechanism.privacy_loss(lattice=False) != plain
    assert mechanism.privacy_profile(0.5) == plain.privacy_profile(0.5)
    assert mechanism.rdp(2) == plain.rdp(2)
    assert mechanism.tradeoff(0.1) == plain.tradeoff(0.1)
    assert mechanism.compose(4) == plain.compose(4)


@pytest.mark.parametrize("value", [1, "no", None, [], np.zeros(3)])
def test_flags_are_bools(value):
    loss = sn.Laplace(1.0).privacy_loss()
    for call, argument in ((loss.privacy_profile, 0.5), (loss.eps_for_delta, 1e-6), (loss.tradeoff, 0.1)):
        with pytest.raises(sn.ParameterTypeError, match=r"^bounds must be True or False, got "):
            call(argument, bounds=value)
    for call in (sn.Laplace(1.0).privacy_loss, sn.MergedLaplace([1.0], []).pure_eps):
        with pytest.raises(sn.ParameterTypeError, match=r"^lattice must be True or False, got "):
            call(lattice=value)
    assert sn.Laplace(1.0).privacy_loss(lattice=np.True_) == sn.Laplace(1.0).privacy_loss()
