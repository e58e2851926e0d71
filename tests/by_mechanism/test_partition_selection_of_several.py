"""Partition selection for people who add to several groups: the better of two rules, with an exact δ.

The definition of (ε, δ) is summed over all outcomes of all neighbouring tables of small counts, with probabilities of
noise that are computed here. Figures come from the analysis of Gaussian thresholds in other libraries. Statistical checks state
their rates of false alarms.
"""

import itertools
import math
import pickle
import random
from functools import partial

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanisms.discrete_gaussian import calibration as gaussian
from stairnoise.mechanisms.partition_selection.calibration import _divergence, least_threshold, log_hidden, worst
from stairnoise.mechanisms.partition_selection.rules import TruncatedGeometric
from stairnoise.numerics.roots import least_candidate
from tests.combinations import looped, rest_long
from tests.statistical.checks import check_share

HIDDEN = None


def noise(sigma2):
    reach = math.ceil(9 * math.sqrt(sigma2)) + 2
    weights = {z: math.exp(-z * z / (2 * sigma2)) for z in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def outcomes(sigma2, threshold, n):
    """Return the outcomes of one group of n people."""
    if n == 0:
        return {HIDDEN: 1.0}
    found = {n + z: p for z, p in noise(sigma2).items() if n + z >= threshold}
    hidden = math.fsum(p for z, p in noise(sigma2).items() if n + z < threshold)
    return {**found, HIDDEN: hidden} if hidden else found


def hockey_stick(pairs, eps):
    """Σ (p - e^ε q)₊ over all outcomes of independent groups, each of which is a pair of distributions.

    Groups are multiplied up in lists of (log ratio rounded to 1e-9, probability), which is exact enough for 1e-7 of the sum.
    """
    losses = {0.0: 1.0}
    infinite = 0.0
    for p, q in pairs:
        group = {}
        for outcome, chance in p.items():
            loss = math.log(chance / q[outcome]) if q.get(outcome) else math.inf
            group[loss] = group.get(loss, 0.0) + chance
        gone = group.pop(math.inf, 0.0)
        infinite += (1 - infinite) * gone
        product = {}
        for (a, x), (b, y) in itertools.product(losses.items(), group.items()):
            key = round(a + b, 9)
            product[key] = product.get(key, 0.0) + x * y
        losses = product
    # `losses` has the probability of finite losses; the rest is infinite.
    return infinite + math.fsum(p * -math.expm1(eps - loss) for loss, p in losses.items() if loss > eps)


# The guarantee


SMALL = [(0.3, 0.5, 2), (0.5, 0.4, 3), pytest.param(0.02, 0.5, 5, marks=pytest.mark.long), (0.5, 0.3, 4)]


@pytest.mark.parametrize(("eps", "delta", "k"), SMALL)
def test_all_tables_of_small_counts(eps, delta, k):
    """Evidence: the definition over all outcomes, in both directions, for every table of k counts of some sizes.

    The rule is the one with Gaussian noise, even where the other is better. The noise of rows without this person is the same
    on both sides, so they cancel. The largest divergence is the stated δ.
    """
    found = least_threshold(eps, delta, k, 60)
    sigma2, threshold, stated = found
    assert stated <= delta
    sizes = (0, 1, threshold, 4 * threshold) if k > 3 else (0, 1, 2, threshold, threshold + 1, 4 * threshold)
    largest = 0.0
    for counts in itertools.combinations_with_replacement(sizes, k):
        pairs = [(outcomes(sigma2, threshold, n + 1), outcomes(sigma2, threshold, n)) for n in counts]
        for turned in (pairs, [(q, p) for p, q in pairs]):
            largest = max(largest, hockey_stick(turned, eps))
    assert largest <= stated * (1 + 1e-7)
    assert largest >= stated * (1 - 1e-4)


def test_what_is_equal_to_the_threshold_counts():
    """A group of one is shown with P(Z >= threshold - 1); k such groups use up δ, and a threshold one lower would exceed δ."""
    mechanism = sn.PartitionSelection(8, 1e-6, 10)
    p = sum(chance for z, chance in noise(mechanism.sigma2).items() if 1 + z >= mechanism.threshold)
    assert mechanism.probability(1) == pytest.approx(p, rel=1e-6)
    assert 1 - (1 - p) ** 10 <= mechanism.achieved_delta
    nearer = p + noise(mechanism.sigma2)[mechanism.threshold - 2]
    assert 1 - (1 - nearer) ** 10 > 1e-6


@pytest.mark.parametrize("case", rest_long(range(5), range(12)))
def test_the_largest_divergence_is_found(case):
    """Evidence: the test tries every j; the package skips ranges of j that cannot be the worst."""
    choose = random.Random(case)
    eps, delta, k = 2 ** choose.uniform(-6, 3), 10 ** -choose.uniform(0.31, 9), choose.randrange(2, 80)
    found = least_threshold(eps, delta, k, 10**9)
    log_q = log_hidden(found.sigma2, found.threshold)
    every = [_divergence(eps, found.sigma2, log_q, j, k - j) for j in range(k + 1)]
    assert max(every) * (1 + 2.0**-32) == pytest.approx(found.delta, rel=1e-9)
    ranges = sorted(worst(eps, found.sigma2, found.threshold, k).ranges)
    assert [j for first, last in ranges for j in range(first, last + 1)] == list(range(k + 1))
    # A threshold one lower is too low.
    assert worst(eps, found.sigma2, found.threshold - 1, k).delta > delta * (1 - 2.0**-31)


def test_more_groups_or_people_cost_no_less():
    """Both divergences grow with each number, so k groups are the worst, and ranges are bounded by their ends."""
    log_q = log_hidden(20.0, 14)
    table = np.array([[_divergence(0.7, 20.0, log_q, alone, large) for large in range(12)] for alone in range(12)])
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) >= -1e-16).all()


