"""``sample``: mechanisms by name, and arguments that belong to another mechanism."""

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import BY_NAME, ROWS, MechanismName
from tests.examples import UNLISTED

NAMES = [repr(row.name) for row in ROWS]
ALL = f"{', '.join(NAMES[:-1])} or {NAMES[-1]}"


@pytest.mark.parametrize(
    ("arguments", "mechanism"),
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
def test_is_the_mechanism_in_one_call(arguments, mechanism):
    one = sn.sample((3, 2), 2, rng=sn.SeededRng(9), **arguments)
    other = mechanism.sample((3, 2), rng=sn.SeededRng(9))
    assert one.dtype == other.dtype
    assert np.array_equal(one, other)


FURTHER = [
    ({"mechanism": "gaussian", "eps": 1, "delta": 1e-6}, sn.Gaussian(1, 1e-6)),
    ({"mechanism": "gaussian", "eps": 1, "delta": 1e-6, "sensitivity": 3}, sn.Gaussian(1, 1e-6, 3)),
    ({"mechanism": "discrete_gaussian", "sigma2": 4}, sn.DiscreteGaussian(4)),
    ({"mechanism": "skellam", "mu": 4}, sn.Skellam(4)),
    ({"mechanism": "truncated_laplace", "eps": 1, "delta": 0.01}, sn.TruncatedLaplace(1, 0.01)),
    ({"mechanism": "truncated_laplace", "eps": 1, "delta": 0.01, "lower": -7}, sn.TruncatedLaplace(1, 0.01, lower=-7)),
    ({"mechanism": "merged_laplace", "eps": [2, 1], "breakpoints": [0.5]}, sn.MergedLaplace([2, 1], [0.5])),
    ({"mechanism": "generalized_discrete_laplace", "beta": 0.5, "a": 1}, sn.GeneralizedDiscreteLaplace(0.5, 1)),
    (
        {"mechanism": "multi_scale_discrete_laplace", "eps": 2, "sensitivity": 3, "n_parties": 5},
        sn.MultiScaleDiscreteLaplace(2, 3, n_parties=5),
    ),
    ({"mechanism": "arete", "alpha": 0.2, "theta": 0.5, "lam": 0.1}, sn.Arete(0.2, 0.5, 0.1)),
    (
        {"mechanism": "multivariate_staircase", "eps": 2, "dim": 3, "gamma": "l2", "norm": "linf"},
        sn.MultivariateStaircase(2, 1.0, 3, "l2", "linf"),
    ),
]


@pytest.mark.parametrize(("arguments", "mechanism"), FURTHER, ids=lambda v: v["mechanism"] if isinstance(v, dict) else "")
def test_is_any_mechanism_in_one_call(arguments, mechanism):
    one = sn.sample((4, 2), rng=sn.SeededRng(9), **arguments)
    other = mechanism.sample((4, 2), rng=sn.SeededRng(9))
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert np.array_equal(one, other)
    out = np.empty(other.shape, other.dtype)
    assert sn.sample(None, rng=sn.SeededRng(9), out=out, **arguments) is out
    assert np.array_equal(out, other)


def test_every_mechanism_has_a_name():
    """Names are the class names in small letters, and no others; `MechanismName` lists them for type checkers."""
    mechanisms = (
        {name for name in sn.__all__ if hasattr(getattr(sn, name), "release")} - UNLISTED - {"PartitionSelection", "Spending"}
    )
    assert {name.replace("_", "") for name in BY_NAME} == {name.lower() for name in mechanisms}
    assert {row.class_name for row in ROWS} == mechanisms
    assert sorted(MechanismName.__args__) == sorted(BY_NAME)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"mechanism": "laplace", "eps": 1, "delta": 1e-6}, sn.ParameterError,
         "delta must be left out for the mechanism 'laplace', got 1e-06"),
        ({"mechanism": "discrete_gaussian", "eps": 1}, sn.ParameterError,
         "eps must be left out for the mechanism 'discrete_gaussian', got 1"),
        ({"mechanism": "discrete_gaussian", "sigma2": 1, "sensitivity": 2}, sn.ParameterError,
         "sensitivity must be left out for the mechanism 'discrete_gaussian', got 2"),
        ({"mechanism": "gaussian", "eps": 1}, sn.ParameterTypeError,
         "delta must be given for the mechanism 'gaussian', got None"),
        ({"mechanism": "gaussian", "eps": -1, "delta": 0.1}, sn.ParameterError, "eps must be from 2**-40 to 2**20"),
        ({"mechanism": "gaussian", "eps": 1, "delta": 0.1, "gamma": 0.5}, sn.ParameterError,
         "gamma must be left out for the mechanism 'gaussian', got 0.5"),
        ({}, sn.ParameterTypeError, "eps must be given for the mechanism 'staircase', got None"),
        ({"eps": 1, "epz": 1}, TypeError, "sample() got an unexpected keyword argument 'epz'"),
        ({"eps": 1, "self": 1}, TypeError, "sample() got an unexpected keyword argument 'self'"),
    ],
)  # fmt: skip
def test_parameters_of_another_mechanism_or_none(arguments, error, text, rng):
    with pytest.raises(error) as caught:
        sn.sample(3, rng=rng, **arguments)
    assert str(caught.value).startswith(text)
    assert rng._stream.fill_count == 0


