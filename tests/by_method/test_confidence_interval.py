"""Confidence intervals, and the eps for a requested error.

Evidence: convolution in exact integers (probabilities as multiples of 2**-200), 60-digit arithmetic on the definitions, the two
methods against each other, dense scans, and reference values computed elsewhere.
"""

import json
import math
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanisms.laplace import sums as laplace_sums
from stairnoise.mechanisms.staircase import sums as staircase_sums
from tests.combinations import in_turn, looped, pairs, rest_long

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT.parent / "shared" / "reference" / "values.json"
SCALE = 2**200
BROADCAST = "must have shapes that broadcast, got"
TWO = "of shape (2,)"
REST = "of shape (3,), parameters of shape ()"
NEVER = "must be an error that some eps keeps below with this confidence and"
ALPHAS = [0.5, 0.05, 1e-3, 1e-6, 1e-9]


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def tail(t, eps, D, r):
    """Return P(|X| > t): discrete staircase for an integer t, or continuous staircase with r - 1/2 = gamma D and t - 1/2."""
    eps, j = mp.mpf(eps), t + 1
    stair = 0 if j < r else mp.floor((j - r) / mp.mpf(D)) + 1
    odds = D / mp.expm1(eps)
    return mp.exp(-eps * stair) * (r + stair * D - j + odds) / (r - mp.mpf(1) / 2 + odds)


# ---------------------------------------------------------------- sums


