"""A mechanism is a value: its text, equality, hash, copies, and that nothing changes it. Evidence: equality."""

import copy
import pickle

import numpy as np
import pytest
from numpy import array

import stairnoise as sn
from tests.examples import each_law_and_array

NAMES = {"array": array, **{name: getattr(sn, name) for name in sn.__all__}}
# Arguments that are written in ways of their own, beside the examples of the registry.
ARRAYS = [
    sn.Staircase([0.1, 1 / 3], [[1.0], [1e-300]]),
    sn.Staircase(1, 1, [0.1, 0.2]),
    sn.Staircase(np.empty((0, 3))),
    sn.Staircase(np.linspace(0.1, 4, 2000)),
    sn.DiscreteStaircase([2, 0.1], 100, [[7], [8]]),
    sn.Laplace([1, 2]),
    sn.DiscreteLaplace(0.1, [1, 10**6]),
]
TRAVELS = [copy.copy, copy.deepcopy, lambda law: pickle.loads(pickle.dumps(law))]


def check_text(law):
    assert eval(repr(law), NAMES) == law


def check_twin(law):
    for travel in TRAVELS:
        twin = travel(law)
        assert twin == law
        assert hash(twin) == hash(law)
        assert len({twin, law}) == 1


@each_law_and_array
def test_repr_evaluates_back(law):
    check_text(law)


@pytest.mark.parametrize("law", ARRAYS, ids=lambda law: repr(law)[:40])
def test_arrays_are_values(law):
    check_text(law)
    check_twin(law)


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (sn.Staircase(4), "Staircase(eps=4.0, gamma='l1')"),
        (sn.Staircase(4, 3, 0.5), "Staircase(eps=4.0, sensitivity=3.0, gamma=0.5)"),
        (sn.DiscreteStaircase(3.0, 3.0, 3.0), "DiscreteStaircase(eps=3.0, sensitivity=3, r=3)"),
        (sn.Laplace([0.1, 1]), "Laplace(eps=array([0.1, 1.0]))"),
        (sn.DiscreteLaplace(1, [1, 2]), "DiscreteLaplace(eps=1.0, sensitivity=array([1, 2]))"),
    ],
)
def test_repr(law, text):
    assert repr(law) == text


@each_law_and_array
def test_copies_are_equal_and_draw_the_same(law):
    check_twin(law)
    for travel in TRAVELS:
        drawn = [np.asarray(one.sample(rng=sn.SeededRng(1))) for one in (law, travel(law))]
        assert np.array_equal(*drawn)


def test_different_laws_differ():
    assert len(set(ARRAYS)) == len(ARRAYS)
    assert sn.Laplace(1) != sn.DiscreteLaplace(1)
    assert sn.Laplace(1) != "Laplace(eps=1.0, sensitivity=1.0)"
    assert sn.Laplace([1, 1]) != sn.Laplace([[1, 1]])
    assert sn.Staircase(1) != sn.Staircase(1, gamma="l2")


@each_law_and_array
def test_immutable(law):
    for name in ("eps", "sensitivity", "granularity", "gamma", "r", "n_parties", "dim", "_eps", "colour"):
        text = f"{type(law).__name__} is immutable: make a new one to set {name}"
        with pytest.raises(AttributeError, match=text):
            setattr(law, name, 1.0)
    with pytest.raises(AttributeError, match="is immutable: _eps cannot be deleted"):
        del law._eps
    assert not hasattr(law, "__dict__")


@each_law_and_array
def test_array_attributes_are_read_only(law):
    for name in ("eps", "sensitivity", "granularity"):
        value = getattr(law, name, None)
        assert not isinstance(value, np.ndarray) or not value.flags.writeable


NUMBERS = ("mean", "median", "var", "std", "entropy", "support")


@each_law_and_array
def test_numbers_that_are_kept_are_those_that_were_computed(law):
    """Asked twice, in this order and in the other one, a law says the same, and so does its twin."""
    twin = copy.copy(law)
    names = [name for name in NUMBERS if hasattr(law, name)]
    first = {name: getattr(law, name)() for name in names}
    for name in reversed(names):
        assert np.array_equal(getattr(law, name)(), first[name])
        assert np.array_equal(getattr(twin, name)(), first[name])


def test_arrays_are_not_kept_but_computed_anew():
    law = sn.Laplace([1.0, 2.0])
    for name in ("mean", "median", "var", "std", "entropy"):
        found = getattr(law, name)()
        expected = found.copy()
        found[:] = 7
        assert np.array_equal(getattr(law, name)(), expected)
    vector = sn.MultivariateStaircase(2.0, dim=3, gamma=0.5)
    vector.mean()[:] = 7
    assert np.array_equal(vector.mean(), np.zeros(3))
