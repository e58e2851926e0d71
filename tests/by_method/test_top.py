"""Scores instead of costs, several candidates at once and infinite costs, for every selection mechanism.

Evidence: the definitions, by other calls of the interface; tests/exactness compares the interface with the oracle.
"""

import math
import re

import numpy as np
import pytest

import stairnoise as sn

MECHANISMS = [sn.StaircaseSelection, sn.ExponentialMechanism, sn.PermuteAndFlip]
every = pytest.mark.parametrize("make", MECHANISMS)


def seeded(seed=1):
    return sn.SeededRng(seed, allow_release=True)


def rows(*shape):
    return np.random.default_rng(7).uniform(0, 9, shape)


# Scores


@every
def test_scores_are_costs_with_the_other_sign(make):
    mechanism, costs = make(1.5, sensitivity=1), rows(40, 6)
    for scores in (-costs, (-costs).tolist(), np.asfortranarray(-costs)):
        assert np.array_equal(mechanism.select(scores=scores, rng=seeded()), mechanism.select(costs, rng=seeded()))
        assert np.array_equal(
            mechanism.sample(scores=scores, size=(2, 40), rng=seeded()), mechanism.sample(costs, (2, 40), rng=seeded())
        )
        assert np.array_equal(mechanism.top(scores=scores, k=3, rng=seeded()), mechanism.top(costs, 3, rng=seeded()))
        assert np.array_equal(mechanism.probabilities(scores=scores), mechanism.probabilities(costs))
        assert np.array_equal(mechanism.log_probabilities(scores=scores), mechanism.log_probabilities(costs))
        assert np.array_equal(mechanism.expected_cost(scores=scores), mechanism.expected_cost(costs))
    assert type(mechanism.select(scores=[0, -1])) is int


@every
def test_the_mean_score_is_that_of_the_definition(make):
    """Evidence: Σ p·s with probabilities from the definition in plain floats, by hand for two candidates."""
    # The two differ by one step, or one sensitivity.
    weight = math.exp(-0.75)
    worse = weight / 2 if make is sn.PermuteAndFlip else weight / (1 + weight)
    mechanism = make(1.5, sensitivity=1)
    found = mechanism.expected_cost(scores=[-1, -2])
    assert type(found) is float
    assert found == pytest.approx(1 + worse, rel=1e-14)
    many = mechanism.expected_cost(scores=[[-1, -2, -math.inf], [-4.0, -math.inf, -5.0]])
    assert many == pytest.approx([1 + worse, 4 + worse], rel=1e-14)
    # Scores of either sign, because only differences matter.
    if make is not sn.StaircaseSelection:
        assert mechanism.expected_cost(scores=[7, 6]) == pytest.approx(worse - 7, rel=1e-14)


@every
def test_scores_of_extreme_integers_are_exact(make):
    mechanism = make(1, 2.0**60)
    least = np.array([-(2**63), -(2**62), 0])
    assert mechanism.probabilities(scores=least) == pytest.approx(mechanism.probabilities([2.0**63, 2.0**62, 0.0]), rel=1e-15)
    with pytest.raises(sn.ParameterError, match=r"^scores must be exactly representable in float64, got a value of type int"):
        mechanism.select(scores=[0, -(2**53) - 1])


@every
def test_repeated_rows_of_scores_are_not_copied(make):
    """Rows that repeat by stride 0 are read once."""
    scores = np.broadcast_to([-1.0, math.nan], (2**50, 2))
    with pytest.raises(sn.ParameterError, match=r"scores must be finite or -inf.*, got one that is not at index \(0, 1\)$"):
        make(1, sensitivity=1).select(scores=scores)
    some = np.broadcast_to([-1.0, -2.0], (300, 2))
    assert np.array_equal(
        make(1, sensitivity=1).select(scores=some, rng=seeded()), make(1, sensitivity=1).select([1.0, 2.0], 300, rng=seeded())
    )


