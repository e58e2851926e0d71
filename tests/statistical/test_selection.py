"""Selections against their probabilities.

Evidence: statistical, with fixed seeds. Each chi-square test raises a false alarm for a correct sampler with probability at most
ALPHA, so all of them together with less than 1e-6.
"""

import numpy as np
import pytest

import stairnoise as sn
from tests.statistical.checks import check_distribution

ALPHA = 1e-7
DRAWS = 400_000

ROWS = {
    "few": [0.0, 0.5, 1.25, 1.75, 3.5],
    "many": np.random.default_rng(1).uniform(0, 8, 200).tolist(),
    "equal": [2.0] * 7,
}
MECHANISMS = [sn.StaircaseSelection(1, 1, 0.375), sn.ExponentialMechanism(2, 1.5, monotonic=True)]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=["staircase", "exponential"])
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
