"""Evidence: attacks on the low-order bits of the sum, run against `release` and against plain NumPy.

Mironov (2012): the outputs that floating-point noise can reach depend on the true answer, so a single output can exclude a
neighbour. Haney et al. (2022): the precision of a sum reveals the magnitude of its terms. An attack
succeeds if, from 200 000 releases of each of two neighbours, an event has a privacy loss above epsilon. False alarms:
each check of `release` fails with probability below `ALPHA` if it is private (checks.py: Chernoff bounds, seeds fixed), and
NumPy's must fail the same check.

The exhaustive part, every word of 16 bits on lattices of a few steps, is rust/core/src/lattice/release/exhaustive.rs.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn
from tests.attacks import bits, naive
from tests.statistical.checks import check_loss_at_most

ALPHA = 1e-9
N = 200_000
EPS = 1.0

MECHANISMS = [sn.Laplace(EPS, sensitivity=1), sn.Staircase(EPS, sensitivity=1)]
NAIVE = [naive.laplace, naive.staircase]
# Neighbours at sensitivity 1. Doubles of 0.1 + 0.2 and 0.3 differ in the last bit; 1/3 and 4/3 in the length of their expansion.
NEIGHBOURS = [(0.0, 1.0), (0.1 + 0.2, 0.3), (1 / 3, 4 / 3), (0.0, 5e-324), (1e16, 1e16 + 1), (-0.5, 0.5), (2.0**20 - 1, 2.0**20)]
WINDOW = 0.25


def released(mechanism, answer, seed, size=N):
    return mechanism.release(np.full(size, answer), rng=sn.SeededRng(seed, allow_release=True))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize(("x", "y"), NEIGHBOURS, ids=repr)
def test_low_bits_tell_no_neighbours_apart(mechanism, x, y):
    """The windows are near the answers and near zero, where one neighbour's sums have more bits than the other's."""
    first, second = released(mechanism, x, 1), released(mechanism, y, 2)
    for centre in {0.0, x}:
        seen = [bits.events(values - centre if centre else values, WINDOW) for values in (first, second)]
        check_loss_at_most(seen[0], seen[1], EPS, ALPHA)
        check_loss_at_most(seen[1], seen[0], EPS, ALPHA)


@pytest.mark.parametrize("mechanism", NAIVE, ids=lambda mechanism: mechanism.__name__)
def test_the_attack_tells_neighbours_of_plain_numpy_apart(mechanism):
    """Near zero, NumPy's noise has bits below 2**-53; sums with 1 have none."""
    rng = np.random.default_rng(3)
    seen = [bits.events(mechanism(rng, answer, N, EPS), WINDOW) for answer in (0.0, 1.0)]
    with pytest.raises(AssertionError, match="for eps"):
        check_loss_at_most(seen[0], seen[1], EPS, ALPHA)
    fine = bits.LEAST, -53
    zero, one = (int(counts[: fine[1] - fine[0]].sum()) for counts in seen)
    assert one == 0
    # With confidence 1 - 1e-9 the event's probability is above half its share for 0, and below ln(1e9)/N for 1.
    assert math.log(zero / 2 / math.log(1e9)) > 5 * EPS


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("x", [0.0, -0.0, 5e-324, -1e-310, 1e-300, 0.1 + 0.2, 1 / 3, -2 / 3, 1.0, 1e3, 1e5])
def test_every_output_is_on_one_lattice(mechanism, x):
    """Outputs are multiples of g, odd ones included, whatever the answer is; the neighbour reaches the same multiples."""
    step = round(math.log2(mechanism.granularity))
    here, there = (released(mechanism, answer, 4, 20_000) for answer in (x, x + 1.0))
    assert bits.last_bit(here).min() == bits.last_bit(there).min() == step
    # With one key, outputs differ by the same number of lattice steps, at most the sensitivity in steps.
    steps = (there - here) / mechanism.granularity
    assert np.ptp(steps) == 0
    assert abs(steps[0]) <= math.ceil(1.0 / mechanism.granularity)


def finest(mechanism, answers):
    return {int(bits.last_bit(mechanism(answer)).min()) for answer in answers}


def test_precision_does_not_tell_the_magnitude():
    """The finest bit in 20 000 outputs of `release` is g, while float64 can hold it; NumPy's finest bit follows the answer."""
    answers = [0.0, 5e-324, 1e-300, 1e-5, 1.0, 1000.0, 1e5]
    for made in MECHANISMS:
        assert finest(lambda x, mechanism=made: released(mechanism, x, 5, 20_000), answers) == {
            round(math.log2(made.granularity))
        }
    rng = np.random.default_rng(6)
    for mechanism in NAIVE:
        assert len(finest(lambda x, mechanism=mechanism: mechanism(rng, x, 20_000, EPS), answers)) > 2


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("x", [1e7, 1e16, -1e16, 1e20, -9e27])
def test_beyond_that_the_output_is_a_function_of_the_lattice_point(mechanism, x):
    """If float64 is coarser than g, the output is the sum's lattice point, rounded, which is post-processing."""
    g = Fraction(mechanism.granularity)
    noise = mechanism.sample(2000, rng=sn.SeededRng(7))
    for value, drawn in zip(released(mechanism, x, 7, 2000), noise, strict=True):
        steps = math.floor(Fraction(x) / g + Fraction(1, 2))
        point = steps * g + Fraction(drawn)
        assert value == float(point)
