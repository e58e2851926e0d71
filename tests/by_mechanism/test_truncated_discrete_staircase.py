"""The truncated discrete staircase mechanism: parameters, end, privacy, distribution, optimality.

Evidence: rational arithmetic over every shift for privacy, direct sums for the distribution, the tables of
optimal.md and linear programs for optimality, and the oracle's exact ends in tests/exactness for drawn values.
"""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp
from scipy import sparse, stats
from scipy.optimize import linprog

import stairnoise as sn
from stairnoise import _native
from stairnoise.mechanisms.truncated_staircase import calibration as truncated_shapes
from stairnoise.mechanisms.truncated_staircase.distribution import achieved_delta
from tests.by_mechanism.finite_integers import check_quantiles, check_samples
from tests.combinations import rest_long

MECHANISMS = [
    sn.TruncatedDiscreteStaircase(1.0, 1e-6),
    sn.TruncatedDiscreteStaircase(1.0, 1e-3, 10, "l2"),
    sn.TruncatedDiscreteStaircase(2.0, 0.05, 10, "l2", lower=0),
    sn.TruncatedDiscreteStaircase(0.1, 0.3, 3, 2, upper=-4),
    sn.TruncatedDiscreteStaircase(0.05, 1e-6, 10, 4, lower=-7),
    sn.TruncatedDiscreteStaircase(8.0, 1e-6, 10),
    sn.TruncatedDiscreteStaircase(1e-9, 0.5, 4, 1),
]
mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


def weights(b, sensitivity_steps, r, end):
    """Return unnormalised probabilities of -end … end, by the definition, in the arithmetic of b."""
    return [b ** (0 if abs(i) < r else (abs(i) - r) // sensitivity_steps + 1) for i in range(-end, end + 1)]


def probabilities(mechanism):
    """Return the probabilities with 50 digits, and the smallest integer."""
    with mp.workdps(50):
        all_weights = weights(
            mp.exp(-mp.mpf(mechanism.eps)), mechanism.sensitivity, mechanism.r, (mechanism.upper - mechanism.lower) // 2
        )
        total = mp.fsum(all_weights)
        return [weight / total for weight in all_weights]


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 0.1), "eps must be finite and greater than 0, got 0.0"),
        ((math.nan, 0.1), "eps must be finite and greater than 0, got nan"),
        ((1, 0), "delta must be from 2**-128 to 0.5, got 0.0"),
        ((1, 0.6), "delta must be from 2**-128 to 0.5, got 0.6"),
        ((1, math.nan), "delta must be from 2**-128 to 0.5, got nan"),
        ((1, 1e-39, 3, 2), "delta must be from 2**-128 to 0.5, got 1e-39"),
        ((1, 0.1, 0), "sensitivity must be a whole number from 1 to 2**53, got 0.0"),
        ((1, 0.1, 1.5), "sensitivity must be a whole number from 1 to 2**53, got 1.5"),
        ((1, 0.1, math.inf), "sensitivity must be a whole number from 1 to 2**53, got inf"),
        ((1, 0.1, 3, 0), "r must be a whole number from 1 to 2**53, got 0.0"),
        ((1, 0.1, 3, math.nan), "r must be a whole number from 1 to 2**53, got nan"),
        ((1, 0.1, 3, 4), "r must be a whole number from 1 to the sensitivity 3.0, got 4.0"),
        ((1, 0.1, 3, "l3"), 'r must be "l1", "l2" or a number, got \'l3\''),
        ((1, 0.1, 1, "l1", -(2**53) - 1), "lower must be an integer from -9007199254740992 to 2**53, got -9007199254740993"),
        ((1, 0.01, 3, 2, 0, 5), "delta must be large enough for the noise to fit between lower and upper, got 0.01"),
        (([1, 2], 0.1), "eps must be a single number, got an array of dtype float64 and shape (2,)"),
    ],
)
def test_refused(arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        sn.TruncatedDiscreteStaircase(*arguments)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "arguments", [("1", 0.1), (1, None), (1, 0.1, "1"), (1, 0.1, 1, 1j), (1, 0.1, 1, 1, 0.5), (1, 0.1, 1, 1, None, "2")]
)
def test_refused_types(arguments):
    with pytest.raises(sn.ParameterTypeError, match=r"must be (a real number|an integer)"):
        sn.TruncatedDiscreteStaircase(*arguments)


