"""The four law objects: attributes, identity, text, immutability, pickling."""

import copy
import pickle

import numpy as np
import pytest
from numpy import array

import stairnoise as sn

LAWS = [
    sn.Staircase(4),
    sn.Staircase(0.1, 2.5, "l2"),
    sn.Staircase(1 / 3, 0.1, 0.25),
    sn.Staircase([0.1, 1 / 3], [[1.0], [1e-300]]),
    sn.Staircase(1, 1, [0.1, 0.2]),
    sn.Staircase(np.empty((0, 3))),
    sn.Staircase(np.linspace(0.1, 4, 2000)),
    sn.DiscreteStaircase(4),
    sn.DiscreteStaircase(2, 100, "l2"),
    sn.DiscreteStaircase(2, 100, 7),
    sn.DiscreteStaircase([2, 0.1], 100, [[7], [8]]),
    sn.Laplace(1e-3, 1e100),
    sn.Laplace([1, 2]),
    sn.DiscreteLaplace(1),
    sn.DiscreteLaplace(0.1, [1, 10**6]),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_repr_evaluates_back(law):
    assert eval(repr(law), {"array": array, **vars(sn)}) == law


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (sn.Staircase(4), "Staircase(eps=4.0, sensitivity=1.0, gamma='l1')"),
        (sn.Staircase(4, 3, 0.5), "Staircase(eps=4.0, sensitivity=3.0, gamma=0.5)"),
        (
            sn.DiscreteStaircase(3.0, 3.0, 3.0),
            "DiscreteStaircase(eps=3.0, sensitivity=3, r=3)",
        ),
        (sn.Laplace([0.1, 1]), "Laplace(eps=array([0.1, 1.0]), sensitivity=1.0)"),
        (
            sn.DiscreteLaplace(1, [1, 2]),
            "DiscreteLaplace(eps=1.0, sensitivity=array([1, 2]))",
        ),
    ],
)
def test_repr(law, text):
    assert repr(law) == text


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_equal_laws_hash_alike(law):
    twin = type(law)(*law._arguments())
    assert twin == law
    assert hash(twin) == hash(law)
    assert len({twin, law}) == 1


def test_different_laws_differ():
    assert len(set(LAWS)) == len(LAWS)
    assert sn.Laplace(1) != sn.DiscreteLaplace(1)
    assert sn.Laplace(1) != "Laplace(eps=1.0, sensitivity=1.0)"
    assert sn.Laplace([1, 1]) != sn.Laplace([[1, 1]])
    assert sn.Staircase(1) != sn.Staircase(1, gamma="l2")


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, lambda law: pickle.loads(pickle.dumps(law))])
def test_laws_travel(law, travel):
    twin = travel(law)
    assert twin == law
    if 0 not in law._parameter_shape:
        drawn = [np.asarray(one.sample(rng=sn.SeededRng(1))) for one in (law, twin)]
        assert np.array_equal(*drawn)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_immutable(law):
    for name in ("eps", "sensitivity", "granularity", "gamma", "r", "_eps", "colour"):
        text = f"{type(law).__name__} is immutable: make a new one to set {name}"
        with pytest.raises(AttributeError, match=text):
            setattr(law, name, 1.0)
    with pytest.raises(AttributeError, match="is immutable: _eps cannot be deleted"):
        del law._eps
    assert not hasattr(law, "__dict__")


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_array_attributes_are_read_only(law):
    for name in ("eps", "sensitivity", "granularity"):
        value = getattr(law, name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable


def test_scalar_attributes_are_python_numbers():
    d = sn.Staircase(np.float32(4), np.int64(2), np.float64(0.25))
    assert (d.eps, d.sensitivity, d.gamma, d.granularity) == (4.0, 2.0, 0.25, 2.0**-34)
    assert {type(x) for x in (d.eps, d.sensitivity, d.gamma, d.granularity)} == {float}
    i = sn.DiscreteStaircase(4, 100.0)
    assert (i.eps, i.sensitivity, i.r, i.granularity) == (4.0, 100, 12, 1)
    assert [type(x) for x in (i.eps, i.sensitivity, i.r, i.granularity)] == [float, int, int, int]
    assert type(sn.DiscreteStaircase(4, 100, 3.0).r) is int


def test_array_attributes():
    d = sn.Staircase([1, 8], [[1], [2], [3]])
    assert d.eps.shape == (2,)
    assert d.sensitivity.shape == (3, 1)
    assert d.gamma.shape == (2,)
    assert d.granularity.shape == (3, 2)
    exponents = np.log2(d.granularity)
    assert exponents.tolist() == [[-32, -38], [-31, -37], [-31, -37]]
    i = sn.DiscreteStaircase([1, 8], [[5], [100]])
    assert i.sensitivity.dtype == np.int64
    assert i.r.tolist() == [[2, 1], [38, 2]]
    assert i.granularity == 1
    assert sn.DiscreteStaircase(1, 5, [1, 2]).r.tolist() == [1, 2]


@pytest.mark.parametrize("law", [sn.Staircase, sn.DiscreteStaircase])
def test_unknown_cost(law):
    name = "gamma" if law is sn.Staircase else "r"
    with pytest.raises(sn.ParameterError) as caught:
        law(1, 1, "l3")
    assert str(caught.value) == f'{name} must be "l1", "l2" or a number, got \'l3\''


def test_laplace_laws_take_no_shape():
    with pytest.raises(TypeError, match="gamma"):
        sn.Laplace(1, gamma=0.5)
