"""The truncated staircase mechanism: parameters, privacy, distribution, and comparison with truncated Laplace noise.

Evidence: integrals of the density with mpmath, the mechanism on the integers (test_truncated_discrete_staircase) for drawn
values, and published ratios of variances.
"""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

import stairnoise as sn

MECHANISMS = [
    sn.TruncatedStaircase(1.0, 1e-6, sensitivity=1),
    sn.TruncatedStaircase(4.0, 1e-3, 0.3, "l2"),
    sn.TruncatedStaircase(2.0, 0.05, gamma=0.25, lower=0, sensitivity=1),
    sn.TruncatedStaircase(0.3, 0.2, 7.0, 0.6, upper=-3.0),
    sn.TruncatedStaircase(8.0, 1e-6, 1.0, "l2", lower=-0.5),
    sn.TruncatedStaircase(0.5, 0.5, gamma=1.0, sensitivity=1),
]
mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 0.1), "eps must be finite and greater than 0, got 0.0"),
        ((1, 0), "delta must be from 2**-128 to 0.5, got 0.0"),
        ((1, math.nan), "delta must be from 2**-128 to 0.5, got nan"),
        ((1, 0.6, 1, 0.5), "delta must be from 2**-128 to 0.5, got 0.6"),
        ((1, 0.1, -1), "sensitivity must be finite and greater than 0, got -1.0"),
        ((1, 0.1, 1, 0), "gamma must be greater than 0 and at most 1, got 0.0"),
        ((1, 0.1, 1, 1.5), "gamma must be greater than 0 and at most 1, got 1.5"),
        ((1, 0.1, 1, "l0"), 'gamma must be "l1", "l2" or a number, got \'l0\''),
        ((1, 0.1, 1, 0.5, math.nan), "lower must be within 2**61 multiples of the granularity from 0, got nan"),
        ((1, 0.1, 1, 0.5, None, math.inf), "upper must be within 2**61 multiples of the granularity from 0, got inf"),
        ((1, 0.01, 1, 0.5, 0, 5), "delta must be large enough for the noise to fit between lower and upper, got 0.01"),
        ((1, [0.1]), "delta must be a single number, got an array of dtype float64 and shape (1,)"),
    ],
)
def test_refused(arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        sn.TruncatedStaircase(*arguments)
    assert str(caught.value) == text


@pytest.mark.parametrize("arguments", [("1", 0.1), (1, None), (1, 0.1, "1"), (1, 0.1, 1, 1j), (1, 0.1, 1, 0.5, "2")])
def test_refused_types(arguments):
    with pytest.raises(sn.ParameterTypeError, match="must be a real number"):
        sn.TruncatedStaircase(*arguments)


@mechanisms
def test_attributes(mechanism):
    assert mechanism.exactness == "lattice"
    assert mechanism.granularity == sn.Staircase(mechanism.eps, mechanism.sensitivity).granularity
    assert mechanism.support() == (mechanism.lower, mechanism.upper) == mechanism.lattice_bounds
    assert mechanism.mean() == (mechanism.lower + mechanism.upper) / 2
    assert mechanism != sn.TruncatedStaircase(mechanism.eps / 2, mechanism.delta, mechanism.sensitivity)
    assert 0 < mechanism.achieved_delta <= mechanism.delta
    if mechanism.gamma < 1:
        assert mechanism.achieved_delta >= mechanism.delta * (1 - 1e-6)


def test_bounds_move_the_middle_and_are_rounded_inwards():
    plain = sn.TruncatedStaircase(1, 0.01, gamma=0.5, sensitivity=1)
    above, below = (
        sn.TruncatedStaircase(1, 0.01, gamma=0.5, lower=0.1, sensitivity=1),
        sn.TruncatedStaircase(1, 0.01, gamma=0.5, upper=0.1, sensitivity=1),
    )
    assert 0.1 <= above.lower < 0.1 + plain.granularity
    assert 0.1 - plain.granularity < below.upper <= 0.1
    assert above.upper - above.lower == below.upper - below.lower == 2 * plain.upper
    assert sn.TruncatedStaircase(1, 0.01, gamma=0.5, lower=-9, upper=9, sensitivity=1).upper == plain.upper
    noise = above.sample(1000, rng=sn.SeededRng(2))
    assert np.array_equal(noise, plain.sample(1000, rng=sn.SeededRng(2)) + above.mean())


@mechanisms
def test_noise_is_that_of_the_mechanism_on_the_integers(mechanism):
    g = mechanism.granularity
    sensitivity_steps, lengths = mechanism._sampler.sensitivity_steps, mechanism._sampler.lengths
    on_integers = sn.TruncatedDiscreteStaircase(mechanism.eps, mechanism.delta, sensitivity_steps, lengths[0])
    assert sensitivity_steps == math.ceil(Fraction(mechanism.sensitivity) / Fraction(g))
    assert (mechanism.upper - mechanism.lower) / 2 == on_integers.upper * g
    assert mechanism.achieved_delta == on_integers.achieved_delta
    noise = mechanism.sample(500, rng=sn.SeededRng(4))
    steps = on_integers.sample(500, rng=sn.SeededRng(4)) + round(mechanism.mean() / g)
    assert np.array_equal(noise, steps * g)
    assert noise.min() >= mechanism.lower
    assert noise.max() <= mechanism.upper


@pytest.mark.parametrize(("eps", "ratio"), [(1, 0.959), (2, 0.845), (4, 0.520), (8, 0.108)])
def test_variance_beside_truncated_laplace(eps, ratio):
    ours, laplace = sn.TruncatedStaircase(eps, 1e-6, gamma="l2", sensitivity=1), sn.TruncatedLaplace(eps, 1e-6, sensitivity=1)
    assert ours.var() / laplace.var() == pytest.approx(ratio, abs=6e-4)


@pytest.mark.parametrize("cost", ["l1", "l2"])
@pytest.mark.parametrize(("eps", "delta"), [(0.5, 0.3), (1, 1e-3), (4, 1e-6), (9, 1e-9)])
def test_no_other_shape_is_better(eps, delta, cost):
    power = {"l1": 1, "l2": 2}[cost]
    mechanism = sn.TruncatedStaircase(eps, delta, gamma=cost, sensitivity=1)
    others = [
        sn.TruncatedStaircase(eps, delta, gamma=float(gamma), sensitivity=1)
        for gamma in np.geomspace(mechanism.gamma / 30, 1, 40)
    ]
    near = [
        sn.TruncatedStaircase(eps, delta, gamma=mechanism.gamma * factor, sensitivity=1) for factor in (0.98, 0.99, 1.01, 1.02)
    ]
    assert mechanism.abs_moment(power) <= min(other.abs_moment(power) for other in [*others, *near]) * (1 + 1e-5)


# ---------------------------------------------------------------- distribution


def density(mechanism, x):
    middle = mp.mpf(mechanism.mean())
    if not mechanism.lower <= x <= mechanism.upper:
        return mp.mpf(0)
    stair = mp.floor(abs(x - middle) / mechanism.sensitivity - mechanism.gamma) + 1
    return mp.exp(-mechanism.eps * max(stair, 0))


def pieces(mechanism):
    """Return the points where the density jumps, with 0 and the middle."""
    end = (mechanism.upper - mechanism.lower) / 2
    jumps = [(mechanism.gamma + m) * mechanism.sensitivity for m in range(math.ceil(end / mechanism.sensitivity) + 1)]
    both = [mechanism.mean() + sign * jump for jump in [*jumps, end, 0.0] if jump <= end for sign in (-1, 1)]
    return sorted({*both, 0.0 if mechanism.lower < 0 < mechanism.upper else mechanism.lower})


@mechanisms
def test_distribution_against_integrals(mechanism):
    with mp.workdps(30):
        edges = pieces(mechanism)

        def integral(function, to=math.inf):
            ends = [*[edge for edge in edges if edge < to], min(to, edges[-1])]
            total = mp.mpf(0)
            for low, high in pairwise(ends):
                if high > low:
                    total += density(mechanism, (mp.mpf(low) + high) / 2) * mp.quad(function, [low, high])
            return total

        mass = integral(lambda x: mp.mpf(1))
        for order in (1, 2, 3):
            expected = integral(lambda x, order=order: x**order) / mass
            assert mechanism.moment(order) == pytest.approx(float(expected), rel=1e-11, abs=1e-12 * mechanism.abs_moment(order))
        for p in (0.5, 1, 2.5):
            expected = integral(lambda x, p=p: abs(x) ** p) / mass
            assert mechanism.abs_moment(p) == pytest.approx(float(expected), rel=1e-8 if p == 0.5 else 1e-11)
        for part in (0.03, 0.2, 0.5, 0.61, 0.97):
            x = mechanism.lower + part * (mechanism.upper - mechanism.lower)
            below = integral(lambda x: mp.mpf(1), x) / mass
            assert mechanism.cdf(x) == pytest.approx(float(below), rel=1e-12)
            assert mechanism.sf(x) == pytest.approx(float(1 - below), rel=1e-12)
            assert mechanism.pdf(x) == pytest.approx(float(density(mechanism, x) / mass), rel=1e-12)
            assert mechanism.logpdf(x) == pytest.approx(float(mp.log(density(mechanism, x) / mass)), rel=1e-12, abs=1e-12)
    assert mechanism.var() == pytest.approx(mechanism.moment(2) - mechanism.mean() ** 2, rel=1e-9)


@mechanisms
def test_quantiles_invert(mechanism):
    q = np.concatenate([np.logspace(-5, -1, 50), np.linspace(0.1, 0.9, 40)])
    assert mechanism.cdf(mechanism.ppf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    assert mechanism.sf(mechanism.isf(q)) == pytest.approx(q, rel=1e-9, abs=0)
    assert mechanism.ppf([0, 1]).tolist() == [mechanism.lower, mechanism.upper]
    assert mechanism.isf([0, 1]).tolist() == [mechanism.upper, mechanism.lower]
    assert np.isnan(mechanism.ppf([-0.1, 1.1, math.nan])).all()
    for alpha in (1e-6, 0.05, 0.5, 0.99):
        t = mechanism._tail_bound(alpha)
        assert mechanism.sf(t) + mechanism.cdf(-t) == pytest.approx(alpha, rel=1e-6)


@mechanisms
def test_outside_is_empty(mechanism):
    x = np.array([mechanism.lower - 1, mechanism.upper + 1, -math.inf, math.inf])
    assert mechanism.pdf(x).tolist() == [0, 0, 0, 0]
    assert mechanism.cdf(x).tolist() == [0, 1, 0, 1]
    assert mechanism.sf(x).tolist() == [1, 0, 1, 0]
    assert mechanism.logpdf(x).tolist() == [-math.inf] * 4


@mechanisms
def test_samples_have_the_distribution(mechanism):
    """Kolmogorov and Smirnov with 100 000 values; seed 31; false alarms 1e-6 for each mechanism."""
    noise = mechanism.sample(100_000, rng=sn.SeededRng(31))
    assert stats.kstest(noise, mechanism.cdf).pvalue > 1e-6


@pytest.mark.parametrize("eps", [1e-9, 1e-5, 0.01])
@pytest.mark.parametrize("delta", [0.4, 1e-3])
def test_small_eps(eps, delta):
    """The staircase tends to the truncated Laplace distribution, and agrees with it within a step."""
    ours, laplace = sn.TruncatedStaircase(eps, delta, gamma=0.5, sensitivity=1), sn.TruncatedLaplace(eps, delta, sensitivity=1)
    assert ours.upper == pytest.approx(laplace.upper, abs=1)
    q = np.array([0.6, 0.9, 0.99])
    assert ours.ppf(q) == pytest.approx(laplace.ppf(q), abs=1.5)
    assert ours.cdf(ours.ppf(q)) == pytest.approx(q, rel=1e-12)
    assert ours.abs_moment(1) == pytest.approx(laplace.abs_moment(1), abs=1)
    assert ours.std() == pytest.approx(laplace.std(), abs=1)


# ---------------------------------------------------------------- privacy and releases


def test_profile_is_a_line_in_the_exponential():
    mechanism = sn.TruncatedStaircase(1.2, 1e-3, sensitivity=1)
    t = np.array([0.0, 0.4, 0.9, 1.2, 3.0, math.inf])
    found = mechanism.privacy_profile(t)
    assert found[3:] == pytest.approx([mechanism.achieved_delta] * 3, rel=1e-12)
    # The total variation of neighbours is the probability within half a sensitivity of 0.
    assert found[0] == pytest.approx(mechanism.cdf(0.5) - mechanism.cdf(-0.5), rel=1e-8)
    straight = found[3] + (found[0] - found[3]) * (math.exp(1.2) - np.exp(t[:4])) / math.expm1(1.2)
    assert found[:4] == pytest.approx(straight, rel=1e-9)


def test_release_among_several_partitions_divides_both_parameters():
    mechanism = sn.TruncatedStaircase(1, 1e-5, 2, "l2", lower=0)
    share = sn.TruncatedStaircase(0.25, 2.5e-6, 2, "l2", lower=0)
    values = np.arange(50.0)
    mine = mechanism.release(values, max_partitions_contributed=4, rng=sn.SeededRng(3, allow_release=True))
    assert np.array_equal(mine, share.release(values, rng=sn.SeededRng(3, allow_release=True)))
    assert (mine >= values).all()
    narrow = sn.TruncatedStaircase(1, 0.01, lower=0, upper=10, sensitivity=1)
    with pytest.raises(sn.ParameterError, match="max_partitions_contributed must leave an eps and a delta"):
        narrow.release([1.0], max_partitions_contributed=5, rng=sn.SeededRng(3, allow_release=True))


def test_extremes():
    tiny = sn.TruncatedStaircase(2.0**-40, 0.25, 1e-300)
    assert 0 < tiny.upper < math.inf
    assert math.isfinite(tiny.entropy())
    huge = sn.TruncatedStaircase(1e5, 2.0**-128, 1e280)
    assert huge.upper == pytest.approx(1e280, rel=1e-3)
    assert math.isfinite(huge.abs_moment(1))
