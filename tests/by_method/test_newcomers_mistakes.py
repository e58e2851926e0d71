"""Errors about a newcomer's first mistakes name the parameter, the rule, and the intended name.

Each text must be part of the error message.
"""

import copy

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped

VALUE, TYPE = sn.ParameterError, sn.ParameterTypeError

LAPLACE = sn.Laplace(eps=1, sensitivity=1)
INTEGERS = sn.DiscreteLaplace(eps=1, sensitivity=1)
LOSS = LAPLACE.privacy_loss()

NAMES_OF_THE_PACKAGE = [
    ("laplace", "did you mean 'Laplace'?"),
    ("gaussian", "did you mean 'Gaussian'?"),
    ("staircase", "did you mean 'Staircase'?"),
    ("Laplce", "did you mean 'Laplace'?"),
    ("LaplaceMechanism", "did you mean 'Laplace'?"),
    ("Discrete_Laplace", "did you mean 'DiscreteLaplace'?"),
    ("DiscreteStairCase", "did you mean 'DiscreteStaircase'?"),
    ("discrete_gaussian", "did you mean 'DiscreteGaussian'?"),
    ("seed", "did you mean 'SeededRng'?"),
    ("exponential", "did you mean 'ExponentialMechanism'?"),
    ("smaple", "did you mean 'sample'?"),
    ("optimal_gama", "did you mean 'optimal_gamma'?"),
    ("ParamError", "did you mean 'ParameterError'?"),
    ("release", "it is a method of the mechanisms, as in Staircase(eps=1).release"),
    ("privacy_loss", "it is a method of the mechanisms, as in Staircase(eps=1).privacy_loss"),
    ("error_bound", "it is a method of the mechanisms, as in Staircase(eps=1).error_bound"),
]