def test_a_bound_moves_the_middle_as_little_as_it_must():
    def ends(lower, upper):
        mechanism = sn.TruncatedDiscreteStaircase(1, 0.01, 3, 2, lower, upper)
        assert mechanism.mean() == (mechanism.lower + mechanism.upper) / 2
        return mechanism.lower, mechanism.upper

    low, high = ends(None, None)
    assert -low == high
    assert ends(low, high) == ends(-(10**9), None) == ends(None, 10**9) == (low, high)
    assert ends(0, None) == (0, 2 * high)
    assert ends(None, 0) == (-2 * high, 0)
    assert ends(5, None) == (5, 5 + 2 * high)
    assert ends(-1, 2 * high - 1) == (-1, 2 * high - 1)
    assert ends(-(2**53), -(2**53) + 2 * high) == (-(2**53), -(2**53) + 2 * high)


@mechanisms
def test_a_moved_mechanism_has_the_noise_of_the_other_one(mechanism):
    plain = sn.TruncatedDiscreteStaircase(mechanism.eps, mechanism.delta, mechanism.sensitivity, mechanism.r)
    middle = (mechanism.lower + mechanism.upper) // 2
    noise = mechanism.sample(1000, rng=sn.SeededRng(2))
    assert np.array_equal(noise, plain.sample(1000, rng=sn.SeededRng(2)) + middle)
    assert mechanism.sample(rng=sn.SeededRng(2)) == noise[0]
    assert (mechanism.achieved_delta, mechanism.var()) == (plain.achieved_delta, plain.var())


# ---------------------------------------------------------------- δ


def hockey_stick(p, shift, growth):
    """Σ (p_k - growth p_(k-shift))₊ over all integers k."""
    return sum(max(here - (growth * p[k - shift] if k >= shift else 0), 0) for k, here in enumerate(p))


@pytest.mark.parametrize("case", range(12))
def test_delta_is_the_outermost_mass_for_every_shift(case):
    """A rational b needs no rounding."""
    choose = np.random.default_rng([7, case])
    sensitivity_steps = int(choose.integers(1, 9))
    r, end = (
        int(choose.integers(1, sensitivity_steps + 1)),
        sensitivity_steps + int(choose.integers(0, 3 * sensitivity_steps + 1)),
    )
    b = Fraction(int(choose.integers(1, 1000)), 1000)
    p = weights(b, sensitivity_steps, r, end)
    total = sum(p)
    p = [weight / total for weight in p]
    for shift in range(1, sensitivity_steps + 1):
        found = hockey_stick(p, shift, 1 / b)
        assert found == hockey_stick(p[::-1], shift, 1 / b) == sum(p[:shift])
    assert found == sum(p[-sensitivity_steps:])


@pytest.mark.parametrize("case", rest_long(range(15), range(40)))
def test_the_end_is_the_least_for_delta(case):
    """The sum of the probabilities with 60 digits shows this, also for k partitions."""
    choose = np.random.default_rng([8, case])
    eps, delta = math.exp(choose.uniform(-3, 3)), math.exp(choose.uniform(-16, math.log(0.5)))
    sensitivity_steps = int(choose.integers(1, 13))
    r = ("l1", "l2", int(choose.integers(1, sensitivity_steps + 1)))[case % 3]
    given = sn.TruncatedDiscreteStaircase(eps, delta, sensitivity_steps, r)
    for k in (1, 3):
        mechanism = given.for_partitions(k)
        assert Fraction(mechanism.eps) * k <= Fraction(eps)
        assert Fraction(mechanism.delta) * k <= Fraction(delta)
        p = probabilities(mechanism)
        with mp.workdps(50):
            mass = mp.fsum(p[:sensitivity_steps])
            assert mass <= mp.mpf(mechanism.delta)
            assert mechanism.achieved_delta == pytest.approx(float(mass), rel=1e-15)
            assert mp.mpf(mechanism.achieved_delta) >= mass
            assert mechanism.upper >= sensitivity_steps
            if mechanism.upper > sensitivity_steps:
                shorter = p[1:-1]
                assert mp.fsum(shorter[:sensitivity_steps]) / mp.fsum(shorter) > mp.mpf(mechanism.delta)


