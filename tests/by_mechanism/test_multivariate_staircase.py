"""MultivariateStaircase: parameters, shapes, the mechanism's functions."""

import itertools
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanisms.multivariate_staircase import calibration as vector_gamma
from tests.combinations import looped

FILE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "values.json"
NORMS = ("l1", "l2", "linf")


# Reference values


def entries():
    if not FILE.is_file():
        return []
    values = json.loads(FILE.read_text(encoding="utf-8"))["values"]
    return [value for value in values if value["group"] == "md"]


def mechanism_of(params):
    return sn.MultivariateStaircase(float(params["eps"]), float(params["D"]), params["d"], float(params["gamma"]))


def best(params):
    return vector_gamma.optimal(float(params["eps"]), params["d"], 1)


QUANTITIES = {
    "gamma_l1": best,
    "gamma_l1_d2_closed_form": best,
    "min_E||X||_1": lambda p: sn.MultivariateStaircase(float(p["eps"]), float(p["D"]), p["d"]).expected_norm(),
    "E||X||_1": lambda p: mechanism_of(p).expected_norm(),
    "E X_i^2": lambda p: mechanism_of(p).var(),
    "density_at_0": lambda p: mechanism_of(p).pdf(np.zeros(p["d"])),
    "P(||X||_1<=1.5)": lambda p: mechanism_of(p).norm_cdf(1.5),
}


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["id"])
def test_reference_value(entry):
    """Evidence: values of 22 to 30 digits computed elsewhere."""
    value = QUANTITIES[entry["quantity"]](entry["params"])
    exact = Fraction(entry["value"])
    assert abs(Fraction(value) - exact) <= Fraction(1, 10**12) * exact


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
def test_all_of_the_group_is_checked():
    assert len(entries()) == 128


# The best gamma


@pytest.mark.parametrize("eps", [0.1, 0.5, 1.0, 3.0, 8.0, 20.0])
def test_two_dimensions_have_a_closed_form(eps):
    """Evidence: Ferrari's formula; q = gamma + c is the larger root of q^4 - 2 k3 q + 3 v^2 = 0."""
    c = 1 / math.expm1(eps)
    v, k3 = c * (1 + c), c * (1 + c) * (1 + 2 * c)
    roots = np.roots([1, 0, 0, -2 * k3, 3 * v * v])
    q = max(root.real for root in roots if abs(root.imag) < 1e-6 * abs(root))
    assert vector_gamma.optimal(eps, 2, 1) == pytest.approx(q - c, rel=1e-7, abs=1e-8 * c)


@pytest.mark.parametrize(("dim", "least"), [(1, 0.5), (2, 0.5 + 12**-0.5), (3, 1.0)])
def test_limit_of_small_eps(dim, least):
    """Evidence: the root of the Bernoulli polynomial of this degree at which the next polynomial is smallest."""
    assert vector_gamma.optimal(0.01, dim, 1) == pytest.approx(least, abs=3e-3)


def test_limit_of_large_eps():
    for dim in (1, 2, 5):
        assert vector_gamma.optimal(60.0, dim, 1) == pytest.approx((dim * math.exp(-60)) ** (1 / (dim + 1)), rel=1e-3)


def test_one_dimension_is_the_staircase_of_numbers():
    for eps in (0.02, 0.3, 2.0, 9.0, 100.0):
        for cost, p in (("l1", 1), ("l2", 2)):
            assert vector_gamma.optimal(eps, 1, p) == pytest.approx(sn.optimal_gamma(eps, cost), rel=1e-9)


@pytest.mark.parametrize("dim", [2, 3, 4, 5, 8, 12])
@pytest.mark.parametrize("cost", ["l1", "l2"])
def test_no_other_gamma_is_better(dim, cost):
    """Evidence: a scan of [0, 1], through 0 and 1 where the optimum of four dimensions and more passes as eps varies."""
    p = int(cost[1])
    for eps in (0.3, 1.0, 2.5, 4.0, 7.0, 12.0, 30.0):
        least = sn.MultivariateStaircase(eps, 1.0, dim, cost).expected_norm(p)
        for gamma in (*np.linspace(0, 1, 41), *np.geomspace(1e-9, 0.02, 20)):
            assert sn.MultivariateStaircase(eps, 1.0, dim, float(gamma)).expected_norm(p) >= least * (1 - 1e-12)