# Utility


def test_the_noise_is_that_of_a_plain_bisection():
    """Also where δ rises with σ² between the candidates, for the last two."""
    chance = random.Random(5)
    cases = []
    for _ in range(60):
        k = chance.choice([2, 3, 8, 50, 10_000])
        cases.append((k * 10 ** chance.uniform(-3, 0.1), 10 ** chance.uniform(-35, -0.25), chance.choice([1, 2, 9]), k))
    rising = [(3.3353645643728105 * 3, 7.562619411759081e-31, 1, 3), (2.8176838964594104 * 2, 1.7429002369439058e-29, 1, 2)]
    for eps, delta, shift, k in cases + rising:
        enough = partial(gaussian._is_enough, eps, delta, shift, k)
        plain = least_candidate(enough, -4 if k <= 2**12 else 3, 90)
        assert gaussian.partitions_sigma2(eps, delta, shift, k) == plain


def test_the_figures_of_other_thresholds():
    """Gaussian thresholds with one half of δ for the noise are at 75 for k = 10 and at 251 for k = 100."""
    ten, hundred = (sn.PartitionSelection(1, 1e-6, k) for k in (10, 100))
    assert [TruncatedGeometric(1.0, 1e-6, k).threshold for k in (10, 100)] == [132, 1313]
    assert ten.threshold <= 75
    assert hundred.threshold <= 251
    assert ten.probability(104) > 0.984
    assert TruncatedGeometric(1.0, 1e-6, 10).probability(np.array([104.0]))[0] < 0.032


@looped("k", [1, 2, 3, 4, 10, 50])
@looped(("eps", "delta"), [(1, 1e-6), (0.1, 1e-9), (1, 0.1), (8, 1e-6), (0.01, 0.5)])
def test_the_rule_with_the_smaller_threshold_is_taken(eps, delta, k):
    mechanism, geometric = sn.PartitionSelection(eps, delta, k), TruncatedGeometric(float(eps), delta, k)
    found = least_threshold(float(eps), delta, k, 10**9) if k > 1 else None
    if found is None or found.threshold >= geometric.threshold:
        assert (mechanism.sigma2, mechanism.threshold) == (None, geometric.threshold)
        assert mechanism.achieved_delta == delta
    else:
        assert (mechanism.sigma2, mechanism.threshold, mechanism.always_shown) == (found.sigma2, found.threshold, None)
        assert mechanism.achieved_delta == found.delta <= delta
    people = np.arange(2 * mechanism.threshold)
    assert int(np.argmax(mechanism.probability(people) > 0.5)) == mechanism.threshold


# Draws and stated properties

MECHANISM = sn.PartitionSelection(1, 1e-6, 10)


def test_groups_are_shown_as_often_as_stated():
    """20 000 groups of each of five sizes, with the values of large ones; 1e-9 each."""
    rng = sn.SeededRng(11, allow_release=True)
    for people in (50, 66, 71, 80, 100):
        shown, values = MECHANISM.release(np.full(20_000, people), rng=rng)
        check_share(int(shown.sum()), 20_000, MECHANISM.probability(people), 1e-9)
        assert values[shown].min() >= MECHANISM.threshold
        assert not values[~shown].any()
    noise = MECHANISM.release(np.full(100_000, 10**6), rng=rng)[1] - 10**6
    assert abs(noise.mean()) < 6 * MECHANISM.noise_std() / math.sqrt(noise.size)
    assert noise.std() == pytest.approx(MECHANISM.noise_std(), rel=0.02)
    assert MECHANISM.noise_mean() == 0.0
    assert not MECHANISM.select(np.zeros(100_000, np.int64), rng=rng).any()


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
def test_bounds_hold_for_groups_of_every_size(confidence):
    """Evidence: sums of all probabilities of noise, among those that show the group; they are tight for large groups."""
    rule = MECHANISM._rule
    z = np.array(list(noise(rule.sigma2)))
    p = np.array(list(noise(rule.sigma2).values()))
    for n in range(1, 400):
        shown = n + z >= rule.threshold
        inside = shown & (np.abs(z) <= rule.half_widths(n + z, confidence))
        assert p[inside].sum() >= confidence * p[shown].sum()
    t = int(rule.half_widths(np.array([10**9]), confidence)[0])
    assert p[np.abs(z) <= t - 1].sum() < confidence


