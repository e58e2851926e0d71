"""Many quantiles of few candidates, read from private counts: what one person changes, least squares, the bound, and the rule."""

import itertools
import math

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.quantiles import tree
from stairnoise.quantiles.plan import Plan

DECILES = [place / 10 for place in range(1, 10)]


def allowed(seed):
    return sn.SeededRng(seed, allow_release=True)


class Recorded(sn.DiscreteLaplace):
    """Adds no noise, and keeps what it would protect."""

    seen: list = []  # noqa: RUF012

    def release(self, values, **_):
        self.seen.append((self.eps, self.sensitivity, np.array(values)))
        return np.array(values)


def protected(monkeypatch, values, among, **asked):
    monkeypatch.setattr(tree, "DiscreteLaplace", Recorded)
    Recorded.seen.clear()
    sn.quantile(values, DECILES, bounds=(0, among - 1), step=1, eps=0.7, mechanism="tree", **asked)
    return list(Recorded.seen)


def largest_loss(first, second):
    """ε of independent discrete Laplace noise is the sum of changes over the scale."""
    return sum(
        np.abs(one - other).sum() * eps / sensitivity
        for (eps, sensitivity, one), (_, _, other) in zip(first, second, strict=True)
    )


@pytest.mark.parametrize("rows", [1, 2])
def test_one_person_costs_eps(monkeypatch, rows):
    """Evidence: all data sets of up to two values at seven places of 40 candidates, and all rows of a person."""
    places, worst = [0, 1, 14, 15, 16, 32, 39], 0.0
    for values in itertools.chain.from_iterable(itertools.combinations_with_replacement(places, many) for many in range(3)):
        here = protected(monkeypatch, values, 40, rows_per_person=rows)
        for person in itertools.combinations(places[::2], rows):
            worst = max(worst, largest_loss(here, protected(monkeypatch, [*values, *person], 40, rows_per_person=rows)))
    assert 0.7 * (1 - 1e-12) <= worst <= 0.7 * (1 + 1e-12)


def test_replacing_a_value_costs_eps(monkeypatch):
    here, there = (protected(monkeypatch, [3, value], 40, neighbours="replace") for value in (5, 38))
    assert largest_loss(here, there) == pytest.approx(0.7, rel=1e-12)
    # Evidence that the tests above can fail.
    here, there = (protected(monkeypatch, [3, value], 40) for value in (5, 38))
    assert largest_loss(here, there) > 1.3


def test_counts_are_those_of_least_squares():
    """Evidence: NumPy's least squares, with runs of 16 and a last one of 3."""
    noise = np.random.default_rng(2)
    leaves, runs = noise.normal(size=35), noise.normal(size=3)
    of_runs = np.zeros((3, 35))
    for place in range(35):
        of_runs[place // 16, place] = 1
    expected = np.linalg.lstsq(np.vstack([np.eye(35), of_runs]), np.concatenate([leaves, runs]), rcond=None)[0]
    assert tree._consistent(leaves, runs) == pytest.approx(expected)


def test_the_bound_is_chernoffs():
    """Evidence: the moments of the noise by their definition, for two candidates, whose factors are written out."""
    q, eps = 0.25, 0.8
    mechanism = sn.DiscreteLaplace(eps)
    support = np.arange(-400, 401)
    weights = np.array([mechanism.pmf(int(x)) for x in support])
    # The first candidate has 2/3 of its own noise, -1/3 of the other's, and 1/3 of the run's; both have 1/3, 1/3 and 2/3.
    first, both = np.array([2, -1, 1]) / 3, np.array([1, 1, 2]) / 3
    errors = [-q * both, first - q * both, (1 - q) * both]

    def bounded(s):
        chances = [2 * np.prod([(weights * np.exp(s * factor * support)).sum() for factor in error]) for error in errors]
        return math.log(sum(chances) / 0.05) / s

    # Both are the least of some parameters.
    assert tree.bound(2, q, eps, 1, 0.05) == pytest.approx(min(map(bounded, np.linspace(0.05, 1.3, 60))), rel=1e-2)


@pytest.mark.parametrize("among", [7, 121])
def test_the_ends_have_the_largest_bound(among):
    found = [tree.bound(among, q, 0.5, 1, 0.05) for q in (0.1, 0.3, 0.5, 0.7, 0.9)]
    assert max(found[1:-1]) <= max(found[0], found[-1])
    assert tree.bound(among, 0.3, 0.5, 9, 0.05) == pytest.approx(9 * tree.bound(among, 0.3, 0.5, 1, 0.05), rel=0.05)


@pytest.mark.parametrize("n", [0, 3, 40, 1000])
def test_results_are_within_the_bound_and_in_order(n):
    """A bound fails in at most 5 %: more than 9 of 40 draws have a chance below 1e-4 for other seeds; none did."""
    values = np.sort(np.random.default_rng(n).integers(0, 30, n))
    missed = 0
    for seed in range(40):
        found = sn.quantile(values, DECILES, bounds=(0, 60), step=1, eps=1, rng=allowed(seed))
        assert np.all(np.diff(found.value) >= 0)
        below, upto = (np.searchsorted(values, found.value, side) for side in ("left", "right"))
        ranks = np.array(DECILES) * n
        missed += bool(np.maximum(below - ranks, ranks - upto).max() > found.rank_bound)
    assert missed <= 9


def test_the_tree_is_chosen_where_it_is_better():
    """Mean errors in ranks of 20 draws: with 121 candidates at most 0.8 times those of selections one after the other."""
    many = [place / 20 for place in range(1, 20)]
    errors = {None: 0.0, "exponential": 0.0}
    for seed in range(20):
        values = np.sort(np.clip(np.random.default_rng(seed).normal(42, 18, 500), 0, 100).round())
        for mechanism in errors:
            found = sn.quantile(values, many, bounds=(0, 120), step=1, eps=1, mechanism=mechanism, rng=allowed(seed)).value
            below, upto = (np.searchsorted(values, found, side) for side in ("left", "right"))
            ranks = np.array(many) * 500
            errors[mechanism] += np.maximum(np.maximum(below - ranks, ranks - upto), 0).mean()
    assert errors[None] < 0.8 * errors["exponential"]


def test_the_rule_is_public():
    """It depends on numbers of quantiles and of candidates; an ε too small for noise of 64 bits leaves it out."""
    ranks = list(range(1, 9))
    assert Plan(ranks, 9, 1.0).among(256).tree
    assert not Plan(ranks, 9, 1.0).among(257).tree
    assert not Plan(ranks[1:], 9, 1.0).among(256).tree
    assert not Plan(ranks, 9, 1e-13).among(256).tree
    for eps in (2.0**-38, 1e-6, 1e9):
        sn.quantile([1], DECILES, bounds=(0, 9), step=1, eps=eps)
    assert sn.quantile_accuracy(DECILES, 121, eps=1).rank_bound == pytest.approx(34.7, abs=0.1)
    assert sn.quantile_accuracy(DECILES, 121, eps=1, mechanism="exponential").rank_bound > 250
    one = sn.quantile([5] * 500, 0.5, bounds=(0, 9), step=1, eps=1, mechanism="tree", interval=True)
    assert one.low <= one.value == 5 <= one.high
