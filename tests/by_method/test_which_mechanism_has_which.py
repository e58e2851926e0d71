"""Every mechanism has the methods of the first four, or a listed reason for an absence.

Evidence for SciPy's form and for the pictures of the mechanisms beyond the first four: the mechanisms' own functions, and data
drawn from Matplotlib's artists.
"""

import inspect
import math
import pickle

import matplotlib.figure
import numpy as np
import pytest
from scipy import stats

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.examples import LACKS, UNLISTED

FOUR = (sn.Staircase, sn.DiscreteStaircase, sn.Laplace, sn.DiscreteLaplace)
FURTHER = [row for row in ROWS if row.load() not in FOUR]
CONTINUOUS, DISCRETE = {"pdf", "logpdf"}, {"pmf", "logpmf", "release_modulo"}
SHAPES = {"gamma", "r", "scale"}

OF_OTHER_KIND = {
    "continuous": DISCRETE | SHAPES,
    "discrete": CONTINUOUS | SHAPES,
    "vector": DISCRETE | {"r", "scale"},
    "category": DISCRETE | CONTINUOUS | SHAPES,
}


def public(kind):
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


@pytest.mark.parametrize("row", FURTHER, ids=lambda row: row.class_name)
def test_every_absence_is_listed_with_its_reason(row):
    of_the_four = set.union(*map(public, FOUR))
    # A truncated staircase has its own kind of shape.
    listed = [OF_OTHER_KIND[row.kind] - (SHAPES & public(row.load())), *map(set, LACKS.get(row.name, {}).values())]
    assert of_the_four - public(row.load()) == set.union(*listed)
    assert sum(map(len, listed)) == len(set.union(*listed))


def test_the_matrix_has_every_mechanism():
    mechanisms = {getattr(sn, name) for name in set(sn.__all__) - UNLISTED if hasattr(getattr(sn, name), "release")} - {
        sn.PartitionSelection,
        sn.Spending,
    }
    assert mechanisms == {*FOUR, *(row.load() for row in FURTHER)}


MECHANISMS = [
    sn.Gaussian(1, 1e-6, 2.0),
    sn.DiscreteGaussian(9),
    sn.TruncatedLaplace(1, 1e-2, 3.0),
    sn.TruncatedLaplace(1, 1e-2, lower=-6),
    sn.MergedLaplace([16, 4], [0.125]),
    sn.GeneralizedDiscreteLaplace(0.3, 0.9),
    sn.GeneralizedDiscreteLaplace(0.3, 0.9).share(10, 9),
    sn.MultiScaleDiscreteLaplace(3, 4),
    sn.Arete.from_eps(8, 1),
    sn.Arete.from_eps(8, 1).share(100),
    sn.LatticeNoise([1, 2, 5, 2, 0.5], 0.75, sensitivity=3),
    sn.Skellam(9),
    sn.Skellam(9).share(10, 9),
]
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


@pytest.mark.parametrize("mechanism", [mechanism for mechanism in MECHANISMS if not isinstance(mechanism, sn.Arete)], ids=repr)
def test_scipy_functions_are_the_mechanisms(mechanism):
    """Except Arete's, whose lattice SciPy gets as a density: see test_as_scipy_single.py."""
    frozen = mechanism.as_scipy()
    q = np.array([0.0, 1e-12, 1e-3, 0.2, 0.5, 0.8, 1 - 1e-9, 1.0])
    x = mechanism.ppf(q[1:-1])
    density = ("pmf", "logpmf") if hasattr(mechanism, "pmf") else ("pdf", "logpdf")
    for name in (*density, "cdf", "sf", "logcdf", "logsf"):
        np.testing.assert_array_equal(getattr(frozen, name)(x), getattr(mechanism, name)(x), err_msg=name)
    for name in ("ppf", "isf"):
        np.testing.assert_allclose(getattr(frozen, name)(q), getattr(mechanism, name)(q), rtol=1e-14, err_msg=name)
    np.testing.assert_allclose(frozen.stats("mvsk"), mechanism.stats("mvsk"), rtol=1e-13)
    for order in (1, 2, 3, 4, 7):
        np.testing.assert_allclose(frozen.moment(order), mechanism.moment(order), rtol=1e-12)
    np.testing.assert_allclose(frozen.entropy(), mechanism.entropy(), rtol=1e-13)
    assert frozen.support() == mechanism.support()
    np.testing.assert_allclose(frozen.interval(0.9), mechanism.interval(0.9), rtol=1e-13)


