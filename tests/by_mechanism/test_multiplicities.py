"""Multiplicities of candidates: the row in which every cost is repeated. Deterministic, with seeds: no false alarms."""

import numpy as np
import pytest

import stairnoise as sn

MECHANISMS = {
    "staircase": sn.StaircaseSelection(1.5, 1.0, 0.375),
    "exponential": sn.ExponentialMechanism(1.5, 2.0),
    "permute-and-flip": sn.PermuteAndFlip(1.5, 2.0),
}
every = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)

ROWS = [
    ([0, 3, 1], [1, 1, 1]),
    ([4, 4, 0, 7], [2, 5, 0, 3]),
    ([2], [9]),
    ([0, 1, 2, 3, 4, 5], [1, 0, 20, 3, 0, 40]),
    ([0.25, np.inf, 2.5], [3, 8, 2]),
]


def repeated(costs, numbers):
    return np.repeat(np.array(costs, float), numbers), np.repeat(np.arange(len(costs)), numbers)


@every
@pytest.mark.parametrize(("costs", "numbers"), ROWS)
def test_selections_are_those_of_repeated_costs(mechanism, costs, numbers):
    row, index = repeated(costs, numbers)
    rng = sn.SeededRng(5, allow_release=True)
    expected = index[mechanism.select(row, 2000, rng=rng.at(0))]
    assert np.array_equal(mechanism.select(costs, 2000, multiplicities=numbers, rng=rng.at(0)), expected)
    assert np.array_equal(mechanism.sample(costs, 3, multiplicities=numbers, rng=rng.at(0)), expected[:3])
    out = np.empty(2000, np.int64)[::2]
    assert mechanism.select(costs, out=out, multiplicities=numbers, rng=rng.at(0)) is out
    assert np.array_equal(out, expected[:1000])
    one = mechanism.select(costs, multiplicities=numbers, rng=rng.at(0))
    assert type(one) is int
    assert one == expected[0]


@every
@pytest.mark.parametrize(("costs", "numbers"), ROWS)
def test_probabilities_are_those_of_repeated_costs(mechanism, costs, numbers):
    row, index = repeated(costs, numbers)
    expected = np.bincount(index, mechanism.probabilities(row), len(costs))
    assert mechanism.probabilities(costs, multiplicities=numbers) == pytest.approx(expected, rel=1e-12)


@every
def test_rows_and_multiplicities_broadcast(mechanism):
    costs, numbers = np.array([[0, 2, 5], [3, 1, 1]]), np.array([[4, 1, 7], [1, 6, 0], [2, 2, 2]])
    rng = sn.SeededRng(6, allow_release=True)
    found = mechanism.select(costs[:, None], multiplicities=numbers, rng=rng.at(0))
    assert found.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            row, index = repeated(costs[i], numbers[j])
            assert found[i, j] == index[mechanism.select(row, rng=rng.at(3 * i + j))]


def test_very_many_candidates_of_no_use_weigh_as_much_as_a_good_one():
    mechanism, numbers = sn.ExponentialMechanism(2.0, 1), [1, 2**52]
    cost = 36  # e^-36 * 2^52 is about 1.04
    p = mechanism.probabilities([0, cost], multiplicities=numbers)
    found = mechanism.sample([0, cost], 10**5, multiplicities=numbers, rng=sn.SeededRng(7)).mean()
    # A false alarm at five standard deviations: 6e-7, for another seed.
    assert abs(found - p[1]) < 5 * np.sqrt(p[0] * p[1] / 10**5)
    assert 0.4 < p[1] < 0.6


@every
@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([1, 2], r"multiplicities must have a shape that broadcasts to that of the costs, \(3,\), got \(2,\)"),
        ([1, -2, 3], r"multiplicities must be from 0 to 2\*\*53 - 1, got one that is not at index \(1,\)"),
        ([1, 2**53, 3], r"multiplicities must be from 0 to 2\*\*53 - 1"),
        ([2**52, 2**52, 0], r"multiplicities must be below 2\*\*53 in all of a row"),
        ([0, 0, 0], "costs with multiplicities must have a finite one in every row"),
    ],
)
def test_refused(mechanism, numbers, message):
    with pytest.raises(sn.ParameterError, match=message):
        mechanism.select([1, 2, 3], multiplicities=numbers)


def test_refused_types():
    with pytest.raises(sn.ParameterTypeError, match="multiplicities must be integers, got"):
        sn.ExponentialMechanism(1).select([1, 2], multiplicities=[1.0, 2.0])
    with pytest.raises(sn.ParameterError, match="at most 1048576 in all of a row of PermuteAndFlip"):
        sn.PermuteAndFlip(1).select([1, 2], multiplicities=[2**20, 1])
