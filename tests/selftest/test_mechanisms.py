"""The self-test's checks of the mechanisms: each fails when the mechanism is a little wrong.

Draws are seeded, so that outcomes are the same in every run.
"""

import math
import re

import numpy as np
import pytest

import stairnoise as sn
from stairnoise._selftest import mechanisms as mechanisms
from tests.selftest.outcomes import failed, failures


def mutated(mechanism, factor):
    """The mechanism with another privacy parameter, variance, scale, or shape of its weights."""
    given = dict(mechanism._named_arguments())
    if "weights" in given:
        return type(mechanism)(**given | {"weights": [weight**factor for weight in given["weights"]]})
    name = next(name for name in ("eps", "sigma2", "mu", "a", "theta") if name in given)
    value = given[name]
    given[name] = tuple(factor * x for x in value) if isinstance(value, tuple) else factor * value
    return type(mechanism)(**given)


def identify(value):
    return mechanisms.short(value) if hasattr(value, "_named_arguments") else None


LARGE = [mechanism for mechanism in mechanisms.mechanisms() if getattr(mechanism, "n_parties", 1) == 1]


@pytest.mark.parametrize("mechanism", LARGE, ids=identify)
def test_two_percent_are_found(mechanism):
    for factor in (0.98, 1.02):
        wrong = mutated(mechanism, factor)
        assert failed(
            mechanisms._check(mechanism, lambda rng, wrong=wrong: wrong.sample(mechanisms.VALUES, rng=rng), sn.SeededRng(1))
        )


def test_central_intervals_find_what_half_lines_do_not():
    """A scale changes P(|X| <= x) by twice what it changes P(X <= x)."""
    mechanism, wrong = sn.Laplace(1.0), sn.Laplace(1.012)
    outcome = mechanisms._check(mechanism, lambda rng: wrong.sample(mechanisms.VALUES, rng=rng), sn.SeededRng(1))
    assert failed(outcome)
    assert re.match(r"-\S+ < X <= ", outcome.detail)


@pytest.mark.parametrize("mechanism", [*mechanisms.mechanisms(), *mechanisms.vectors()], ids=identify)
def test_five_percent_are_found(mechanism):
    wrong = mutated(mechanism, 1.05)
    if hasattr(mechanism, "dim"):
        outcome = mechanisms._check_vectors(mechanism, lambda _, rng: mechanisms._sampled_vectors(wrong, rng), sn.SeededRng(1))
    else:
        outcome = mechanisms._check(mechanism, lambda rng: wrong.sample(mechanisms.VALUES, rng=rng), sn.SeededRng(1))
    assert failed(outcome)
    assert "expected" in outcome.detail


@pytest.mark.parametrize("choice", mechanisms.choices(), ids=lambda choice: identify(choice.mechanism))
def test_five_percent_are_found_in_choices(choice):
    wrong = mutated(choice.mechanism, 1.05)
    selected = wrong.sample(choice.costs, mechanisms._SELECTIONS, rng=sn.SeededRng(1))
    assert failed(mechanisms._compare_selected(selected, choice.mechanism.probabilities(choice.costs), selected.size))


def expect_failure(monkeypatch, cls, mutant, *, name="values", but=()):
    """Every check of that name of the class fails with the mutant in place of `sample`, and no other check."""
    monkeypatch.setattr(mechanisms, "VALUES", 2**17)
    monkeypatch.setattr(mechanisms, "_VECTOR_VALUES", 2**17)
    monkeypatch.setattr(cls, "sample", mutant)
    found = failures(
        {
            check.name: check.run()
            for check in mechanisms.planned(sn.SeededRng(1, allow_release=True))
            if cls.__name__ in check.name
        }
    )
    assert any(check.endswith(name) for check in found)
    return found


def test_floating_point_laplace_is_found(monkeypatch):
    """Its mechanism is right and its values are not on the lattice, which is where attacks on floating point begin."""

    def textbook(self, size=None, *, rng=None, **_):
        u = np.random.default_rng(1).random(size) - 0.5
        return -np.sign(u) * np.log1p(-2 * np.abs(u)) * (self.sensitivity / self.eps)

    found = expect_failure(monkeypatch, sn.Laplace, textbook)
    assert "Laplace(eps=1, sensitivity=1): values" in found
    assert "Laplace(eps=1, sensitivity=1): releases" not in found


def test_laplace_on_the_lattice_with_a_wrong_scale_is_found(monkeypatch):
    def wrong(self, size=None, *, rng=None, **_):
        scale = 1.05 * self.sensitivity / self.eps
        return np.rint(np.random.default_rng(1).laplace(0, scale, size) / self.granularity) * self.granularity

    assert "Laplace(eps=1, sensitivity=1): values" in expect_failure(monkeypatch, sn.Laplace, wrong)


def test_exchanged_parameters_are_found():
    mechanism = sn.DiscreteStaircase(0.3, 100, 30)
    swapped = sn.DiscreteStaircase(0.3, 100, 70)
    assert failed(mechanisms._check(mechanism, lambda rng: swapped.sample(mechanisms.VALUES, rng=rng), sn.SeededRng(1)))
    mechanism, swapped = sn.Arete(0.5, 1.0, 0.25), sn.Arete(0.5, 0.25, 1.0)
    assert failed(mechanisms._check(mechanism, lambda rng: swapped.sample(mechanisms.VALUES, rng=rng), sn.SeededRng(1)))


def neighbours_alike(values):
    """One value in a hundred repeats the one before."""
    again = np.arange(values.size) % 100 == 99
    return np.where(again, np.roll(values, 1), values)


def second_half_repeats(values):
    half = len(values) // 2
    return np.concatenate([values[:half], values[:half]])