OF_SAMPLE = [
    ({}, TYPE, "eps must be given for the mechanism 'staircase'"),
    ({"eps": 0}, VALUE, "eps must be finite and greater than 0"),
    ({"eps": -1}, VALUE, "eps must be finite and greater than 0"),
    ({"eps": "1"}, TYPE, "eps must be a real number or an array of real numbers, got '1'"),
    ({"epsilon": 1}, TypeError, "'epsilon'; did you mean 'eps'?"),
    ({"eps": 1, "senstivity": 3}, TypeError, "'senstivity'; did you mean 'sensitivity'?"),
    ({"eps": 1, "Sensitivity": 3}, TypeError, "'Sensitivity'; did you mean 'sensitivity'?"),
    ({"eps": 1, "mechansim": "laplace"}, TypeError, "'mechansim'; did you mean 'mechanism'?"),
    ({"eps": 1, "gama": 0.5}, TypeError, "'gama'; did you mean 'gamma'?"),
    ({"eps": 1, "d_type": float}, TypeError, "'d_type'; did you mean 'dtype'?"),
    ({"eps": 1, "scale": 3}, VALUE, "scale must be left out for the mechanism 'staircase', got 3; it is for laplace"),
    ({"eps": 1, "seed": 42}, TypeError, "pass rng=SeededRng(42)"),
    ({"eps": 1, "random_state": 42}, TypeError, "pass rng=SeededRng(42)"),
    ({"eps": 1, "rng": 42}, TYPE, "pass SeededRng(42) to sample, and SeededRng(42, allow_release=True) to a release in a test"),
    ({"eps": 1, "rng": "42"}, TYPE, "rng must be a SecureRng, a SeededRng or None"),
    ({"eps": 1, "rng": np.random.default_rng(1)}, TYPE, "NumPy's generators and plain seeds are not accepted"),
    ({"eps": 1, "rng": sn.SeededRng}, TYPE, "call the class to make a generator"),
    ({"eps": 1, "mechanism": "Laplace"}, VALUE, "did you mean 'laplace'?"),
    ({"eps": 1, "mechanism": "laplce"}, VALUE, "did you mean 'laplace'?"),
    ({"eps": 1, "mechanism": "DiscreteLaplace"}, VALUE, "did you mean 'discrete_laplace'?"),
    ({"eps": 1, "mechanism": "discrete laplace"}, VALUE, "did you mean 'discrete_laplace'?"),
    ({"eps": 1, "mechanism": "normal"}, VALUE, "mechanism must be 'staircase', "),
    ({"eps": 1, "mechanism": sn.Laplace}, TYPE, "did you mean 'laplace'?"),
    ({"eps": 1, "mechanism": LAPLACE}, TYPE, "did you mean 'laplace'?"),
    ({"eps": 1, "mechanism": "gaussian"}, TYPE, "delta must be given for the mechanism 'gaussian'"),
    ({"eps": 1, "delta": 1e-6}, VALUE, "delta must be left out for the mechanism 'staircase', got 1e-06; it is for "),
    ({"eps": 1, "mechanism": "discrete_gaussian"}, VALUE, "got 1; DiscreteGaussian.from_eps takes it"),
    ({"mechanism": "discrete_gaussian", "sgima2": 3}, TypeError, "'sgima2'; did you mean 'sigma2'?"),
    ({"mechanism": "arete", "eps": 1}, VALUE, "got 1; Arete.from_eps takes it"),
    ({"eps": 1, "mechanism": "laplace", "gamma": 0.5}, VALUE, "it is for staircase, truncated_staircase, multivariate_staircase"),
    ({"eps": 1, "gamma": "L1"}, VALUE, 'gamma must be "l1", "l2" or a number'),
    ({"eps": 1, "gamma": 2}, VALUE, "gamma must be greater than 0 and at most 1, got 2.0"),
    ({"eps": 1, "dtype": int}, VALUE, "dtype must be float64 or float32, got int64"),
    ({"eps": 1, "threads": 0}, VALUE, "threads must be an integer from 1"),
    ({"eps": 1, "out": [0.0] * 10}, TYPE, "out must be a NumPy array"),
    ({"eps": 1, "out": np.zeros(5)}, VALUE, "out must have shape (10,)"),
    ({"eps": [1, 2]}, VALUE, "size must be a shape that the parameters, of shape (2,), broadcast to"),
    ({"eps": 1, "mechanism": "multivariate_staircase", "dim": 2.0}, TYPE, "dim must be an integer"),
]

