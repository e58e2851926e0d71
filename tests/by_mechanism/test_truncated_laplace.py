"""The truncated Laplace distribution: parameters, bounds, privacy, distribution.

Evidence: brute force over small lattices for privacy, quadrature with mpmath for the distribution, and the oracle's
exact bounds in tests/exactness for drawn values.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn
from stairnoise.accounting.losses.largest import Largest
from stairnoise.accounting.losses.runs import Runs
from stairnoise.accounting.privacy_loss import PrivacyLoss
from stairnoise.distributions.slopes import Slopes
from stairnoise.mechanisms.truncated_laplace import distribution as truncated_laplace

SYMMETRIC = sn.TruncatedLaplace(0.7, 2.5e-6, sensitivity=1)
LOPSIDED = sn.TruncatedLaplace(1.0, 0.01, 2.0, upper=8.93)
MECHANISMS = [SYMMETRIC, LOPSIDED, sn.TruncatedLaplace(4, 0.5, 1e-3), sn.TruncatedLaplace(0.1, 1e-9, 3, -900, 1000)]

mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 0.1), "eps must be finite and greater than 0, got 0.0"),
        ((math.nan, 0.1), "eps must be finite and greater than 0, got nan"),
        ((1, 0), "delta must be from 2**-128 to 0.5, got 0.0"),
        ((1, 0.6), "delta must be from 2**-128 to 0.5, got 0.6"),
        ((1, math.nan), "delta must be from 2**-128 to 0.5, got nan"),
        ((1, 1e-39), "delta must be from 2**-128 to 0.5, got 1e-39"),
        ((1, 0.1, -1), "sensitivity must be finite and greater than 0, got -1.0"),
        ((1, 0.1, 1, 1), "lower must be at most -sensitivity, got 1.0"),
        ((1, 0.1, 2, -1.5), "lower must be at most -sensitivity, got -1.5"),
        ((1, 0.1, 2, None, 1.5), "upper must be at least the sensitivity, got 1.5"),
        ((1, 0.1, 1, None, math.nan), "upper must be at least the sensitivity, got nan"),
        ((1, 0.1, 1, None, math.inf), "upper must be within 2**62 multiples of the granularity from 0, got inf"),
        (
            (1, 0.01, 1, None, 4.0),
            "upper must be far enough from 0 for a bound on the other side to leave no more than delta, got 4.0",
        ),
        (
            (1, 0.01, 1, -4.0, None),
            "lower must be far enough from 0 for a bound on the other side to leave no more than delta, got -4.0",
        ),
        (
            # The lattice has room for a bound on the other side, but the density does not.
            (1, 0.01, 1, -4.459150757684496, None),
            "lower must be far enough from 0 for a bound on the other side to leave no more than delta, got -4.459150757684496",
        ),
        ((1, 0.01, 1, -4.0, 9.0), "delta must be at least what lower and upper leave to the outermost sensitivity, got 0.01"),
        (([1, 2], 0.1), "eps must be a single number, got an array of dtype float64 and shape (2,)"),
        ((1, [0.1]), "delta must be a single number, got an array of dtype float64 and shape (1,)"),
        ((1, 0.1, 1, None, [2.0]), "upper must be a single number, got an array of dtype float64 and shape (1,)"),
    ],
)
def test_refused(arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        sn.TruncatedLaplace(*arguments)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "arguments", [("1", 0.1), (1, None), (1, 0.1, "1"), (1, 0.1, 1, "2"), (1, 0.1, 1, None, 1j), (True, 0.1)]
)
def test_refused_types(arguments):
    with pytest.raises(sn.ParameterTypeError, match="must be a real number"):
        sn.TruncatedLaplace(*arguments)


@mechanisms
def test_another_eps_is_another_mechanism(mechanism):
    assert mechanism != sn.TruncatedLaplace(mechanism.eps / 2, mechanism.delta, mechanism.sensitivity)


def test_attributes():
    d = sn.TruncatedLaplace(1, 0.01, 2, upper=8.93)
    assert (d.eps, d.delta, d.sensitivity, d.upper) == (1.0, 0.01, 2.0, 8.93)
    assert d.exactness == "lattice"
    assert d.granularity == sn.Laplace(1, 2).granularity
    assert d.support() == (d.lower, d.upper)
    mirrored = sn.TruncatedLaplace(1, 0.01, 2, lower=-8.93)
    assert (mirrored.lower, mirrored.upper) == (-d.upper, -d.lower)
    assert mirrored.lattice_bounds == tuple(-end for end in reversed(d.lattice_bounds))


# ---------------------------------------------------------------- bounds and δ


@mechanisms
def test_draws_stay_within_the_lattice_bounds(mechanism):
    low, high = mechanism.lattice_bounds
    noise = mechanism.sample(200_000, rng=sn.SeededRng(4))
    assert low <= noise.min()
    assert noise.max() <= high
    scale = mechanism.sensitivity / mechanism.eps
    assert mechanism.lower == pytest.approx(low, abs=1e-8 * scale)
    assert mechanism.upper == pytest.approx(high, abs=1e-8 * scale)


@mechanisms
def test_delta_is_achieved_and_not_more(mechanism):
    assert mechanism.achieved_delta <= mechanism.delta
    symmetric = mechanism.lower == -mechanism.upper
    if symmetric or mechanism is LOPSIDED:
        # A bound one lattice step nearer to 0 would exceed δ.
        assert mechanism.achieved_delta >= mechanism.delta * (1 - 1e-8)


def test_given_bounds_that_are_wider_leave_less():
    wide = sn.TruncatedLaplace(1, 0.01, lower=-10, upper=9, sensitivity=1)
    assert wide.achieved_delta < 2e-4
    assert (wide.lower, wide.upper) == (-10, 9)


def brute_delta(t, eps, sensitivity_steps, below, above):
    """Return the sup over all sets of P(S) - e^t Q(S), in both directions, for every shift up to the sensitivity."""
    k = np.arange(-below - sensitivity_steps, above + sensitivity_steps + 1)
    pmf = np.where((k >= -below) & (k <= above), np.exp(-eps * np.abs(k) / sensitivity_steps), 0.0)
    pmf /= pmf.sum()
    worst = 0.0
    for shift in range(1, sensitivity_steps + 1):
        other = np.concatenate([np.zeros(shift), pmf[:-shift]])
        for p, q in ((pmf, other), (other, pmf)):
            worst = max(worst, float(np.maximum(p - math.exp(t) * q, 0).sum()))
    return worst


@pytest.mark.parametrize(("below", "above"), [(12, 12), (5, 9), (9, 5), (20, 6), (4, 40), (7, 7)])
@pytest.mark.parametrize("eps", [0.3, 1.0, 4.0])
def test_profile_is_the_largest_of_all_shifts_and_sets(eps, below, above):
    sensitivity_steps = 5
    t = np.array([-2 * eps, -0.4 * eps, 0.0, 0.1 * eps, 0.25 * eps, 0.5 * eps, 0.77 * eps, eps, 1.5 * eps])
    expected = [brute_delta(one, eps, sensitivity_steps, below, above) for one in t]
    slopes = Slopes([Fraction(eps) / sensitivity_steps], [], below, above)
    loss = PrivacyLoss._of(
        ((Largest([Runs((), slopes, sensitivity_steps), Runs((), slopes, -sensitivity_steps)]), 1),), ("coarse",)
    )
    assert loss.privacy_profile(t) == pytest.approx(expected, rel=1e-12)
    exact = float(truncated_laplace.achieved_delta(eps, sensitivity_steps, below, above))
    assert exact == pytest.approx(brute_delta(eps, eps, sensitivity_steps, below, above), rel=1e-12)


def test_profile_of_a_mechanism():
    d = sn.TruncatedLaplace(1, 1e-6, sensitivity=1)
    laplace = sn.Laplace(1, sensitivity=1)
    t = np.array([0.0, 0.2, 0.9, 1.0, 3.0, math.inf])
    profile = d.privacy_profile(t)
    assert profile[3:] == pytest.approx([d.achieved_delta] * 3, rel=1e-12)
    # A truncated mechanism is the Laplace distribution except for the removed tails.
    assert profile == pytest.approx(laplace.privacy_profile(t), abs=1.1e-6)
    assert type(d.privacy_profile(0.5)) is float
    assert d.privacy_profile(-1) == pytest.approx(1 - math.exp(-1) + math.exp(-1) * d.privacy_profile(1.0))
    with pytest.raises(sn.ParameterError, match="eps must be a number, not NaN"):
        d.privacy_profile(math.nan)
    with pytest.raises(sn.ParameterTypeError, match="eps must be a real number"):
        d.privacy_profile("1")


@pytest.mark.parametrize(("eps", "delta"), [(0.01, 0.001), (0.7, 2.5e-6), (0.5, 0.1), (1.0, 0.01), (2.0, 0.05), (8.0, 1e-3)])
def test_other_bound_is_that_of_the_theorem(eps, delta):
    """The formula of theorem 1 for the far bound, and what it inverts to for the near one; at least one sensitivity."""
    with mp.workdps(40):
        e, d = mp.mpf(eps), mp.mpf(delta)
        symmetric = mp.log(1 + mp.expm1(e) / (2 * d))
        window = symmetric - mp.log((mp.expm1(e) + d) / (2 * d))
        for part in (0.01, 0.5, 0.9):
            given = float(symmetric - part * window)
            far = -mp.log(2 + (1 - d) / d * mp.exp(-mp.mpf(given)) - mp.exp(e - mp.mpf(given)) / d)
            # A change of the given bound in its last place changes the other by so much.
            condition = float(2e-16 * given * mp.exp(far) * 2)
            assert truncated_laplace.other_bound(eps, delta, given) == pytest.approx(float(far), rel=1e-13, abs=condition)
        assert truncated_laplace.other_bound(eps, delta, float(symmetric - 1.01 * window)) == math.inf
        for given in (float(symmetric) + 0.5, float(symmetric) + 50):
            near = mp.log((mp.expm1(e) + d) / (d * (2 - mp.exp(-mp.mpf(given)))))
            assert truncated_laplace.other_bound(eps, delta, given) == pytest.approx(float(max(e, near)), rel=1e-13)


def test_asymmetric_mechanisms_are_never_better():
    """Both costs and the bias, for bounds in and beside the window of the theorem."""
    for eps, delta in ((0.1, 0.01), (0.5, 0.1), (1.0, 0.01), (2.0, 0.05), (5.0, 0.2)):
        symmetric = sn.TruncatedLaplace(eps, delta, sensitivity=1)
        least = math.log((math.expm1(eps) + delta) / (2 * delta)) / eps
        for part in (0.02, 0.3, 0.7, 0.98, 1.2, 2.0):
            d = sn.TruncatedLaplace(eps, delta, upper=least + part * (symmetric.upper - least), sensitivity=1)
            assert d.abs_moment(1) > symmetric.abs_moment(1)
            assert d.moment(2) > symmetric.moment(2)
            assert d.mean() * (d.upper + d.lower) > 0


def test_the_formula_for_the_other_bound_fails_below_one_sensitivity():
    """eps = 0.1, delta = 0.3: in the middle of the formula's window B is negative. Such bounds are refused."""
    eps, delta = 0.1, 0.3
    low, high = (math.log(ratio) / eps for ratio in ((math.expm1(eps) + delta) / (2 * delta), 1 + math.expm1(eps) / (2 * delta)))
    assert low < 0 < (low + high) / 2 + 1.2
    assert (low + high) / 2 < 0
    with pytest.raises(sn.ParameterError, match="upper must be at least the sensitivity"):
        sn.TruncatedLaplace(eps, delta, upper=0.5, sensitivity=1)