@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        (neighbours_alike, "of the values 2i"),
        (second_half_repeats, "of the values i and i"),
        (abs, "X"),
        (lambda values: np.where(np.abs(values) > 9, 0, values), "X"),
        (lambda values: np.where(values == values.max(), np.nan, values), "no multiple"),
        (lambda values: values / 3, "no multiple"),
        (lambda values: -(values + 1), "X"),
    ],
)
def test_what_else_may_be_wrong_with_values(wrong, finding):
    mechanism = sn.DiscreteLaplace(1.0)
    outcome = mechanisms._check(mechanism, lambda rng: wrong(mechanism.sample(mechanisms.VALUES, rng=rng)), sn.SeededRng(1))
    assert failed(outcome)
    assert finding in outcome.detail


def test_one_value_beyond_the_bounds_is_found():
    mechanism = sn.TruncatedLaplace(1.0, 1e-6)

    def draw(rng):
        values = mechanism.sample(mechanisms.VALUES, rng=rng)
        values[5] = mechanism.upper + 1
        return values

    assert "outside" in mechanisms._check(mechanism, draw, sn.SeededRng(1)).detail


def test_a_release_without_its_partitions_is_found():
    mechanism, partitions, noise = mechanisms.divided()[0]
    assert not failed(
        mechanisms._check(
            noise, lambda rng: mechanisms._released(mechanism, partitions, rng), sn.SeededRng(1, allow_release=True)
        )
    )
    assert failed(
        mechanisms._check(noise, lambda rng: mechanisms._released(mechanism, 1, rng), sn.SeededRng(1, allow_release=True))
    )


def test_missing_shares_are_found():
    mechanism = sn.GeneralizedDiscreteLaplace(1.5, 0.4)
    four = mechanism.share(5, 4)
    assert failed(mechanisms._check(mechanism, lambda rng: four.sample(mechanisms.VALUES, rng=rng), sn.SeededRng(1)))


def test_an_element_with_another_parameter_is_found():
    mechanism, elements = mechanisms.arrays()[0]
    assert not failed(mechanisms._check_array(mechanism, elements, sn.SeededRng(1)))
    outcome = mechanisms._check_array(mechanism, (*elements[:2], sn.Staircase(1.5)), sn.SeededRng(1))
    assert (outcome.statistic, outcome.detail) == (1, repr(sn.Staircase(1.5)))


def first_axis_larger(vectors):
    """The same norms in two dimensions, but another direction."""
    return np.abs(np.sort(np.abs(vectors), axis=1)[:, ::-1]) * np.sign(vectors)


@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        (first_axis_larger, "share of the norm"),
        (lambda v: v * [1, -1] * np.sign(v[:, :1]), "orthant"),
        (lambda v: np.where(np.abs(v).sum(axis=1, keepdims=True) < 2, v, v[::-1]), "norm"),
        (second_half_repeats, "norm of the values i and i"),
        (lambda v: np.where(np.arange(len(v))[:, None] % 9 == 1, np.roll(v, 1, axis=0), v), "norm of the values 2i"),
        (lambda v: v / 3, "no multiple"),
    ],
)
def test_what_may_be_wrong_with_vectors(wrong, finding):
    mechanism = mechanisms.vectors()[0]
    outcome = mechanisms._check_vectors(
        mechanism, lambda mechanism, rng: wrong(mechanisms._sampled_vectors(mechanism, rng)), sn.SeededRng(1)
    )
    assert failed(outcome)
    assert finding in outcome.detail


def large_norms_in_the_first_axis(vectors):
    """The same norms and the same shares of them, but the larger the norm, the larger the share; in places drawn by lot."""
    norm = np.abs(vectors).sum(axis=1)
    share = np.sort(np.abs(vectors[:, 0]) / norm)[np.argsort(np.argsort(norm))]
    step = mechanisms.vectors()[0].granularity
    first = np.rint(share * norm / step) * step
    return np.copysign(np.stack([first, norm - first], axis=1), vectors)


def test_directions_that_depend_on_the_norm_are_found():
    def draw(mechanism, rng):
        return large_norms_in_the_first_axis(mechanisms._sampled_vectors(mechanism, rng))

    outcome = mechanisms._check_vectors(mechanisms.vectors()[0], draw, sn.SeededRng(1))
    assert failed(outcome)
    assert re.match("(small|large) norm, (small|large) share", outcome.detail)


def test_another_norm_is_found():
    """All norms have the same distribution of ‖X‖, so that this takes the directions."""
    for one in mechanisms.vectors():
        others = {"l1", "l2", "linf"} - {one.norm}
        for norm in others:
            other = sn.MultivariateStaircase(one.eps, one.sensitivity, one.dim, norm=norm)
            assert failed(
                mechanisms._check_vectors(
                    one, lambda _, rng, other=other: mechanisms._sampled_vectors(other, rng), sn.SeededRng(1)
                )
            )


def test_rows_that_take_their_neighbours_costs_are_found(monkeypatch):
    right = sn.ExponentialMechanism.select

    def shifted(self, costs, size=None, **options):
        return right(self, np.roll(costs, 1, axis=0) if np.ndim(costs) > 1 else costs, size, **options)

    mechanism, costs = mechanisms.choices()[3]
    assert not failed(mechanisms._check_rows(mechanism, costs, sn.SeededRng(1, allow_release=True)))
    monkeypatch.setattr(sn.ExponentialMechanism, "select", shifted)
    assert failed(mechanisms._check_rows(mechanism, costs, sn.SeededRng(1, allow_release=True)))


def test_an_index_of_no_candidate_is_found():
    outcome = mechanisms._compare_selected(np.array([0, 1, 2, 1] * 10), np.array([0.5, 0.5]), 40)
    assert math.isinf(outcome.statistic)
    assert outcome.detail == "no candidate: 10 times"