@each_mechanism
def test_scipy_draws_travels_and_moves(mechanism):
    """A chi-square or Kolmogorov-Smirnov test at a fixed seed; it rejects a correct mechanism with probability 1e-4."""
    frozen = mechanism.as_scipy()
    assert isinstance(frozen, type(stats.dlaplace(1) if hasattr(mechanism, "pmf") else stats.norm()))
    sample = frozen.rvs(4000, random_state=5)
    assert (sample == pickle.loads(pickle.dumps(frozen)).rvs(4000, random_state=5)).all()
    assert frozen.dist.__class__(**frozen.dist._updated_ctor_param()).cdf(0.3) == frozen.cdf(0.3)
    moved = type(frozen.dist)(**frozen.dist._updated_ctor_param())(loc=2)
    assert moved.cdf(2.5) == frozen.cdf(0.5)
    if hasattr(mechanism, "pmf"):
        k = np.arange(mechanism.ppf(0.005), mechanism.isf(0.005) + 1)
        expected = np.append(mechanism.pmf(k), 1 - mechanism.pmf(k).sum()) * sample.size
        observed = [*((sample == i).sum() for i in k), (~np.isin(sample, k)).sum()]
        kept = expected > 5
        other = [np.sum(np.array(values)[~kept]) for values in (observed, expected)]
        f_obs, f_exp = (np.append(np.array(values)[kept], rest) for values, rest in zip((observed, expected), other, strict=True))
        assert stats.chisquare(f_obs[f_exp > 0], f_exp[f_exp > 0]).pvalue > 1e-4
    else:
        assert stats.kstest(sample, frozen.cdf).pvalue > 1e-4


@each_mechanism
def test_plot_shows_the_mechanism(mechanism):
    axes = matplotlib.figure.Figure().subplots()
    assert mechanism.plot(axes, samples=500, rng=sn.SeededRng(1)) is axes
    labels = axes.get_legend_handles_labels()[1]
    assert type(mechanism).__name__ in labels
    assert "500 samples" in labels
    line = next(line for line in axes.lines if line.get_label() == type(mechanism).__name__)
    x, y = line.get_data()
    np.testing.assert_array_equal(y, mechanism.pmf(x) if hasattr(mechanism, "pmf") else mechanism.pdf(x))
    assert mechanism.cdf(x.max()) - mechanism.cdf(x.min() - 1e-9) > 0.98
    assert axes.get_ylabel() == ("probability" if hasattr(mechanism, "pmf") else "probability density")


@pytest.mark.slow
def test_plot_compares_with_laplace_where_eps_and_sensitivity_are_known():
    def compared(mechanism):
        labels = mechanism.plot(matplotlib.figure.Figure().subplots()).get_legend_handles_labels()[1]
        return [label for label in labels if label in ("Laplace", "DiscreteLaplace")]

    assert compared(sn.Gaussian(1, 1e-6)) == ["Laplace"]
    assert compared(sn.TruncatedLaplace(1, 1e-3)) == ["Laplace"]
    assert compared(sn.MergedLaplace([2, 1], [0.5])) == ["Laplace"]
    assert compared(sn.MultiScaleDiscreteLaplace(2, 3)) == ["DiscreteLaplace"]
    for mechanism in (sn.DiscreteGaussian(4), sn.MultiScaleDiscreteLaplace(2, 3).share(2), sn.Arete.from_eps(8, 1)):
        assert compared(mechanism) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("t", "confidence", "delta", "D"), [(10.0, 0.95, 1e-6, 1.0), (0.3, 0.5, 1e-3, 2.0), (1e4, 1 - 1e-6, 1e-9, 3.0)]
)
def test_eps_for_error_of_gaussian_noise(t, confidence, delta, D):
    eps = sn.Gaussian.eps_for_error(t, confidence, delta=delta, sensitivity=D)
    assert sn.Gaussian(eps, delta, D).error_bound(confidence) <= t
    assert sn.Gaussian(eps * (1 - 1e-9), delta, D).error_bound(confidence) > t * (1 - 1e-12)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0.0, 0.95, 1e-6), "t must be finite and greater than 0, got 0.0"),
        ((1.0, 1.0, 1e-6), "confidence must be less than 1, got 1.0"),
        ((1.0, 0.05, 1e-6), "confidence must be from 0.5 to 1, got 0.05; did you mean 0.95?"),
        ((1.0, 0.95, 0.0), "delta must be greater than 0 and less than 1, got 0.0"),
        ((1e-6, 0.95, 1e-6), "t must be an error that some eps keeps below with this confidence and delta, got 1e-06"),
        ((math.nan, 0.95, 1e-6), "t must be finite and greater than 0, got nan"),
    ],
)
def test_eps_for_error_refuses(arguments, text):
    t, confidence, delta = arguments
    with pytest.raises(sn.ParameterError) as caught:
        sn.Gaussian.eps_for_error(t, confidence, delta=delta)
    assert str(caught.value) == text


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_error_bound_of_vectors(norm):
    """The share of 40,000 draws beyond the bound is right; a share wrong by a tenth passes with probability 1e-6."""
    mechanism = sn.MultivariateStaircase(2, 1.5, 3, "l1", norm)
    noise = mechanism.sample(40_000, rng=sn.SeededRng(3))
    sizes = np.linalg.norm(noise, {"l1": 1, "l2": 2, "linf": np.inf}[norm], axis=1)
    for alpha in (0.5, 0.05):
        assert abs(np.mean(sizes > mechanism.error_bound(1 - alpha)) - alpha) < 5 * math.sqrt(alpha / sizes.size)
    with pytest.raises(sn.ParameterError, match=r"confidence must be from 0.5 to 1, got 0\.0"):
        mechanism.error_bound(0)