@pytest.mark.parametrize("dim", [4, 5, 12])
def test_the_optimum_passes_through_zero_and_one(dim):
    """Evidence: bisection in eps. When the optimum passes 0, it continues below 1."""
    low, high = next(
        (a, b)
        for a, b in itertools.pairwise(np.linspace(1, 9, 81))
        if vector_gamma.optimal(a, dim, 1) < 0.2 and vector_gamma.optimal(b, dim, 1) > 0.8
    )
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if vector_gamma.optimal(middle, dim, 1) < 0.5 else (low, middle)
    assert vector_gamma.optimal(low, dim, 1) < 1e-9
    assert vector_gamma.optimal(high, dim, 1) > 1 - 1e-9


def test_values_noted_with_the_formulas():
    for eps, dim, gamma in [(1, 4, 0.0960), (1, 5, 0.3191), (1, 8, 0.9993), (8, 2, 0.087079)]:
        assert vector_gamma.optimal(float(eps), dim, 1) == pytest.approx(gamma, abs=6e-5)
    for eps, dim, cost in [(5, 2, 0.265511), (10, 5, 0.302591), (10, 10, 0.844266)]:
        assert sn.MultivariateStaircase(eps, 1.0, dim).expected_norm() == pytest.approx(cost, abs=1e-6)


def test_regimes_of_the_search_meet():
    """Evidence: two formulas for one value, on both sides of the point where the search switches between them."""
    gamma = np.array([0.05, 0.3, 0.77, 1.0])
    for eps, dim in [(1.5, 6), (2.0, 7)]:
        series = vector_gamma._by_series(eps, dim, 1)
        powers, waves = vector_gamma._powers(eps, dim), vector_gamma._harmonics(eps, dim, 0.0, 2.0**64)
        powers, waves = (vector_gamma._by_small_parts(etas, etas, dim, 1, 1.0) for etas in (powers, waves))
        assert powers.cost(gamma) == pytest.approx(waves.cost(gamma), abs=1e-15)
        assert series.cost(gamma) == pytest.approx((dim + 1) / eps * (1 + powers.cost(gamma)), rel=1e-13)
        assert series.slope(gamma) / eps == pytest.approx(powers.slope(gamma), abs=1e-3 * abs(powers.slope(gamma)).max())


# The mechanism


@pytest.mark.parametrize("norm", NORMS)
def test_density_has_mass_one(norm):
    """Evidence: a sum over a fine grid of the plane, within what its cells at the stairs' edges can hide."""
    mechanism = sn.MultivariateStaircase(2.0, 1.0, 2, 0.4, norm)
    # Incommensurable grid steps, so no edge of a staircase's step runs through a row of grid points.
    one, other = 28 / 1400, 28 / 1201 / 2**0.5
    first, second = np.arange(-14, 14, one) + one / 2, np.arange(-14, 14, other) + other / 2
    mass = sum(mechanism.pdf(np.stack(np.broadcast_arrays(x, second), axis=-1)).sum() for x in first) * one * other
    assert mass == pytest.approx(1, abs=5e-3)


@pytest.mark.parametrize("dim", [1, 2, 3, 10, 100])
def test_quantiles_invert_probabilities(dim):
    mechanism = sn.MultivariateStaircase(1.5, 2.0, dim, 0.3)
    q = np.array([1e-9, 0.001, 0.2, 0.5, 0.9, 0.999])
    assert mechanism.norm_cdf(mechanism.norm_ppf(q)) == pytest.approx(q, rel=1e-10)
    assert mechanism.norm_sf(mechanism.norm_isf(q)) == pytest.approx(q, rel=1e-10)
    assert mechanism.norm_cdf(mechanism.norm_ppf(q)) + mechanism.norm_sf(mechanism.norm_ppf(q)) == pytest.approx(1, rel=1e-14)


