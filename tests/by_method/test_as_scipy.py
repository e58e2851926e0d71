"""`as_scipy`: the four distributions as frozen distributions of SciPy.

Evidence: every function against the distribution's own; the properties that SciPy's test suite asks of a distribution, stated
again for any SciPy (its own checks run in `test_scipy_own_checks`); samples by Kolmogorov-Smirnov and chi-square at
fixed seeds, whose false-alarm rate is stated.
"""

import inspect
import itertools
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import integrate, stats

import stairnoise as sn
from stairnoise import _scipy

ARRAYS = [
    sn.Staircase([0.5, 2.0], [[1.0], [4.0], [1e-9]], 0.3),
    sn.Laplace([0.5, 2.0], [[1.0], [4.0], [1e9]]),
    sn.DiscreteStaircase([0.5, 2.0], [[1], [4], [9]], "l2"),
    sn.DiscreteLaplace([0.5, 2.0], [[1], [4], [9]]),
]
MECHANISMS = [
    sn.Staircase(1.0),
    sn.Staircase(4.0, 0.5, "l2"),
    sn.Staircase(2.0**-30, 8.0, 0.75),
    sn.Laplace(1.0),
    sn.Laplace(700.0, 1e-200),
    sn.DiscreteStaircase(1.0, 5),
    sn.DiscreteStaircase(0.01, 1000, 1000),
    sn.DiscreteLaplace(1.0),
    sn.DiscreteLaplace(2.0**-38, 3),
]
SIMPLE = [
    sn.Staircase(1.0, 2.0),
    sn.Staircase(4.0, 1.0, 0.6),
    sn.Laplace(0.5),
    sn.DiscreteStaircase(1.0, 5),
    sn.DiscreteLaplace(0.5),
]
each_distribution = pytest.mark.parametrize("distribution", MECHANISMS + ARRAYS, ids=lambda distribution: repr(distribution)[:60])
simple = pytest.mark.parametrize("distribution", SIMPLE, ids=repr)
SEED = 20260101


def is_discrete(distribution):
    return hasattr(distribution, "pmf")


def density_names(distribution):
    return ("pmf", "logpmf") if is_discrete(distribution) else ("pdf", "logpdf")


def points(distribution):
    """Return numbers in the centre and in both tails; array parameters get a last axis for them."""
    q = np.array([1e-300, 1e-17, 1e-3, 0.2, 0.5, 0.8, 1 - 1e-12])
    if distribution._parameter_shape:
        q = q.reshape(-1, 1, 1)
    return q, np.asarray(distribution.ppf(q))


# ---------------------------------------------------------------- the distribution itself


@each_distribution
def test_functions_are_the_distributions(distribution):
    """Functions are equal up to a few roundings: SciPy divides x by the scale, and a logarithm's slope multiplies the error."""
    frozen = distribution.as_scipy()
    q, x = points(distribution)
    scale = 1 if is_discrete(distribution) else distribution.sensitivity
    # Between the edges of steps, where the division cannot change the step.
    x = x if is_discrete(distribution) else x + 0.01 * scale
    for name in (*density_names(distribution), "cdf", "sf", "logcdf", "logsf"):
        ours, theirs = getattr(distribution, name)(x), getattr(frozen, name)(x)
        np.testing.assert_allclose(theirs, ours, rtol=2e-13, atol=0, err_msg=name)
    for name in ("ppf", "isf"):
        np.testing.assert_allclose(getattr(frozen, name)(q), getattr(distribution, name)(q), rtol=1e-15, err_msg=name)