@every
def test_one_of_costs_and_scores_is_given(make):
    mechanism = make(1, sensitivity=1)
    functions = mechanism.probabilities, mechanism.log_probabilities, mechanism.expected_cost
    for method in (mechanism.select, mechanism.sample, *functions):
        with pytest.raises(sn.ParameterTypeError, match=r"costs must be .* or scores in their place, got neither"):
            method()
        with pytest.raises(sn.ParameterError, match="costs must be left out where scores are given, got both"):
            method([1, 2], scores=[1, 2])
    with pytest.raises(sn.ParameterTypeError, match="got neither"):
        mechanism.top(k=1)
    with pytest.raises(sn.ParameterError, match="got both"):
        mechanism.top([1, 2], 1, scores=[1, 2])


@every
def test_refused_scores_are_named_without_their_content(make):
    bad = [[-1.0, -2.0], [-3.0, math.inf]]
    for method in (
        make(1, sensitivity=1).select,
        make(1, sensitivity=1).expected_cost,
        lambda **given: make(1, sensitivity=1).top(k=1, **given),
    ):
        with pytest.raises(sn.ParameterError, match=r"^scores must be finite or -inf.*, got one that is not at index \(1, 1\)$"):
            method(scores=bad)
        with pytest.raises(sn.ParameterTypeError, match="scores must be a real number") as error:
            method(scores=["secret"])
        assert "secret" not in str(error.value)
    with pytest.raises(sn.ParameterError, match=r"scores must be finite or -inf, and at most 0"):
        sn.StaircaseSelection(1, sensitivity=1).select(scores=[0.0, 1.0])


# Infinite costs


@every
def test_candidates_of_infinite_cost_are_never_selected(make):
    mechanism, costs = make(0.01, sensitivity=1), np.array([math.inf, 3.0, math.inf, 1.0, math.inf])
    chances = mechanism.probabilities(costs)
    assert chances[[0, 2, 4]].tolist() == [0, 0, 0]
    assert chances[[1, 3]] == pytest.approx(mechanism.probabilities([3.0, 1.0]), rel=1e-15)
    assert mechanism.log_probabilities(costs)[0] == -math.inf
    assert mechanism.expected_cost(costs) == pytest.approx(mechanism.expected_cost([3.0, 1.0]), rel=1e-15)
    for drawn in (
        mechanism.sample(costs, 5000),
        mechanism.sample(np.tile(costs, (5000, 1))),
        mechanism.select(scores=-costs, size=50),
    ):
        assert set(drawn.tolist()) <= {1, 3}
    assert mechanism.select([math.inf, 2.0]) == 1
    assert set(np.unique(mechanism.top(costs, 2, 100)).tolist()) == {1, 3}


@every
def test_a_row_needs_as_many_finite_costs_as_candidates(make):
    mechanism, never = make(1, sensitivity=1), math.inf
    with pytest.raises(sn.ParameterError, match=r"^costs must have a finite one in every row, got a row with fewer$"):
        mechanism.select([never, never])
    for costs in ([[1.0, 2.0], [never, never]], np.broadcast_to(never, (2, 5))):
        with pytest.raises(
            sn.ParameterError, match=r"^costs must have a finite one in every row, got a row with fewer at index \([01],\)$"
        ):
            mechanism.probabilities(costs)
    with pytest.raises(
        sn.ParameterError, match=r"^scores must have at least k = 2 finite ones in every row, got a row with fewer at"
    ):
        mechanism.top(scores=[[-1, -2, -3.0], [-1, -math.inf, -math.inf]], k=2)
    assert mechanism.top(np.broadcast_to(1.0, (2, 5)), 5).shape == (2, 5)


# Several candidates


@every
def test_top_gives_different_candidates_of_every_row(make):
    costs = rows(3, 4, 9)
    chosen = make(2, sensitivity=1).top(costs, 5, rng=seeded())
    assert chosen.shape == (3, 4, 5)
    assert chosen.dtype == np.int64
    assert (np.diff(np.sort(chosen, axis=-1), axis=-1) > 0).all()
    assert np.array_equal(
        make(2, sensitivity=1).top(costs, 1, rng=seeded())[..., 0], make(2, sensitivity=1).select(costs, rng=seeded())
    )
    assert make(2, sensitivity=1).top(costs[0, 0], 9).shape == (9,)
    assert make(2, sensitivity=1).top(np.empty((0, 3)), 2).shape == (0, 2)
    assert make(2, sensitivity=1).top(costs, 2, (0, 3, 4)).shape == (0, 3, 4, 2)