def test_ends_of_the_functions():
    mechanism = sn.MultivariateStaircase(1.0, 1.0, 2, 0.3)
    assert (mechanism.norm_cdf(0), mechanism.norm_cdf(-1), mechanism.norm_cdf(math.inf)) == (0.0, 0.0, 1.0)
    assert (mechanism.norm_sf(0), mechanism.norm_sf(-1), mechanism.norm_sf(math.inf)) == (1.0, 1.0, 0.0)
    assert (mechanism.norm_ppf(0), mechanism.norm_ppf(1), mechanism.norm_isf(0), mechanism.norm_isf(1)) == (
        0.0,
        math.inf,
        math.inf,
        0.0,
    )
    for value in (
        mechanism.norm_cdf(math.nan),
        mechanism.norm_ppf(math.nan),
        mechanism.norm_ppf(1.1),
        mechanism.norm_isf(-0.1),
        mechanism.pdf([1, math.nan]),
    ):
        assert math.isnan(value)
    assert mechanism.pdf([math.inf, 0]) == 0.0


def test_one_dimension_has_the_functions_of_the_staircase():
    """Evidence: an independent implementation of the same distribution."""
    x = np.array([0.0, 0.1, 0.29, 0.31, 1.0, 1.5, 7.7, 40.0])
    for norm in NORMS:
        mechanism, known = sn.MultivariateStaircase(1.3, 1.0, 1, 0.3, norm), sn.Staircase(1.3, 1.0, 0.3)
        assert mechanism.pdf(x[:, None]) == pytest.approx(known.pdf(x), rel=1e-12)
        assert mechanism.norm_sf(x) == pytest.approx(2 * known.sf(x), rel=1e-11)
        assert mechanism.expected_norm(2) == pytest.approx(known.var(), rel=1e-13)
        assert mechanism.var() == pytest.approx(known.var(), rel=1e-13)
        assert mechanism.entropy() == pytest.approx(known.entropy(), rel=1e-13)


def test_functions_scale_with_the_sensitivity():
    one, many = sn.MultivariateStaircase(2.0, 1.0, 3, 0.3), sn.MultivariateStaircase(2.0, 50.0, 3, 0.3)
    assert many.expected_norm(2) == pytest.approx(2500 * one.expected_norm(2), rel=1e-13)
    assert many.norm_cdf(60) == pytest.approx(one.norm_cdf(1.2), rel=1e-13)
    assert many.pdf([50, 20, 1]) == pytest.approx(one.pdf([1, 0.4, 0.02]) / 50**3, rel=1e-12)


def test_zero_and_one_are_the_same_gamma():
    zero, one = (sn.MultivariateStaircase(1.0, 1.0, 3, gamma) for gamma in (0, 1))
    assert zero.expected_norm() == one.expected_norm()
    assert np.array_equal(zero.sample(50, rng=sn.SeededRng(1)), one.sample(50, rng=sn.SeededRng(1)))


@pytest.mark.parametrize("norm", NORMS)
def test_densities_of_neighbours_differ_by_eps_at_most(norm):
    """Evidence: random pairs at the sensitivity, seeded."""
    mechanism = sn.MultivariateStaircase(1.0, 1.0, 3, 0.3, norm)
    random = np.random.default_rng(8)
    x, shift = 3 * random.standard_normal((20000, 3)), random.standard_normal((20000, 3))
    order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
    shift /= np.linalg.norm(shift, order, axis=1, keepdims=True) * (1 + 1e-12)
    loss = np.abs(mechanism.logpdf(x) - mechanism.logpdf(x + shift))
    assert 1 - 1e-9 < loss.max() < 1 + 1e-9


# Drawing


def test_shapes_and_types():
    mechanism = sn.MultivariateStaircase(1.0, 1.0, 3, 0.5)
    rng = sn.SeededRng(1)
    assert mechanism.sample(rng=rng).shape == (3,)
    assert mechanism.sample(4, rng=rng).shape == (4, 3)
    assert mechanism.sample((2, 0), rng=rng).shape == (2, 0, 3)
    assert mechanism.sample((), rng=rng).shape == (3,)
    assert mechanism.sample(4, dtype="float32", rng=rng).dtype == np.float32
    out = np.zeros((5, 6))[:, ::2]
    assert mechanism.sample(out=out, rng=rng) is out
    assert np.all(out != 0)
    assert np.all(mechanism.sample(100, rng=rng) % mechanism.granularity == 0)
    assert mechanism.exactness == "lattice"
    assert mechanism.mean().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("norm", NORMS)
