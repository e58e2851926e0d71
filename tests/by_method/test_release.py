"""``release``: input and output types, the lattice, the budget, and refusals that change nothing."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped

CONTINUOUS = [sn.Staircase(2, sensitivity=1), sn.Laplace(2, 3.0)]
DISCRETE = [sn.DiscreteStaircase(2, 5), sn.DiscreteLaplace(2, sensitivity=1)]
INT64 = np.iinfo(np.int64)


def seeded():
    return sn.SeededRng(4, allow_release=True)


@pytest.mark.parametrize("mechanism", DISCRETE, ids=repr)
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4"])
def test_integers_stay_integers_for_discrete_mechanisms(mechanism, dtype):
    values = np.array([0, 3, 100], dtype)
    released = mechanism.release(values, rng=seeded())
    assert released.dtype == np.dtype("=i8")
    noise = mechanism.sample(3, rng=seeded())
    assert np.array_equal(released, values.astype(np.int64) + noise)


@pytest.mark.parametrize("mechanism", DISCRETE, ids=repr)
@pytest.mark.parametrize(("dtype", "result"), [("f8", "f8"), ("f4", "f4"), ("f2", "f8")])
def test_floats_are_rounded_half_up_for_discrete_mechanisms(mechanism, dtype, result):
    values = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49, -0.51], dtype)
    rounded = [-2, -1, 0, 1, 2, 3, 0, -1]
    released = mechanism.release(values, rng=seeded())
    assert released.dtype == np.dtype(result)
    assert np.array_equal(released, mechanism.sample(8, rng=seeded()) + rounded)


@pytest.mark.parametrize("mechanism", CONTINUOUS, ids=repr)
@pytest.mark.parametrize(("dtype", "result"), [("i8", "f8"), ("u2", "f8"), ("f8", "f8"), ("f4", "f4"), (">f8", "f8")])
def test_continuous_mechanisms_give_floats(mechanism, dtype, result):
    released = mechanism.release(np.array([0, 3, 100], dtype), rng=seeded())
    assert released.dtype == np.dtype(result).newbyteorder("=")
    exact = mechanism.sample(3, rng=seeded()) + np.array([0, 3, 100])
    assert np.array_equal(released, exact.astype(released.dtype))


@pytest.mark.parametrize("mechanism", CONTINUOUS, ids=repr)
def test_results_are_lattice_points(mechanism):
    values = np.array([0.1, -1 / 3, 1e6 + 1e-9])
    steps = mechanism.release(values, rng=seeded()) / mechanism.granularity
    assert np.array_equal(steps, np.round(steps))


def test_wide_integers_reach_the_lattice_unrounded():
    """With steps of 2**20, 2**53 + 1 is just above a tie, which rounding to float64 would hide from the lattice."""
    mechanism = sn.Laplace(1.0, 2.0**90)
    step = mechanism.granularity
    assert step == 2.0**57
    noise = mechanism.sample(rng=seeded())
    below = 2**56 - 1  # floor(x/g + 1/2) = 0, though float64 rounds it to 2**56, which gives 1
    assert mechanism.release(below, rng=seeded()) == noise
    assert mechanism.release(below + 1, rng=seeded()) == noise + step


@pytest.mark.parametrize(
    ("mechanism", "value", "kind"),
    [
        (DISCRETE[0], 3, int), (DISCRETE[0], np.int8(3), int), (DISCRETE[0], np.array(3), int),
        (DISCRETE[1], 3.0, float), (DISCRETE[1], np.float32(3), float),
        (CONTINUOUS[0], 3, float), (CONTINUOUS[0], 3.0, float), (CONTINUOUS[1], np.array(3), float),
        (CONTINUOUS[1], Decimal("0.5"), float),
    ],
)  # fmt: skip
def test_scalar_in_scalar_out(mechanism, value, kind):
    assert type(mechanism.release(value, rng=seeded())) is kind


@pytest.mark.parametrize("values", [[1, 2, 3], (1, 2, 3), range(1, 4)])
def test_sequences(values):
    released = DISCRETE[0].release(values, rng=seeded())
    assert released.tolist() == DISCRETE[0].release(np.array([1, 2, 3]), rng=seeded()).tolist()


def test_mixed_lists_are_floats():
    assert DISCRETE[0].release([1, 2.0], rng=seeded()).dtype == np.float64


@pytest.mark.parametrize("shape", [(0,), (2, 0), (2, 3, 4)])
def test_shapes(shape):
    assert DISCRETE[0].release(np.zeros(shape, int), rng=seeded()).shape == shape


def test_strided_values_and_subclasses():
    values = np.arange(24).reshape(4, 6)
    plain = DISCRETE[0].release(values[::-2, ::3].copy(), rng=seeded())
    assert np.array_equal(DISCRETE[0].release(values[::-2, ::3], rng=seeded()), plain)
    matrix = DISCRETE[0].release(values[::-2, ::3].view(np.matrix), rng=seeded())
    assert type(matrix) is np.ndarray
    assert np.array_equal(matrix, plain)


def test_unaligned_values():
    record = np.zeros(5, np.dtype([("tag", "u1"), ("value", "f8")]))
    record["value"] = range(5)
    released = CONTINUOUS[0].release(record["value"], rng=seeded())
    assert np.array_equal(released, CONTINUOUS[0].release(np.arange(5.0), rng=seeded()))


def test_values_broadcast_against_parameters():
    mechanism = sn.DiscreteLaplace([[1.0], [2.0]], sensitivity=1)
    released = mechanism.release([10, 20, 30], rng=seeded())
    assert np.array_equal(released, mechanism.sample((2, 3), rng=seeded()) + np.array([10, 20, 30]))
    assert mechanism.release(7, rng=seeded()).shape == (2, 1)
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.release(np.zeros((3, 2)), rng=seeded())
    assert str(caught.value) == ("values must have a shape that broadcasts with the parameters, of shape (2, 1), got (3, 2)")


@pytest.mark.parametrize("mechanism", DISCRETE, ids=repr)
def test_ends_of_int64_saturate(mechanism):
    values = np.array([INT64.max, INT64.min] * 50)
    released = mechanism.release(values, rng=seeded())
    noise = mechanism.sample(100, rng=seeded())
    exact = [min(max(int(v) + int(x), INT64.min), INT64.max) for v, x in zip(values, noise, strict=True)]
    assert (noise > 0).any()
    assert released.tolist() == exact


def test_int32_out_saturates():
    out = np.zeros(3, np.int32)
    sn.DiscreteLaplace(50).release([2**40, -(2**40), 5], out=out, rng=seeded())
    assert out.tolist() == [2**31 - 1, -(2**31), 5]


# out


@pytest.mark.parametrize(
    ("mechanism", "values", "dtype"),
    [
        (CONTINUOUS[0], [1.5, 2], "f8"), (CONTINUOUS[0], [1.5, 2], "f4"),
        (CONTINUOUS[1], [1, 2], "f4"), (DISCRETE[0], [1, 2], "i8"), (DISCRETE[0], [1, 2], "i4"),
        (DISCRETE[0], [1, 2], "f8"), (DISCRETE[1], [1.5, 2], "i8"), (DISCRETE[1], [1.5, 2], "f4"),
    ],
)  # fmt: skip
def test_out_is_filled_and_returned(mechanism, values, dtype):
    out = np.zeros(2, dtype)
    assert mechanism.release(values, out=out, rng=seeded()) is out
    assert np.array_equal(out, mechanism.release(values, rng=seeded()).astype(dtype))


def test_zero_dimensional_out():
    out = np.zeros(())
    assert CONTINUOUS[0].release(3.0, out=out, rng=seeded()) is out
    assert out == CONTINUOUS[0].release(3.0, rng=seeded())


@pytest.mark.parametrize("shape", [(3,), (2, 1), ()])
def test_out_of_another_shape(shape):
    with pytest.raises(sn.ParameterError) as caught:
        CONTINUOUS[0].release([1.0, 2.0], out=np.zeros(shape), rng=seeded())
    assert str(caught.value) == (f"out must have shape (2,), the one that values and parameters broadcast to, got {shape}")


def test_out_of_another_dtype():
    for mechanism, rule in [
        (CONTINUOUS[0], "float64 or float32"),
        (DISCRETE[0], "int64, int32, float64 or float32"),
    ]:
        with pytest.raises(sn.ParameterError) as caught:
            mechanism.release([1, 2], out=np.zeros(2, np.int16), rng=seeded())
        assert str(caught.value) == f"out must have dtype {rule}, got int16"


@pytest.mark.parametrize(
    ("make", "view", "target"),
    [
        pytest.param(lambda: np.arange(60.0), np.s_[:], np.s_[:], id="in place"),
        pytest.param(lambda: np.arange(60.0), np.s_[::-1], np.s_[:], id="reversed"),
        pytest.param(lambda: np.arange(60.0), np.s_[:-1], np.s_[1:], id="shifted up"),
        pytest.param(lambda: np.arange(60.0), np.s_[1:], np.s_[:-1], id="shifted down"),
        pytest.param(lambda: np.arange(60.0), np.s_[:30], np.s_[::2], id="spread"),
        pytest.param(lambda: np.arange(60.0), np.s_[::2], np.s_[1::2], id="interleaved"),
        pytest.param(lambda: np.arange(64.0).reshape(8, 8), np.s_[:], np.s_[:], id="matrix in place"),
    ],
)
@pytest.mark.parametrize("mechanism", [*CONTINUOUS, *DISCRETE, sn.Laplace(np.array(2.0), sensitivity=1)], ids=repr)
def test_out_may_share_memory_with_values(make, view, target, mechanism):
    memory = make()
    expected = mechanism.release(memory[view].copy(), rng=seeded())
    mechanism.release(memory[view], out=memory[target], rng=seeded())
    assert np.array_equal(memory[target], expected)


def test_out_may_share_memory_of_another_width_or_type():
    memory = np.arange(60)
    expected = DISCRETE[0].release(memory.copy(), rng=seeded())
    DISCRETE[0].release(memory, out=memory.view(np.float64), rng=seeded())
    assert np.array_equal(memory.view(np.float64), expected)
    memory = np.arange(60.0)
    expected = CONTINUOUS[0].release(memory[:60].copy(), rng=seeded()).astype(np.float32)
    narrow = memory.view(np.float32)[:60]
    CONTINUOUS[0].release(memory, out=narrow, rng=seeded())
    assert np.array_equal(narrow, expected)


def test_broadcast_value_inside_out():
    memory = np.arange(10.0)
    expected = sn.Laplace(np.full(10, 2.0), sensitivity=1).release(memory[3], rng=seeded())
    sn.Laplace(np.full(10, 2.0), sensitivity=1).release(memory[3:4], out=memory, rng=seeded())
    assert np.array_equal(memory, expected)


# The budget


@looped("k", [1, 2, 3, np.int16(7), 1000])
@looped("mechanism", CONTINUOUS + DISCRETE)
def test_partitions_divide_the_budget(mechanism, k):
    share = mechanism.eps / int(k)
    if Fraction(share) * int(k) > mechanism.eps:
        share = float(np.nextafter(share, 0))
    less = type(mechanism)(share, *mechanism._arguments()[1:])
    released = mechanism.release([1, 2, 3], max_partitions_contributed=k, rng=seeded())
    assert np.array_equal(released, less.release([1, 2, 3], rng=seeded()))


def test_partitions_divide_each_budget():
    mechanism = sn.Laplace([1.0, 2.0], sensitivity=1)
    released = mechanism.release([1, 2], max_partitions_contributed=4, rng=seeded())
    assert np.array_equal(released, sn.Laplace([0.25, 0.5], sensitivity=1).release([1, 2], rng=seeded()))


@pytest.mark.parametrize(("k", "error"), [
    (0, sn.ParameterError), (-1, sn.ParameterError), (2**60, sn.ParameterError),
    (1.0, sn.ParameterTypeError), (True, sn.ParameterTypeError), ("1", sn.ParameterTypeError),
    (None, sn.ParameterTypeError), ([1, 2], sn.ParameterTypeError),
])  # fmt: skip
def test_bad_partitions(k, error):
    rng = seeded()
    with pytest.raises(error) as caught:
        DISCRETE[0].release([1], max_partitions_contributed=k, rng=rng)
    rule = "an integer" if error is sn.ParameterTypeError else "an integer from 1 to 2**53 - 1"
    assert str(caught.value) == f"max_partitions_contributed must be {rule}, got {k!r}"
    assert rng._stream.fill_count == 0


def test_partitions_that_leave_too_little():
    with pytest.raises(sn.ParameterError) as caught:
        DISCRETE[0].release([1], max_partitions_contributed=2**50, rng=seeded())
    assert str(caught.value).startswith(
        "max_partitions_contributed must leave an eps that the lattice holds, "
        "got 1125899906842624: eps and sensitivity must give a lattice"
    )


# Refusals

NOT_NUMBERS = [
    "3", None, 1j, True, [True], [1, True], ["3"], [None], b"3", {1: 2}, object(),
    datetime.datetime(2020, 1, 1), np.datetime64("2020-01-01"), np.array([1], "m8[s]"),
    np.array([1j]), np.array([True]), np.array(["3"]), np.array([1], object), [[1], [1, 2]],
]  # fmt: skip


# Names contain no addresses, so a test has the same name in every process.
@looped("values", NOT_NUMBERS)
@looped("mechanism", [CONTINUOUS[0], DISCRETE[0]])
def test_values_must_be_numbers(values, mechanism):
    rng = seeded()
    text = "values must be a real number or an array of real numbers, got "
    with pytest.raises(sn.ParameterTypeError, match=text):
        mechanism.release(values, rng=rng)
    assert rng._stream.fill_count == 0


def test_masked_values_are_refused():
    text = "values must not be a masked array: "
    with pytest.raises(sn.ParameterTypeError, match=text):
        DISCRETE[0].release(np.ma.array([1, 2], mask=[0, 1]), rng=seeded())


@looped("bad", [float("nan"), float("inf"), float("-inf")])
@looped("dtype", ["f8", "f4", "f2"])
@looped("mechanism", [*CONTINUOUS, *DISCRETE, sn.Laplace([1.0, 2.0, 3.0], sensitivity=1)])
def test_values_must_be_finite(bad, dtype, mechanism):
    rng = seeded()
    values = np.zeros((2, 4, 3), dtype)
    values[1, 2, 0] = values[1, 3, 1] = bad
    out = np.full(values.shape, 7.0)
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.release(values, out=out, rng=rng)
    assert str(caught.value) == "values must be finite, got one that is not at index (1, 2, 0)"
    assert (out == 7).all()
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize("mechanism", [CONTINUOUS[0], DISCRETE[0]], ids=repr)
@pytest.mark.parametrize("shape", [(3,), (2, 5), (1025,)])
def test_values_of_a_new_array_must_be_finite(mechanism, shape):
    """The extension reads arrays of up to 1024 values directly, and a longer array in another way."""
    rng, values = seeded(), np.zeros(shape)
    values.flat[2] = np.inf
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.release(values, rng=rng)
    assert str(caught.value) == f"values must be finite, got one that is not at index {tuple(map(int, np.argwhere(values)[0]))}"
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize("value", [float("nan"), np.float32("inf"), np.array(-np.inf)])
def test_scalar_must_be_finite(value):
    with pytest.raises(sn.ParameterError) as caught:
        DISCRETE[0].release(value, rng=seeded())
    assert str(caught.value) == "values must be finite, got one that is not"


def test_index_of_a_bad_value_is_the_callers():
    """The index refers to the caller's array, not to the shape to which values and parameters broadcast."""
    mechanism = sn.Laplace(np.ones((5, 1)), sensitivity=1)
    with pytest.raises(sn.ParameterError, match=r"values must be finite, got one that is not at index \(2,\)"):
        mechanism.release([0.0, 1.0, float("nan"), float("inf")], rng=seeded())


