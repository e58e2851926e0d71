"""Ratios of exact probabilities for every pair of neighbouring rows of costs on a lattice.

Evidence: exhaustive, in fractions. e^(-eps) is a power of a fraction here, so all probabilities are fractions too. They
follow the definitions: all orders of the candidates for permute-and-flip. tests/exactness shows that the library draws with these
probabilities; the end of this file shows that the library computes them.
"""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn

# Costs are in units of half the sensitivity; None is an infinite cost.
Row = tuple[int | None, ...]
# The weight of half a sensitivity: e^(-eps/4) in the general case, e^(-eps/2) for monotonic costs.
HALF = Fraction(4, 5)
MECHANISMS = {"flips": sn.PermuteAndFlip, "exponential": sn.ExponentialMechanism, "staircase": sn.StaircaseSelection}
every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)


def stair(cost: int) -> int:
    """Return a cost's step for gamma = 1/2: 0 below half a sensitivity, then one more for each sensitivity."""
    return 0 if cost < 1 else (cost - 1) // 2 + 1


@cache
def weights(mechanism: str, row: Row, half: Fraction) -> tuple[Fraction, ...]:
    """Return weights in units of the largest; `half` is the weight of half a sensitivity."""
    finite = [cost for cost in row if cost is not None]
    if mechanism == "staircase":
        levels = [None if cost is None else 2 * stair(cost) for cost in row]
    else:
        levels = [None if cost is None else cost - min(finite) for cost in row]
    return tuple(Fraction(0) if level is None else half**level for level in levels)


