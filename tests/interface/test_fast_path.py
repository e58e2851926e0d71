"""Common arguments take a fast path, which `threads=1` avoids. Values, results and refusals equal those of the general path.

Evidence: equality of both paths' results, and of the arrays and generators after the calls.
"""

import enum
import itertools

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import stairnoise as sn
from stairnoise._sample import _kept_mechanism
from stairnoise.registry import ROWS
from tests.combinations import looped, pairs

MECHANISMS = [
    sn.Laplace(1.0, sensitivity=1),
    sn.DiscreteLaplace(1.0, sensitivity=1),
    sn.Gaussian(1, 1e-6, sensitivity=1),
    sn.DiscreteGaussian(3.0),
    sn.Laplace(1.0, 2.0**90),
]


class Whole(enum.IntEnum):
    ONE = 1


class Tagged(np.ndarray):
    pass


def packed():
    array = np.zeros(4, np.dtype([("tag", "u1"), ("value", "f8")]))["value"]
    array[...] = range(4)
    return array


def misaligned(dtype=np.float64):
    array = np.frombuffer(bytearray(33), np.uint8)[1:].view(dtype)
    array[...] = range(4)
    return array


def frozen():
    array = np.arange(4.0)
    array.flags.writeable = False
    return array


# Arrays of four values, of float64, int64 and other types, contiguous and not, and many arguments that are refused.
ARRAYS = {
    **{
        dtype: lambda dtype=dtype: np.arange(4).astype(dtype) for dtype in ("f8", "i8", "f4", "i4", "f2", "u8", "g", ">f8", ">i8")
    },
    **{dtype: lambda dtype=dtype: np.arange(4).astype(dtype) for dtype in ("?", "c16", "O", "S1", "m8[s]")},
    "C": lambda: np.arange(4.0).reshape(2, 2),
    "F": lambda: np.asfortranarray(np.arange(4.0).reshape(2, 2)),
    "F of int64": lambda: np.asfortranarray(np.arange(4).reshape(2, 2)),
    "wide": lambda: np.arange(4.0).reshape(1, 4),
    "strided": lambda: np.arange(8.0)[::2],
    "reversed": lambda: np.arange(4)[::-1],
    "32 axes": lambda: np.arange(4.0).reshape((1,) * 31 + (4,)),
    "packed": packed,
    "misaligned": misaligned,
    "misaligned int64": lambda: misaligned(np.int64),
    "frozen": frozen,
    "repeated": lambda: as_strided(np.zeros(1), (4,), (0,)),
    "overlapping": lambda: as_strided(np.zeros(4), (4,), (4,)),
    "one": lambda: np.ones(1),
    "one, stride 0": lambda: as_strided(np.ones(1), (1,), (0,)),
    "empty": lambda: np.zeros(0),
    "empty, three axes": lambda: np.zeros((2, 0, 3), np.int64),
    "no axis": lambda: np.array(3.0),
    "no axis, int64": lambda: np.array(3),
    "masked": lambda: np.ma.array(np.arange(4.0), mask=[0, 1, 0, 0]),
    "masked, none": lambda: np.ma.array(np.arange(4)),
    "matrix": lambda: np.arange(4.0).view(np.matrix),
    "subclass": lambda: np.arange(4).view(Tagged),
    "NaN": lambda: np.array([0.0, 1, np.nan, np.inf]),
    "infinite": lambda: np.array([[0.0, 1], [2, -np.inf]]),
    "too large": lambda: np.array([0.0, 1e300]),
    "list": lambda: [0.0, 1.0, 2.0, 3.0],
    "list of int": lambda: [0, 1, 2, 3],
    "list of both": lambda: [0, 1.5, 2**53, -3],
    "list of an int that float64 rounds": lambda: [0.0, 2**53 + 1],
    "list beyond int64": lambda: [0, 2**63],
    "list with NaN": lambda: [0.0, 1, float("nan")],
    "list with a bool": lambda: [0, True],
    "list of NumPy's floats": lambda: list(np.arange(4.0)),
    "list of a subclass": lambda: [Whole.ONE, 1],
    "list in a list": lambda: [[0.0, 1.0], [2.0, 3.0]],
    "long list": lambda: [1.0] * 1025,
    "empty list": list,
    "tuple": lambda: (0.0, 1.0, 2.0, 3.0),
    "tuple of int": lambda: (0, 1, 2, 3),
    "text": lambda: "1",
    "None": lambda: None,
}
if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
    ARRAYS["33 axes"] = lambda: np.arange(4.0).reshape((1,) * 32 + (4,))
