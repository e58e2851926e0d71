"""Evidence: the attack on rounding to the lattice.

Rounding half to even moves 0.5 to 0 and 1.5 to 2, so answers one sensitivity apart end two steps apart and lose 2 epsilon;
rounding half upwards does not. Shares by Chernoff bounds at a false-alarm rate of at most `ALPHA` each, seeds fixed.
"""

import numpy as np
import pytest

import stairnoise as sn
from tests.attacks import naive
from tests.statistical.checks import check_loss_at_most, check_loss_equals

ALPHA = 1e-9
N = 400_000
EPS = 1.0
MECHANISMS = [
    sn.DiscreteLaplace(EPS),
    sn.DiscreteStaircase(EPS),
    sn.Laplace(EPS, sensitivity=1),
    sn.Staircase(EPS, sensitivity=1),
]
HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]


def tails(values, answer):
    """The events with the largest privacy loss of two-sided geometric noise: far below both answers, far above both."""
    return np.array([np.count_nonzero(values <= answer - 1), np.count_nonzero(values >= answer + 2)])


@pytest.mark.parametrize(
    "mechanism", [sn.DiscreteLaplace(EPS, sensitivity=1), sn.DiscreteStaircase(EPS, sensitivity=1)], ids=repr
)
@pytest.mark.parametrize("x", HALVES)
def test_halves_lose_no_more_than_eps(mechanism, x):
    first, second = (
        mechanism.release(np.full(N, answer), rng=sn.SeededRng(seed, allow_release=True)) for answer, seed in ((x, 1), (x + 1, 2))
    )
    check_loss_at_most(tails(first, x), tails(second, x), EPS, ALPHA)
    check_loss_at_most(tails(second, x), tails(first, x), EPS, ALPHA)


def test_half_to_even_loses_twice_as_much():
    rng = np.random.default_rng(3)
    first, second = (tails(naive.half_even(rng, answer, N, EPS), 0.5) for answer in (0.5, 1.5))
    with pytest.raises(AssertionError, match="for eps"):
        check_loss_at_most(second, first, EPS, ALPHA)
    check_loss_equals(second[1:], first[1:], 2 * EPS, ALPHA)


@pytest.mark.parametrize(
    "mechanism",
    [
        sn.DiscreteLaplace(EPS, sensitivity=1),
        sn.DiscreteStaircase(EPS, sensitivity=1),
        sn.Laplace(EPS, sensitivity=1),
        sn.Staircase(EPS, sensitivity=1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("x", HALVES)
def test_one_sensitivity_is_the_same_number_of_cells_everywhere(mechanism, x):
    """One key, and answers one sensitivity apart, at half steps and anywhere else."""
    answers = x * mechanism.granularity + np.array([0.0, 1.0])
    here, there = (mechanism.release(np.full(1000, answer), rng=sn.SeededRng(4, allow_release=True)) for answer in answers)
    assert np.array_equal((there - here) / mechanism.granularity, np.full(1000, 1 / mechanism.granularity))