@mechanisms
def test_the_profile_is_the_largest_of_all_shifts(mechanism):
    t = np.array([0.0, 0.1, 0.3, 0.77, 1.0, 1.5]) * mechanism.eps
    p = [float(one) for one in probabilities(mechanism)]
    largest = [max(hockey_stick(p, s, math.exp(one)) for s in range(1, mechanism.sensitivity + 1)) for one in t]
    assert mechanism.privacy_profile(t) == pytest.approx(largest, rel=1e-9, abs=1e-13)
    assert mechanism.privacy_profile(mechanism.eps) == pytest.approx(mechanism.achieved_delta, rel=1e-12)
    assert mechanism.privacy_profile(math.inf) == pytest.approx(mechanism.achieved_delta, rel=1e-12)


def test_composition_is_that_of_the_products():
    """For two and three releases, compared with hockey sticks of the products of the probabilities, at the largest shift."""
    mechanism = sn.TruncatedDiscreteStaircase(0.7, 0.02, 3, 2)
    p = np.array([float(one) for one in probabilities(mechanism)])
    here, there = np.append(p, np.zeros(3)), np.append(np.zeros(3), p)
    one_p, one_q = here, there
    for k in (2, 3):
        here, there = np.outer(here, one_p).ravel(), np.outer(there, one_q).ravel()
        loss = mechanism.compose(k)
        for t in (0.2, 0.7, 1.3):
            assert loss.privacy_profile(t) == pytest.approx(float(np.maximum(here - math.exp(t) * there, 0).sum()), rel=1e-6)


def test_neighbours_at_the_edges():
    """Only one of two neighbouring answers can give the outermost Δ integers, which are drawn with probability δ.

    Seed 9; the false-alarm rate of the interval is 1e-6.
    """
    mechanism = sn.TruncatedDiscreteStaircase(0.5, 0.05, 4, 2)
    n = 200_000
    noise = mechanism.sample(n, rng=sn.SeededRng(9))
    for count in ((noise > mechanism.upper - 4).sum(), (noise < mechanism.lower + 4).sum()):
        assert stats.binomtest(int(count), n, mechanism.achieved_delta).pvalue > 5e-7
    released = mechanism.release(np.full(1000, 10), rng=sn.SeededRng(9, allow_release=True))
    assert released.min() >= 10 + mechanism.lower
    assert released.max() <= 10 + mechanism.upper


# ---------------------------------------------------------------- optimality

# ε, δ, minimum E X² of any mechanism on the integers, E X² of this mechanism, and its end, for D = 10.
TABLE = [
    (1, 1e-3, 184.996, 185.129, 67),
    (1, 1e-6, 191.807, 191.811, 136),
    (2, 1e-3, 41.5893, 41.6110, 40),
    (2, 0.05, 32.427, 33.718, 21),
    (4, 1e-4, 6.65768, 6.66086, 31),
    (8, 1e-6, 0.25714, 0.25714, 22),
]


@pytest.mark.parametrize(("eps", "delta", "least", "variance", "end"), TABLE)
def test_the_table_of_variances(eps, delta, least, variance, end):
    mechanism = sn.TruncatedDiscreteStaircase(eps, delta, 10, "l2")
    assert mechanism.var() == pytest.approx(variance, rel=2e-5)
    assert mechanism.upper == end
    assert mechanism.var() >= least * (1 - 1e-5)