OF_CONSTRUCTORS = [
    (
        sn.Laplace,
        {"eps": 1, "senstivity": 3},
        TypeError,
        "'senstivity'; did you mean 'sensitivity'?",
    ),
    (sn.Laplace, {"epsilon": 1}, TypeError, "'epsilon'; did you mean 'eps'?"),
    (sn.Laplace, {"eps": 1, "scale": 1}, VALUE, "eps must be left out beside scale, got 1"),
    (sn.Laplace, {}, TYPE, "eps must be given, or scale or std instead, got None"),
    (sn.Laplace, {"eps": float("nan")}, VALUE, "eps must be finite and greater than 0, got nan"),
    (sn.Laplace, {"eps": True}, TYPE, "eps must be a real number"),
    (sn.Laplace, {"eps": 1, "sensitivity": 0}, VALUE, "sensitivity must be finite and greater than 0"),
    (sn.Laplace, {"eps": 1e-20}, VALUE, "eps and sensitivity must give a lattice that fits 64-bit integers"),
    (sn.DiscreteLaplace, {"eps": 1, "sensitivity": 0.5}, VALUE, "sensitivity must be a whole number"),
    (sn.Staircase, {"eps": 1, "gama": 0.5}, TypeError, "'gama'; did you mean 'gamma'?"),
    (sn.Staircase, {"eps": 1, "gamma": 0}, VALUE, "gamma must be greater than 0 and at most 1"),
    (sn.DiscreteStaircase, {"eps": 1, "sensitivity": 5, "r": 9}, VALUE, "r must be a whole number from 1 to the sensitivity"),
    (sn.DiscreteGaussian, {"eps": 1, "delta": 1e-6}, TypeError, "'eps'; DiscreteGaussian.from_eps takes it"),
    (sn.DiscreteGaussian, {"sgima2": 3}, TypeError, "'sgima2'; did you mean 'sigma2'?"),
    (sn.Arete, {"eps": 1}, TypeError, "'eps'; Arete.from_eps takes it"),
    (sn.GeneralizedDiscreteLaplace, {"eps": 1}, TypeError, "'eps'; GeneralizedDiscreteLaplace.from_eps takes it"),
    (sn.Gaussian, {"eps": 1}, TYPE, "delta must be given, or sigma or std instead of eps and delta, got None"),
    (sn.Gaussian, {"eps": 1, "delta": 0}, VALUE, "delta must be greater than 0 and less than 1"),
    (sn.Gaussian, {"eps": 1, "detla": 1e-6}, TypeError, "'detla'; did you mean 'delta'?"),
    (sn.TruncatedLaplace, {"eps": 1, "delta": 1e-6, "lower": 5}, VALUE, "lower must be at most -sensitivity"),
    (sn.MultivariateStaircase, {"eps": 1, "norm": "L2"}, VALUE, 'norm must be "l1", "l2" or "linf", got \'L2\''),
    (sn.MultivariateStaircase, {"eps": 1, "dims": 2}, TypeError, "'dims'; did you mean 'dim'?"),
    (
        sn.MultiScaleDiscreteLaplace,
        {"eps": 1, "n_parties": 2, "present": 3},
        VALUE,
        "present must be an integer from 1 to 2, got 3",
    ),
    (sn.StaircaseSelection, {"eps": 1, "senstivity": 3}, TypeError, "'senstivity'; did you mean 'sensitivity'?"),
    (sn.SeededRng, {"seed": "42"}, TYPE, "seed must be an integer, got '42'"),
    (sn.SeededRng, {"seed": -1}, VALUE, "seed must be an integer from 0"),
    (sn.SecureRng, {"seed": 42}, TYPE, "it takes no seed, SeededRng(seed) does"),
]

OF_RELEASE = [
    (None, {}, TYPE, "values must be a real number or an array of real numbers"),
    ("5", {}, TYPE, "values must be a real number or an array of real numbers"),
    ([1, None], {}, TYPE, "at index (1,)"),
    ({"a": 1}, {}, TYPE, "got a value of type dict"),
    ([1.0, float("nan")], {}, VALUE, "values must be finite, got one that is not at index (1,)"),
    (1e300, {}, VALUE, "values must be below 2**126 times the granularity"),
    ([[1, 2], [3]], {}, TYPE, "values must be a real number or an array of real numbers"),
    (5, {"rng": sn.SeededRng(1)}, VALUE, "rng must be a SecureRng for a release"),
    (5, {"rng": 42}, TYPE, "SeededRng(42, allow_release=True) to a release in a test"),
    (5, {"seed": 42}, TypeError, "'seed'"),
    (5, {"sensitivity": 2}, TypeError, "'sensitivity'"),
    (5, {"max_partitions_contributed": 0}, VALUE, "max_partitions_contributed must be an integer from 1"),
]

