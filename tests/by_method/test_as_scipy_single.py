"""Mechanisms that become single SciPy distributions with no shape parameters: SciPy's checks, and Arete between its lattice
points.

Evidence: SciPy's own checks if it ships them; and for Arete, whose values are multiples of a step, SciPy's histogram of the
probabilities of these multiples, each spread over the cell around it. Samples: fixed seeds, levels stated.
"""

import numpy as np
import pytest
from scipy import stats

import stairnoise as sn

# Each process that runs a test lists a mechanism's million probabilities again.
ARETE = [
    sn.Arete.from_eps(8, 1),
    pytest.param(sn.Arete.from_eps(2.0, sensitivity=100.0), marks=pytest.mark.long),
    pytest.param(sn.Arete(2.5, 0.3, 0.01), marks=pytest.mark.long),
    pytest.param(sn.Arete.from_eps(12, 1).share(10, present=9), marks=pytest.mark.long),
]
CONTINUOUS = [
    *ARETE,
    sn.Gaussian(1, 1e-6),
    pytest.param(sn.TruncatedLaplace(1, 1e-3), marks=pytest.mark.long),
    sn.TruncatedLaplace(1, 1e-3, lower=-8),
    sn.MergedLaplace([2, 1], [0.5]),
]
DISCRETE = [sn.DiscreteGaussian(9), sn.GeneralizedDiscreteLaplace(0.3, 0.5), sn.MultiScaleDiscreteLaplace(2, 3)]
CHECKS = [
    "check_cdf_ppf", "check_sf_isf", "check_cdf_sf", "check_ppf_isf", "check_pdf", "check_pdf_logpdf", "check_cdf_logcdf",
    "check_pdf_logpdf_at_endpoints", "check_sf_logsf", "check_ppf_broadcast", "check_ppf_private",
]  # fmt: skip
arete = pytest.mark.parametrize("mechanism", ARETE, ids=repr)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("mechanism", CONTINUOUS, ids=repr)
def test_scipys_checks_of_a_density(mechanism, check):
    theirs = pytest.importorskip("scipy.stats.tests.test_continuous_basic", exc_type=ImportError)
    if not hasattr(theirs, check):
        pytest.skip("this SciPy does not check that")
    dist = mechanism.as_scipy().dist
    getattr(theirs, check)(dist, (), dist.name)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", CONTINUOUS, ids=repr)
def test_scipys_checks_of_moments_and_samples(mechanism):
    """Kolmogorov and Smirnov at 1 %, fixed seed."""
    theirs = pytest.importorskip("scipy.stats.tests.test_continuous_basic", exc_type=ImportError)
    common = pytest.importorskip("scipy.stats.tests.common_tests", exc_type=ImportError)
    dist = mechanism.as_scipy().dist
    m, v = dist.stats()
    common.check_moment(dist, (), m, v, dist.name)
    common.check_entropy(dist, (), dist.name)
    theirs.check_loc_scale(dist, (), m, v, dist.name)
    theirs.check_distribution_rvs(dist.cdf, (), 0.01, dist.rvs(size=2000, random_state=np.random.default_rng(7654565)))
    for check in ("check_edge_support", "check_random_state_property", "check_pickling", "check_freezing"):
        getattr(common, check)(dist, ())


@pytest.mark.parametrize("mechanism", DISCRETE, ids=repr)
def test_scipys_checks_of_integers(mechanism):
    theirs = pytest.importorskip("scipy.stats.tests.test_discrete_basic", exc_type=ImportError)
    dist = mechanism.as_scipy().dist
    values = np.unique(dist.rvs(size=2000, random_state=np.random.default_rng(7654565)))
    theirs.check_cdf_ppf(dist, (), values, dist.name)
    theirs.check_pmf_cdf(dist, (), dist.name)
    theirs.check_oth(dist, (), values, dist.name)


@pytest.mark.slow
@arete
def test_between_the_lattice_points_it_is_the_histogram(mechanism):
    g = mechanism.granularity
    reach = int(mechanism.isf(1e-30) / g)  # the tail beyond is less than 1e-15 of a sixth moment
    k = np.arange(-reach, reach + 1)
    histogram = stats.rv_histogram((mechanism.pdf(k * g) * g, (np.arange(-reach, reach + 2) - 0.5) * g), density=False)
    frozen = mechanism.as_scipy()
    x = np.random.default_rng(5).uniform(-6, 6, 300) * mechanism.std()
    x = x[abs(x) < (reach - 1) * g]
    np.testing.assert_allclose(frozen.pdf(x), histogram.pdf(x), rtol=1e-12)
    np.testing.assert_allclose(frozen.cdf(x), histogram.cdf(x), rtol=1e-11, atol=1e-15)
    q = np.linspace(0.001, 0.999, 301)
    np.testing.assert_allclose(frozen.ppf(q), histogram.ppf(q), rtol=1e-9, atol=1e-9 * g)
    np.testing.assert_allclose(frozen.isf(q), histogram.isf(q), rtol=1e-9, atol=1e-9 * g)
    for order in (1, 2, 4, 6):
        np.testing.assert_allclose(frozen.moment(order), histogram.moment(order), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(frozen.entropy(), histogram.entropy(), rtol=1e-9)


@pytest.mark.slow
@arete
def test_tails_and_inverses(mechanism):
    """Inverses work far into both tails, because each tail is computed by itself."""
    frozen = mechanism.as_scipy()
    q = np.array([1e-80, 1e-30, 1e-17, 1e-5, 0.3, 0.5])
    np.testing.assert_allclose(frozen.sf(frozen.isf(q)), q, rtol=1e-9)
    np.testing.assert_allclose(frozen.cdf(frozen.ppf(q)), q, rtol=1e-9)
    np.testing.assert_allclose(frozen.logsf(frozen.isf(q)), np.log(q), rtol=1e-9)
    np.testing.assert_array_equal(frozen.ppf(q), -frozen.isf(q))
    assert frozen.ppf(0.5) == frozen.mean() == 0
    assert frozen.sf([1e300, np.inf, -np.inf, -1e300]).tolist() == [0, 0, 1, 1]
    # At most half a step from the mechanism on its lattice.
    assert (abs(frozen.isf(q) - mechanism.isf(q)) <= mechanism.granularity / 2).all()
    assert frozen.var() == pytest.approx(mechanism.var() + mechanism.granularity**2 / 12, rel=1e-12)


@arete
def test_samples_fill_the_cells(mechanism):
    """100 000 values at a fixed seed: another seed alarms once in 10**4."""
    frozen = mechanism.as_scipy()
    values = frozen.rvs(100_000, random_state=3)
    assert stats.kstest(values, frozen.cdf).pvalue > 1e-4
    assert np.unique(values).size > 99_000
    assert np.array_equal(values, frozen.rvs(100_000, random_state=3))
    assert np.isscalar(frozen.rvs(random_state=np.random.default_rng(1)))
