"""The merged Laplace distribution: parameters, privacy, distribution.

Evidence: brute force over a small lattice and a dense scan of the density for the privacy loss, quadrature with mpmath for the
distribution.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn
from stairnoise.distributions.slopes import largest_loss
from tests.combinations import rest_long

MECHANISMS = [
    sn.MergedLaplace([0.25, 1 / 3], [1], sensitivity=1),
    sn.MergedLaplace([5, 0.5, 1], [0.4, 1.7], sensitivity=1),
    sn.MergedLaplace([16, 2], [0.25e-3], 1e-3),
    sn.MergedLaplace([1, 2, 0.5, 3], [3, 4, 40], 3),
]

mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([], []), "eps must have one entry more than breakpoints, got 0 of eps and 0 breakpoints"),
        (([1.0], [1.0]), "eps must have one entry more than breakpoints, got 1 of eps and 1 breakpoints"),
        (([1.0, 0.0], [1.0]), "eps must be finite and greater than 0, got 0.0"),
        (([math.nan, 1.0], [1.0]), "eps must be finite and greater than 0, got nan"),
        (([1.0, 2.0], [1.0], 0), "sensitivity must be finite and greater than 0, got 0.0"),
        (([1.0, 2.0], [1.0], [1.0]), "sensitivity must be a single number, got an array of dtype float64 and shape (1,)"),
        (([[1.0, 2.0]], []), "eps must be a sequence of numbers of one dimension, got [[1.0, 2.0]]"),
        *(
            (
                ([1.0, 2.0], [bad]),
                "breakpoints must be positive, increasing by at least the granularity, and within 2**62 multiples of it, "
                f"got {bad}",
            )
            for bad in (0.0, -1.0, math.nan, math.inf, 1e300, 1e-12)
        ),
        (
            ([1.0, 2.0, 3.0], [2.0, 2.0]),
            "breakpoints must be positive, increasing by at least the granularity, and within 2**62 multiples of it, got 2.0",
        ),
    ],
)
def test_refused(arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        sn.MergedLaplace(*arguments)
    assert str(caught.value) == text.replace("1e+300", "1e300")


@pytest.mark.parametrize("arguments", [(1.0, []), ([1.0], None), ("12", ["1"]), ([1.0, "2"], [1.0]), ([1.0, True], [1.0])])
def test_refused_types(arguments):
    with pytest.raises(sn.ParameterTypeError, match=r"(eps|breakpoints) must be a"):
        sn.MergedLaplace(*arguments)


def test_rates_that_no_lattice_holds_together_are_refused():
    with pytest.raises(sn.ParameterError, match="eps and sensitivity must give a lattice that fits 64-bit integers"):
        sn.MergedLaplace([1e4, 1e-9], [1.0], sensitivity=1)


def test_attributes():
    d = sn.MergedLaplace(np.array([5, 0.5, 1]), (0.4, 1.7), 2)
    assert (d.eps, d.breakpoints, d.sensitivity) == ((5.0, 0.5, 1.0), (0.4, 1.7), 2.0)
    assert d == sn.MergedLaplace([5, 0.5, 1], [0.4, 1.7], 2)
    assert d.granularity == sn.Laplace(5, 2).granularity
    assert all(abs(a - b) <= d.granularity / 2 for a, b in zip(d.lattice_breakpoints, d.breakpoints, strict=True))
    assert d.support() == (-math.inf, math.inf)
    assert d.mean() == d.median() == d.moment(3) == 0


def test_without_breakpoints_it_is_laplace():
    merged, laplace = sn.MergedLaplace([0.7], [], 3), sn.Laplace(0.7, 3)
    x = np.linspace(-40, 40, 101)
    assert merged.pdf(x) == pytest.approx(laplace.pdf(x), rel=1e-13)
    assert merged.cdf(x) == pytest.approx(laplace.cdf(x), rel=1e-13)
    assert merged.var() == pytest.approx(laplace.var(), rel=1e-13)
    assert merged.entropy() == pytest.approx(laplace.entropy(), rel=1e-13)
    assert merged.pure_eps() == 0.7


# ---------------------------------------------------------------- privacy


@pytest.mark.parametrize(
    ("eps", "breaks"),
    [
        ([1.0], []),
        ([2.0, 0.5], [3]),
        ([0.5, 2.0], [3]),
        ([4.0, 0.25, 1.0], [2, 9]),
        ([0.25, 3.0, 0.125, 0.5], [4, 6, 13]),
        ([1.0, 5.0, 1.0], [20, 22]),
        ([3.0, 0.5, 3.0, 0.5], [1, 5, 6]),
    ],
)
def test_pure_eps_is_the_largest_loss_of_all_points_and_shifts(eps, breaks):
    sensitivity_steps = 5
    knots, slopes = [0, *breaks], np.array(eps) / sensitivity_steps
    k = np.arange(-60, 61)
    spans = np.clip(np.abs(k)[:, None] - np.array(knots), 0, np.diff([*knots, math.inf]))
    height = spans @ slopes
    worst = max(float(np.max(np.abs(height[shift:] - height[:-shift]))) for shift in range(1, sensitivity_steps + 1))
    exact = largest_loss(
        [Fraction(e) / sensitivity_steps for e in eps], [Fraction(c) for c in breaks], Fraction(sensitivity_steps)
    )
    assert float(exact) == pytest.approx(worst, rel=1e-13)


@mechanisms
def test_pure_eps_of_the_density_and_of_the_lattice(mechanism):
    x = np.linspace(0, 60 * mechanism.sensitivity, 300_001)
    scanned = (mechanism.logpdf(x) - mechanism.logpdf(x + mechanism.sensitivity)).max()
    assert mechanism.pure_eps(lattice=False) >= scanned * (1 - 1e-12)
    assert mechanism.pure_eps(lattice=False) == pytest.approx(scanned, rel=1e-3)
    assert mechanism.pure_eps() == pytest.approx(mechanism.pure_eps(lattice=False), rel=1e-8)
    low, high = sorted([min(mechanism.eps), max(mechanism.eps)])
    assert low <= mechanism.pure_eps() <= high


def test_pure_eps_is_rounded_up():
    mechanism = sn.MergedLaplace([0.1, 0.3, 0.2], [1 / 3, 0.7], sensitivity=1)
    assert Fraction(mechanism.pure_eps()) >= mechanism._largest_loss()
    assert Fraction(math.nextafter(mechanism.pure_eps(), 0)) < mechanism._largest_loss()


@pytest.mark.slow
def test_a_steep_centre_gains_at_large_eps_only():
    """eps = 6: E|X| is 0.1141 for the best steep centre, 0.1667 for Laplace noise, 0.0499 for the staircase."""
    found = []
    for width in np.linspace(0.05, 0.6, 23):
        for tail in np.linspace(0.5, 5.9, 28):
            centre = (6 - (1 - width) * tail) / width
            mechanism = sn.MergedLaplace([centre, tail], [width], sensitivity=1)
            assert mechanism.pure_eps(lattice=False) == pytest.approx(6, rel=1e-12)
            found.append(mechanism.abs_moment(1))
    assert min(found) == pytest.approx(0.1141, rel=0.01)
    assert sn.Staircase(6, sensitivity=1).abs_moment(1) < min(found) < sn.Laplace(6, sensitivity=1).abs_moment(1)


@pytest.mark.parametrize("k", [2, 3, 7, 100])
@mechanisms
def test_the_share_of_each_partition_is_within_the_whole(mechanism, k):
    share = mechanism.for_partitions(k)
    assert k * share._largest_loss() <= mechanism._largest_loss()
    assert k * share.pure_eps() == pytest.approx(mechanism.pure_eps(), rel=1e-8)
    values = np.arange(20.0)
    mine = mechanism.release(values, max_partitions_contributed=k, rng=sn.SeededRng(3, allow_release=True))
    assert np.array_equal(mine, share.release(values, rng=sn.SeededRng(3, allow_release=True)))


# ---------------------------------------------------------------- distribution


def weight(mechanism, x):
    rates = [mp.mpf(eps) / mp.mpf(mechanism.sensitivity) for eps in mechanism.eps]
    starts, ends = [0, *mechanism.breakpoints], [*mechanism.breakpoints, mp.inf]
    return mp.exp(-sum(rate * (min(x, end) - start) for rate, start, end in zip(rates, starts, ends, strict=True) if x > start))


def points(mechanism, start=0):
    tail = mechanism.sensitivity / mechanism.eps[-1]
    last = max([start, *mechanism.breakpoints])
    inner = [start, *(c for c in mechanism.breakpoints if c > start)]
    return [*inner, *(last + tail * i for i in (1, 4, 10, 25, 50, 100))]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", rest_long(MECHANISMS[:-1], MECHANISMS), ids=repr)
def test_distribution_against_quadrature(mechanism):
    with mp.workdps(20):
        mass = mp.quad(lambda x: weight(mechanism, x), points(mechanism))
        for p in (1, 2, 3.5, 4):
            moment = mp.quad(lambda x, p=p: x**p * weight(mechanism, x), points(mechanism)) / mass
            assert mechanism.abs_moment(p) == pytest.approx(float(moment), rel=1e-12 if p != 3.5 else 1e-9)
        entropy = -mp.quad(lambda x: weight(mechanism, x) / mass * mp.log(weight(mechanism, x) / mass / 2), points(mechanism))
        assert mechanism.entropy() == pytest.approx(float(entropy), rel=1e-12, abs=1e-12)
        for x in (
            0.0,
            1e-6 * mechanism.sensitivity,
            *mechanism.breakpoints,
            0.7 * mechanism.sensitivity,
            30 * mechanism.sensitivity,
        ):
            beyond = mp.quad(lambda y: weight(mechanism, y), points(mechanism, x)) / mass / 2
            for function, sign in ((mechanism.sf, 1), (mechanism.cdf, -1)):
                assert function(sign * x) == pytest.approx(float(beyond), rel=1e-12)
                assert function(-sign * x) == pytest.approx(float(1 - beyond), rel=1e-12)
            assert mechanism.pdf(x) == mechanism.pdf(-x) == pytest.approx(float(weight(mechanism, x) / mass / 2), rel=1e-12)
    assert mechanism.var() == mechanism.moment(2) == mechanism.abs_moment(2)


@mechanisms
def test_the_density_is_continuous_with_the_given_slopes(mechanism):
    for j, c in enumerate(mechanism.breakpoints):
        assert mechanism.logpdf(math.nextafter(c, 0)) == pytest.approx(mechanism.logpdf(math.nextafter(c, math.inf)), rel=1e-12)
        step = 1e-4 * c
        inner = (mechanism.logpdf(c - step) - mechanism.logpdf(c)) / step * mechanism.sensitivity
        outer = (mechanism.logpdf(c) - mechanism.logpdf(c + step)) / step * mechanism.sensitivity
        assert (inner, outer) == pytest.approx((mechanism.eps[j], mechanism.eps[j + 1]), rel=1e-8)


@mechanisms
def test_quantiles_invert(mechanism):
    q = np.concatenate([np.logspace(-300, -1, 60), np.linspace(0.1, 0.9, 41)])
    assert mechanism.cdf(mechanism.ppf(q)) == pytest.approx(q, rel=1e-11, abs=0)
    assert mechanism.sf(mechanism.isf(q)) == pytest.approx(q, rel=1e-11, abs=0)
    assert mechanism.logcdf(mechanism.ppf(q)) == pytest.approx(np.log(q), rel=1e-12, abs=1e-15)
    assert mechanism.ppf([0, 0.5, 1]).tolist() == [-math.inf, 0, math.inf]
    assert np.isnan(mechanism.ppf([-0.1, 1.1, math.nan])).all()
    for alpha in (1e-100, 0.05, 0.5, 1.0):
        assert 2 * mechanism.sf(mechanism._tail_bound(alpha)) == pytest.approx(alpha, rel=1e-12, abs=0)


def test_far_tails_have_logarithms():
    mechanism = sn.MergedLaplace([1, 2], [3], sensitivity=1)
    assert mechanism.sf(1000) == 0
    assert mechanism.logsf(2000) - mechanism.logsf(1000) == -2000
    assert mechanism.logcdf(-1000) == mechanism.logsf(1000)
    assert mechanism.cdf(1000) == 1
    assert mechanism.logcdf(1000) == 0


@pytest.mark.parametrize("name", ["eps", "breakpoints"])
def test_arrays_of_no_dimension_are_no_sequence(name):
    with pytest.raises(sn.ParameterTypeError, match=rf"^{name} must be a sequence of numbers, got array"):
        sn.MergedLaplace(**({"eps": [1.0, 2.0], "breakpoints": [1.0]} | {name: np.array(1.0)}))


@pytest.mark.parametrize("cost", [None, 1, np.array(["l1", "l2"])])
def test_a_cost_is_a_name(cost):
    with pytest.raises(sn.ParameterTypeError, match=r'^cost must be "l1" or "l2", got '):
        sn.MergedLaplace.from_eps(6.0, cost=cost)


@pytest.mark.parametrize("eps", [5e-324, 1e-300])
def test_an_eps_too_small_for_a_lattice_is_named(eps):
    with pytest.raises(sn.ParameterError, match=r"^eps "):
        sn.MergedLaplace.from_eps(eps)