@cache
def exact_tails(eps, D, r, k):
    """Return P(|S| > t) for t = 0, 1, ..., as rationals, by schoolbook convolution of integers."""
    with mp.workdps(80):
        reach = int(70 * D / eps) + r
        halves = [tail(t, eps, D, r) / 2 for t in range(reach)]
        right = [halves[i - 1] - halves[i] for i in range(1, reach)]
        one = [int(p * SCALE) for p in [*right[::-1], 1 - 2 * halves[0], *right]]
    total = np.array(one, object)
    for _ in range(k - 1):
        total = np.convolve(total, np.array(one, object))
    beyond = np.cumsum(total[: (len(total) + 1) // 2 - 1 : -1])[::-1]
    return [Fraction(2 * int(p), SCALE**k) for p in beyond]


CASES = [(1.0, 1, 1, 2), (0.8, 3, 2, 2), (2.0, 5, 1, 3), (2.0, 5, 5, 5), (6.0, 20, 2, 3), (30.0, 9, 4, 4), (4.0, 7, 1, 8)]


@pytest.mark.parametrize(("eps", "D", "r", "k"), rest_long(CASES[:-1], CASES))
def test_sum_of_discrete_noise_has_the_smallest_interval(eps, D, r, k):
    tails = exact_tails(eps, D, r, k)
    mechanism = sn.DiscreteStaircase(eps, D, r)
    for alpha in [*ALPHAS, 1e-12, 1e-15]:
        confidence = 1 - alpha
        low, high = mechanism.confidence_interval(100, confidence, of="sum", terms=k)
        t = high - 100
        assert low == 100 - t
        assert tails[t] <= 1 - Fraction(confidence)
        assert t == 0 or tails[t - 1] > 1 - Fraction(confidence)


@pytest.mark.parametrize(("eps", "D", "r", "k"), CASES)
def test_accuracy_of_the_transform(eps, D, r, k):
    """Down to 1e-15, the tail is never below the exact tail, and above it by less than 1e-8 of itself or of alpha."""
    tails = exact_tails(eps, D, r, k)
    for alpha in (0.05, 1e-9, 1e-15):
        values = staircase_sums._Tail(staircase_sums.Bins(eps, float(D), r - 0.5, k, False), alpha).values
        n = next(t for t, p in enumerate(tails) if p <= alpha)
        for t in {n, max(n - 1, 0)}:
            assert 0 <= Fraction(float(values[t])) - tails[t] < 1e-8 * max(alpha, tails[t])


@pytest.mark.parametrize(("rate", "k"), [(1.0, 2), (0.8, 3), (3.0, 6), (1.5, 11)])
def test_sum_of_geometric_noise_in_closed_form(rate, k):
    tails = exact_tails(rate, 1, 1, k)
    survival = laplace_sums.Survival(rate, k)
    for t in (t for t in range(50) if tails[t] > 1e-12):
        assert abs(Fraction(2 * survival(t + 1)) / tails[t] - 1) < 1e-14
    for alpha in [*ALPHAS, 1e-15]:
        t = laplace_sums.error_bound(rate, k, alpha)
        assert tails[t] <= alpha
        assert t == 0 or tails[t - 1] > alpha


@pytest.mark.parametrize(("mechanism", "k"), [(sn.DiscreteLaplace(1000), 10**9), (sn.DiscreteStaircase(30, 5, r=1), 1000)])
def test_a_sum_that_is_nearly_certain_to_be_0(mechanism, k):
    """By the union bound, one of k draws is nonzero with a probability of at most k·P(X ≠ 0), far below 1 − confidence."""
    assert k * (mechanism.sf(0) + mechanism.cdf(-1)) < 1e-4
    assert mechanism.confidence_interval(5, 0.999, of="sum", terms=k) == (5, 5)


@looped("alpha", [0.5, 0.05, 1e-9])
@looped("k", [2, 5, 100, 10_000])
@looped("eps", [0.05, 1.0, 5.0])
def test_the_two_methods_agree(eps, k, alpha):
    """The staircase with one integer a step is the geometric distribution; the closed form shares nothing with the
    transform.
    """
    whole = staircase_sums.Bins(eps, 1.0, 0.5, k, False)
    assert staircase_sums._Tail(whole, alpha).integer_bound(alpha) == laplace_sums.error_bound(eps, k, alpha)


def laplace_sum_tail(x, k):
    """P(|S| > x) for k Laplace variables of scale 1, a mixture of gamma distributions: Gamma(i) has weight 2**(i-2k) C(2k-1-i,
    k-1).
    """
    weights = [mp.mpf(2) ** (i - 2 * k) * mp.binomial(2 * k - 1 - i, k - 1) for i in range(1, k + 1)]
    assert abs(2 * sum(weights) - 1) < mp.mpf(10) ** -50
    return 2 * sum(w * mp.gammainc(i, x, regularized=True) for i, w in enumerate(weights, 1))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
@pytest.mark.parametrize("k", [1, 2, 7, 60])
def test_sum_of_laplace_noise(k, confidence):
    low, high = sn.Laplace(0.5, 3.0).confidence_interval(0.0, confidence, of="sum", terms=k)
    assert low == -high
    alpha = 1 - mp.mpf(confidence)
    # The lattice of 2**32 steps to the sensitivity widens the bound by half a step for every rounded value.
    assert laplace_sum_tail(mp.mpf(high) / 6, k) < alpha
    assert laplace_sum_tail(mp.mpf(high) / 6 * (1 - mp.mpf(1e-8)), k) > alpha


WIDER = [
    (1.0, 3001, 1200, 2, 2**17),
    (1.0, 901, 350, 20, 2**16),
    (6.0, 5000, 237, 3, 2**16),
    (0.5, 300, 150, 100, 2**16),
    (1e-2, 7, 3, 10, 2**14),
    (3e-3, 1, 1, 1000, 2**14),
    (9.0, 3000, 33, 2, 2**14),
]
LEVELS = (0.5, 0.05, 1e-6, 1e-9)


@pytest.mark.parametrize(
    ("eps", "D", "r", "k", "longest", "alpha"),
    rest_long(*([(*case, alpha) for case, alpha in both] for both in (in_turn(WIDER, LEVELS), product(WIDER, LEVELS)))),
)
def test_wider_cells_give_a_bound_that_is_little_larger(monkeypatch, eps, D, r, k, longest, alpha):
    """Cells are whole integers, or wider if the transform would be too long; the fourth case and the two after it join steps."""
    exact = staircase_sums.error_bound.__wrapped__(eps, D, r, k, alpha)
    monkeypatch.setattr(staircase_sums, "LONGEST", longest)
    assert staircase_sums._extent(staircase_sums.Bins(eps, float(D), r - 0.5, k, False), alpha).length > longest
    bound = staircase_sums.error_bound.__wrapped__(eps, D, r, k, alpha)
    assert exact <= bound <= exact * (1 + 2e-3) + 1


@pytest.mark.slow
@pytest.mark.parametrize("eps", [20.0, pytest.param(40.0, marks=pytest.mark.long), 300.0])
def test_two_central_stairs(eps):
    """At large eps the noise is uniform within gamma, except for a negligible share: P(|U + U'| > t) = (1 - t/2)²."""
    mechanism = sn.Staircase(eps, 1.0, 0.001)
    _, high = mechanism.confidence_interval(0.0, 0.95, of="sum", terms=2)
    assert 0 <= high / (0.002 * (1 - math.sqrt(0.05))) - 1 < 1e-3


NOISES, MANY = (sn.Laplace(1.0), sn.Staircase(2.0), sn.DiscreteStaircase(0.5, 1000), sn.DiscreteLaplace(1.0)), (10**6, 10**9)


@pytest.mark.parametrize(("mechanism", "k"), rest_long(in_turn(NOISES, MANY), product(NOISES, MANY)))
def test_many_terms_are_nearly_normal(mechanism, k):
    low, high = mechanism.confidence_interval(0, of="sum", terms=k)
    normal = 1.959963984540054 * mechanism.std() * math.sqrt(k)
    assert -1e-3 < (high - low) / 2 / normal - 1 < {10**6: 1e-3, 10**9: 0.04}[k]


# ---------------------------------------------------------------- one value

DISCRETE = [
    sn.DiscreteLaplace(0.3),
    sn.DiscreteLaplace(1.0, 7),
    sn.DiscreteStaircase(2.0, 5),
    sn.DiscreteStaircase(0.1, 30, "l2"),
]
CONTINUOUS = [
    sn.Laplace(0.3),
    sn.Laplace(12.0, 0.3),
    sn.Staircase(4.0),
    sn.Staircase(0.5, 100.0, "l2"),
    sn.Staircase(9.0, 1.0, 1.0),
]


@pytest.mark.parametrize("mechanism", DISCRETE, ids=repr)
@pytest.mark.parametrize("alpha", [0.4, 0.5, 0.05, 2.0**-30])
def test_one_integer(mechanism, alpha):
    t = mechanism._tail_bound(alpha)
    assert mechanism.confidence_interval(17, 1 - alpha) == (17 - t, 17 + t)
    assert mechanism.confidence_interval(17, 1 - alpha, of="sum") == (17 - t, 17 + t)


@looped("mechanism", CONTINUOUS)
@looped("alpha", [0.4, 0.5, 0.05, 2.0**-30])
def test_one_real_number(mechanism, alpha):
    low, high = mechanism.confidence_interval(0.0, 1 - alpha)
    assert low == -high
    assert abs(high - mechanism._tail_bound(alpha)) < 2e-9 * high + 2 * mechanism.granularity


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("mechanism", [sn.Laplace(1.0), sn.Staircase(4.0), sn.Staircase(2.0, 3.0, "l2")], ids=repr)
def test_a_real_interval_has_room_for_the_rounding_of_the_true_values(mechanism, k):
    g = Fraction(mechanism.granularity)
    _, high = mechanism.confidence_interval(0.0, of="sum", terms=k)
    steps = Fraction(high) / g
    assert abs(steps - k * Fraction(1, 2) - round(steps - k * Fraction(1, 2))) < 1e-6
    if k == 1:
        width, (r,) = mechanism._sampler.sensitivity_steps, mechanism._sampler.lengths or (0,)
        t = int(steps - Fraction(1, 2))
        beyond = [
            tail(i, mechanism.eps, width, r)
            if r
            else 2 * mp.exp(-mp.mpf(mechanism.eps) / width * (i + 1)) / (1 + mp.exp(-mp.mpf(mechanism.eps) / width))
            for i in (t, t - 1)
        ]
        assert beyond[0] <= 1 - mp.mpf(0.95)
        assert beyond[1] > (1 - mp.mpf(0.95)) * (1 - mp.mpf(2) ** -30)


@pytest.mark.parametrize("released", [0.1, 1e-30, 12345.678, 1e9 / 3, -1e18, 1e300])
def test_ends_are_rounded_outwards(released):
    mechanism = sn.Laplace(1.0)
    half = Fraction(mechanism.confidence_interval(0.0)[1]) - Fraction(5e-324)
    room = Fraction(math.ulp(released)) / 2
    low, high = mechanism.confidence_interval(released)
    for end, exact in ((low, Fraction(released) - half - room), (high, Fraction(released) + half + room)):
        assert abs(Fraction(end) - exact) <= 2 * Fraction(math.ulp(end))
    assert Fraction(low) <= Fraction(released) - half - room
    assert Fraction(high) >= Fraction(released) + half + room


def test_single_precision_has_coarser_units():
    mechanism = sn.Laplace(1.0)
    wide, narrow = mechanism.confidence_interval(np.float32(2**20)), mechanism.confidence_interval(np.float64(2**20))
    assert wide[1] - narrow[1] == pytest.approx(np.spacing(np.float32(2**20)) / 2, rel=1e-6)
    for dtype in ("<f4", ">f4"):  # of either byte order
        assert mechanism.confidence_interval(np.array(2**20, dtype)) == wide
    counts = sn.DiscreteLaplace(1.0)
    assert counts.confidence_interval(np.float32(1000)) == (997.0, 1003.0)
    assert counts.confidence_interval(np.float32(2**26)) == (2**26 - 3 - 4.0, 2**26 + 3 + 4.0)


def test_mean_is_the_sum_divided():
    for mechanism in (sn.DiscreteLaplace(1.0), sn.Laplace(1.0), sn.Staircase(3.0), sn.DiscreteStaircase(3.0, 4)):
        low, high = mechanism.confidence_interval(0.0, 0.9, of="sum", terms=12)
        mean_low, mean_high = mechanism.confidence_interval(0.0, 0.9, of="mean", terms=12)
        assert (mean_low, mean_high) == pytest.approx((low / 12, high / 12), rel=1e-15)
        assert Fraction(mean_high) * 12 >= Fraction(high) - Fraction(1, 2**1000)


def test_partitions_mean_less_eps_each():
    for mechanism in (sn.DiscreteLaplace, sn.Laplace, sn.Staircase, sn.DiscreteStaircase):
        share = mechanism(2.0).for_partitions(3)
        for more in ({}, {"of": "sum", "terms": 4}):
            found = mechanism(2.0).confidence_interval(5, max_partitions_contributed=3, **more)
            assert found == share.confidence_interval(5, **more)
            assert found[1] > mechanism(2.0).confidence_interval(5, **more)[1]


# ---------------------------------------------------------------- shapes and types


def test_types():
    d = sn.DiscreteLaplace(1.0)
    low, high = d.confidence_interval(np.array([1, 2], np.uint8))
    assert low.dtype == high.dtype == np.int64
    assert low.tolist() == [-2, -1]
    assert [type(end) for end in d.confidence_interval(7)] == [int, int]
    assert [type(end) for end in d.confidence_interval(7.0)] == [float, float]
    assert d.confidence_interval(7.0) == (4.0, 10.0)
    assert [type(end) for end in d.confidence_interval(7, of="mean", terms=2)] == [float, float]
    assert [type(end) for end in sn.Laplace(1.0).confidence_interval(7)] == [float, float]
    low, high = sn.Laplace(1.0).confidence_interval(np.zeros((0, 2)))
    assert low.shape == high.shape == (0, 2)


def test_array_parameters_and_confidence_broadcast():
    eps, confidence = np.array([0.5, 2.0]), np.array([[0.5], [0.95], [0.99]])
    for mechanism in (sn.DiscreteLaplace, sn.Laplace, sn.Staircase, sn.DiscreteStaircase):
        for more in ({}, {"of": "sum", "terms": 3}, {"of": "mean", "terms": 3, "max_partitions_contributed": 2}):
            low, high = mechanism(eps).confidence_interval([10, 20], confidence, **more)
            assert low.shape == high.shape == (3, 2)
            for i, j in np.ndindex(3, 2):
                one = mechanism(eps[j]).confidence_interval([10, 20][j], confidence[i, 0], **more)
                assert (low[i, j], high[i, j]) == one


def test_ends_of_int64_are_ends():
    top, d = 2**63 - 1, sn.DiscreteLaplace(1.0)
    assert d.confidence_interval([top, top - 3, -top - 1, -top + 1, 0])[0].tolist() == [top - 3, top - 6, -top - 1, -top - 1, -3]
    assert d.confidence_interval([top, top - 3, -top - 1, -top + 1, 0])[1].tolist() == [top, top, -top + 2, -top + 4, 3]


def test_results_are_the_callers_own():
    low, high = sn.Laplace(1.0).confidence_interval([1.0, 2.0])
    low[0] = high[0] = 5


@pytest.mark.parametrize(
    ("arguments", "more", "text"),
    [
        ((1, 0.0), {}, "confidence must be from 0.5 to 1, got 0.0"),
        ((1, 1), {}, "confidence must be less than 1, got 1.0"),
        ((1, [0.5, math.nan]), {}, "confidence must be from 0.5 to 1, got nan"),
        ((1,), {"of": "median"}, 'of must be "value", "sum" or "mean", got \'median\''),
        ((1,), {"terms": 2}, 'terms must be 1 for a single value (of="sum" or of="mean" takes more), got 2'),
        ((1,), {"of": "sum", "terms": 0}, "terms must be an integer from 1 to 1000000000, got 0"),
        ((1,), {"of": "sum", "terms": 10**9 + 1}, "terms must be an integer from 1 to 1000000000, got 1000000001"),
        ((math.inf,), {}, "released must be finite, got one that is not"),
        (([1.0, math.nan],), {}, "released must be finite, got one that is not at index (1,)"),
        ((2**64,), {}, "released must be within int64, got one that is not"),
        ((np.uint64(2**63),), {}, "released must be within int64, got one that is not"),
        (([1, 2], [0.5, 0.6, 0.7]), {}, f"released and confidence and parameters {BROADCAST} released {TWO}, confidence {REST}"),
        ((1,), {"max_partitions_contributed": 0}, "max_partitions_contributed must be an integer from 1 to 2**53 - 1, got 0"),
    ],
)  # fmt: skip
def test_refused_arguments(arguments, more, text):
    for mechanism in (sn.DiscreteLaplace(1.0), sn.Staircase(1.0)):
        with pytest.raises(sn.ParameterError) as caught:
            mechanism.confidence_interval(*arguments, **more)
        # A limit that is no power of two is shown as the parameter check shows it.
        assert str(caught.value).replace("2**30 - 1", "1000000000") == text


@pytest.mark.parametrize(
    ("arguments", "more", "text"),
    [
        (("1",), {}, "released must be a real number or an array of real numbers, got a value of type str"),
        ((1, None), {}, "confidence must be a real number or an array of real numbers, got None"),
        ((1,), {"of": None}, 'of must be "value", "sum" or "mean", got None'),
        ((1,), {"of": "sum", "terms": 2.0}, "terms must be an integer, got 2.0"),
    ],
)
def test_arguments_of_the_wrong_type(arguments, more, text):
    with pytest.raises(sn.ParameterTypeError) as caught:
        sn.Laplace(1.0).confidence_interval(*arguments, **more)
    assert str(caught.value) == text


# ---------------------------------------------------------------- eps for a requested error


def continuous_tail(t, eps, D, gamma):
    """P(|X| > t)."""
    return tail(mp.mpf(t) - mp.mpf(1) / 2, eps, D, mp.mpf(gamma) * mp.mpf(D) + mp.mpf(1) / 2)


def exact_tail(mechanism, t):
    """P(|X| > t) of any mechanism."""
    if isinstance(mechanism, sn.Laplace):
        return mp.exp(-mp.mpf(mechanism.eps) * mp.mpf(t) / mp.mpf(mechanism.sensitivity))
    if isinstance(mechanism, sn.Staircase):
        return continuous_tail(t, mechanism.eps, mechanism.sensitivity, mechanism.gamma)
    if isinstance(mechanism, sn.DiscreteLaplace):
        return tail(math.floor(t), mp.mpf(mechanism.eps) / mechanism.sensitivity, 1, 1)
    return tail(math.floor(t), mechanism.eps, mechanism.sensitivity, mechanism.r)


MECHANISMS = [
    (sn.Laplace, 2.5, ()), (sn.DiscreteLaplace, 4, ()), (sn.Staircase, 2.5, ("l1",)), (sn.Staircase, 0.1, ("l2",)),
    (sn.Staircase, 3.0, (0.3,)), (sn.DiscreteStaircase, 4, ("l1",)), (sn.DiscreteStaircase, 50, ("l2",)),
    (sn.DiscreteStaircase, 9, (3,)),
]  # fmt: skip


@looped(("made", "relative", "confidence"), pairs(MECHANISMS, [0.02, 0.4, 1.0, 1.7, 30.0, 1e6], [0.6, 0.5, 0.95, 1 - 1e-9]))
def test_least_eps(made, relative, confidence):
    """The tail is within alpha at the answer, and at least alpha (1 - 2e-12) just below it, or below by the lattice's cost."""
    mechanism, sensitivity, spec = made
    t, alpha = relative * sensitivity, 1 - confidence
    try:
        eps = mechanism.eps_for_error(t, confidence, sensitivity, *spec)
    except sn.ParameterError:
        assert spec
        assert not isinstance(spec[0], str)
        assert exact_tail(mechanism(600.0, sensitivity, *spec), t) > alpha
        return
    assert type(eps) is float
    assert exact_tail(mechanism(eps, sensitivity, *spec), t) <= alpha
    lattice = 2e-8 if mechanism in (sn.Laplace, sn.Staircase) else 1e-15
    assert exact_tail(mechanism(eps * (1 - lattice), sensitivity, *spec), t) > alpha * (1 - 2e-12)
    assert mechanism(eps, sensitivity, *spec).error_bound(confidence) <= t


@pytest.mark.slow
@looped("confidence", [0.5, 0.95, 0.9999])
@looped(("mechanism", "sensitivity", "spec"), MECHANISMS)
def test_no_smaller_eps_will_do(mechanism, sensitivity, spec, confidence):
    """In a dense scan, no smaller eps has the property, and every larger eps has it, except with the optimal r."""
    scan, alpha = np.geomspace(1e-3, 60, 6000), 1 - confidence
    for t in (1, 2, 3, 5, 7, 11, 24, 26, 60):
        try:
            least = mechanism.eps_for_error(t, confidence, sensitivity, *spec)
        except sn.ParameterError:
            least = math.inf
        tails = 2 * np.asarray(mechanism(scan, sensitivity, *spec).sf(float(t)))
        assert np.all(tails[scan < least] > alpha)
        if mechanism is not sn.DiscreteStaircase or spec == (3,):
            assert np.all(tails[scan >= least] <= alpha)


@pytest.mark.parametrize(("sensitivity", "t", "confidence", "too_small"), [(5, 1, 0.8, 3.0), (8, 2, 0.7, 2.3), (8, 3, 0.9, 4.0)])
def test_with_an_optimal_r_a_larger_eps_may_be_too_small(sensitivity, t, confidence, too_small):
    least, alpha = sn.DiscreteStaircase.eps_for_error(t, confidence, sensitivity), 1 - confidence
    assert least < too_small
    assert exact_tail(sn.DiscreteStaircase(least, sensitivity), t) <= alpha
    assert exact_tail(sn.DiscreteStaircase(too_small, sensitivity), t) > alpha


def test_eps_for_error_of_laplace_is_the_closed_form():
    """The eps exceeds the closed form by two lattice steps relative to t, and 2e-12 of alpha."""
    for t, confidence, D in [(10.0, 0.95, 1.0), (1e-3, 1 - 1e-9, 7.0), (1e6, 0.5, 0.125)]:
        alpha = 1 - confidence
        exact = -mp.log(mp.mpf(alpha)) * mp.mpf(D) / mp.mpf(t)
        eps = sn.Laplace.eps_for_error(t, confidence, D)
        assert 0 <= eps / exact - 1 < 2e-12 / -math.log(alpha) + 2 * sn.Laplace(eps, D).granularity / t


@pytest.mark.slow
def test_eps_for_error_is_one_that_the_mechanism_accepts():
    assert sn.Laplace.eps_for_error(1e30, 0.95) == 2.0**-40
    assert sn.Staircase.eps_for_error(1e30, 0.95) == 2.0**-40
    assert sn.Gaussian.eps_for_error(1e30, 0.95, delta=1e-6) == 2.0**-40
    eps = sn.Gaussian.eps_for_error(1e9, 0.95, delta=2.0**-100)
    assert sn.Gaussian(eps, 2.0**-100).error_bound(0.95) <= 1e9 < sn.Gaussian(eps * (1 - 1e-9), 2.0**-100).error_bound(0.95)
    for mechanism in (sn.DiscreteLaplace, sn.DiscreteStaircase):
        eps = mechanism.eps_for_error(1e30, 0.95, 2**50)
        mechanism(eps, 2**50)
        with pytest.raises(sn.ParameterError):
            mechanism(eps * (1 - 1e-6), 2**50)


def test_eps_for_error_broadcasts():
    t, confidence, sensitivity = np.array([3, 5.5]), np.array([[0.95], [0.8]]), np.array([[[1]], [[4]]])
    for mechanism in (sn.Laplace, sn.DiscreteLaplace, sn.Staircase, sn.DiscreteStaircase):
        eps = mechanism.eps_for_error(t, confidence, sensitivity)
        assert eps.shape == (2, 2, 2)
        for i, j, k in np.ndindex(2, 2, 2):
            assert eps[i, j, k] == mechanism.eps_for_error(t[k], confidence[j, 0], sensitivity[i, 0, 0])


@pytest.mark.parametrize(
    ("mechanism", "arguments", "text"),
    [
        (sn.Laplace, (0, 0.95), "t must be finite and greater than 0, got 0.0"),
        (sn.Laplace, (math.inf, 0.95), "t must be finite and greater than 0, got inf"),
        (sn.DiscreteLaplace, ([1, -1], 0.95), "t must be finite and at least 0, got -1 at index (1,)"),
        (sn.DiscreteLaplace, (math.nan, 0.95), "t must be finite and at least 0, got nan"),
        (sn.Laplace, (1, 0.05), "confidence must be from 0.5 to 1, got 0.05; did you mean 0.95?"),
        (sn.Laplace, (1, 1.0), "confidence must be less than 1, got 1.0"),
        (sn.Laplace, (1e-300, 0.95, 1e100), f"t {NEVER} sensitivity, got 1e-300"),
        (sn.Staircase, (0.4, 0.5, 1, 1.0), f"t {NEVER} gamma, got 0.4"),
        (sn.DiscreteStaircase, (0, 0.5, 5, 4), f"t {NEVER} r, got 0.0"),
        (sn.Laplace, ([1, 2], [0.5, 0.6, 0.7]), f"t and confidence and parameters {BROADCAST} t {TWO}, confidence {REST}"),
    ],
)  # fmt: skip
def test_eps_for_error_refuses(mechanism, arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.eps_for_error(*arguments)
    assert str(caught.value).replace("-1.0", "-1") == text


def test_eps_for_error_checks_the_mechanism():
    with pytest.raises(sn.ParameterError, match="sensitivity"):
        sn.DiscreteLaplace.eps_for_error(1, 0.95, 1.5)
    with pytest.raises(sn.ParameterError, match="gamma"):
        sn.Staircase.eps_for_error(1, 0.95, 1, 1.5)
    with pytest.raises(sn.ParameterError, match="r must"):
        sn.DiscreteStaircase.eps_for_error(1, 0.95, 3, 4)


# ---------------------------------------------------------------- values from elsewhere, and the page


def _quantiles(group):
    if not REFERENCE.is_file():
        return []
    values = json.loads(REFERENCE.read_text(encoding="utf-8"))["values"]
    return [v for v in values if v["quantity"] == "abs_quantile_0.95" and v["group"].startswith(group)]


@pytest.mark.skipif(not REFERENCE.is_file(), reason=f"{REFERENCE} is absent")
def test_reference_quantiles_of_the_staircase():
    entries = _quantiles("cs")
    assert len(entries) > 10
    for entry in entries:
        params = entry["params"]
        gamma = str(params.get("gamma", "opt_l1"))
        shape = gamma.removeprefix("opt_") if gamma.startswith("opt_") else float(Fraction(gamma))
        D, eps, t = (float(Fraction(str(x))) for x in (params.get("D", 1), params["eps"], entry["value"]))
        if eps <= 10:  # beyond this, the quantile hardly depends on eps if gamma is fixed
            assert sn.Staircase.eps_for_error(t, 0.95, D, shape) == pytest.approx(eps, rel=1e-9)
        _, high = sn.Staircase(eps, D, shape).confidence_interval(0.0)
        assert high == pytest.approx(t, rel=2e-9)


@pytest.mark.skipif(not REFERENCE.is_file(), reason=f"{REFERENCE} is absent")
def test_reference_quantiles_of_the_discrete_staircase():
    entries = _quantiles("ds")
    assert len(entries) > 10
    for entry in entries:
        params = entry["params"]
        r, D, t = str(params.get("r", "opt_l1")), int(params["D"]), int(entry["value"])
        shape = {"D": D, "opt_l1": "l1", "opt_l2": "l2"}.get(r) or int(r)
        assert sn.DiscreteStaircase(float(Fraction(str(params["eps"]))), D, shape).confidence_interval(0) == (-t, t)


@pytest.mark.parametrize("mechanism", [sn.Laplace(1.0), sn.Staircase(1.0), sn.DiscreteLaplace(1.0)])
def test_intervals_at_the_ends_of_float64(mechanism):
    """The half-width is negligible beside half a unit in the last place, 2**969, which reaches beyond the largest float."""
    largest = np.finfo(np.float64).max
    assert mechanism.confidence_interval(largest) == (math.nextafter(largest, 0), math.inf)
    assert mechanism.confidence_interval(-largest) == (-math.inf, -math.nextafter(largest, 0))
    single = float(np.finfo(np.float32).max)
    low, high = mechanism.confidence_interval(np.array([single, -single], np.float32))
    assert low[0] == -high[1] == math.nextafter(single - 2.0**103, 0)
    assert high[0] == -low[1] == math.nextafter(single + 2.0**103, math.inf)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(np.float64).max, reason="no wider float here")
def test_released_numbers_beyond_float64_are_refused():
    with pytest.raises(sn.ParameterError, match=r"^released must be finite, got "):
        sn.Laplace(1.0).confidence_interval(np.array(["1", "1e4000"], np.longdouble))


@pytest.mark.parametrize("gamma", [5e-324, 1e-310])
def test_a_subnormal_gamma_has_no_eps_for_an_error(gamma):
    with pytest.raises(sn.ParameterError, match=r"^gamma must be at least 2\*\*-1022 here, got "):
        sn.Staircase.eps_for_error(3.0, 0.95, 2, [0.5, gamma])