@cache
def by_orders(coins: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    chances = [Fraction(0)] * len(coins)
    for order in itertools.permutations(range(len(coins))):
        left = Fraction(1, math.factorial(len(coins)))
        for i in order:
            chances[i] += left * coins[i]
            left *= 1 - coins[i]
    return tuple(chances)


@cache
def one(mechanism: str, row: Row, half: Fraction = HALF) -> tuple[Fraction, ...]:
    """Return the probability of every candidate."""
    found = weights(mechanism, row, half)
    return by_orders(found) if mechanism == "flips" else tuple(weight / sum(found) for weight in found)


@cache
def several(mechanism: str, row: Row, k: int, half: Fraction) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of every ordered choice of k; `half` is the weight of half a sensitivity in one round."""
    if k == 0:
        return {(): Fraction(1)}
    chances = {}
    for i, chance in enumerate(one(mechanism, row, half)):
        if chance:
            left = (*row[:i], None, *row[i + 1 :])
            for rest, further in several(mechanism, left, k - 1, half).items():
                chances[(i, *rest)] = chance * further
    return chances


def neighbours(row: Row, moves: range, most: int) -> Iterator[Row]:
    """Yield rows in which each finite cost has changed by one of the moves; no cost is negative or above `most`."""
    choices = [[None] if cost is None else [cost + move for move in moves if 0 <= cost + move <= most] for cost in row]
    yield from itertools.product(*choices)


def lattice(n: int, most: int, step: int = 1) -> Iterator[Row]:
    yield from itertools.product(range(0, most + 1, step), repeat=n)


@every_mechanism
def test_a_selection_in_general(mechanism: str) -> None:
    """ε = -4 ln HALF: costs from 0 to 2 sensitivities in halves, three candidates, all moves of up to one."""
    largest, bound = Fraction(0), HALF**-4
    for row in lattice(3, 4):
        for other in neighbours(row, range(-2, 3), 4):
            largest = max(largest, *(p / q for p, q in zip(one(mechanism, row), one(mechanism, other), strict=True)))
    assert largest <= bound
    assert largest > bound * HALF, "some rows come near the promised bound"


@every_mechanism
def test_a_selection_from_monotonic_costs(mechanism: str) -> None:
    """ε = -2 ln HALF: no cost falls; the other direction is the inverse ratio."""
    bound, found = HALF**-2, []
    for row in lattice(3, 4):
        for other in neighbours(row, range(3), 6):
            ratios = [p / q for p, q in zip(one(mechanism, row), one(mechanism, other), strict=True)]
            assert 1 / bound <= min(ratios) <= max(ratios) <= bound, (row, other)
            found.append(max(*ratios, 1 / min(ratios)))
    assert max(found) > bound * HALF


@every_mechanism
def test_without_the_promise_monotonic_costs_lose_more(mechanism: str) -> None:
    """The check detects a selection that does not halve eps."""
    bound = HALF**-2
    pairs = ((row, other) for row in lattice(2, 4) for other in neighbours(row, range(-2, 3), 4))
    assert any(p / q > bound for row, other in pairs for p, q in zip(one(mechanism, row), one(mechanism, other), strict=True))


@every_mechanism
@pytest.mark.parametrize(("n", "k", "most"), [(3, 2, 4), (3, 3, 4), (4, 2, 4), (4, 3, 4)])
def test_ordered_choices_of_several_in_general(mechanism: str, n: int, k: int, most: int) -> None:
    """Every round has ε/k with ε = -4k ln HALF; four candidates have only costs in whole sensitivities."""
    bound, largest = HALF ** (-4 * k), Fraction(0)
    step = 1 if n == 3 else 2
    for row in lattice(n, most, step):
        chances = several(mechanism, row, k, HALF)
        assert sum(chances.values()) == 1
        for other in neighbours(row, range(-2, 3, step), most):
            others = several(mechanism, other, k, HALF)
            largest = max(largest, *(chance / others[chosen] for chosen, chance in chances.items()))
    assert 1 < largest <= bound


@every_mechanism
def test_ordered_choices_of_several_from_monotonic_costs(mechanism: str) -> None:
    bound = HALF**-4
    for row in lattice(3, 4):
        chances = several(mechanism, row, 2, HALF)
        for other in neighbours(row, range(3), 6):
            others = several(mechanism, other, 2, HALF)
            assert all(1 / bound <= chance / others[chosen] <= bound for chosen, chance in chances.items()), (row, other)


@every_mechanism
def test_infinite_costs_that_stay_infinite_lose_nothing(mechanism: str) -> None:
    """The probabilities equal those of the row without that candidate, which the tests above cover."""
    for row in lattice(2, 4):
        chances = one(mechanism, (row[0], None, row[1]))
        assert (chances[0], chances[2]) == one(mechanism, row)
        assert chances[1] == 0


def test_the_bound_of_the_exponential_mechanism_does_not_hold_for_permute_and_flip() -> None:
    """ρ = ε²/8 by the range of the losses, for two candidates that change places. ε²/2 holds at every order."""
    eps = 1.0
    p, q = (sn.PermuteAndFlip(eps).probabilities(costs) for costs in ([0.0, 1.0], [1.0, 0.0]))
    losses = np.log(p / q)
    assert np.ptp(losses) > 1.5 * eps
    assert float(p @ losses) > 2.5 * eps**2 / 8
    for order in (1.001, 1.5, 2.0, 5.0, 50.0):
        divergence = math.log(float((p**order * q ** (1 - order)).sum())) / (order - 1)
        assert divergence <= order * eps**2 / 2
    for mechanism in (sn.PermuteAndFlip, sn.ExponentialMechanism, sn.StaircaseSelection):
        assert mechanism(eps).guarantee().rho is None
    p, q = (sn.ExponentialMechanism(eps).probabilities(costs) for costs in ([0.0, 1.0], [1.0, 0.0]))
    assert float(p @ np.log(p / q)) <= eps**2 / 8


@every_mechanism
def test_the_library_has_these_probabilities(mechanism: str) -> None:
    rows = [*lattice(3, 4), (None, 3, 0, None), (2, None, 1)]
    for row in rows:
        costs = [math.inf if cost is None else cost / 2 for cost in row]
        exact = [float(chance) for chance in one(mechanism, row)]
        for chosen in (MECHANISMS[mechanism](-4 * math.log(HALF)), MECHANISMS[mechanism](-2 * math.log(HALF), monotonic=True)):
            assert chosen.probabilities(costs) == pytest.approx(exact, rel=1e-13)


@every_mechanism
def test_a_ledger_counts_one_epsilon_for_several(mechanism: str, tmp_path: Path) -> None:
    """`top` has the guarantee of one selection, which is what the ledger takes down."""
    ledger = sn.Ledger(tmp_path / "people.ledger", 1.0)
    chosen = MECHANISMS[mechanism](0.25)
    assert Fraction(ledger.spend(chosen, data="people").eps) == Fraction(chosen.guarantee().eps or 0) == Fraction(1, 4)
