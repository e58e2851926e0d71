"""PermuteAndFlip: its probabilities by three other definitions, and its mean cost compared with the exponential mechanism's.

Evidence: all permutations in exact fractions; the expanded polynomial; noise that is exponential. Nothing is drawn.
"""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn

# Steps of the costs: a = STEP^(cost in steps), with which eps is 2·ln(1/STEP) for costs in units of the sensitivity.
STEP = Fraction(3, 5)
EPS = 2 * math.log(1 / STEP)


def by_permutations(coins):
    """Return P(i) that i is the first accepted candidate, over all orders."""
    chances = [Fraction(0)] * len(coins)
    for order in itertools.permutations(range(len(coins))):
        left = Fraction(1)
        for i in order:
            chances[i] += left * coins[i]
            left *= 1 - coins[i]
    return [chance / math.factorial(len(coins)) for chance in chances]


def coins_of(costs):
    return [STEP ** (cost - min(costs)) for cost in costs]


def test_probabilities_are_those_of_all_permutations():
    choose = random.Random(1)
    rows = [costs for n in (1, 2, 3) for costs in itertools.product(range(4), repeat=n)]
    rows += [[choose.randrange(12) for _ in range(n)] for n in (4, 5, 6) for _ in range(4)]
    for costs in rows:
        exact = by_permutations(coins_of(costs))
        assert sum(exact) == 1
        found = sn.PermuteAndFlip(EPS).probabilities(costs)
        assert found == pytest.approx([float(chance) for chance in exact], rel=1e-13), costs
        monotonic = sn.PermuteAndFlip(EPS / 2, monotonic=True).probabilities(costs)
        assert monotonic == pytest.approx(found, rel=1e-13)


@pytest.mark.parametrize(("n", "spread"), [(64, 3.0), (65, 0.0), (65, 9.0), (130, 0.1), (200, 40.0), (300, 5.0)])
def test_many_candidates_have_the_probabilities_of_the_expanded_polynomial(n, spread):
    """Beyond 64 candidates the integral is no longer one exact rule. The expansion cancels digits, and enough of 400 remain."""
    costs = np.random.default_rng(n).uniform(0, spread, n)
    with mp.workdps(400):
        coins = [mp.exp(-mp.mpf(float(cost - costs.min()))) for cost in costs]
        coefficients = [mp.mpf(1)]
        for coin in coins:
            below = [mp.mpf(0), *coefficients]
            coefficients = [c - coin * b for c, b in zip([*coefficients, mp.mpf(0)], below, strict=True)]
        exact = []
        for coin in coins[:20]:
            others, carry = [], mp.mpf(0)
            for coefficient in coefficients[:-1]:
                carry = coefficient + coin * carry
                others.append(carry)
            exact.append(float(coin * mp.fsum(c / (k + 1) for k, c in enumerate(others))))
    mechanism = sn.PermuteAndFlip(2)
    # The mechanism takes differences of costs exactly; those above are rounded once.
    assert mechanism.probabilities(costs)[:20] == pytest.approx(exact, rel=1e-13)
    assert mechanism.log_probabilities(costs)[:20] == pytest.approx(np.log(exact), rel=1e-13)
    assert mechanism.probabilities(costs).sum() == pytest.approx(1, rel=1e-13)


def test_it_is_the_least_cost_after_exponential_noise():
    """arXiv:2105.07260: the selection is the argmin of cost minus exponential noise of mean 2Δ/ε, by numerical integration."""
    costs, eps = [0.0, 0.5, 1.25, 1.75, 3.5], 1.5
    x = [eps * cost / 2 for cost in costs]
    found = sn.PermuteAndFlip(eps).probabilities(costs)
    for i, chance in enumerate(found):
        others = [x[i] - y for j, y in enumerate(x) if j != i]

        def density(noise, others=others):
            """Return the density of candidate i's noise times the probability that no other candidate passes i."""
            return mp.exp(-noise) * mp.fprod(1 - mp.exp(min(other - noise, 0)) for other in others)

        kinks = sorted({0.0, *(max(other, 0.0) for other in others), 60.0})
        assert chance == pytest.approx(float(mp.quad(density, kinks)), rel=1e-10)


def test_candidates_of_no_weight_and_of_infinite_cost():
    mechanism = sn.PermuteAndFlip(1)
    chances = mechanism.probabilities([0.0, math.inf, 3000.0, 1.0])
    assert chances[1] == chances[2] == 0
    assert chances[[0, 3]] == pytest.approx(mechanism.probabilities([0.0, 1.0]), rel=1e-15)
    logs = mechanism.log_probabilities([[0.0, math.inf, 3000.0, 1.0]])[0]
    assert logs[1] == -math.inf
    assert logs[2] == pytest.approx(-1500 + math.log(float(first_of(math.exp(-0.5)))), rel=1e-13)
    assert mechanism.probabilities([math.inf, -5.0]).tolist() == [0, 1]


def first_of(a):
    """Return ∫(1 - t)(1 - at) dt from 0 to 1."""
    return 1 / 2 - a / 6


# Its mean cost


def test_mean_costs_are_never_above_those_of_the_exponential_mechanism():
    """In exact fractions: every row of up to 4 candidates with costs 0 … 4, and drawn rows of up to 6."""
    choose = random.Random(2)
    rows = [costs for n in (1, 2, 3, 4) for costs in itertools.combinations_with_replacement(range(5), n)]
    rows += [[choose.randrange(20) for _ in range(n)] for n in (5, 6) for _ in range(5)]
    largest = Fraction(1)
    for costs in rows:
        coins = coins_of(costs)
        least = min(costs)
        ours = sum(chance * (cost - least) for chance, cost in zip(by_permutations(coins), costs, strict=True))
        theirs = sum(coin * (cost - least) for coin, cost in zip(coins, costs, strict=True)) / sum(coins)
        assert ours <= theirs, costs
        largest = max(largest, theirs / ours if ours else Fraction(1))
    assert largest > Fraction(3, 2)


def test_the_docstrings_half_is_approached_and_not_passed():
    """One candidate of cost d beside the best: a·d/2 against a·d/(1 + a)."""
    for d in (0.0, 1.0, 5.0, 20.0):
        ours, theirs = (mechanism(2).expected_cost([0.0, d]) for mechanism in (sn.PermuteAndFlip, sn.ExponentialMechanism))
        assert ours == pytest.approx(theirs * (1 + math.exp(-d)) / 2, rel=1e-13)


def test_the_example_of_the_page_of_mechanisms():
    """Mean costs are 0.300 and 0.420 above the minimum: all permutations in 30 digits give the first, a formula the second."""
    costs = np.array([3.0, 0.5, 1.25, 4.0])
    ours, theirs = (mechanism(2).expected_cost(costs) - 0.5 for mechanism in (sn.PermuteAndFlip, sn.ExponentialMechanism))
    assert (round(ours, 3), round(theirs, 3)) == (0.300, 0.420)
    coins = [Fraction(math.exp(-(cost - 0.5))) for cost in costs]
    exact = sum(chance * Fraction(cost - 0.5) for chance, cost in zip(by_permutations(coins), costs, strict=True))
    assert ours == pytest.approx(float(exact), rel=1e-13)


def test_mean_costs_of_long_rows():
    costs = np.random.default_rng(3).uniform(-9, 9, (40, 300))
    for eps in (0.01, 1.0, 30.0):
        ours, theirs = (mechanism(eps).expected_cost(costs) for mechanism in (sn.PermuteAndFlip, sn.ExponentialMechanism))
        assert (ours <= theirs * (1 + 1e-12 * np.sign(theirs))).all()
