"""SciPy's generic checks of its own distributions, run on ours.

Evidence: the functions of ``scipy.stats.tests`` as SciPy ships them; `test_as_scipy` states the same properties in
our words and also runs if SciPy is installed without its tests. Complex arguments are left out, because no mechanism takes them.
"""

import functools
import inspect
import itertools
import warnings

import numpy as np
import pytest
from scipy import integrate, stats

from stairnoise import _scipy
from tests.combinations import rest_long

common = pytest.importorskip("scipy.stats.tests.common_tests", exc_type=ImportError, reason="SciPy without its tests")
continuous = pytest.importorskip("scipy.stats.tests.test_continuous_basic", exc_type=ImportError)
discrete = pytest.importorskip("scipy.stats.tests.test_discrete_basic", exc_type=ImportError)

LINES = [
    (_scipy.staircase, (1.0, 0.37)),
    (_scipy.staircase, (4.0, 0.6)),
    (_scipy.staircase, (0.3, 1.0)),
    (_scipy.laplace, (1.0,)),
    (_scipy.laplace, (0.25,)),
]
LATTICES = [
    (_scipy.discrete_staircase, (1.0, 5, 2)),
    (_scipy.discrete_staircase, (0.3, 3, 3)),
    (_scipy.discrete_staircase, (1.5, 1, 1)),
    (_scipy.discrete_laplace, (1.0, 1)),
    (_scipy.discrete_laplace, (0.5, 3)),
]

line = pytest.mark.parametrize(("dist", "args"), LINES, ids=lambda v: getattr(v, "name", str(v)))
lattice = pytest.mark.parametrize(("dist", "args"), LATTICES, ids=lambda v: getattr(v, "name", str(v)))
mechanism = pytest.mark.parametrize(("dist", "args"), LINES + LATTICES, ids=lambda v: getattr(v, "name", str(v)))
ALPHA = 0.01


@functools.cache
def draws(dist, args):
    """Return a sample that depends neither on the other tests nor on their order."""
    return dist.rvs(*args, size=2000, random_state=np.random.default_rng(7654565))


def smooth_enough(dist):
    """Return whether SciPy's adaptive quadrature over the whole line works; a density with jumps defeats it."""
    return dist is not _scipy.staircase


# ---------------------------------------------------------------- both kinds


@mechanism
@pytest.mark.parametrize("check", ["check_edge_support", "check_random_state_property", "check_pickling", "check_freezing"])
def test_common(dist, args, check):
    getattr(common, check)(dist, args)


@mechanism
def test_entropy(dist, args):
    common.check_entropy(dist, args, dist.name)
    generic = stats.rv_discrete if hasattr(dist, "pmf") else stats.rv_continuous
    if smooth_enough(dist):
        common.check_private_entropy(dist, args, generic)


@mechanism
def test_named_args(dist, args):
    is_discrete = hasattr(dist, "pmf")
    density = [dist.pmf, dist.logpmf] if is_discrete else [dist.pdf, dist.logpdf]
    defaults = (0,) if is_discrete else (0, 1)
    common.check_named_args(dist, 1 if is_discrete else 0.5, args, defaults, [*density, dist.cdf, dist.logcdf, dist.logsf])


@mechanism
def test_moments(dist, args):
    m, v, s, k = dist.stats(*args, moments="mvsk")
    common.check_moment(dist, args, m, v, dist.name)
    discrete.check_moment_frozen(dist, args, m, 1)
    discrete.check_moment_frozen(dist, args, v + m * m, 2)
    if not smooth_enough(dist):
        return
    common.check_normalization(dist, args, dist.name)
    common.check_mean_expect(dist, args, m, dist.name)
    common.check_var_expect(dist, args, m, v, dist.name)
    common.check_skew_expect(dist, args, m, v, s, dist.name)
    common.check_kurt_expect(dist, args, m, v, k, dist.name)


@mechanism
def test_rvs_broadcast(dist, args):
    """Only shapes are compared, because one seed for a broadcast call gives other values than single calls."""
    shapes = [np.full((i + 4,) + (1,) * (i + 2), arg) for i, arg in enumerate(args)]
    locscale = (np.zeros(2),) if hasattr(dist, "pmf") else (np.zeros(2), np.ones((3, 1)))
    shape = np.broadcast_shapes(*(np.shape(a) for a in (*shapes, *locscale)))
    common.check_rvs_broadcast(dist, dist.name, (*shapes, *locscale), shape, True, "d")


