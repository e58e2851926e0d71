"""The meaning of ``n`` and ``size``, by results and error texts."""

import numpy as np
import pytest

import stairnoise as sn

D = sn.Laplace(1.0)


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        (0, (0,)), (5, (5,)), (np.int32(5), (5,)), (np.uint8(5), (5,)), ((), ()), ((5,), (5,)),
        ((2, 3), (2, 3)), ((2, 0, 3), (2, 0, 3)), ((np.int64(2), 3), (2, 3)),
    ],
)  # fmt: skip
def test_sizes(size, shape, rng):
    noise = D.sample(size, rng=rng)
    assert type(noise) is np.ndarray
    assert noise.shape == shape
    assert sn.sample(size, 1.0, rng=rng).shape == shape


@pytest.mark.parametrize("mechanism", [sn.Staircase(1), sn.Laplace(1)])
def test_scalar_of_a_continuous_mechanism_is_a_python_float(mechanism, rng):
    assert type(mechanism.sample(rng=rng)) is float
    assert type(mechanism.sample(rng=rng, dtype="float32")) is float


@pytest.mark.parametrize("mechanism", [sn.DiscreteStaircase(1), sn.DiscreteLaplace(1)])
def test_scalar_of_a_discrete_mechanism_is_a_python_int(mechanism, rng):
    assert type(mechanism.sample(rng=rng)) is int
    assert type(mechanism.sample(rng=rng, dtype=np.int32)) is int
    assert type(mechanism.sample(rng=rng, dtype=np.float64)) is float


def test_scalar_draw_is_the_first_value_of_a_fill():
    assert D.sample(rng=sn.SeededRng(3)) == D.sample(7, rng=sn.SeededRng(3))[0]


def test_none_is_the_common_shape_of_the_parameters(rng):
    assert sn.Laplace([1, 2], [[1], [2], [3]]).sample(rng=rng).shape == (3, 2)
    assert sn.sample(None, [1, 2], [[1], [2], [3]], rng=rng).shape == (3, 2)
    assert type(sn.sample(None, 1, rng=rng)) is float


SIZE_ERRORS = [
    (-1, sn.ParameterError, "-1"),
    ((2, -1), sn.ParameterError, "-1"),
    (2**63, sn.ParameterError, "9223372036854775808"),
    (3.0, sn.ParameterTypeError, "3.0"),
    (2.5, sn.ParameterTypeError, "2.5"),
    (np.float64(3), sn.ParameterTypeError, "3.0"),
    (True, sn.ParameterTypeError, "True"),
    ("3", sn.ParameterTypeError, "'3'"),
    ([3], sn.ParameterTypeError, "[3]"),
    ((3, 2.0), sn.ParameterTypeError, "2.0"),
    (np.array([3]), sn.ParameterTypeError, "an array of dtype int64 and shape (1,)"),
    (np.array([3, 4]), sn.ParameterTypeError, "an array of dtype int64 and shape (2,)"),
    (1j, sn.ParameterTypeError, "1j"),
]


@pytest.mark.parametrize(("size", "error", "shown"), SIZE_ERRORS)
def test_size_must_be_a_count(size, error, shown, rng):
    rule = "must be a non-negative integer below 2**63, or a tuple of them, got"
    with pytest.raises(error) as caught:
        D.sample(size, rng=rng)
    assert str(caught.value) == f"size {rule} {shown}"
    with pytest.raises(error) as caught:
        sn.sample(size, 1.0, rng=rng)
    assert str(caught.value) == f"size {rule} {shown}"
    with pytest.raises(error) as caught:
        sn.sample(n=size, eps=1.0, rng=rng)
    assert str(caught.value) == f"n {rule} {shown}"
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize("n", [2**60, 2**62, (2**31, 2**31), (2**40, 0, 2**40)])
def test_size_must_be_small_enough_to_index(n, rng):
    shape = n if isinstance(n, tuple) else (n,)
    with pytest.raises(sn.ParameterError) as caught:
        sn.sample(n, 1.0, rng=rng)
    text = f"size must be small enough to index (below 2**63 bytes), got shape {shape}"
    assert str(caught.value) == text
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize(
    ("parameters", "size"),
    [((2,), 3), ((2,), ()), ((2, 3), 3), ((2, 1), (3, 3)), ((2,), 1), ((1, 2), 2), ((2,), 0)],
)
def test_parameters_must_broadcast_to_size(parameters, size, rng):
    shape = size if isinstance(size, tuple) else (size,)
    with pytest.raises(sn.ParameterError) as caught:
        sn.Laplace(np.ones(parameters)).sample(size, rng=rng)
    assert str(caught.value) == (f"size must be a shape that the parameters, of shape {parameters}, broadcast to, got {shape}")
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize(
    ("parameters", "size"),
    [((2,), (3, 2)), ((1,), 3), ((2, 1), (2, 5)), ((1, 1), (4, 5)), ((1,), 0), ((0,), (3, 0))],
)
def test_parameters_that_broadcast_to_size(parameters, size, rng):
    noise = sn.Laplace(np.ones(parameters)).sample(size, rng=rng)
    assert noise.shape == (size if isinstance(size, tuple) else (size,))


@pytest.mark.parametrize("axes", [33, 65, 100])
def test_more_axes_than_numpy_broadcasts(axes, rng):
    assert sn.Laplace(1.0).sample((1,) * 32).shape == (1,) * 32
    for call, name in ((sn.Laplace(1.0).sample, "size"), (lambda n, rng: sn.sample(n=n, eps=1.0, rng=rng), "n")):
        with pytest.raises(sn.ParameterError, match=rf"^{name} must have at most 32 dimensions, got {axes}$"):
            call((1,) * axes, rng=rng)
    assert rng._stream.fill_count == 0