def test_size_of_vectors_is_called_what_the_caller_calls_it(rng):
    with pytest.raises(sn.ParameterError, match="size must be a non-negative integer"):
        sn.sample(-1, 1, mechanism="multivariate_staircase", rng=rng)
    with pytest.raises(sn.ParameterError, match="n must be a non-negative integer"):
        sn.sample(n=-1, eps=1, mechanism="multivariate_staircase", rng=rng)


def test_n_is_another_name_of_size(rng):
    assert np.array_equal(sn.sample(n=5, eps=1, rng=sn.SeededRng(1)), sn.sample(5, eps=1, rng=sn.SeededRng(1)))
    assert np.array_equal(sn.sample(n=(2, 3), eps=1, rng=sn.SeededRng(1)), sn.sample(size=(2, 3), eps=1, rng=sn.SeededRng(1)))
    assert type(sn.sample(eps=1, rng=rng)) is float
    with pytest.raises(sn.ParameterError, match="n must be left out beside size, got 3"):
        sn.sample(3, eps=1, n=3)


@pytest.mark.parametrize(
    ("mechanism", "error", "shown"),
    [
        ("gauss", sn.ParameterError, "'gauss'; did you mean 'gaussian'?"),
        ("Staircase", sn.ParameterError, "'Staircase'; did you mean 'staircase'?"),
        ("", sn.ParameterError, "''"),
        (None, sn.ParameterTypeError, "None"),
        (["laplace"], sn.ParameterTypeError, "['laplace']"),
        (sn.Laplace, sn.ParameterTypeError, "<class 'stairnoise.Laplace'>; did you mean 'laplace'?"),
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
def test_shape_of_another_mechanism(mechanism, shape, rng):
    with pytest.raises(sn.ParameterError) as caught:
        sn.sample(3, 1, mechanism=mechanism, rng=rng, **{shape: 1})
    owners = {
        "r": "discrete_staircase, truncated_discrete_staircase",
        "gamma": "staircase, truncated_staircase, multivariate_staircase",
    }[shape]
    text = f"{shape} must be left out for the mechanism '{mechanism}', got 1; it is for {owners}"
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


def test_per_element_parameters_match_scalar_mechanisms():
    eps = np.array([0.5, 1.0, 4.0])
    sensitivity = np.array([[1.0], [10.0]])
    noise = sn.sample((2, 3), eps, sensitivity, rng=sn.SeededRng(1))
    for i in range(2):
        for j in range(3):
            mechanism = sn.Staircase(eps[j], sensitivity[i, 0])
            assert noise[i, j] == mechanism.sample(1, rng=sn.SeededRng(1).at(3 * i + j))[0]


@pytest.mark.parametrize("mechanism", ["staircase", "laplace"])
def test_values_are_lattice_points_and_never_minus_zero(mechanism):
    made = {"staircase": sn.Staircase, "laplace": sn.Laplace}[mechanism](20.0)
    noise = made.sample(10_000, rng=sn.SeededRng(1))
    steps = noise / made.granularity
    assert np.array_equal(steps, np.round(steps))
    whole = sn.sample(10_000, 20.0, mechanism="discrete_laplace", dtype=float, rng=sn.SeededRng(1))
    assert (whole == 0).any()
    for values in (noise, whole):
        assert not np.signbit(values[values == 0]).any()


def _unaligned(values):
    """Return an array of these numbers whose elements begin one byte off."""
    memory = np.zeros(values.nbytes + 1, np.uint8)[1:].view(np.float64)
    memory[...] = values
    return memory


EPS = np.linspace(0.1, 4, 1000)
APART = {
    "as they are": lambda: (EPS.copy(), None),
    "strided": lambda: (np.repeat(EPS, 2)[::2], None),
    "unaligned": lambda: (_unaligned(EPS), None),
    "read-only": lambda: (np.broadcast_to(EPS, EPS.shape), None),
    "other halves of one array": lambda: (lambda both: (both[0], both[1]))(np.stack([EPS, EPS])),
    "odd and even elements of one array": lambda: (lambda both: (both[::2], both[1::2]))(np.repeat(EPS, 2)),
}


@pytest.mark.parametrize("make", APART.values(), ids=APART)
def test_arrays_of_parameters_wherever_they_are(make):
    """Evidence: equality with a mechanism that has its own copies. The caller's array is unchanged."""
    eps, out = make()
    drawn = sn.sample(None, eps, rng=sn.SeededRng(9), out=out)
    assert np.array_equal(drawn, sn.Staircase(EPS).sample(rng=sn.SeededRng(9)))
    assert np.array_equal(eps, EPS)
    assert out is None or drawn is out


def test_a_view_of_more_elements_than_memory_is_refused_at_once():
    """The view has one number 2^44 times; reading it in place would take days."""
    with pytest.raises(MemoryError, match="128"):
        sn.sample(None, np.broadcast_to(1.0, (2**44,)), rng=sn.SeededRng(9))


def test_noise_may_take_the_place_of_its_parameters():
    """Evidence: as above."""
    for mechanism, made in {"staircase": sn.Staircase, "laplace": sn.Laplace}.items():
        eps = EPS.copy()
        drawn = sn.sample(None, eps, mechanism=mechanism, rng=sn.SeededRng(9), out=eps)
        assert drawn is eps
        assert np.array_equal(drawn, made(EPS).sample(rng=sn.SeededRng(9)))


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_a_parameter_that_no_mechanism_has_leaves_the_output_as_it_was(bad):
    eps, out = EPS.copy(), np.full(EPS.size, 7.0)
    eps[-1] = bad
    with pytest.raises(sn.ParameterError, match="eps must be"):
        sn.sample(None, eps, out=out)
    assert (out == 7).all()