# ---------------------------------------------------------------- distribution


def density(mechanism, x):
    return mp.exp(-abs(x) * mechanism.eps / mechanism.sensitivity) if mechanism.lower <= x <= mechanism.upper else mp.mpf(0)


def pieces(mechanism):
    inner = [mechanism.lower + (mechanism.upper - mechanism.lower) * i / 8 for i in range(9)]
    return sorted([*inner, 0.0])


@pytest.mark.slow
@mechanisms
def test_distribution_against_quadrature(mechanism):
    with mp.workdps(25):
        mass = mp.quad(lambda x: density(mechanism, x), pieces(mechanism))
        for power in (1, 2, 3, 4):
            moment = mp.quad(lambda x, power=power: x**power * density(mechanism, x), pieces(mechanism)) / mass
            size = mechanism.abs_moment(power)
            assert mechanism.moment(power) == pytest.approx(float(moment), rel=1e-12, abs=1e-13 * size)
        for p in (0.5, 1, 2, 3.5):
            moment = mp.quad(lambda x, p=p: abs(x) ** p * density(mechanism, x), pieces(mechanism)) / mass
            assert mechanism.abs_moment(p) == pytest.approx(float(moment), rel=1e-9 if p == 0.5 else 1e-12)
        entropy = (
            mp.log(mass)
            + mp.quad(lambda x: abs(x) * density(mechanism, x), pieces(mechanism)) / mass * mechanism.eps / mechanism.sensitivity
        )
        assert mechanism.entropy() == pytest.approx(float(entropy), rel=1e-12, abs=1e-12)
        for x in (0.9 * mechanism.lower, 0.2 * mechanism.lower, 0.0, 0.3 * mechanism.upper, 0.95 * mechanism.upper):
            below = mp.quad(lambda y: density(mechanism, y), sorted([y for y in pieces(mechanism) if y < x] + [x]))
            assert mechanism.cdf(x) == pytest.approx(float(below / mass), rel=1e-12)
            assert mechanism.sf(x) == pytest.approx(float(1 - below / mass), rel=1e-12)
            assert mechanism.pdf(x) == pytest.approx(float(density(mechanism, x) / mass), rel=1e-12)
    assert mechanism.var() == pytest.approx(mechanism.moment(2) - mechanism.mean() ** 2, rel=1e-12)
    assert mechanism.std() ** 2 == pytest.approx(mechanism.var(), rel=1e-12)


