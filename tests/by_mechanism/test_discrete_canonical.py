"""Canonical noise on the integers: parameters, its end, privacy, distribution, and optimality among all noise.

Evidence: the recursion that defines it, with 60 digits and in rational numbers; the tables of optimal.md; linear programs and
every distribution of a small lattice for optimality; the oracle's exact ends in tests/exactness for drawn values.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp
from scipy import stats
from scipy.optimize import linprog

import stairnoise as sn
from tests.by_mechanism.finite_integers import check_quantiles, check_samples
from tests.combinations import looped

MECHANISMS = [
    sn.DiscreteCanonical(1.0, 1e-6),
    sn.DiscreteCanonical(0.1, 0.01),
    sn.DiscreteCanonical(0.5, 1e-3),
    sn.DiscreteCanonical(3.0, 0.05),
    sn.DiscreteCanonical(0.02, 1e-9),
    sn.DiscreteCanonical(1e-9, 0.003),
    sn.DiscreteCanonical(2.0**-40, 0.3),
    sn.DiscreteCanonical(2.0, 0.999),
    sn.DiscreteCanonical(30.0, 1e-25),
    sn.DiscreteCanonical(0.7, 1e-300),
]
mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


def tails(rise, delta):
    """Return a_1, a_2, … while they are positive, by the definition, in the arithmetic of e**ε."""
    found = [(1 - delta) / (1 + rise)]
    while found[-1] > delta:
        found.append((found[-1] - delta) / rise)
    return found


def from_tails(a):
    """Probabilities of -A … A."""
    side = [here - there for here, there in itertools.pairwise([*a, 0])]
    return [*side[::-1], 1 - 2 * a[0], *side]


def probabilities(mechanism):
    with mp.workdps(max(60, mp.dps)):
        return from_tails(tails(mp.exp(mp.mpf(mechanism.eps)), mp.mpf(mechanism.delta)))


def hockey_stick(p, growth):
    """Σ (p_k - growth p_(k-1))₊ over all integers k."""
    return sum(max(here - growth * there, 0) for here, there in zip([*p, 0], [0, *p], strict=True))


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 0.1), "eps must be finite and greater than 0, got 0.0"),
        ((math.nan, 0.1), "eps must be finite and greater than 0, got nan"),
        ((math.inf, 0.1), "eps must be finite and greater than 0, got inf"),
        ((1, -1e-300), "delta must be at least 0 and less than 1, got -1e-300"),
        ((1, 1), "delta must be at least 0 and less than 1, got 1.0"),
        ((1, math.nan), "delta must be at least 0 and less than 1, got nan"),
        ((1, 0.1, 2), "sensitivity must be 1 for canonical noise (TruncatedDiscreteStaircase takes more), got 2"),
        ((1, 0.1, 0.5), "sensitivity must be 1 for canonical noise (TruncatedDiscreteStaircase takes more), got 0.5"),
        ((1, 0.1, math.nan), "sensitivity must be 1 for canonical noise (TruncatedDiscreteStaircase takes more), got nan"),
        (([1, 2], 0.1), "eps must be a single number, got an array of dtype float64 and shape (2,)"),
        ((1, [0.1, 0.2]), "delta must be a single number, got an array of dtype float64 and shape (2,)"),
    ],
)
def test_refused(arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        sn.DiscreteCanonical(*arguments)
    assert str(caught.value).replace("int64", "float64") == text


def test_a_lattice_that_64_bits_do_not_hold_is_refused():
    with pytest.raises(sn.ParameterError, match="eps"):
        sn.DiscreteCanonical(2.0**-41, 0.1)


@pytest.mark.parametrize("arguments", [("1", 0.1), (1, None), (1, 0.1, "1"), (1, 1j), (1, 0.1, 1j)])
def test_refused_types(arguments):
    with pytest.raises(sn.ParameterTypeError, match="must be a real number"):
        sn.DiscreteCanonical(*arguments)


def test_delta_minus_zero_is_zero():
    assert math.copysign(1, sn.DiscreteCanonical(1, -0.0).delta) == 1


@pytest.mark.parametrize(
    ("eps", "delta", "mean", "variance", "end"),
    [(0.1, 0.01, 6.49480, 66.2011, 18), (0.5, 1e-3, 1.88318, 7.28160, 12), (1, 1e-6, 0.850902, 1.84110, 14)],
)
def test_the_table(eps, delta, mean, variance, end):
    mechanism = sn.DiscreteCanonical(eps, delta)
    assert (mechanism.lower, mechanism.upper) == (-end, end)
    assert mechanism.abs_moment(1) == pytest.approx(mean, rel=1e-5)
    assert mechanism.var() == pytest.approx(variance, rel=1e-5)


def test_k_values_divide_both_parameters():
    for eps, delta, k in ((1.0, 1e-6, 3), (0.1, 0.3, 7), (2.0, 0.0, 5)):
        divided = sn.DiscreteCanonical(eps, delta).for_partitions(k)
        assert Fraction(divided.eps) * k <= Fraction(eps)
        assert Fraction(divided.delta) * k <= Fraction(delta)
        assert (divided.eps, divided.delta) == (pytest.approx(eps / k, rel=1e-15), pytest.approx(delta / k, rel=1e-15))


# ---------------------------------------------------------------- ε and δ


@looped("case", range(20))
def test_delta_is_exact_in_rational_numbers(case):
    """A rational e**ε needs no rounding. The hockey stick at ε is exactly δ in both directions."""
    choose = np.random.default_rng([17, case])
    rise = 1 + Fraction(int(choose.integers(1, 4000)), 1000)
    delta = Fraction(int(choose.integers(1, 900)), int(choose.choice([1000, 10_000, 1_000_000])))
    p = from_tails(tails(rise, delta))
    assert sum(p) == 1
    assert min(p) > 0
    assert hockey_stick(p, rise) == hockey_stick(p[::-1], rise) == delta


@looped("case", range(20))
def test_the_closed_form_is_the_recursion(case):
    choose = np.random.default_rng([18, case])
    rise, delta = 1 + Fraction(int(choose.integers(1, 4000)), 1000), Fraction(int(choose.integers(1, 900)), 10_000)
    a, b = tails(rise, delta), 1 / rise
    fixed = delta / (rise - 1)
    assert [(a[0] + fixed) * b**k - fixed for k in range(len(a))] == a
    # Draws use this map: P(|X| >= j) is (S(j) - τ)/(1 - τ) with the S of discrete Laplace noise.
    tau = 2 * delta / (rise - 1 + 2 * delta)
    assert [(2 * b**j / (1 + b) - tau) / (1 - tau) for j in range(1, len(a) + 1)] == [2 * one for one in a]
    assert 2 * b ** (len(a) + 1) / (1 + b) <= tau


@mechanisms
def test_the_profile_is_that_of_the_probabilities(mechanism):
    digits = 60 - int(min(0, math.log10(mechanism.delta)))
    with mp.workdps(digits):
        p = probabilities(mechanism)
        t = [
            0.0,
            0.3 * mechanism.eps,
            0.9 * mechanism.eps,
            mechanism.eps,
            1.1 * mechanism.eps,
            mechanism.eps + 3.0,
            mechanism.eps + 40.0,
        ]
        expected = [float(hockey_stick(p, mp.exp(mp.mpf(one)))) for one in t]
    # Near ε the profile's slope is P(A - 1), so the last place of ε matters.
    steep = 4 * float(np.spacing(mechanism.eps) * mechanism.pmf(mechanism.upper - 1))
    assert mechanism.privacy_profile(t) == pytest.approx(expected, rel=1e-11, abs=max(steep, 1e-300))
    assert mechanism.privacy_profile(mechanism.eps) == pytest.approx(mechanism.delta, rel=1e-13, abs=steep)
    assert mechanism.privacy_profile(math.inf) == pytest.approx(float(p[0]), rel=1e-12)
    assert mechanism.guarantee() == sn.Guarantee(mechanism.eps, mechanism.delta, None, 1, 1)


def test_composition_is_that_of_the_products():
    """For two and three releases, compared with hockey sticks of the products of the probabilities."""
    mechanism = sn.DiscreteCanonical(0.7, 0.02)
    p = np.array([float(one) for one in probabilities(mechanism)])
    one_p, one_q = np.append(p, 0), np.append(0, p)
    here, there = one_p, one_q
    for k in (2, 3):
        here, there = np.outer(here, one_p).ravel(), np.outer(there, one_q).ravel()
        loss = mechanism.compose(k)
        for t in (0.2, 0.7, 1.3):
            assert loss.privacy_profile(t) == pytest.approx(float(np.maximum(here - math.exp(t) * there, 0).sum()), rel=1e-6)


def test_accounting_of_another_library():
    """If dp_accounting is installed, its pessimistic loss distribution gives never less than δ, and a close value."""
    accounting = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="dp_accounting is not installed")
    mechanism = sn.DiscreteCanonical(0.5, 1e-3)
    log_p = mechanism.logpmf(np.arange(mechanism.lower, mechanism.upper + 1)).tolist()
    pld = accounting.from_two_probability_mass_functions(
        dict(enumerate(log_p)), dict(enumerate(log_p, start=1)), value_discretization_interval=1e-6
    )
    assert 1e-3 * (1 - 1e-9) <= pld.get_delta_for_epsilon(0.5) <= 1e-3 * 1.001


def test_neighbours_at_the_edges():
    """Outputs possible for only one of two neighbouring answers have the probability of the end. Seed 9; false alarms 1e-6."""
    mechanism = sn.DiscreteCanonical(0.3, 0.2)
    n = 200_000
    noise = mechanism.sample(n, rng=sn.SeededRng(9))
    for count in ((noise == mechanism.upper).sum(), (noise == mechanism.lower).sum()):
        assert stats.binomtest(int(count), n, float(mechanism.pmf(mechanism.upper))).pvalue > 5e-7
    released = mechanism.release(np.full(1000, 10), rng=sn.SeededRng(9, allow_release=True))
    assert released.min() >= 10 + mechanism.lower
    assert released.max() <= 10 + mechanism.upper


# ---------------------------------------------------------------- optimality


def least_cost(eps, delta, cost, reach):
    """Solve the linear program over all noise on -reach … reach: hockey sticks of both directions are at most δ."""
    n, growth = 2 * reach + 1, math.exp(eps)
    rows = n + 1
    # p_k - e^ε p_(k-1) <= u_k and Σ u <= δ; the mirror image has its own u.
    here, there = np.eye(rows, n), np.eye(rows, n, -1)
    none, identity = np.zeros((rows, rows)), np.eye(rows)
    zeros, ones = np.zeros((1, n)), np.ones((1, rows))
    found = linprog(
        np.concatenate([cost(np.abs(np.arange(-reach, reach + 1.0))), np.zeros(2 * rows)]),
        A_ub=np.vstack(
            [
                np.hstack([here - growth * there, -identity, none]),
                np.hstack([there - growth * here, none, -identity]),
                np.hstack([zeros, ones, 0 * ones]),
                np.hstack([zeros, 0 * ones, ones]),
            ]
        ),
        b_ub=np.concatenate([np.zeros(2 * rows), [delta, delta]]),
        A_eq=np.hstack([np.ones((1, n)), np.zeros((1, 2 * rows))]),
        b_eq=[1.0],
        method="highs",
    )
    assert found.status == 0, found.message
    return found.fun


COSTS = {"|x|": lambda x: x, "x**2": lambda x: x**2, "|x| > 2": lambda x: 1.0 * (x > 2), "x > 0": lambda x: 1.0 * (x > 0)}


@looped(("eps", "delta"), [(0.1, 0.01), (0.5, 1e-3), (1, 0.1), (2, 1e-4), (0.05, 0.4)])
@looped("cost", COSTS)
def test_linear_programs_find_nothing_better(eps, delta, cost):
    """HiGHS searches all noise a little wider than this noise. The optimum is this noise's cost, for every cost."""
    mechanism = sn.DiscreteCanonical(eps, delta)
    x = np.arange(mechanism.lower, mechanism.upper + 1)
    ours = float((mechanism.pmf(x) * COSTS[cost](np.abs(x))).sum())
    assert least_cost(eps, delta, COSTS[cost], mechanism.upper + 6) == pytest.approx(ours, rel=1e-5)
    assert sn.expected_cost(mechanism, COSTS[cost]) == pytest.approx(ours, rel=1e-12)


