"""What docs/guarantees.md states about several values, checked by sums over the outcomes of small lattices. The sums use formulas
of the contract and none of the library's accounting."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import stairnoise as sn

REACH = 60


def laplace(eps: float, sensitivity: int) -> NDArray[np.float64]:
    """Return two-sided geometric probabilities of -REACH ... REACH."""
    weights = np.exp(-eps / sensitivity * np.abs(np.arange(-REACH, REACH + 1)))
    return weights * math.tanh(eps / sensitivity / 2)


def truncated(eps: float, sensitivity: int, end: int) -> NDArray[np.float64]:
    """Return the same probabilities between -end and end, and 0 elsewhere."""
    inside = laplace(eps, sensitivity) * (np.abs(np.arange(-REACH, REACH + 1)) <= end)
    return inside / inside.sum()


def moved(mechanism: NDArray[np.float64], shift: int) -> NDArray[np.float64]:
    return np.roll(mechanism, shift)


def joint(*mechanisms: NDArray[np.float64]) -> NDArray[np.float64]:
    whole = np.ones(())
    for mechanism in mechanisms:
        whole = np.multiply.outer(whole, mechanism)
    return whole


def hockey_stick(p: NDArray[np.float64], q: NDArray[np.float64], eps: float) -> float:
    return float(np.maximum(p - math.exp(eps) * q, 0).sum())


def largest_loss(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    inside = (slice(10, -10),) * p.ndim  # np.roll wraps around the ends
    return float(np.abs(np.log(p[inside]) - np.log(q[inside])).max())


def test_a_replaced_person_moves_two_cells_and_costs_twice() -> None:
    for k, cost in ((1, 2.0), (2, 1.0)):
        cell = laplace(sn.DiscreteLaplace(1.0).eps / k, 1)
        assert largest_loss(joint(cell, cell), joint(moved(cell, 1), moved(cell, -1))) == pytest.approx(cost)


def test_k_values_with_a_delta_cost_k_of_it_as_well() -> None:
    eps, sensitivity, end = 1.0, 2, 14
    one = truncated(eps, sensitivity, end)
    delta = hockey_stick(one, moved(one, sensitivity), eps)
    both = hockey_stick(joint(one, one), joint(moved(one, sensitivity), moved(one, sensitivity)), 2 * eps)
    assert delta < both <= 2 * delta


def test_values_with_an_eps_of_their_own_cost_the_sum_of_their_shares() -> None:
    eps = np.array([0.5, 1.0, 3.0])
    for touched in ((0, 1), (0, 2), (1, 2)):
        parts = [laplace(eps[i] / 2, 1) for i in touched]
        loss = largest_loss(joint(*parts), joint(*(moved(part, 1) for part in parts)))
        assert loss == pytest.approx(eps[list(touched)].sum() / 2)
        assert loss <= eps.max()


def test_one_value_under_many_eps_costs_their_sum() -> None:
    eps = (0.25, 1.0, 0.5)
    parts = [laplace(number, 1) for number in eps]
    assert largest_loss(joint(*parts), joint(*(moved(part, 1) for part in parts))) == pytest.approx(sum(eps))
    assert sn.DiscreteLaplace(list(eps)).release(7).shape == (3,)


def test_an_l2_bound_does_not_survive_rounding() -> None:
    before, after = np.full(100, 0.45), np.full(100, 0.55)
    assert np.linalg.norm(after - before) == pytest.approx(1)
    rounded = np.floor(after + 0.5) - np.floor(before + 0.5)
    assert np.linalg.norm(rounded) == 10