def test_slices_and_threads_give_the_same_values(norm):
    mechanism = sn.MultivariateStaircase(0.7, 1.0, 3, 0.5, norm)
    whole = mechanism.sample(100_000, rng=sn.SeededRng(5), threads=1)
    assert np.array_equal(mechanism.sample(100_000, rng=sn.SeededRng(5), threads=3), whole)
    for start in (1, 2, 511, 77_777):
        assert np.array_equal(mechanism.sample(20, rng=sn.SeededRng(5).at(start * 3)), whole[start : start + 20])
    assert not np.array_equal(mechanism.sample(20, rng=sn.SeededRng(6)), whole[:20])


def test_release_of_vectors():
    mechanism = sn.MultivariateStaircase(1.0, 1.0, 2, 0.5)
    values = np.array([[1, 2], [3, 4]])
    assert mechanism.release(values).shape == (2, 2)
    assert mechanism.release(values.astype(np.float32)).dtype == np.float32
    assert mechanism.release([5.5, 1]).shape == (2,)
    in_place = np.array([5.0, -7.0])
    expected = mechanism.release(in_place, rng=sn.SeededRng(4, allow_release=True))
    assert mechanism.release(in_place, out=in_place, rng=sn.SeededRng(4, allow_release=True)) is in_place
    assert np.array_equal(in_place, expected)
    assert np.all(in_place != [5.0, -7.0])
    with pytest.raises(ValueError, match="rng"):
        mechanism.release(values, rng=sn.SeededRng(1))
    refused = [
        ([1, 2, 3], "last axis of length dim = 2"),
        (1.0, "last axis"),
        ([1, math.nan], r"finite, got one that is not at index \(1,\)"),
    ]
    for bad, text in refused:
        with pytest.raises(sn.ParameterError, match=text):
            mechanism.release(bad)
    with pytest.raises(sn.ParameterError, match="last axis of length dim = 2"):
        mechanism.sample(out=np.zeros((2, 3)))
    with pytest.raises(sn.ParameterError, match="max_partitions_contributed must leave an eps"):
        mechanism.release(values, max_partitions_contributed=10**6)
    with pytest.raises(sn.ParameterError, match="out must have shape"):
        mechanism.release(values, out=np.zeros(2))


def test_a_refused_call_draws_nothing():
    mechanism, rng = sn.MultivariateStaircase(1.0, 1.0, 2, 0.5), sn.SeededRng(3, allow_release=True)
    for refused in (
        lambda: mechanism.release([math.inf, 0], rng=rng),
        lambda: mechanism.sample(-1, rng=rng),
        lambda: mechanism.sample(3, dtype="int64", rng=rng),
    ):
        with pytest.raises(sn.ParameterError):
            refused()
    assert np.array_equal(mechanism.sample(3, rng=rng), mechanism.sample(3, rng=sn.SeededRng(3)))


# Parameters

BAD = [
    ({"eps": math.nan}, "eps must be finite"),
    ({"eps": 0}, "eps must be finite"),
    ({"eps": 0.001}, r"eps must be at least \(dim \+ 128\)/2\*\*16, got 0.001"),
    ({"eps": [1.0, 2.0]}, "eps must be a single number"),
    ({"sensitivity": -1}, "sensitivity must be finite and greater than 0"),
    ({"sensitivity": math.inf}, "sensitivity must be finite"),
    ({"sensitivity": 1e-320}, "sensitivity must give a granularity"),
    ({"dim": 0}, "dim must be an integer from 1"),
    ({"dim": 100_001}, "dim must be an integer from 1 to 100000"),
    ({"gamma": 1.5}, "gamma must be from 0 to 1, got 1.5"),
    ({"gamma": math.nan}, "gamma must be from 0 to 1, got nan"),
    ({"gamma": -1e-300}, "gamma must be from 0 to 1"),
    ({"gamma": "l3"}, 'gamma must be "l1", "l2" or a number'),
    ({"norm": "l3"}, 'norm must be "l1", "l2" or "linf", got \'l3\''),
    ({"norm": 2}, 'norm must be "l1", "l2" or "linf", got 2'),
]