@each_distribution
def test_moments_are_the_distributions(distribution):
    frozen = distribution.as_scipy()
    np.testing.assert_allclose(frozen.stats("mvsk"), distribution.stats("mvsk"), rtol=1e-13)
    for order in (0, 1, 2, 3, 4, 6, 7, 16):
        np.testing.assert_allclose(frozen.moment(order), distribution.moment(order), rtol=1e-12, err_msg=str(order))
    np.testing.assert_allclose(frozen.entropy(), distribution.entropy(), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(frozen.median(), distribution.median())
    np.testing.assert_allclose(frozen.std(), distribution.std(), rtol=1e-14)
    np.testing.assert_allclose(frozen.interval(0.9), distribution.interval(0.9), rtol=1e-13)
    low, high = frozen.support()
    assert (np.asarray(low) == -np.inf).all()
    assert (np.asarray(high) == np.inf).all()


def test_parameters():
    frozen = sn.Staircase(2.0, 10.0, 0.25).as_scipy()
    assert (frozen.args, frozen.kwds) == ((2.0, 0.25), {"scale": 10.0})
    frozen = sn.DiscreteStaircase(2.0, 5).as_scipy()
    assert (frozen.args, frozen.kwds) == ((2.0, 5, 2), {})
    assert _scipy.staircase.shapes == "eps, gamma"
    assert _scipy.laplace.shapes == "eps"
    assert _scipy.discrete_staircase.shapes == "eps, sensitivity, r"
    assert _scipy.discrete_laplace.shapes == "eps, sensitivity"


@simple
def test_it_is_a_scipy_distribution(distribution):
    frozen = distribution.as_scipy()
    assert isinstance(frozen.dist, stats.rv_discrete if is_discrete(distribution) else stats.rv_continuous)
    assert isinstance(frozen, type(stats.dlaplace(1) if is_discrete(distribution) else stats.norm()))
    names = [info.name for info in frozen.dist._shape_info()]
    assert ", ".join(names) == frozen.dist.shapes
    for value, info in zip(frozen.args, frozen.dist._shape_info(), strict=True):
        assert info.domain[0] <= value <= info.domain[1]


def test_every_hook_is_ours():
    """None of SciPy's numerical fallbacks is used: integrating a pdf, solving a cdf, vectorize."""
    hooks = ["cdf", "sf", "logcdf", "logsf", "ppf", "isf", "stats", "munp", "entropy", "argcheck", "rvs", "shape_info"]
    for dist in (_scipy.staircase, _scipy.laplace, _scipy.discrete_staircase, _scipy.discrete_laplace):
        for hook in (*hooks, *density_names(dist)):
            assert getattr(type(dist), f"_{hook}").__module__ == "stairnoise._scipy", hook


# ---------------------------------------------------------------- shapes that are no distribution


@pytest.mark.parametrize(
    ("dist", "good", "bad"),
    [
        (
            _scipy.staircase,
            (1.0, 0.5),
            [(0.0, 0.5), (-1.0, 0.5), (np.nan, 0.5), (np.inf, 0.5), (1.0, 0.0), (1.0, 1.01)],
        ),
        (_scipy.discrete_staircase, (1.0, 5, 2), [(1.0, 5, 6), (1.0, 5, 0), (1.0, 5.5, 2), (1.0, 0, 1), (1.0, 5, np.nan)]),
        (_scipy.discrete_laplace, (1.0, 3), [(1.0, 0.5), (0.0, 3), (1.0, 1e300)]),
    ],
    ids=lambda v: getattr(v, "name", None),
)
def test_bad_shapes_are_nan_and_good_ones_beside_them_are_not(dist, good, bad):
    density = dist.pmf if hasattr(dist, "pmf") else dist.pdf
    for shapes in bad:
        assert np.isnan(density(0, *shapes))
        assert np.isnan(dist.entropy(*shapes))
        with pytest.raises(ValueError, match="Domain error"):
            dist.rvs(*shapes)
    columns = np.array([*bad, good]).T
    assert np.isnan(density(0, *columns)).tolist() == [True] * len(bad) + [False]
    assert density(0, *columns)[-1] == density(0, *good)
    np.testing.assert_array_equal(dist.ppf(0.5, *columns), [np.nan] * len(bad) + [0])


def test_no_shapes_at_all():
    assert _scipy.staircase.pdf([], [], []).shape == (0,)
    assert _scipy.discrete_laplace.rvs([], [], random_state=1).shape == (0,)


def test_text_is_an_error():
    with pytest.raises(sn.ParameterTypeError, match="gamma must be a real number"):
        _scipy.staircase.pdf(0, 1.0, "l1")


# ---------------------------------------------------------------- properties that SciPy's test suite checks


@simple
def test_edges_of_the_support(distribution):
    dist = distribution.as_scipy()
    ends = [-np.inf, np.inf]
    assert dist.cdf(ends).tolist() == [0, 1]
    assert dist.sf(ends).tolist() == [1, 0]
    assert dist.logcdf(ends).tolist() == [-np.inf, 0]
    assert dist.logsf(ends).tolist() == [0, -np.inf]
    assert dist.ppf([0, 1]).tolist() == ends
    assert dist.isf([0, 1]).tolist() == ends[::-1]
    assert np.isnan(dist.ppf([-1, 2, np.nan])).all()
    assert np.isnan(dist.isf([-1, 2, np.nan])).all()
    assert np.isnan(dist.cdf(np.nan))


@pytest.mark.slow
@simple
def test_norm_and_expectations(distribution):
    """Expectations are summed over single steps, or over integers up to a hundred standard deviations."""
    dist = distribution.as_scipy()
    reach = np.arange(-200, 201)
    ends = np.arange(60) + (distribution.gamma if isinstance(distribution, sn.Staircase) else 0)
    ends = np.concatenate([[0.0], ends[ends > 0]]) * distribution.sensitivity

    def weigh(f):
        if is_discrete(distribution):
            return np.sum(f(reach) * dist.pmf(reach))
        return sum(
            integrate.fixed_quad(lambda x: (f(x) + f(-x)) * dist.pdf(x), *stair, n=12)[0] for stair in itertools.pairwise(ends)
        )

    mean, variance, _, kurtosis = dist.stats("mvsk")
    assert abs(weigh(lambda x: 1 + 0 * x) - 1) < 1e-9
    assert abs(weigh(lambda x: x) - mean) < 1e-9
    assert abs(weigh(lambda x: x**2) / variance - 1) < 1e-8
    assert abs(weigh(lambda x: x**4) / variance**2 - kurtosis - 3) < 1e-6
    if not is_discrete(distribution):
        return
    information = -dist.logpmf(reach)
    assert abs(weigh(lambda x: information) - dist.entropy()) < 1e-9


@simple
def test_round_trips(distribution):
    dist = distribution.as_scipy()
    if is_discrete(distribution):
        k = np.arange(-12, 13)
        for nudged in (dist.cdf(k), dist.cdf(k) - 1e-9):
            assert dist.ppf(nudged).tolist() == k.tolist()
        assert dist.ppf(dist.cdf(k) + 1e-9).tolist() == (k + 1).tolist()
        for nudged in (dist.sf(k), dist.sf(k) + 1e-9):
            assert dist.isf(nudged).tolist() == k.tolist()
        np.testing.assert_allclose(np.diff(dist.cdf(k)), dist.pmf(k[1:]), rtol=1e-9)
        assert not dist.pmf(k + 0.5).any()
        return
    q = np.linspace(0.001, 0.999, 57)
    np.testing.assert_allclose(dist.cdf(dist.ppf(q)), q, rtol=1e-14)
    np.testing.assert_allclose(dist.sf(dist.isf(q)), q, rtol=1e-14)
    x = dist.ppf(q) + 1e-4
    slope = (dist.cdf(x + 1e-7) - dist.cdf(x - 1e-7)) / 2e-7
    np.testing.assert_allclose(slope, dist.pdf(x), rtol=1e-6)


@simple
def test_location_and_scale(distribution):
    frozen = distribution.as_scipy()
    dist, args = frozen.dist, frozen.args
    moved = dist(*args, loc=3) if is_discrete(distribution) else dist(*args, loc=3, scale=2)
    by = 1 if is_discrete(distribution) else 2
    plain = dist(*args)
    x = np.arange(-5, 6)
    np.testing.assert_allclose(moved.cdf(x * by + 3), plain.cdf(x), rtol=1e-15)
    assert moved.mean() == 3
    assert moved.var() == pytest.approx(plain.var() * by**2, rel=1e-14)
    assert moved.entropy() == pytest.approx(plain.entropy() + np.log(by), rel=1e-14)
    rvs = moved.rvs(100, random_state=1)
    assert np.array_equal(rvs, plain.rvs(100, random_state=1) * by + 3)
    assert np.array_equal(dist.ppf(0.3, *args, loc=[0, 5]), np.add(dist.ppf(0.3, *args), [0, 5]))


@simple
def test_names_and_dtypes(distribution):
    frozen = distribution.as_scipy()
    dist, args = frozen.dist, frozen.args
    names = dist.shapes.split(", ")
    assert list(inspect.signature(dist._parse_args).parameters)[: len(names)] == names
    for x in (1, np.int8(1), np.float16(1), np.float32([1, 2]), [1, 2]):
        value = dist.cdf(x, **dict(zip(names, args, strict=True)))
        assert value.dtype == np.float64
        assert np.array_equal(value, dist.cdf(np.float64(x), *args))
    with pytest.raises(TypeError):
        dist.cdf(1, *args, kaboom=42)


def test_moments_of_a_high_order():
    """Integer coefficients exceed 2**64, and SciPy has no limit: checked against order!, and sums over integers and steps."""
    assert _scipy.laplace.moment(100, 1.0) == pytest.approx(math.factorial(100), rel=1e-12)
    assert _scipy.laplace.moment(17, 1.0) == 0
    i = np.arange(1, 2000.0)
    for dist in (_scipy.discrete_staircase(1.0, 5, 2), _scipy.discrete_laplace(0.5, 1)):
        assert dist.moment(40) == pytest.approx(2 * np.sum(dist.pmf(i) * i**40), rel=1e-12)
    dist = _scipy.staircase(1.0, 0.4)
    edges = 0.4 + np.arange(120.0)
    stairs = dist.pdf(edges + 0.5) * ((edges + 1) ** 41 - edges**41)
    assert dist.moment(40) == pytest.approx(2 / 41 * (dist.pdf(0) * 0.4**41 + stairs.sum()), rel=1e-12)
    assert np.isnan(dist.dist.moment(40, -1.0, 0.4))
    several = dist.dist.moment(40, [1.0, 2.0, -1.0], 0.4)
    assert several.tolist()[:2] == [dist.dist.moment(40, eps, 0.4) for eps in (1.0, 2.0)]
    assert np.isnan(several[2])


def test_functions_survive_numpys_vectorize():
    """No function leaves a floating-point flag behind, which `numpy.vectorize` turns into a warning."""
    for distribution in MECHANISMS:
        for name in ("cdf", "sf", "logcdf", "logsf", "ppf", "isf"):
            assert np.isfinite(np.vectorize(getattr(distribution, name))([0.1, 0.7])).all()
        assert np.isfinite(np.vectorize(lambda x, distribution=distribution: distribution.entropy())(0.0))


# ---------------------------------------------------------------- sampling


@simple
def test_random_state(distribution):
    """Legacy and new generators, seeds and the instance's own state are reproducible, and successive calls differ."""
    frozen = distribution.as_scipy()
    for make in (lambda: 5, lambda: np.random.RandomState(5), lambda: np.random.default_rng(5)):
        assert np.array_equal(frozen.rvs(50, random_state=make()), frozen.rvs(50, random_state=make()))
    rng = np.random.default_rng(5)
    assert not np.array_equal(frozen.rvs(50, random_state=rng), frozen.rvs(50, random_state=rng))
    frozen.random_state = 5
    first = frozen.rvs(50)
    assert np.array_equal(first, frozen.rvs(50, random_state=5))
    frozen.random_state = 5
    copy = pickle.loads(pickle.dumps(frozen))
    assert np.array_equal(copy.rvs(50), first)


@simple
def test_kinds_of_samples(distribution):
    frozen = distribution.as_scipy()
    assert np.isscalar(frozen.rvs())
    values = frozen.rvs((3, 0, 2))
    assert values.shape == (3, 0, 2)
    assert values.dtype == (np.int64 if is_discrete(distribution) else np.float64)


@pytest.mark.parametrize("distribution", ARRAYS, ids=lambda distribution: repr(distribution)[:30])
def test_samples_broadcast(distribution):
    frozen = distribution.as_scipy()
    assert frozen.rvs(random_state=1).shape == (3, 2)
    values = frozen.rvs((2000, 3, 2), random_state=SEED)
    # The mean of |x| over 2000 draws has a relative standard deviation of 1.5/sqrt(2000) or less here.
    assert (abs(abs(values).mean(0) / distribution.abs_moment(1) - 1) < 5 * 1.5 / 2000**0.5).all()


@pytest.mark.parametrize("distribution", [distribution for distribution in SIMPLE if not is_discrete(distribution)], ids=repr)
def test_kolmogorov_smirnov(distribution):
    """20 000 values, fixed seed; another seed alarms once in 10**4."""
    frozen = distribution.as_scipy()
    assert stats.kstest(frozen.rvs(20_000, random_state=SEED), frozen.cdf).pvalue > 1e-4
    wrong = type(distribution)(distribution.eps, distribution.sensitivity * 1.1, *distribution._arguments()[2:]).as_scipy()
    assert stats.kstest(frozen.rvs(20_000, random_state=SEED), wrong.cdf).pvalue < 1e-4


@pytest.mark.parametrize("distribution", [distribution for distribution in SIMPLE if is_discrete(distribution)], ids=repr)
def test_chi_square(distribution):
    """20 000 values in the integers -8..8 and the two tails, fixed seed; another seed alarms once in 10**4."""
    frozen = distribution.as_scipy()
    k = np.arange(-8, 9)

    def pvalue(dist):
        share = np.concatenate([[dist.cdf(k[0] - 1)], dist.pmf(k), [dist.sf(k[-1])]])
        values = np.clip(frozen.rvs(20_000, random_state=SEED), k[0] - 1, k[-1] + 1)
        counts = np.bincount(values - (k[0] - 1), minlength=share.size)
        return stats.chisquare(counts, share * 20_000).pvalue

    assert pvalue(frozen) > 1e-4
    assert pvalue(type(distribution)(distribution.eps * 1.1, *distribution._arguments()[1:]).as_scipy()) < 1e-4


def test_goodness_of_fit():
    """SciPy's Monte Carlo test draws by our rvs: the distribution's own sample passes, a normal sample fails."""
    frozen = sn.Staircase(1.0, 2.0, 0.4).as_scipy()
    known = {"eps": 1.0, "gamma": 0.4, "loc": 0.0, "scale": 2.0}

    def pvalue(data):
        return stats.goodness_of_fit(
            frozen.dist, data, known_params=known, statistic="ks", n_mc_samples=199, **{RNG_NAME: np.random.default_rng(1)}
        ).pvalue

    assert pvalue(frozen.rvs(500, random_state=SEED)) > 0.01
    assert pvalue(np.random.default_rng(2).normal(0, frozen.std(), 500)) < 0.01


# SciPy 1.15 renamed the argument.
RNG_NAME = "rng" if "rng" in inspect.signature(stats.goodness_of_fit).parameters else "random_state"


def test_fit_finds_the_scale():
    """Maximum likelihood at fixed shapes finds the scale within 5 standard errors of about n**-1/2."""
    data = sn.Laplace(1.0, 3.0).as_scipy().rvs(4000, random_state=SEED)
    _, loc, scale = _scipy.laplace.fit(data, feps=1.0, floc=0)
    assert loc == 0
    assert scale == pytest.approx(abs(data).mean(), rel=1e-4)


# ---------------------------------------------------------------- SciPy is optional


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_import_does_not_load_scipy():
    done = run("import sys, stairnoise as sn; sn.Laplace(1).cdf(0); print('scipy' in sys.modules)")
    assert done.stdout.strip() == "False"


def test_without_scipy_the_error_is_one_line_that_names_the_extra():
    done = run("import sys; sys.modules['scipy'] = None; import stairnoise as sn; sn.Laplace(1).as_scipy()")
    assert done.stderr.splitlines()[-1].endswith("MissingPackageError: as_scipy needs scipy: pip install scipy")
    assert "During handling" not in done.stderr


@pytest.mark.slow
def test_other_missing_modules_are_not_blamed_on_scipy():
    done = run("import sys; sys.modules['stairnoise._scipy'] = None; import stairnoise as sn; sn.Laplace(1).as_scipy()")
    assert done.stderr.splitlines()[-1].startswith("ModuleNotFoundError: import of stairnoise._scipy halted")