@pytest.mark.parametrize(("eps", "delta"), [(0.3, 0.2), (1, 1e-3), (2, 0.05), (4, 1e-6)])
@pytest.mark.parametrize("cost", ["l1", "l2"])
def test_the_shape_is_the_best_of_all(eps, delta, cost):
    power = {"l1": 1, "l2": 2}[cost]
    every = {r: sn.TruncatedDiscreteStaircase(eps, delta, 10, r).abs_moment(power) for r in range(1, 11)}
    mechanism = sn.TruncatedDiscreteStaircase(eps, delta, 10, cost)
    assert mechanism.r == min(every, key=every.get)


def least_second_moment(eps, delta, sensitivity_steps, reach, shifts):
    """The linear program over symmetric mechanisms on -reach … reach: hockey sticks of these shifts at most δ."""
    n, growth = 2 * reach + 1, math.exp(eps)
    rows = n + sensitivity_steps
    identity, blocks, right = sparse.identity(rows, format="csr"), [], []
    for number, shift in enumerate(shifts):
        # p_k - e^ε p_(k-s) <= u_k, Σ u_k <= δ.
        here = sparse.csr_matrix((np.ones(n), (np.arange(n), np.arange(n))), (rows, n))
        there = sparse.csr_matrix((np.full(n, growth), (np.arange(n) + shift, np.arange(n))), (rows, n))
        slack = [-identity if i == number else sparse.csr_matrix((rows, rows)) for i in range(len(shifts))]
        blocks.append(sparse.hstack([here - there, *slack]))
        sums = [np.full((1, rows), float(i == number)) for i in range(len(shifts))]
        blocks.append(sparse.csr_matrix(np.hstack([np.zeros((1, n)), *sums])))
        right += [np.zeros(rows), np.array([delta])]
    k = np.arange(-reach, reach + 1.0)
    cost = np.concatenate([k**2, np.zeros(rows * len(shifts))])
    half = np.arange(reach)
    mirrored = sparse.csr_matrix(
        (np.repeat([1.0, -1.0], reach), (np.tile(half, 2), np.concatenate([half, n - 1 - half]))), (reach, cost.size)
    )
    total = sparse.csr_matrix(np.concatenate([np.ones(n), np.zeros(rows * len(shifts))]))
    found = linprog(
        cost,
        A_ub=sparse.vstack(blocks, format="csr"),
        b_ub=np.concatenate(right),
        A_eq=sparse.vstack([total, mirrored], format="csr"),
        b_eq=np.concatenate([[1.0], np.zeros(reach)]),
        method="highs",
    )
    assert found.status == 0, found.message
    return found.fun


@pytest.mark.long
@pytest.mark.parametrize(("eps", "delta", "least", "variance", "end"), TABLE)
def test_linear_programs(eps, delta, least, variance, end):
    """HiGHS searches all symmetric mechanisms a little wider than this one, for every shift; the mirror image of a solution is
    one.
    """
    found = least_second_moment(eps, delta, 10, end + 15, range(1, 11))
    assert found <= variance * (1 + 1e-6)
    assert found == pytest.approx(least, rel=2e-4)


@pytest.mark.long
def test_one_shift_alone_would_not_do():
    """The best mechanism for a single shift can be a comb, which costs far less and is not private."""
    one = least_second_moment(2, 0.05, 4, 16, (4,))
    every = least_second_moment(2, 0.05, 4, 16, (1, 2, 3, 4))
    ours = sn.TruncatedDiscreteStaircase(2, 0.05, 4, "l2").var()
    assert one < 0.9 * every
    assert every <= ours