@pytest.mark.parametrize(("change", "text"), BAD, ids=str)
def test_bad_parameters(change, text):
    with pytest.raises(sn.ParameterError, match=text):
        sn.MultivariateStaircase(**({"eps": 1.0} | change))


@pytest.mark.parametrize("change", [{"eps": "1"}, {"dim": 2.0}, {"dim": True}, {"gamma": None}], ids=str)
def test_wrong_types(change):
    with pytest.raises(sn.ParameterTypeError, match=next(iter(change))):
        sn.MultivariateStaircase(**({"eps": 1.0} | change))


def test_bad_arguments():
    mechanism = sn.MultivariateStaircase(1.0, 1.0, 2, 0.5)
    for p in (-2, 65, math.nan):
        with pytest.raises(sn.ParameterError, match="p must be greater than -dim"):
            mechanism.expected_norm(p)
    with pytest.raises(sn.ParameterError, match="x must have a last axis"):
        mechanism.pdf([1, 2, 3])


def test_a_mechanism_is_a_value():
    mechanism = sn.MultivariateStaircase(1, dim=3, norm="l2", sensitivity=1)
    assert eval(repr(mechanism), {"MultivariateStaircase": sn.MultivariateStaircase}) == mechanism
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert hash(mechanism) == hash(sn.MultivariateStaircase(1.0, 1.0, 3, "l1", "l2"))
    assert mechanism != sn.MultivariateStaircase(1, dim=3, sensitivity=1)
    with pytest.raises(AttributeError, match="immutable"):
        mechanism.dim = 4


@looped("gamma", [2.0**-40, 1e-15, 1e-150, 5e-324])
@looped(("eps", "dim"), [(1.5, 3), (10.0, 3), (700.0, 1), (10.0, 40), (1e300, 2)])
def test_tiny_gamma_is_nearly_the_mechanism_of_gamma_1(gamma, eps, dim):
    """γ = 0 and γ = 1 are the same distribution, so a tiny γ is near both; the difference in E R^p is below (γ +
    γ^(d+p)e^ε)·1000.
    """
    if dim * math.log(gamma) + eps > math.log(1e-12):
        return  # the ball at the centre matters
    tiny, one = sn.MultivariateStaircase(eps, 1.0, dim, gamma), sn.MultivariateStaircase(eps, 1.0, dim, 1.0)
    for p in (1, 2, 0.5):
        assert tiny.expected_norm(p) == pytest.approx(one.expected_norm(p), rel=1e-9)
    x = np.array([0.25, 0.5, 0.99, 1.5, 2.5])
    np.testing.assert_allclose(tiny.norm_cdf(x), one.norm_cdf(x), rtol=1e-9)
    np.testing.assert_allclose(tiny.norm_sf(x), one.norm_sf(x), rtol=1e-9)
    q = np.array([1e-3, 0.3, 0.9])
    np.testing.assert_allclose(tiny.norm_ppf(q), one.norm_ppf(q), rtol=1e-9)
    np.testing.assert_allclose(tiny.norm_isf(q), one.norm_isf(q), rtol=1e-9)


def test_negative_moment_beside_a_tiny_gamma():
    """Compared with two terms of the sum: γ^(d+p) of the ball at the centre, and e^-ε of the next ball."""
    gamma, eps, p = 1e-15, 10.0, -2.9
    balls = sum(math.exp(-eps * m) * (m + gamma) ** (3 + p) for m in range(20))
    weights = sum(math.exp(-eps * m) * (m + gamma) ** 3 for m in range(20))
    found = sn.MultivariateStaircase(eps, 1.0, 3, gamma).expected_norm(p)
    assert found == pytest.approx(3 / (3 + p) * balls / weights, rel=1e-12)


def test_quantiles_outside_are_nan_however_far_outside():
    mechanism = sn.MultivariateStaircase(1.5, 1.0, 3)
    q = np.array([-1.0, 1e300, np.finfo(float).max, -np.finfo(float).max, np.nan])
    assert np.isnan(mechanism.norm_ppf(q)).all()
    assert np.isnan(mechanism.norm_isf(q)).all()