@mechanisms
def test_quantiles_invert(mechanism):
    # Nearer to the bounds, float64 cannot represent the distance from them.
    q = np.concatenate([np.logspace(-5, -1, 50), np.linspace(0.1, 0.9, 40)])
    assert mechanism.cdf(mechanism.ppf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    assert mechanism.sf(mechanism.isf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    assert mechanism.logcdf(mechanism.ppf(q)) == pytest.approx(np.log(q), rel=1e-9, abs=0)
    assert mechanism.ppf([0, 1]).tolist() == [mechanism.lower, mechanism.upper]
    assert mechanism.isf([0, 1]).tolist() == [mechanism.upper, mechanism.lower]
    assert np.isnan(mechanism.ppf([-0.1, 1.1, math.nan])).all()
    assert mechanism.interval(0.9)[0] == pytest.approx(mechanism.ppf(0.05), rel=1e-13)


@mechanisms
def test_error_bounds_hold(mechanism):
    for alpha in (1e-9, 0.01, 0.05, 0.5, 0.99):
        t = mechanism._tail_bound(alpha)
        assert mechanism.sf(t) + mechanism.cdf(-t) == pytest.approx(alpha, rel=1e-6)
    assert mechanism._tail_bound(1.0) == pytest.approx(0, abs=1e-15)


@mechanisms
def test_outside_is_empty(mechanism):
    x = np.array([mechanism.lower * 1.001, mechanism.upper * 1.001, -math.inf, math.inf])
    assert mechanism.pdf(x).tolist() == [0, 0, 0, 0]
    assert mechanism.cdf(x).tolist() == [0, 1, 0, 1]
    assert mechanism.sf(x).tolist() == [1, 0, 1, 0]
    assert mechanism.logpdf(x).tolist() == [-math.inf] * 4
    assert np.isnan(mechanism.cdf(math.nan))
    assert np.isnan(mechanism.pdf(math.nan))


def test_extremes():
    tiny = sn.TruncatedLaplace(2.0**-40, 0.25, 1e-300)
    assert 0 < tiny.upper < math.inf
    assert math.isfinite(tiny.entropy())
    huge = sn.TruncatedLaplace(1e5, 2.0**-128, 1e280)
    assert huge.upper == pytest.approx(1e280 * (1 + math.log(2.0**127) / 1e5), rel=1e-12)
    assert huge.achieved_delta <= 2.0**-128
    assert math.isfinite(huge.abs_moment(1))


# ---------------------------------------------------------------- releases


def test_release_among_several_partitions_divides_both_parameters():
    d = sn.TruncatedLaplace(1, 1e-5, 2)
    share = sn.TruncatedLaplace(0.25, 2.5e-6, 2)
    values = np.arange(50.0)
    mine = d.release(values, max_partitions_contributed=4, rng=sn.SeededRng(3, allow_release=True))
    assert np.array_equal(mine, share.release(values, rng=sn.SeededRng(3, allow_release=True)))
    assert Fraction(d.for_partitions(3).delta) * 3 <= Fraction(d.delta)
    assert Fraction(d.for_partitions(3).eps) * 3 <= Fraction(d.eps)


def test_release_among_several_partitions_needs_bounds_that_fit():
    d = sn.TruncatedLaplace(1, 0.01, upper=4.4625, sensitivity=1)
    with pytest.raises(
        sn.ParameterError, match="max_partitions_contributed must leave an eps and a delta that the mechanism can have, got 2"
    ):
        d.release([1.0], max_partitions_contributed=2, rng=sn.SeededRng(3, allow_release=True))


def test_releases_leave_the_bounds_around_the_answer():
    d = sn.TruncatedLaplace(1, 0.01, sensitivity=1)
    released = d.release(np.full(100_000, 7.25), rng=sn.SeededRng(5, allow_release=True))
    low, high = d.lattice_bounds
    assert released.min() >= 7.25 + low
    assert released.max() <= 7.25 + high
    assert d.release(np.float32(1), rng=sn.SeededRng(5, allow_release=True)).__class__ is float
    assert d.release([1, 2], rng=sn.SeededRng(5, allow_release=True)).dtype == np.float64


def test_profile_far_outside_the_range_of_losses():
    mechanism = sn.TruncatedLaplace(1.5, 1e-6, sensitivity=1)
    assert (
        mechanism.privacy_profile(np.finfo(float).max)
        == mechanism.privacy_profile(1.5)
        == pytest.approx(mechanism.achieved_delta, rel=1e-12)
    )
    assert mechanism.privacy_profile(-np.finfo(float).max) == 1.0