@every
def test_the_best_come_first_where_eps_is_large(make):
    costs = np.random.default_rng(2).permuted(np.tile(np.arange(10.0), (20, 1)), axis=1)
    assert np.array_equal(make(4000, sensitivity=1).top(costs, 4), np.argsort(costs, axis=1)[:, :4])


@every
def test_rows_broadcast_and_every_part_is_the_same(make):
    mechanism, costs = make(1, sensitivity=1), rows(5, 40)
    for shape, given in (((7, 5), costs), ((5, 6), costs[:, None, :]), ((300,), costs[0])):
        spread = np.ascontiguousarray(np.broadcast_to(given, (*shape, 40)))
        chosen = mechanism.top(given, 3, shape, rng=seeded(), threads=1)
        assert chosen.shape == (*shape, 3)
        assert np.array_equal(chosen, mechanism.top(spread, 3, rng=seeded(), threads=3))
    with pytest.raises(sn.ParameterError, match="size must be a shape that the parameters"):
        mechanism.top(costs, 3, 4)


@every
def test_threads_and_layouts_of_out_do_not_matter(make):
    """Outputs are long enough for several pieces. An array in Fortran order is written in parts that begin anywhere in rows."""
    mechanism, costs = make(1, sensitivity=1), rows(6000, 12)
    whole = mechanism.top(costs, 7, rng=seeded(), threads=1)
    assert np.array_equal(whole, mechanism.top(costs, 7, rng=seeded(), threads=4))
    room = np.full((6000, 9), -1)
    for out in (np.empty((7, 6000), np.int64).T, room[:, 1:8], room[::-1, 1:8]):
        assert mechanism.top(costs, 7, rng=seeded(), out=out) is out
        assert np.array_equal(out, whole)
    assert (room[:, [0, 8]] == -1).all()
    assert np.array_equal(whole[100:], mechanism.top(costs[100:], 7, rng=seeded().at(700)))


@every
def test_bad_arguments_of_top_draw_nothing(make):
    mechanism, rng, costs = make(1, sensitivity=1), seeded(), rows(4, 5)
    out = np.full((4, 2), -7)
    for k in (0, 6, -1):
        with pytest.raises(sn.ParameterError, match=rf"^k must be an integer from 1 to 5, got {k}$"):
            mechanism.top(costs, k, rng=rng)
    for k in (None, 2.0, "2", True):
        with pytest.raises(sn.ParameterTypeError, match=rf"^k must be an integer, got {re.escape(repr(k))}$"):
            mechanism.top(costs, k, rng=rng)
    with pytest.raises(sn.ParameterError, match="out must"):
        mechanism.top(costs, 3, rng=rng, out=out)
    with pytest.raises(
        sn.ParameterError, match=r"out must have 1 places along the last axis, one for each candidate, got \(4, 2\)"
    ):
        mechanism.top(costs, 1, rng=rng, out=out)
    with pytest.raises(sn.ParameterError, match="out must have dtype int64"):
        mechanism.top(costs, 2, rng=rng, out=out.astype(float))
    with pytest.raises(sn.ParameterError, match="rng must be a SecureRng for a release"):
        mechanism.top(costs, 2, rng=sn.SeededRng(1))
    assert (out == -7).all()
    assert rng._stream.fill_count == 0
    assert np.array_equal(mechanism.top(costs, 2, rng=rng), mechanism.top(costs, 2, rng=seeded()))


@every
def test_costs_in_the_memory_of_out(make):
    costs = np.ascontiguousarray(rows(30, 4))
    expected = make(1, sensitivity=1).top(costs, 4, rng=seeded())
    make(1, sensitivity=1).top(costs, 4, rng=seeded(), out=costs.view(np.int64))
    assert np.array_equal(costs.view(np.int64), expected)