NUMBERS = {
    repr(number): lambda number=number: number
    for number in (
        *(5, 5.0, -0.0, 0, True, Whole.ONE, np.float64(5), np.float32(0.1), np.int64(5), np.uint8(5), np.bool_(True), 1j),
        *(np.float16(0.1), np.longdouble(5), np.uint64(2**63), np.uint64(5), np.int64(2**53 + 1), np.float32("nan")),
        *(float("nan"), float("-inf"), 1e300, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 10**400, 0.1, 2.5, -0.5),
    )
}
OUTS = {"no out": lambda: None, **ARRAYS}


def result(call):
    """Return the type and content of a call's result or error, and check the number of fills."""
    rng = sn.SeededRng(3, allow_release=True)
    try:
        returned = call(rng)
    except (ValueError, TypeError) as error:
        assert rng._stream.fill_count == 0
        return type(error), str(error)
    assert rng._stream.fill_count == 1
    array = np.asarray(returned)
    return type(returned), array.dtype, array.shape, repr(array.tolist())


def content(array):
    return repr(array) if not isinstance(array, np.ndarray) else (type(array), array.dtype, repr(np.asarray(array).tolist()))


# Every value is tried with every `out`, and the mechanisms take turns.
@looped("name", {**NUMBERS, **ARRAYS})
def test_a_release_of_anything_into_anything(name):
    mechanisms = itertools.cycle(MECHANISMS)
    for _ in range([*NUMBERS, *ARRAYS].index(name)):
        next(mechanisms)
    for out_name, make in OUTS.items():
        mechanism = next(mechanisms)
        values = [(NUMBERS | ARRAYS)[name]() for _ in range(2)]
        outs = [make() for _ in range(2)]
        fast = result(lambda rng: mechanism.release(values[0], rng=rng, out=outs[0]))  # noqa: B023
        assert fast == result(lambda rng: mechanism.release(values[1], rng=rng, out=outs[1], threads=1)), out_name  # noqa: B023
        assert content(outs[0]) == content(outs[1]), out_name
        assert content(values[0]) == content(values[1]), out_name
        if issubclass(fast[0], Exception):
            assert content(outs[0]) == content(make()), out_name


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_noise_into_anything(mechanism):
    for name, make in OUTS.items():
        outs = [make(), make()]
        fast = result(lambda rng: mechanism.sample(rng=rng, out=outs[0]))  # noqa: B023
        assert fast == result(lambda rng: mechanism.sample(rng=rng, out=outs[1], threads=1)), name  # noqa: B023
        assert content(outs[0]) == content(outs[1]), name


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_a_given_out_is_returned_itself(mechanism):
    for out in (make() for name, make in OUTS.items() if name not in ("no out", "None")):
        for call in (lambda: mechanism.sample(out=out), lambda: mechanism.release(np.zeros(4), out=out)):  # noqa: B023
            try:
                assert call() is out
            except (ValueError, TypeError):
                continue


@looped(("shift", "mechanism", "dtype"), pairs([-3, -1, 0, 1, 3, 4], MECHANISMS, ["f8", "i8"]))
def test_values_that_share_memory_with_out(mechanism, dtype, shift):
    """Values and `out` are slices of one array, `shift` elements apart, of float64 or int64."""
    results = []
    for options in ({}, {"threads": 1}):
        memory = np.zeros(12, "i8" if mechanism._integers else "f8")
        out, values = memory[4:8], memory.view(dtype)[4 + shift : 8 + shift]
        values[...] = [1, 2, 3, 4]
        results.append(result(lambda rng: mechanism.release(values, rng=rng, out=out, **options)))  # noqa: B023
        results.append(memory.tobytes())
    assert results[:2] == results[2:]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_one_value_in_the_place_of_out_with_another_stride(mechanism):
    """A single element is contiguous whatever its stride."""
    alone = result(lambda rng: mechanism.release(np.ones(1), rng=rng))
    for step in (1, 2, -1):
        memory = np.ones(1)
        out = memory[::step]
        assert result(lambda rng: mechanism.release(memory, rng=rng, out=out)) == alone  # noqa: B023
        assert repr(memory.tolist()) == alone[3]


