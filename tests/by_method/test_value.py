"""A mechanism is an immutable value with text, equality, hash and copies. Evidence: equality."""

import copy
import pickle

import numpy as np
import pytest
from numpy import array

import stairnoise as sn
from tests.examples import each_mechanism_and_array

NAMES = {"array": array, **{name: getattr(sn, name) for name in sn.__all__}}
# Arguments with special texts, in addition to the registry's examples.
ARRAYS = [
    sn.Staircase([0.1, 1 / 3], [[1.0], [1e-300]]),
    sn.Staircase(1, 1, [0.1, 0.2]),
    sn.Staircase(np.empty((0, 3))),
    sn.Staircase(np.linspace(0.1, 4, 2000)),
    sn.DiscreteStaircase([2, 0.1], 100, [[7], [8]]),
    sn.Laplace([1, 2]),
    sn.DiscreteLaplace(0.1, [1, 10**6]),
]
TRAVELS = [copy.copy, copy.deepcopy, lambda mechanism: pickle.loads(pickle.dumps(mechanism))]


def check_text(mechanism):
    assert eval(repr(mechanism), NAMES) == mechanism


def check_twin(mechanism):
    for travel in TRAVELS:
        twin = travel(mechanism)
        assert twin == mechanism
        assert hash(twin) == hash(mechanism)
        assert len({twin, mechanism}) == 1


@each_mechanism_and_array
def test_repr_evaluates_back(mechanism):
    check_text(mechanism)


@pytest.mark.parametrize("mechanism", ARRAYS, ids=lambda mechanism: repr(mechanism)[:40])
def test_arrays_are_values(mechanism):
    check_text(mechanism)
    check_twin(mechanism)


@pytest.mark.parametrize(
    ("mechanism", "text"),
    [
        (sn.Staircase(4), "Staircase(eps=4.0, gamma='l1')"),
        (sn.Staircase(4, 3, 0.5), "Staircase(eps=4.0, sensitivity=3.0, gamma=0.5)"),
        (sn.DiscreteStaircase(3.0, 3.0, 3.0), "DiscreteStaircase(eps=3.0, sensitivity=3, r=3)"),
        (sn.Laplace([0.1, 1]), "Laplace(eps=array([0.1, 1.0]))"),
        (sn.DiscreteLaplace(1, [1, 2]), "DiscreteLaplace(eps=1.0, sensitivity=array([1, 2]))"),
    ],
)
def test_repr(mechanism, text):
    assert repr(mechanism) == text


@each_mechanism_and_array
def test_copies_are_equal_and_draw_the_same(mechanism):
    check_twin(mechanism)
    for travel in TRAVELS:
        drawn = [np.asarray(one.sample(rng=sn.SeededRng(1))) for one in (mechanism, travel(mechanism))]
        assert np.array_equal(*drawn)


def test_different_mechanisms_differ():
    assert len(set(ARRAYS)) == len(ARRAYS)
    assert sn.Laplace(1) != sn.DiscreteLaplace(1)
    assert sn.Laplace(1) != "Laplace(eps=1.0, sensitivity=1.0)"
    assert sn.Laplace([1, 1]) != sn.Laplace([[1, 1]])
    assert sn.Staircase(1) != sn.Staircase(1, gamma="l2")


@each_mechanism_and_array
def test_immutable(mechanism):
    for name in ("eps", "sensitivity", "granularity", "gamma", "r", "n_parties", "dim", "_eps", "colour"):
        text = f"{type(mechanism).__name__} is immutable: make a new one to set {name}"
        with pytest.raises(AttributeError, match=text):
            setattr(mechanism, name, 1.0)
    with pytest.raises(AttributeError, match="is immutable: _eps cannot be deleted"):
        del mechanism._eps
    assert not hasattr(mechanism, "__dict__")


@each_mechanism_and_array
def test_array_attributes_are_read_only(mechanism):
    for name in ("eps", "sensitivity", "granularity"):
        value = getattr(mechanism, name, None)
        assert not isinstance(value, np.ndarray) or not value.flags.writeable


NUMBERS = ("mean", "median", "var", "std", "entropy", "support")


@each_mechanism_and_array
def test_numbers_that_are_kept_are_those_that_were_computed(mechanism):
    """A mechanism and its twin answer the same when asked twice, in either order."""
    twin = copy.copy(mechanism)
    names = [name for name in NUMBERS if hasattr(mechanism, name)]
    first = {name: getattr(mechanism, name)() for name in names}
    for name in reversed(names):
        assert np.array_equal(getattr(mechanism, name)(), first[name])
        assert np.array_equal(getattr(twin, name)(), first[name])


def test_arrays_are_not_kept_but_computed_anew():
    mechanism = sn.Laplace([1.0, 2.0])
    for name in ("mean", "median", "var", "std", "entropy"):
        found = getattr(mechanism, name)()
        expected = found.copy()
        found[:] = 7
        assert np.array_equal(getattr(mechanism, name)(), expected)
    vector = sn.MultivariateStaircase(2.0, dim=3, gamma=0.5)
    vector.mean()[:] = 7
    assert np.array_equal(vector.mean(), np.zeros(3))