@pytest.mark.slow
def test_privacy_loss():
    """The profile at ε is the stated δ, for other ε it bounds the sum over the worst tables, and it composes."""
    loss = MECHANISM.privacy_loss()
    assert loss.privacy_profile(1.0) == pytest.approx(MECHANISM.achieved_delta, rel=1e-8)
    assert loss.eps_for_delta(1e-6) <= 1.0
    small = sn.PartitionSelection(0.5, 0.5, 8)
    for eps in (0.0, 2.0):
        pairs = [(outcomes(small.sigma2, small.threshold, n + 1), outcomes(small.sigma2, small.threshold, n)) for n in (0, 60)]
        exact = max(
            hockey_stick(turned, eps)
            for j in range(9)
            for mixed in ([pairs[0]] * j + [pairs[1]] * (8 - j),)
            for turned in (mixed, [(q, p) for p, q in mixed])
        )
        assert exact * (1 - 1e-6) <= small.privacy_loss().privacy_profile(eps) <= exact * 1.2
    twice = loss.compose(2)
    assert 2 * MECHANISM.achieved_delta * 0.4 < twice.privacy_profile(2.0) < 4e-6
    assert twice.eps_for_delta(2e-6) < 2
    for alpha in (0.0, 1e-9, 0.1, 0.5, 1.0):
        assert 0 <= loss.tradeoff(alpha) <= 1 - alpha
    assert loss.rdp(2.0) == math.inf
    assert 0 < loss.rdp(0.5) < math.inf


def test_guarantee_and_value():
    assert MECHANISM.guarantee() == sn.Guarantee(1.0, 1e-6, None, 1, 10)
    assert repr(MECHANISM) == "PartitionSelection(eps=1.0, delta=1e-06, max_partitions_contributed=10)"
    copy = pickle.loads(pickle.dumps(MECHANISM))
    assert (copy, copy.sigma2, copy.threshold) == (MECHANISM, MECHANISM.sigma2, MECHANISM.threshold)
    assert type(MECHANISM.probability(3)) is float
    assert MECHANISM.probability([[0, 1], [71, 10**15]]).tolist() == [
        [0.0, MECHANISM.probability(1)],
        [MECHANISM.probability(71), 1.0],
    ]
    # ε above 2**20 has the noise of 2**20.
    assert sn.PartitionSelection(1e300, 1e-6, 10**4).threshold >= 1


def test_shapes_columns_and_threads():
    pd = pytest.importorskip("pandas")
    counts = np.array([[0, 500, 0], [500, 0, 500]])
    for given in (counts, counts[:, ::-1], counts.T, counts.astype(np.uint8) * 1, np.zeros((3, 0), np.int64)):
        alike = [sn.SeededRng(3, allow_release=True) for _ in range(2)]
        shown, values = MECHANISM.release(given, rng=alike[0])
        assert (shown.shape, values.shape, values.dtype) == (given.shape, given.shape, np.int64)
        assert np.array_equal(MECHANISM.select(given, rng=alike[1]), shown)
    assert MECHANISM.select(0) is False
    shown, value = MECHANISM.release(500)
    assert (shown, type(value)) == (True, int)
    assert MECHANISM.release(2**63 - 1)[1] > 2**62
    many = np.arange(2**19) % 150
    one, four = (MECHANISM.release(many, rng=sn.SeededRng(4, allow_release=True), threads=t)[1] for t in (1, 4))
    assert np.array_equal(one, four)
    part = MECHANISM.release(many[1000:1100], rng=sn.SeededRng(4, allow_release=True).at(1000))[1]
    assert np.array_equal(part, one[1000:1100])
    column = pd.Series([0, 500, 0, 127], index=list("abcd"), dtype="int64")
    shown, values = MECHANISM.release(column)
    assert values[shown].index.tolist()[0] == "b"
    assert MECHANISM.release(pd.Series([127] * 50, dtype="int8"))[1].max() > 127


def test_refused():
    rng = sn.SeededRng(1, allow_release=True)
    for draw in (MECHANISM.select, MECHANISM.release):
        with pytest.raises(sn.ParameterError, match=r"^counts must be at least 0, got one that is not at index \(1, 1\)$"):
            draw([[1, 2], [3, -77]], rng=rng)
        with pytest.raises(sn.ParameterTypeError, match="KeyedRng belongs to labels"):
            draw([1], rng=sn.KeyedRng(bytes(32), "r"))  # type: ignore[call-overload]
        with pytest.raises(sn.ParameterError, match="rng must be a SecureRng for a release"):
            draw([1], rng=sn.SeededRng(1))
    twin = sn.SeededRng(1, allow_release=True)
    assert MECHANISM.release([90] * 50, rng=rng)[1].tolist() == MECHANISM.release([90] * 50, rng=twin)[1].tolist()
