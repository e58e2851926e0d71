"""Selections against their probabilities.

Evidence: statistical, with fixed seeds. Each chi-square test raises a false alarm for a correct sampler with probability at most
ALPHA, so all of them together with less than 3e-6.
"""

import itertools
import math

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import rest_long
from tests.oracles import permute_and_flip
from tests.oracles.selection import Mechanism, exponents
from tests.statistical.checks import check_distribution

ALPHA = 1e-7
DRAWS = 400_000

ROWS = {
    "few": [0.0, 0.5, 1.25, 1.75, 3.5],
    "many": np.random.default_rng(1).uniform(0, 8, 200).tolist(),
    "equal": [2.0] * 7,
}
TIES = {
    "two": [0.0, 1.0],
    "ties": [1.0, 0.0, 1.0, 0.0, 2.5, 0.0],
    "one of many": [5.0] * 20 + [0.0] + [5.0] * 20,
    "never": [math.inf, 3.0, math.inf, 2.0, 7.0],
    "seventy": np.random.default_rng(7).uniform(0, 6, 70).tolist(),
}
MECHANISMS = [sn.StaircaseSelection(1, 1, 0.375), sn.ExponentialMechanism(2, 1.5, monotonic=True), sn.PermuteAndFlip(2, 1.5)]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=["staircase", "exponential", "permute-and-flip"])
@pytest.mark.parametrize("costs", ROWS.values(), ids=ROWS)
def test_frequencies_are_the_probabilities(mechanism, costs):
    drawn = mechanism.sample(costs, DRAWS, rng=sn.SeededRng(11))
    check_distribution(np.bincount(drawn, minlength=len(costs)), mechanism.probabilities(costs), ALPHA)


def test_the_check_sees_weights_that_are_not_halved():
    costs = ROWS["few"]
    drawn = sn.StaircaseSelection(1, 1, 0.375).sample(costs, DRAWS, rng=sn.SeededRng(11))
    wrong = sn.StaircaseSelection(1, 1, 0.375, monotonic=True).probabilities(costs)
    with pytest.raises(AssertionError, match="chi-square"):
        check_distribution(np.bincount(drawn, minlength=len(costs)), wrong, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_long(["ties", "never"], TIES))
def test_permute_and_flip_has_its_integrals_at_ten_million_draws(name):
    """Expected: the oracle's polynomials, in intervals. The same counts fail where every order of visits is that of the row."""
    mechanism, draws, costs = Mechanism(2.0, 1.5, None, False), 10**7, TIES[name]
    row = permute_and_flip.Row(exponents(mechanism, costs))
    exact = np.array([float(row.probability(i).mid) for i in range(len(costs))])
    drawn = sn.PermuteAndFlip(2, 1.5).sample(costs, draws, rng=sn.SeededRng(21))
    counts = np.bincount(drawn, minlength=len(costs))
    check_distribution(counts, exact, ALPHA)
    coins = np.exp((min(costs) - np.array(costs)) * 2 / 3)
    in_order = coins * np.cumprod([1, *(1 - coins[:-1])])
    with pytest.raises(AssertionError, match="chi-square"):
        check_distribution(counts, np.maximum(in_order, 1e-5) / np.maximum(in_order, 1e-5).sum(), ALPHA)
    with pytest.raises(AssertionError, match="chi-square"):
        check_distribution(counts, sn.ExponentialMechanism(2, 1.5).probabilities(costs), ALPHA)


@pytest.mark.parametrize("make", [sn.StaircaseSelection, sn.ExponentialMechanism, sn.PermuteAndFlip])
def test_several_candidates_are_drawn_without_replacement(make):
    """Every ordered triple of five candidates, one of which is never selected."""
    costs = [0.3, 2.0, np.inf, 1.25, 0.9]
    drawn = make(3, sensitivity=1).top(costs, 3, DRAWS // 4, rng=sn.SeededRng(12, allow_release=True))
    one, codes, chances = make(1, sensitivity=1), drawn @ [25, 5, 1], []
    triples = list(itertools.permutations(range(5), 3))
    for triple in triples:
        left, chance = np.array(costs), 1.0
        for i in triple:
            chance *= one.probabilities(left)[i] if left[i] < np.inf else 0.0
            left[i] = np.inf if chance else left[i]
        chances.append(chance)
    counts = [int((codes == np.dot(triple, [25, 5, 1])).sum()) for triple in triples]
    check_distribution(np.array(counts), np.array(chances), ALPHA)
