"""``sample``: the mechanisms by name, and arguments that belong to another one."""

import numpy as np
import pytest

import stairnoise as sn

ALL = "'staircase', 'discrete_staircase', 'laplace' or 'discrete_laplace'"


@pytest.mark.parametrize(
    ("arguments", "law"),
    [
        ({}, sn.Staircase(2)),
        ({"gamma": "l2"}, sn.Staircase(2, 1, "l2")),
        ({"gamma": 0.5, "sensitivity": 3}, sn.Staircase(2, 3, 0.5)),
        ({"mechanism": "laplace", "sensitivity": 0.5}, sn.Laplace(2, 0.5)),
        ({"mechanism": "discrete_laplace", "sensitivity": 5}, sn.DiscreteLaplace(2, 5)),
        ({"mechanism": "discrete_staircase", "sensitivity": 5}, sn.DiscreteStaircase(2, 5)),
        (
            {"mechanism": "discrete_staircase", "sensitivity": 5, "r": "l2"},
            sn.DiscreteStaircase(2, 5, "l2"),
        ),
        (
            {"mechanism": "discrete_staircase", "sensitivity": 5, "r": [1, 5]},
            sn.DiscreteStaircase(2, 5, [1, 5]),
        ),
    ],
)
def test_is_the_law_in_one_call(arguments, law):
    one = sn.sample((3, 2), 2, rng=sn.SeededRng(9), **arguments)
    other = law.sample((3, 2), rng=sn.SeededRng(9))
    assert one.dtype == other.dtype
    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("mechanism", "error", "shown"),
    [
        ("gauss", sn.ParameterError, "'gauss'"),
        ("Staircase", sn.ParameterError, "'Staircase'"),
        ("", sn.ParameterError, "''"),
        (None, sn.ParameterTypeError, "None"),
        (["laplace"], sn.ParameterTypeError, "['laplace']"),
        (sn.Laplace, sn.ParameterTypeError, "<class 'stairnoise.Laplace'>"),
    ],
)
def test_unknown_mechanism(mechanism, error, shown, rng):
    with pytest.raises(error) as caught:
        sn.sample(3, 1, mechanism=mechanism, rng=rng)
    assert str(caught.value) == f"mechanism must be {ALL}, got {shown}"
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize(
    ("mechanism", "shape"),
    [
        ("staircase", "r"), ("laplace", "r"), ("discrete_laplace", "r"),
        ("laplace", "gamma"), ("discrete_laplace", "gamma"), ("discrete_staircase", "gamma"),
    ],
)  # fmt: skip
def test_shape_of_another_law(mechanism, shape, rng):
    with pytest.raises(sn.ParameterError) as caught:
        sn.sample(3, 1, mechanism=mechanism, rng=rng, **{shape: 1})
    text = f"{shape} must be left out for the mechanism '{mechanism}', got 1"
    assert str(caught.value) == text
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"eps": -1}, "eps must be finite and greater than 0, got -1.0"),
        ({"eps": "1"}, "eps must be a real number or an array of real numbers, got '1'"),
        ({"eps": 1, "sensitivity": 0}, "sensitivity must be finite and greater than 0, got 0.0"),
        ({"eps": 1, "gamma": 2}, "gamma must be greater than 0 and at most 1, got 2.0"),
        ({"eps": [1, 2], "sensitivity": [1, 2, 3]},
         "eps and sensitivity and gamma must have shapes"),
    ],
)  # fmt: skip
def test_refused_parameters_draw_nothing(arguments, text, rng):
    out = np.full(3, 7.0)
    with pytest.raises(sn.StairnoiseError) as caught:
        sn.sample(3, rng=rng, out=out, **{"gamma": 0.5} | arguments)
    assert str(caught.value).startswith(text)
    assert (out == 7).all()
    assert rng._stream.fill_count == 0


def test_per_element_parameters_match_scalar_laws():
    eps = np.array([0.5, 1.0, 4.0])
    sensitivity = np.array([[1.0], [10.0]])
    noise = sn.sample((2, 3), eps, sensitivity, rng=sn.SeededRng(1))
    for i in range(2):
        for j in range(3):
            law = sn.Staircase(eps[j], sensitivity[i, 0])
            assert noise[i, j] == law.sample(1, rng=sn.SeededRng(1).at(3 * i + j))[0]


@pytest.mark.parametrize("mechanism", ["staircase", "laplace"])
def test_values_are_lattice_points_and_never_minus_zero(mechanism):
    law = {"staircase": sn.Staircase, "laplace": sn.Laplace}[mechanism](20.0)
    noise = law.sample(10_000, rng=sn.SeededRng(1))
    steps = noise / law.granularity
    assert np.array_equal(steps, np.round(steps))
    whole = sn.sample(10_000, 20.0, mechanism="discrete_laplace", dtype=float, rng=sn.SeededRng(1))
    assert (whole == 0).any()
    for values in (noise, whole):
        assert not np.signbit(values[values == 0]).any()