def compositions(total, parts):
    """Return all ways to write an integer as a sum of a given number of nonnegative integers, one a row."""
    bars = np.array(list(itertools.combinations(range(total + parts - 1), parts - 1)))
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), total + parts - 1)])
    return np.diff(edges, axis=1) - 1


@pytest.mark.parametrize(("eps", "delta"), [(0.5, 0.2), (1, 0.1), (0.2, 0.3), (2, 0.05), (0.7, 0.0)])
@pytest.mark.parametrize(("total", "parts"), [(30, 5), (14, 7)])
def test_every_distribution_of_a_small_lattice_has_larger_tails(eps, delta, total, parts):
    """Brute force: all noise on -2 … 2 or -3 … 3 whose probabilities are multiples of 1/30 or 1/14."""
    p = compositions(total, parts) / total
    sides = [np.pad(p, ((0, 0), (0, 1))), np.pad(p, ((0, 0), (1, 0)))]
    private = np.ones(len(p), bool)
    for here, there in (sides, sides[::-1]):
        private &= np.maximum(here - math.exp(eps) * there, 0).sum(axis=1) <= delta * (1 + 1e-12)
    mechanism, size = sn.DiscreteCanonical(eps, delta), np.abs(np.arange(parts) - parts // 2)
    for t in range(parts // 2):
        beyond = p[private][:, size > t].sum(axis=1)
        assert (beyond >= 2 * mechanism.sf(t) - 1e-12).all()
    # Noise with δ = 0 has no end, and a small δ leaves no noise with such probabilities.
    assert private.sum() > 20 or delta < 0.1


@pytest.mark.parametrize(("eps", "delta"), [(0.1, 0.01), (0.5, 1e-3), (1, 1e-6), (2, 0.05), (4, 1e-4)])
def test_tails_are_the_least_of_all_mechanisms(eps, delta):
    mechanism = sn.DiscreteCanonical(eps, delta)
    others = [
        sn.TruncatedDiscreteStaircase(eps, delta),
        sn.DiscreteGaussian.from_eps(eps, delta),
        sn.DiscreteLaplace(eps),
        sn.GeneralizedDiscreteLaplace.from_eps(eps, 1),
    ]
    t = np.arange(40)
    for other in others:
        assert (mechanism.sf(t) <= other.sf(t) * (1 + 1e-12)).all()
        assert mechanism.abs_moment(1) <= other.abs_moment(1)
        assert other.privacy_profile(eps) <= delta * (1 + 1e-9)


def test_truncated_discrete_laplace_noise_is_optimal_where_it_uses_up_delta():
    """If truncated discrete Laplace noise uses up its δ, it is canonical noise."""
    eps, end = 0.8, 4
    b = math.exp(-eps)
    whole = b ** np.abs(np.arange(-end, end + 1.0))
    delta = float(whole[0] / whole.sum())
    ours = sn.DiscreteCanonical(eps, delta)
    assert ours.pmf(np.arange(-end, end)) == pytest.approx(whole[:-1] / whole.sum(), rel=1e-12)


# ---------------------------------------------------------------- δ = 0


def test_without_delta_it_is_discrete_laplace():
    ours, laplace = sn.DiscreteCanonical(0.3, 0), sn.DiscreteLaplace(0.3)
    x = np.arange(-50, 51)
    for name in ("pmf", "logpmf", "cdf", "sf", "logcdf", "logsf"):
        assert getattr(ours, name)(x).tobytes() == getattr(laplace, name)(x).tobytes()
        assert getattr(ours, name)(3.0) == getattr(laplace, name)(3.0)
    q = np.linspace(0, 1, 101)
    assert ours.ppf(q).tobytes() == laplace.ppf(q).tobytes()
    for name in ("var", "entropy", "mean", "median", "std", "support"):
        assert getattr(ours, name)() == getattr(laplace, name)()
    assert (ours.moment(4), ours.abs_moment(0.5)) == (laplace.moment(4), laplace.abs_moment(0.5))
    assert ours.error_bound(0.99) == laplace.error_bound(0.99)
    assert ours.confidence_interval(9, of="sum", terms=7) == laplace.confidence_interval(9, of="sum", terms=7)
    assert ours.privacy_profile([0.1, 0.2]).tobytes() == laplace.privacy_profile([0.1, 0.2]).tobytes()
    assert ours.compose(10).eps_for_delta(1e-6) == laplace.compose(10).eps_for_delta(1e-6)
    assert ours.guarantee() == laplace.guarantee()
    assert sn.expected_cost(ours, lambda x: x**3) == sn.expected_cost(laplace, lambda x: x**3)
    assert ours.upper == -ours.lower == 2**63 - 1
    assert np.array_equal(ours.sample(1000, rng=sn.SeededRng(1)), laplace.sample(1000, rng=sn.SeededRng(1)))


def test_a_tiny_delta_is_nearly_none():
    ours, laplace = sn.DiscreteCanonical(1, 5e-324), sn.DiscreteLaplace(1)
    x = np.arange(-600, 601)
    assert ours.pmf(x) == pytest.approx(laplace.pmf(x), rel=1e-12)
    assert ours.upper == 744
    assert ours.var() == pytest.approx(laplace.var(), rel=1e-12)


# ---------------------------------------------------------------- distribution


@mechanisms
def test_distribution_by_direct_sums(mechanism):
    p, i = probabilities(mechanism), np.arange(mechanism.lower, mechanism.upper + 1)
    assert len(p) == i.size
    with mp.workdps(60):
        above = [mp.mpf(0)]
        for one in reversed(p):
            above.append(above[-1] + one)
        above.reverse()
        below = above[::-1]
        assert mechanism.pmf(i) == pytest.approx([float(one) for one in p], rel=1e-12)
        assert mechanism.logpmf(i) == pytest.approx([float(mp.log(one)) for one in p], rel=1e-12, abs=1e-13)
        assert mechanism.cdf(i) == pytest.approx([float(one) for one in below[1:]], rel=1e-12)
        assert mechanism.sf(i) == pytest.approx([float(one) for one in above[1:]], rel=1e-12)
        assert mechanism.logsf(i[:-1]) == pytest.approx([float(mp.log(one)) for one in above[1:-1]], rel=1e-12, abs=1e-13)
        assert mechanism.logcdf(i) == pytest.approx([float(mp.log(one)) for one in below[1:]], rel=1e-12, abs=1e-13)
        for order in (0.5, 1, 2, 3, 4):
            size = mp.fsum(one * mp.mpf(abs(int(k))) ** order for one, k in zip(p, i, strict=True))
            assert mechanism.abs_moment(order) == pytest.approx(float(size), rel=1e-12)
        assert mechanism.entropy() == pytest.approx(float(-mp.fsum(one * mp.log(one) for one in p)), rel=1e-12)
    assert (mechanism.moment(2), mechanism.moment(3), mechanism.mean(), mechanism.median()) == (mechanism.var(), 0, 0, 0)
    assert mechanism.support() == (mechanism.lower, mechanism.upper)
    outside = [mechanism.lower - 1, mechanism.upper + 1, mechanism.lower + 0.5, math.inf, -math.inf]
    assert mechanism.pmf(outside).tolist() == [0] * 5
    assert mechanism.logpmf(outside).tolist() == [-math.inf] * 5
    assert mechanism.cdf([mechanism.lower - 1, mechanism.upper, math.inf]).tolist() == [0, 1, 1]
    assert mechanism.logsf([mechanism.upper, mechanism.lower - 1, -math.inf]).tolist() == [-math.inf, 0, 0]
    assert np.isnan([mechanism.pmf(math.nan), mechanism.cdf(math.nan), mechanism.logsf(math.nan)]).all()


@mechanisms
def test_quantiles_are_the_least_integers(mechanism):
    check_quantiles(mechanism)


@mechanisms
def test_samples_have_the_probabilities(mechanism):
    """False alarms 1e-6 for each mechanism."""
    check_samples(mechanism)


@pytest.mark.parametrize("mechanism", MECHANISMS[:5], ids=repr)
@pytest.mark.parametrize("k", [2, 5])
def test_bounds_of_sums_hold(mechanism, k):
    """By convolution, P(|S| > t) is at most α at the bound, and above α one integer before."""
    p = np.array([float(one) for one in probabilities(mechanism)])
    total = p
    for _ in range(k - 1):
        total = np.convolve(total, p)
    size = np.abs(np.arange(total.size) + k * mechanism.lower)
    for alpha in (0.3, 1e-3):
        low, high = mechanism.confidence_interval(0, 1 - alpha, of="sum", terms=k)
        assert total[size > high].sum() <= alpha * (1 + 1e-9)
        assert total[size > high - 1].sum() > alpha
        assert (low, high) == (-high, high)


def test_wide_noise_has_the_moments_of_the_recursion():
    """There are more integers than the code sums singly; the test's recursion gives a million tails and keeps errors small."""
    mechanism = sn.DiscreteCanonical(2e-6, 1e-7)
    a, rise = [(1 - mechanism.delta) / (1 + math.exp(mechanism.eps))], math.exp(mechanism.eps)
    while a[-1] > mechanism.delta:
        a.append((a[-1] - mechanism.delta) / rise)
    assert mechanism.upper == len(a)
    k, a = np.arange(1.0, len(a) + 1), np.array(a)
    assert mechanism.abs_moment(1) == pytest.approx(2 * float(a.sum()), rel=1e-9)
    assert mechanism.var() == pytest.approx(2 * float((a * (2 * k - 1)).sum()), rel=1e-9)
    p = np.append(a[:-1] - a[1:], a[-1])
    entropy = -(1 - 2 * a[0]) * math.log(1 - 2 * a[0]) - 2 * float((p * np.log(p)).sum())
    assert mechanism.entropy() == pytest.approx(entropy, rel=1e-9)
    assert mechanism.sf(k[::1000] - 1) == pytest.approx(a[::1000], rel=1e-9, abs=1e-11)


def test_extremes():
    widest = sn.DiscreteCanonical(2.0**-40, 5e-324)
    assert 2**49 < widest.upper < 2**50
    assert math.isfinite(widest.entropy())
    assert widest.var() == pytest.approx(sn.DiscreteLaplace(2.0**-40).var(), rel=1e-12)
    assert abs(widest.sample(1000, rng=sn.SeededRng(1))).max() <= widest.upper
    for eps in (700.0, 1e5, 1.7e308):
        for delta in (5e-324, 1e-9, 0.5, 1 - 2.0**-53):
            steep = sn.DiscreteCanonical(eps, delta)
            assert steep.sample(100, rng=sn.SeededRng(1)).tolist() == [0] * 100
            assert steep.pmf(0) == pytest.approx(1.0, rel=1e-15)
            assert steep.privacy_profile(0.0) == pytest.approx(1.0, rel=1e-15)
    nearly_all = sn.DiscreteCanonical(1, 1 - 2.0**-53)
    assert nearly_all.upper == 1
    assert nearly_all.pmf(1) == pytest.approx(2.0**-53 / (1 + math.e), rel=1e-13)


# ---------------------------------------------------------------- ε for an error


@pytest.mark.parametrize("case", range(12))
def test_eps_for_error_is_the_least(case):
    choose = np.random.default_rng([19, case])
    t, alpha = int(choose.integers(0, 60)), float(np.exp(choose.uniform(-12, -0.7)))
    delta = float(choose.choice([0.0, 1e-9, 0.01, 0.3, 0.9]))
    alpha = 1 - (confidence := 1 - alpha)
    eps = sn.DiscreteCanonical.eps_for_error(t + 0.5, confidence, delta=delta)
    assert 2 * sn.DiscreteCanonical(eps, delta).sf(t) <= alpha
    if eps > 2.0**-40:
        assert 2 * sn.DiscreteCanonical(eps * (1 - 1e-11), delta).sf(t) > alpha * (1 - 4e-12) * (1 - 1e-12)
        assert 2 * sn.DiscreteCanonical(eps * (1 - 1e-3), delta).sf(t) > alpha


def test_tails_fall_as_eps_and_delta_grow():
    t = np.arange(30)
    for eps, delta in itertools.product((0.05, 0.3, 1, 4), (0, 1e-6, 0.01, 0.3)):
        here = sn.DiscreteCanonical(eps, delta).sf(t)
        assert (sn.DiscreteCanonical(eps * 1.1, delta).sf(t) <= here).all()
        assert (sn.DiscreteCanonical(eps, delta + 0.01).sf(t) <= here).all()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((-1, 0.9, 0.1), "t must be finite and at least 0, got -1"),
        ((1, 1.0, 0.1), "confidence must be less than 1, got 1.0"),
        ((1, 0.9, 1.0), "delta must be at least 0 and less than 1, got 1.0"),
        ((1, 0.9, 0.1, 2), "sensitivity must be 1 for canonical noise (TruncatedDiscreteStaircase takes more), got 2.0"),
    ],
)
def test_eps_for_error_refuses(arguments, text):
    t, confidence, delta, *rest = arguments
    with pytest.raises(sn.ParameterError) as caught:
        sn.DiscreteCanonical.eps_for_error(t, confidence, **dict(zip(["delta", "sensitivity"], [delta, *rest], strict=False)))
    assert str(caught.value) == text


def test_compare_has_it_at_sensitivity_1_alone():
    table = sn.compare(1, delta=1e-3)
    others = [row for row in table if row.p_zero is not None]
    assert min(others, key=lambda row: row.mean_abs).name == "DiscreteCanonical"
    assert "less error than DiscreteCanonical: its E|X| is 0.93 % below the discrete Laplace's." in table.recommendation
    wider = sn.compare(1, 10, delta=1e-3)
    assert all(row.mechanism != "DiscreteCanonical" for row in wider)
    assert "sensitivity must be 1 for canonical noise" in wider.notes[0]