@pytest.mark.parametrize("eps", [1, 2, 4, 8])
def test_less_than_truncated_laplace_on_the_integers(eps):
    """The truncated Laplace distribution with steps of 1, from its definition: more variance for the same (ε, δ)."""
    sensitivity_steps, delta = 10, 1e-6
    x = math.exp(-eps / sensitivity_steps)

    def mechanism(end):
        p = x ** np.abs(np.arange(-end, end + 1.0))
        return p / p.sum()

    end = next(end for end in range(sensitivity_steps, 10**4) if mechanism(end)[:sensitivity_steps].sum() <= delta)
    laplace = float((mechanism(end) * np.arange(-end, end + 1.0) ** 2).sum())
    assert (
        sn.TruncatedDiscreteStaircase(eps, delta, sensitivity_steps, "l2").var()
        < laplace * {1: 0.97, 2: 0.86, 4: 0.55, 8: 0.1}[eps]
    )


# ---------------------------------------------------------------- distribution


@mechanisms
def test_distribution_by_direct_sums(mechanism):
    p, i = probabilities(mechanism), np.arange(mechanism.lower, mechanism.upper + 1)
    with mp.workdps(50):
        below = [mp.mpf(0)]
        for one in p:
            below.append(below[-1] + one)
        above = [mp.mpf(0)]
        for one in reversed(p):
            above.append(above[-1] + one)
        above.reverse()
        assert mechanism.pmf(i) == pytest.approx([float(one) for one in p], rel=1e-12)
        assert mechanism.cdf(i) == pytest.approx([float(one) for one in below[1:]], rel=1e-12)
        assert mechanism.sf(i) == pytest.approx([float(one) for one in above[1:]], rel=1e-12, abs=1e-300)
        assert mechanism.logsf(i[:-1]) == pytest.approx([float(mp.log(one)) for one in above[1:-1]], rel=1e-12, abs=1e-13)
        for order in (1, 2, 3, 4):
            expected = mp.fsum(one * int(k) ** order for one, k in zip(p, i, strict=True))
            assert mechanism.moment(order) == pytest.approx(float(expected), rel=1e-12, abs=1e-12)
            size = mp.fsum(one * abs(int(k)) ** order for one, k in zip(p, i, strict=True))
            assert mechanism.abs_moment(order) == pytest.approx(float(size), rel=1e-12)
        root = mp.fsum(one * mp.sqrt(abs(int(k))) for one, k in zip(p, i, strict=True))
        assert mechanism.abs_moment(0.5) == pytest.approx(float(root), rel=1e-12)
        assert mechanism.entropy() == pytest.approx(float(-mp.fsum(one * mp.log(one) for one in p)), rel=1e-12)
    assert mechanism.var() == pytest.approx(mechanism.moment(2) - mechanism.mean() ** 2, rel=1e-9)
    assert mechanism.support() == (mechanism.lower, mechanism.upper)
    outside = [mechanism.lower - 1, mechanism.upper + 1, mechanism.lower + 0.5, math.inf, -math.inf]
    assert mechanism.pmf(outside).tolist() == [0] * 5
    assert mechanism.cdf([mechanism.lower - 1, mechanism.upper, math.inf]).tolist() == [0, 1, 1]


@mechanisms
def test_quantiles_are_the_least_integers(mechanism):
    check_quantiles(mechanism)


@mechanisms
def test_samples_have_the_probabilities(mechanism):
    """False alarms 1e-6 for each mechanism."""
    check_samples(mechanism)


@mechanisms
@pytest.mark.parametrize("k", [2, 5])
def test_bounds_of_sums_hold(mechanism, k):
    """P(|S| > t) by convolution: it is at most α at the bound, and for a mechanism around 0 not much less."""
    p = np.array([float(one) for one in probabilities(mechanism)])
    total = p
    for _ in range(k - 1):
        total = np.convolve(total, p)
    size = np.abs(np.arange(total.size) + k * mechanism.lower)
    for alpha in (0.3, 1e-3):
        low, high = mechanism.confidence_interval(0, 1 - alpha, of="sum", terms=k)
        assert total[size > high].sum() <= alpha * (1 + 1e-9)
        if mechanism.lower == -mechanism.upper:
            assert total[size > high - 1].sum() > alpha
        assert (low, high) == (-high, high)


