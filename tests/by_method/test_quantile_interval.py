"""Intervals that hold a quantile: their coverage for any number of values, and what one person costs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.quantiles.interval import lower_costs
from stairnoise.quantiles.plan import Plan
from stairnoise.quantiles.ranks import Target

AMONG = 7
QUANTILES = ["0", "1/10", "1/3", "1/2", "9/10", "1"]


def plan_of(q, flips, neighbours="add_remove"):
    share = Fraction(q)
    plan = Plan([share.numerator], share.denominator, 0.5, 1, neighbours, flips)
    return plan, Target(share.numerator, share.denominator)


def lower(plan, target, counts, confidence=0.95, monotonic=False):
    """The probability of no limit and of every candidate as the lower end."""
    places = np.flatnonzero(counts)
    costs, mechanism = lower_costs(plan, target, places, counts[places], len(counts), confidence)
    return type(mechanism)(mechanism.eps, mechanism.sensitivity, monotonic).probabilities(costs)


def missed(plan, target, counts, confidence=0.95):
    """The probability of a lower end above the lowest quantile."""
    n = int(counts.sum())
    reached = np.flatnonzero(np.cumsum(counts) * target.r >= target.p * n)
    # Of no values, every candidate is a quantile.
    lowest = int(reached[0]) if n else 0
    return float(lower(plan, target, counts, confidence)[lowest + 2 :].sum())


def data_sets():
    """Spread values and equal ones at every candidate, from none to many."""
    for n in [*range(12), 20, 40, 80, 160, 400]:
        for place in range(AMONG):
            counts = np.zeros(AMONG, np.int64)
            counts[place] = n
            yield counts
        yield np.full(AMONG, n)
        yield np.array([n, 0, 0, 0, 0, 0, n])
        yield np.array([0, n, 0, 1, 0, 0, 0])


@pytest.mark.parametrize("flips", [True, False])
@pytest.mark.parametrize("q", QUANTILES)
def test_an_end_misses_at_most_as_often_as_stated(q, flips):
    """Evidence: exact probabilities; nothing is assumed about how many values there are."""
    plan, target = plan_of(q, flips)
    assert max(missed(plan, target, counts) for counts in data_sets()) <= 0.025


def test_a_smaller_bound_would_miss_more_often():
    """Evidence that the test above can fail: with the bound of a confidence of 80 %, an end misses more often than in 2.5 %."""
    plan, target = plan_of("1/2", True)
    assert max(missed(plan, target, counts, 0.8) for counts in data_sets()) > 0.025


@pytest.mark.parametrize("flips", [True, False])
@pytest.mark.parametrize("q", QUANTILES)
def test_one_value_costs_the_share_of_an_end(q, flips):
    """Evidence: exhaustive, for data sets of up to three values on four candidates, and for many equal values."""
    plan, target = plan_of(q, flips)
    replaced, _ = plan_of(q, flips, "replace")
    small = [np.array(counts) for counts in itertools.product(range(4), repeat=4) if sum(counts) <= 3]
    worst, found = 0.0, {}

    def chances(plan, counts):
        key = plan.neighbours, tuple(counts)
        if key not in found:
            found[key] = lower(plan, target, counts)
        return found[key]

    for counts in [*small, *(np.array([0, n, 0, m]) for n in (20, 60) for m in (0, 9))]:
        for i in range(4):
            other = counts.copy()
            other[i] += 1
            worst = max(worst, np.abs(np.log(chances(plan, counts) / chances(plan, other))).max())
            for j in np.flatnonzero(counts):
                swapped = other.copy()
                swapped[j] -= 1
                worst = max(worst, np.abs(np.log(chances(replaced, counts) / chances(replaced, swapped))).max())
    assert 0.2 < worst <= 0.5 * (1 + 1e-12)


def test_costs_of_a_largest_value_move_in_both_directions():
    """Evidence that the test above can fail: a promise that they do not costs more than ε."""
    plan, target = plan_of("1", False)
    nothing = np.empty(0, np.int64)
    t = int(lower_costs(plan, target, nothing, nothing, 4, 0.95)[0].max())
    here, there = (lower(plan, target, np.array([0, t, 0, n]), monotonic=True) for n in (0, 1))
    assert np.abs(np.log(here / there)).max() > 0.5 * 1.01


@pytest.mark.parametrize("mechanism", ["permute_and_flip", "exponential"])
def test_intervals_hold_the_quantile(mechanism):
    """At most 5 % of intervals miss: more than 25 of 150 have a chance below 1e-6 for other seeds."""
    misses = 0
    for seed, n in itertools.product(range(30), (0, 3, 30, 300, 3000)):
        rng = sn.SeededRng(seed * 10_000 + n, allow_release=True)
        values = np.random.default_rng(seed).integers(0, 1000, n)
        found = sn.quantile(values, 0.3, bounds=(0, 1000), eps=1, interval=True, mechanism=mechanism, rng=rng)
        misses += n > 0 and not found.low <= np.quantile(values, 0.3, method="inverted_cdf") <= found.high
        assert n < 3000 or 200 < found.low <= found.value <= found.high < 400
    assert misses <= 25


def test_without_values_there_is_no_limit():
    """An end has a limit in at most 2.5 %: more than 10 of 40 have a chance below 1e-6 for other seeds."""
    ends = []
    for seed in range(20):
        found = sn.quantile([], 0.5, bounds=(0, 9), eps=1, interval=True, rng=sn.SeededRng(seed, allow_release=True))
        ends += [found.low, found.high]
    assert sum(map(math.isfinite, ends)) <= 10


def test_the_value_has_half_of_eps():
    found = sn.quantile([3] * 50, 0.5, bounds=(0, 9), eps=2, interval=True)
    assert found.guarantee.eps == 2
    assert found.rank_bound == sn.quantile_accuracy(0.5, 10, eps=1).rank_bound
    alone = sn.quantile([3] * 50, 0.5, bounds=(0, 9), eps=2)
    assert (alone.low, alone.high) == (None, None)