@looped(
    ("mechanism", "values", "derive"),
    pairs(
        MECHANISMS,
        [5, 5.0, np.zeros(3), np.zeros(3, np.int64)],
        [lambda rng: rng, lambda rng: rng.spawn(1)[0], lambda rng: rng.at(3)],
    ),
)
def test_seeds_are_refused_on_the_fast_path_too(mechanism, values, derive):
    rng = derive(sn.SeededRng(1))
    for out in (None, np.zeros(3)):
        with pytest.raises(sn.ParameterError, match=r"^rng must be a SecureRng for a release"):
            mechanism.release(values, rng=rng, out=out)
        assert out is None or not out.any()
    assert rng._stream.fill_count == 0


def test_long_arrays():
    for n in (1023, 1024, 1025, 5000):
        for mechanism in MECHANISMS:
            for dtype in ("f8", "i8"):
                values, out = np.arange(n, dtype=dtype), np.zeros(n, "i8" if mechanism._integers and dtype == "i8" else "f8")
                general = result(lambda rng: mechanism.release(values, rng=rng, threads=1))  # noqa: B023
                assert result(lambda rng: mechanism.release(values, rng=rng)) == general  # noqa: B023
                assert result(lambda rng: mechanism.release(values, rng=rng, out=out)) == general  # noqa: B023


def test_mechanisms_of_one_call_are_kept_by_value_and_by_type():
    _kept_mechanism.cache_clear()
    for eps in (1, 1.0, 2):
        for _ in range(3):
            assert result(lambda rng: sn.sample(4, eps, rng=rng)) == result(lambda rng: sn.Staircase(eps).sample(4, rng=rng))  # noqa: B023
    assert _kept_mechanism.cache_info().misses == 3
    for eps in (np.float64(1), np.array(1.0), Whole.ONE):
        sn.sample(3, eps)
    assert _kept_mechanism.cache_info().currsize == 3
    parameters = {"mechanism": "arete", "alpha": 1.0, "theta": 1.0, "lam": 0.5}
    assert sn.sample(**parameters, n_parties=3) != 0
    for refused, error in [(3.0, "n_parties must be an integer, got 3.0"), (True, "n_parties must be an integer, got True")]:
        for _ in range(2):
            with pytest.raises(sn.ParameterTypeError, match=f"^{error}$"):
                sn.sample(**parameters, n_parties=refused)


@pytest.mark.parametrize("eps", [True, float("nan"), 0, -1.0, "1", 10**400])
def test_refused_parameters_stay_refused(eps):
    sn.sample(3, 1)
    texts = {result(lambda rng: sn.sample(3, eps, rng=rng)) for _ in range(3)}
    assert texts == {result(lambda rng: sn.Staircase(eps, sensitivity=1).sample(3, rng=rng))}
    assert next(iter(texts))[0] in (sn.ParameterError, sn.ParameterTypeError)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_mechanism_tells_zeros_apart(row):
    """Only the zeros are equal yet different numbers of one type. No mechanism distinguishes them, so caching is safe."""
    arguments = next(example.arguments for example in row.examples if not example.by)
    for name, value in arguments.items():
        for zero in (0.0, -0.0):
            if (row.name, name) == ("discrete_canonical", "delta"):
                # Both zeros are the same δ.
                assert repr(row.load()(**{**arguments, name: zero}).delta) == "0.0"
            elif isinstance(value, (int, float)):
                with pytest.raises((sn.ParameterError, sn.ParameterTypeError)):
                    row.load()(**{**arguments, name: zero})
    if row.name == "truncated_laplace":
        for name in ("lower", "upper"):
            with pytest.raises(sn.ParameterError, match=rf"^{name} must be at "):
                sn.TruncatedLaplace(1.0, 0.4, **{name: 0.0})
