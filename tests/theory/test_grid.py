"""A profile on a grid, by itself.

Evidence: the profile of the grid's probabilities by the definition, compared with the profile they were made from.
"""

import math

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.accounting import dp_accounting as grid


def profile_of(masses, infinite, interval, eps):
    return infinite + math.fsum(p * -math.expm1(eps - j * interval) for j, p in masses.items() if j * interval > eps)


@pytest.mark.parametrize("mechanism", [sn.Laplace(1), sn.Staircase(1)], ids=repr)
@pytest.mark.parametrize("error", [1e-13, 1e-11, 1e-9])
def test_errors_of_a_profile_are_not_magnified(mechanism, error):
    """Relative errors on ten thousand nodes, which differ by a ten-thousandth of δ, grow only a few times."""
    rng = np.random.default_rng(1)
    exact = mechanism.privacy_profile
    masses, infinite = grid.on_multiples(lambda t: exact(t) * (1 + error * rng.random(t.shape)), 10_000, 1e-4)
    for eps in (0.0, 0.25, 0.5, 0.9):
        found = profile_of(masses, infinite, 1e-4, eps)
        assert exact(eps) <= found <= exact(eps) * (1 + 1e-9 + 5 * error)


def test_probabilities_add_up_to_one_and_mirror_each_other():
    masses, infinite = grid.on_multiples(sn.Gaussian(sigma=1).privacy_profile, 400, 0.02)
    assert math.fsum([*masses.values(), infinite]) == pytest.approx(1, abs=1e-15)
    assert all(masses[-j] == pytest.approx(masses[j] * math.exp(-0.02 * j), rel=1e-12) for j in range(1, 401))


def test_the_last_node_is_not_below_the_largest_loss():
    """Compared in exact numbers: in float64, (0.3 + 5e-17)/0.1 is 3, and 0.7/0.1 is 6.999…."""
    assert [grid.steps_to(top, 0.1) for top in (0.1, 0.3, 0.7, 1.0)] == [1, 3, 7, 10]
    assert grid.steps_to(0.30000000000000004, 0.1) == 4


def test_where_an_infinite_loss_is_all():
    assert grid.cut(1.0) == 1.0
    assert grid.on_multiples(np.ones_like, 0, 1e-4) == ({0: 0.0}, 1.0)
