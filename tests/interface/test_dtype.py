"""The dtypes that each mechanism writes."""

import numpy as np
import pytest

import stairnoise as sn

CONTINUOUS = [sn.Staircase(2), sn.Laplace(2)]
DISCRETE = [sn.DiscreteStaircase(0.5, 3), sn.DiscreteLaplace(0.5)]
# `name`: whether the error is about a dtype that is unknown, or about one that is not allowed.
CONTINUOUS_RULE = "dtype must be float64 or float32, got "
DISCRETE_RULE = "dtype must be int64, int32 or float64, got "


@pytest.mark.parametrize("mechanism", CONTINUOUS)
@pytest.mark.parametrize("dtype", [None, float, "float64", np.float64, np.dtype("f8"), np.float32, "f4"])
def test_continuous(mechanism, dtype):
    noise = mechanism.sample(50, rng=sn.SeededRng(1), dtype=dtype)
    assert noise.dtype == np.dtype(dtype)
    exact = mechanism.sample(50, rng=sn.SeededRng(1))
    assert np.array_equal(noise, exact.astype(noise.dtype))


@pytest.mark.parametrize("mechanism", DISCRETE)
@pytest.mark.parametrize("dtype", [None, "int64", np.int32, "float64", float, np.dtype("f8")])
def test_discrete(mechanism, dtype):
    noise = mechanism.sample(50, rng=sn.SeededRng(1), dtype=dtype)
    assert noise.dtype == np.dtype(dtype or "int64")
    assert np.array_equal(noise, mechanism.sample(50, rng=sn.SeededRng(1)))


def test_int32_saturates():
    mechanism = sn.DiscreteLaplace(2.0**-36)
    wide = mechanism.sample(200, rng=sn.SeededRng(1))
    limits = np.iinfo(np.int32)
    assert wide.max() > limits.max
    assert wide.min() < limits.min
    narrow = mechanism.sample(200, rng=sn.SeededRng(1), dtype=np.int32)
    assert np.array_equal(narrow, wide.clip(limits.min, limits.max))


@pytest.mark.parametrize("mechanism", CONTINUOUS + DISCRETE)
@pytest.mark.parametrize("dtype", ["float16", "longdouble", "uint64", "int8", bool, object, "U3"])
def test_other_dtypes_are_refused(mechanism, dtype, rng):
    if np.dtype(dtype) == np.float64:
        pytest.skip("long double is float64 here")
    rule = CONTINUOUS_RULE if mechanism in CONTINUOUS else DISCRETE_RULE
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.sample(3, rng=rng, dtype=dtype)
    assert str(caught.value) == rule + str(np.dtype(dtype))
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize(("mechanism", "dtype"), [(CONTINUOUS[0], np.int64), (CONTINUOUS[1], "int32"), (DISCRETE[0], "f4")])
def test_dtypes_of_the_other_kind_are_refused(mechanism, dtype, rng):
    rule = CONTINUOUS_RULE if mechanism in CONTINUOUS else DISCRETE_RULE
    with pytest.raises(sn.ParameterError, match=rule + np.dtype(dtype).name):
        mechanism.sample(rng=rng, dtype=dtype)


def test_foreign_byte_order_is_refused(rng):
    foreign = np.dtype(np.float64).newbyteorder()
    with pytest.raises(sn.ParameterError, match=rf"float64 or float32, got {foreign}"):
        sn.Laplace(1).sample(3, rng=rng, dtype=foreign)


@pytest.mark.parametrize(("dtype", "shown"), [("no such", "'no such'"), (3, "3"), (1.5, "1.5")])
def test_what_is_no_dtype_is_refused(dtype, shown, rng):
    with pytest.raises(sn.ParameterTypeError) as caught:
        sn.Laplace(1).sample(3, rng=rng, dtype=dtype)
    assert str(caught.value) == CONTINUOUS_RULE + shown


class Odd:
    """An object that raises when NumPy reads its dtype."""

    @property
    def dtype(self):
        raise RuntimeError("never")


@pytest.mark.parametrize("dtype", ["f8,(", "(", "f8\ud800", Odd(), {1: 2}, {"names": ["a"]}])
def test_what_numpy_cannot_read_is_refused_by_name(dtype):
    """NumPy raises SyntaxError for the first value here, and other errors for the rest."""
    with pytest.raises(sn.ParameterTypeError, match=r"^dtype must be float64 or float32, got "):
        sn.Laplace(1.0).sample(3, dtype=dtype)