# ---------------------------------------------------------------- continuous


@line
@pytest.mark.parametrize(
    "check",
    [
        "check_cdf_ppf",
        "check_sf_isf",
        "check_cdf_sf",
        "check_ppf_isf",
        "check_pdf",
        "check_pdf_logpdf",
        "check_pdf_logpdf_at_endpoints",
        "check_cdf_logcdf",
        "check_sf_logsf",
        "check_ppf_broadcast",
        "check_ppf_private",
    ],
)
def test_functions(dist, args, check):
    if not hasattr(continuous, check):
        pytest.skip("this SciPy does not check that")
    getattr(continuous, check)(dist, args, dist.name)


@line
def test_dtypes(dist, args):
    common.check_meth_dtype(dist, args, [dist.pdf, dist.logpdf, dist.cdf, dist.logcdf, dist.logsf])
    common.check_ppf_dtype(dist, args)


@line
def test_scale(dist, args):
    continuous.check_retrieving_support(dist, args)
    with warnings.catch_warnings():
        # SciPy takes the logarithm of the negative scale that it should refuse.
        warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
        common.check_entropy_vect_scale(dist, args)
    continuous.check_loc_scale(dist, args, *dist.stats(*args), dist.name)
    if smooth_enough(dist):
        common.check_munp_expect(dist, args, dist.name)


@pytest.mark.slow
@pytest.mark.parametrize(("dist", "args"), rest_long(LINES[::3], LINES), ids=lambda v: getattr(v, "name", str(v)))
def test_sample(dist, args):
    """Mean, variance and Kolmogorov-Smirnov with SciPy's own levels; the seed is fixed."""
    # Before SciPy 1.16 the resampling takes no generator.
    generators = [np.random.default_rng(1)] if "rng" in inspect.signature(continuous.check_sample_meanvar_).parameters else []
    # The test resamples ten thousand times.
    continuous.check_sample_meanvar_(*dist.stats(*args), draws(dist, args)[:500], *generators)
    continuous.check_distribution_rvs(dist.cdf, args, ALPHA, draws(dist, args))


@line
def test_scalars(dist, args):
    for size in (None, ()):
        assert np.isscalar(dist.rvs(*args, size=size))


@line
@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"])
def test_lists(dist, args, method):
    shapes = [[arg] * 2 for arg in args]
    result = getattr(dist, method)([0.1, 0.2], *shapes, loc=[0, 0.1], scale=[1, 1.01])
    numbers = [getattr(dist, method)(x, *args, loc=loc, scale=scale) for x, loc, scale in ((0.1, 0, 1), (0.2, 0.1, 1.01))]
    np.testing.assert_allclose(result, numbers, rtol=1e-14, atol=5e-14)


@line
def test_fit_with_fixed_parameters(dist, args):
    continuous.check_fit_args_fix(dist, args, draws(dist, args)[:200], "MLE")


# ---------------------------------------------------------------- discrete


@lattice
def test_cdf_ppf(dist, args):
    discrete.check_cdf_ppf(dist, args, np.unique(draws(dist, args)), dist.name)


@lattice
def test_pmf_cdf(dist, args):
    discrete.check_pmf_cdf(dist, args, dist.name)


@lattice
def test_other_methods(dist, args):
    discrete.check_oth(dist, args, np.unique(draws(dist, args)), dist.name)


@pytest.mark.parametrize(("dist", "args"), rest_long(LATTICES[::3], LATTICES), ids=lambda v: getattr(v, "name", str(v)))
def test_chisquare(dist, args):
    discrete.check_discrete_chisquare(dist, args, draws(dist, args), ALPHA, dist.name)


@lattice
def test_no_scale_in_the_docstring(dist, args):
    discrete.check_scale_docstring(dist)


@pytest.mark.long
def test_why_the_staircase_skips_quadrature():
    """SciPy's quadrature over the whole line gets a wrong norm; summed over single steps, the norm is 1."""
    dist = _scipy.staircase(4.0, 0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", integrate.IntegrationWarning)
        assert abs(dist.expect(lambda x: 1) - 1) > 1e-7
    edges = [0, *(0.6 + np.arange(12))]
    norm = 2 * sum(integrate.quad(dist.pdf, a, b)[0] for a, b in itertools.pairwise(edges))
    assert abs(norm - 1) < 1e-12