@pytest.mark.parametrize(
    ("values", "place"),
    [
        (2**63, ""),
        (-(2**63) - 1, ""),
        ([1, 2**63], " at index (1,)"),
        ([2**63, 1, -(2**64)], " at index (0,)"),
        ([-(2**63), 2**63 - 1, 2**63], " at index (2,)"),
        ([[1], [10**30]], " at index (1, 0)"),
        (np.array([1, 2**63], np.uint64), " at index (1,)"),
        (np.uint64(2**63), ""),
    ],
)
@pytest.mark.parametrize("mechanism", [CONTINUOUS[0], DISCRETE[0]], ids=repr)
def test_integers_must_fit_int64(values, place, mechanism):
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.release(values, rng=seeded())
    assert str(caught.value) == f"values must be within int64, got one that is not{place}"


def test_lists_that_float64_would_round_are_refused():
    with pytest.raises(sn.ParameterError) as caught:
        CONTINUOUS[0].release([0.5, 2**53 + 1], rng=seeded())
    assert str(caught.value) == ("values must be exactly representable in float64, got a value of type int at index (1,)")


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is float64 here")
@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: np.array([0, value])])
def test_long_doubles_must_be_exact(wrap):
    mechanism, half = CONTINUOUS[0], np.longdouble(0.5)
    assert np.array_equal(mechanism.release(wrap(half), rng=seeded()), mechanism.release(wrap(0.5), rng=seeded()))
    with pytest.raises(sn.ParameterError, match=r"^values must be exactly representable in float64, got "):
        mechanism.release(wrap(half / 3), rng=seeded())


@pytest.mark.parametrize("rng", [sn.SeededRng(1), sn.SeededRng(1, allow_release=False)])
def test_seeded_generators_are_refused(rng):
    out = np.full(2, 7)
    with pytest.raises(sn.ParameterError) as caught:
        DISCRETE[0].release([1, 2], out=out, rng=rng)
    assert str(caught.value) == (
        "rng must be a SecureRng for a release, because whoever guesses a seed can subtract the "
        "noise; in tests use SeededRng(seed, allow_release=True), got SeededRng(...)"
    )
    assert (out == 7).all()
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize("rng", [None, sn.SecureRng(), sn.SecureRng.from_key(bytes(32))])
def test_secure_generators_are_welcome(rng):
    assert sn.DiscreteLaplace(50).release([1, 2], rng=rng).tolist() == [1, 2]