def test_wide_mechanisms_have_the_moments_of_narrow_ones():
    """Closed sums agree with direct sums, for more steps than the code sums singly and more integers than it lists."""
    mechanism = sn.TruncatedDiscreteStaircase(2e-6, 1e-7, 1, 1)
    end = mechanism.upper
    assert end > 2**20
    i = np.arange(1, end + 1.0)
    p = np.exp(-2e-6 * i)
    total = 1 + 2 * p.sum()
    for order in (1, 2, 0.5):
        assert mechanism.abs_moment(order) == pytest.approx(2 * float((p * i**order).sum()) / total, rel=1e-11)
    entropy = math.log(total) + 2e-6 * 2 * float((p * i).sum()) / total
    assert mechanism.entropy() == pytest.approx(entropy, rel=1e-12)


def test_extremes():
    tiny = sn.TruncatedDiscreteStaircase(2.0**-40, 2.0**-128, 2**13, 1)
    assert math.isfinite(tiny.entropy())
    assert tiny.achieved_delta <= 2.0**-128
    steep = sn.TruncatedDiscreteStaircase(1e5, 1e-9, 7)
    assert (steep.r, steep.upper) == (1, 7)
    assert steep.sample(100, rng=sn.SeededRng(1)).tolist() == [0] * 100


@pytest.mark.parametrize("seed", range(10))
def test_the_ends_that_candidates_are_compared_by_are_those_of_the_mechanism(seed):
    """The end in floating point is exact, or known to be off by at most 1, and the search loses no candidate by that."""
    choose = np.random.default_rng(seed)
    for power in (1, 2):
        eps, delta = 10 ** choose.uniform(-3, 2), min(0.5, 10 ** choose.uniform(-30, 0))
        sensitivity_steps = int(2 ** choose.uniform(0, 53))
        start = int(choose.integers(1, sensitivity_steps + 1))
        r = np.array(list(truncated_shapes._candidates(sensitivity_steps, start)))
        exact = np.array(_native.truncated_staircase_ends(eps, delta, sensitivity_steps, r.tolist()))
        ends, unsure = truncated_shapes._approximate_ends(eps, delta, sensitivity_steps, r)
        assert np.all(np.abs(ends - exact) <= np.where(unsure, 1 + 1e-12 * exact, 0))
        costs = truncated_shapes._costs(eps, sensitivity_steps, r, exact, power)
        found = truncated_shapes.best(eps, delta, sensitivity_steps, start, power)
        assert costs[r == found.r] == pytest.approx(costs.min(), rel=1e-12)


@pytest.mark.parametrize("r", ["l1", "l2"])
def test_best_shapes_of_wide_sensitivities_are_near_the_best(r):
    """Above 512 candidates have 8 significant bits; every other r is at most 1e-5 better."""
    power = {"l1": 1, "l2": 2}[r]
    for eps, delta in ((0.5, 0.1), (2.0, 0.05), (5.0, 1e-6)):
        mechanism = sn.TruncatedDiscreteStaircase(eps, delta, 600, r)
        best = min(sn.TruncatedDiscreteStaircase(eps, delta, 600, one).abs_moment(power) for one in range(1, 601, 1))
        assert mechanism.abs_moment(power) <= best * (1 + 1e-5)


def test_ends_fall_as_delta_grows():
    ends = [sn.TruncatedDiscreteStaircase(1, delta, 5, 3).upper for delta in (1e-9, 1e-6, 1e-3, 0.1, 0.5)]
    assert all(far > near for far, near in pairwise(ends[:-1]))
    assert ends[-1] == 5


def test_delta_to_many_digits():
    found = achieved_delta(1.0, 10, 4, 136)
    with mp.workdps(60):
        p = weights(mp.exp(-1), 10, 4, 136)
        expected = mp.fsum(p[:10]) / mp.fsum(p)
        assert abs(mp.mpf(found.numerator) / found.denominator / expected - 1) < mp.mpf(10) ** -40