OF_OTHERS = [
    (lambda: setattr(LAPLACE, "eps", 2), AttributeError, "Laplace is immutable: make a new one to set eps"),
    (lambda: LAPLACE.sample(2.5), TYPE, "size must be a non-negative integer"),
    (lambda: LAPLACE.error_bound(95), VALUE, "confidence must be from 0.5 to 1, got 95.0; did you mean 0.95?"),
    (lambda: LAPLACE.confidence_interval(5, 95), VALUE, "confidence must be from 0.5 to 1, got 95.0; did you mean 0.95?"),
    (lambda: INTEGERS.release(2**64), VALUE, "values must be within int64"),
    (
        lambda: sn.Laplace([1, 2], sensitivity=1).release([1, 2, 3]),
        VALUE,
        "values must have a shape that broadcasts with the parameters",
    ),
    (
        lambda: sn.MultivariateStaircase(1, sensitivity=1).release([1, 2, 3]),
        VALUE,
        "values must have a last axis of length dim = 2",
    ),
    (lambda: LOSS.compose(0), VALUE, "k must be an integer from 1"),
    (lambda: LOSS.eps_for_delta(2), VALUE, "delta must be from 0 to 1, got 2.0"),
    (lambda: sn.PrivacyLoss(LAPLACE), TYPE, "PrivacyLoss must be made by a mechanism's privacy_loss()"),
    (lambda: sn.SecureRng(42), TYPE, "it takes no seed, SeededRng(seed) does"),
    (lambda: sn.SecureRng.from_key("secret"), TYPE, "key must be bytes, got a value of type str"),
    (lambda: sn.SecureRng.from_key(b"secret"), VALUE, "key must have 32 bytes, got 6"),
    (lambda: copy.copy(sn.SecureRng()), sn.CopyError, "use spawn(k) for independent generators"),
    (lambda: sn.compare(1, cost="mse"), VALUE, 'cost must be "l1" or "l2"'),
    (lambda: sn.compare(1, mechanisms="laplace"), TYPE, 'mechanisms must be None, "all" or a sequence of names'),
    (lambda: sn.compare(1, mechanisms=["laplace"]), VALUE, "did you mean 'Laplace'?"),
    (lambda: sn.compare(1, mechanisms=["Gaussian"]), VALUE, "delta must be given"),
    (lambda: sn.compare([1, 2]), VALUE, "eps must be a single number"),
    (lambda: sn.optimal_gamma(1, "L1"), VALUE, 'cost must be "l1", "l2", a number or a function'),
    (lambda: sn.optimal_gamma(1, cost=lambda x: -x), VALUE, "cost must not fall as |x| grows"),
    (lambda: sn.expected_cost("laplace", "l1"), TYPE, "mechanism must be a mechanism of numbers, got 'laplace'"),
    (lambda: sn.StaircaseSelection(1).select([]), VALUE, "costs must have at least one candidate"),
    (lambda: sn.StaircaseSelection(1).select(["a", "b"]), TYPE, "costs must be a real number or an array of real numbers"),
    (lambda: sn.ExponentialMechanism(1).select([1, 2], rng=42), TYPE, "rng must be a SecureRng"),
]


@pytest.mark.parametrize(("name", "text"), NAMES_OF_THE_PACKAGE)
def test_names_of_the_package(name, text):
    with pytest.raises(AttributeError) as caught:
        getattr(sn, name)
    assert str(caught.value) == f"module 'stairnoise' has no attribute {name!r}; {text}"


@pytest.mark.parametrize("name", ["_private", "__wrapped__", "xyzzy"])
def test_no_name_is_made_up(name):
    with pytest.raises(AttributeError) as caught:
        getattr(sn, name)
    assert str(caught.value) == f"module 'stairnoise' has no attribute {name!r}"


@looped(("arguments", "error", "text"), OF_SAMPLE)
def test_sample(arguments, error, text):
    with pytest.raises(error) as caught:
        sn.sample(10, **arguments)
    assert text in str(caught.value)
    assert error is not TypeError or type(caught.value) is TypeError


@looped(("mechanism", "arguments", "error", "text"), OF_CONSTRUCTORS)
def test_constructors(mechanism, arguments, error, text):
    with pytest.raises(error) as caught:
        mechanism(**arguments)
    assert text in str(caught.value)


@pytest.mark.parametrize(("values", "arguments", "error", "text"), OF_RELEASE)
def test_release(values, arguments, error, text):
    with pytest.raises(error) as caught:
        LAPLACE.release(values, **arguments)
    assert text in str(caught.value)


@looped(("call", "error", "text"), OF_OTHERS)
def test_others(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_a_release_of_no_counts_is_of_integers():
    assert INTEGERS.release([]).dtype == np.int64
    assert INTEGERS.release([[], []]).shape == (2, 0)
    assert LAPLACE.release([]).dtype == np.float64
    assert INTEGERS.release(np.array([])).dtype == np.float64
