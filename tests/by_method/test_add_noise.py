"""Noise for lists of arrays: `add_noise`.

Evidence: sums by exact rationals, of the noise that `Gaussian.sample` draws from the same seed.
"""

import math
import sys
import tracemalloc
from collections import OrderedDict
from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import arrays as module
from tests.oracles.release import FORMATS as OF_THE_CONTRACT
from tests.oracles.release import nearest

STD = 0.3
# Bits, log2 of the least number, log2 of the overflow.
FORMATS = {**OF_THE_CONTRACT, "float16": (11, -24, 16), "bfloat16": (8, -133, 128)}
SEEDED = {"seed": 11, "allow_release": True}


def noise(std):
    return sn.Gaussian(std=std)


def expected(values, std, first=0, dtype=np.float64):
    """Return the noisy values, each rounded once."""
    mechanism = noise(std)
    g = Fraction(mechanism.granularity)
    drawn = mechanism.sample(values.size, rng=sn.SeededRng(SEEDED["seed"]).at(first))
    sums = [
        (math.floor(Fraction(float(x)) / g + Fraction(1, 2)) + Fraction(float(z)) / g) * g
        for x, z in zip(values.ravel(), drawn, strict=True)
    ]
    return np.array([nearest(total, *FORMATS[np.dtype(dtype).name]) for total in sums]).astype(dtype).reshape(values.shape)


def layers(dtype=np.float64):
    """Return arrays of many shapes and strides."""
    draw = np.random.default_rng(3)
    return [
        np.asarray(draw.normal(0, 2, shape)).astype(dtype)
        for shape in [(), (3,), (0,), (2, 3, 4), (1, 1), (5000,), (70, 1000), (2,)]
    ] + [
        np.asfortranarray(draw.normal(size=(20, 30)).astype(dtype)),
        draw.normal(size=(6, 8)).astype(dtype)[::2, ::-3],
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("std", [STD, 1e-9, 3e5])
def test_sums_are_exact_and_rounded_once(dtype, std):
    before = [np.array([0.5, -3.0, 0.0]), np.array(7.25), np.linspace(-30, 30, 200), np.array([[6e4], [1e-7]])]
    before = [array.astype(dtype) for array in before]
    after = sn.add_noise(before, std, rng=sn.SeededRng(**SEEDED))
    first = 0
    for array, noisy in zip(before, after, strict=True):
        assert type(noisy) is np.ndarray
        assert noisy.dtype == dtype
        want = expected(array, std, first, dtype)
        assert noisy.tobytes() == want.tobytes()
        first += array.size


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("long", [module._LONG, 1, 10**6])
@pytest.mark.parametrize("block", [module._BLOCK, 7, 1])
def test_arrays_take_one_fill_one_after_the_other(dtype, long, block, monkeypatch):
    monkeypatch.setattr(module, "_LONG", long)
    monkeypatch.setattr(module, "_BLOCK", block)
    before = layers(dtype) if block > 10 else layers(dtype)[:5] + layers(dtype)[-2:]
    rng = sn.SeededRng(**SEEDED)
    noisy = sn.add_noise(before, STD, rng=rng)
    assert rng._stream.fill_count == 1
    flat = np.concatenate([array.ravel() for array in before])
    if dtype is np.float16:
        wanted = noise(STD).release(flat.astype(np.float64), rng=sn.SeededRng(**SEEDED)).astype(np.float16)
    else:
        wanted = noise(STD).release(flat, rng=sn.SeededRng(**SEEDED))
    assert np.array_equal(np.concatenate([array.ravel() for array in noisy]), wanted)
    assert [array.shape for array in noisy] == [array.shape for array in before]
    # The same in place, into other dtypes, and under keys.
    copies = [array.copy() if array.flags.c_contiguous else np.array(array, order="K") for array in before]
    copies[-1] = np.zeros((6, 8), dtype)[::2, ::-3]
    copies[-1][...] = before[-1]
    assert sn.add_noise(copies, STD, out=copies, rng=sn.SeededRng(**SEEDED)) is copies
    assert all(map(np.array_equal, copies, noisy))
    named = OrderedDict((f"layer {number}", array) for number, array in enumerate(before))
    wide = {key: np.empty(array.shape) for key, array in reversed(named.items())}
    assert sn.add_noise(named, STD, out=wide, rng=sn.SeededRng(**SEEDED)) is wide
    assert all(np.array_equal(wide[key].astype(dtype), array) for key, array in zip(named, noisy, strict=True))
    assert list(sn.add_noise(named, STD)) == list(named)


def test_dtypes_of_one_list_may_differ():
    before = [np.ones(3, np.float32), np.ones(3), np.ones((2, 2), np.float16), np.ones(5000, np.float32), np.ones(4)]
    noisy = sn.add_noise(tuple(before), STD, rng=sn.SeededRng(**SEEDED))
    assert isinstance(noisy, tuple)
    first = 0
    for array, after in zip(before, noisy, strict=True):
        assert after.tobytes() == expected(array, STD, first, array.dtype.type).tobytes()
        first += array.size


def test_threads_do_not_change_values():
    long = (
        np.linspace(-1, 1, 2**18 + 5, dtype=np.float32).reshape(3, -1) if (2**18 + 5) % 3 == 0 else np.ones(2**18 + 5, np.float32)
    )
    one, two = (sn.add_noise([long, np.ones(3)], STD, threads=n, rng=sn.SeededRng(**SEEDED)) for n in (1, 2))
    assert all(map(np.array_equal, one, two))
    assert np.std(one[0]) == pytest.approx(math.hypot(np.std(long), STD), rel=0.01)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_sums_beyond_the_dtype_become_its_largest_number(dtype):
    largest = np.finfo(dtype).max
    noisy = sn.add_noise([np.full(200, largest), np.full(200, -largest)], float(largest) / 100, rng=sn.SeededRng(**SEEDED))
    assert noisy[0].max() == largest
    assert noisy[1].min() == -largest
    tiny = sn.add_noise(np.zeros(200, dtype), float(np.finfo(dtype).smallest_subnormal) / 32)
    assert not tiny.any()
    assert not np.signbit(tiny).any()


def test_a_single_array_and_nothing_at_all():
    array = np.zeros((2, 3), np.float32)
    assert sn.add_noise(array, STD).shape == (2, 3)
    assert sn.add_noise(array, STD, out=array) is array
    assert array.all()
    scalar = sn.add_noise(np.zeros(()), STD)
    assert isinstance(scalar, np.ndarray)
    assert scalar != 0
    assert sn.add_noise([], STD) == []
    assert sn.add_noise({}, STD) == {}


def test_a_numpy_scalar_counts_as_an_array_of_no_axes():
    arrays = [np.zeros(3), np.array(1, np.float32) + np.array(1, np.float32), np.float16(2), np.float64(3)]
    assert isinstance(arrays[1], np.generic)
    noisy = sn.add_noise(arrays, STD, rng=sn.SeededRng(**SEEDED))
    as_arrays = sn.add_noise([np.asarray(one) for one in arrays], STD, rng=sn.SeededRng(**SEEDED))
    for one, other, given in zip(noisy, as_arrays, arrays, strict=True):
        assert isinstance(one, np.ndarray)
        assert (one.shape, one.dtype, one.tolist()) == (given.shape, given.dtype, other.tolist())
    assert sn.add_noise(np.float32(1), STD).shape == ()
    assert sn.add_noise([np.int64(7)], STD, integers="keep") == [7]
    places = [np.zeros(3), *(np.zeros((), np.float32) for _ in range(3))]
    assert sn.add_noise(arrays, STD, out=places) is places
    assert all(place.all() for place in places)
    for call in (lambda: sn.add_noise(arrays, STD, out=arrays), lambda: sn.add_noise(places, STD, out=arrays)):
        with pytest.raises(sn.ParameterTypeError, match=r"array 1 of (arrays|out) must be a NumPy array or lend its memory"):
            call()
    with pytest.raises(sn.ParameterError, match=r"array 0$"):
        sn.add_noise([np.float32(np.nan)], STD)


def test_integers_are_refused_or_kept():
    state = {"weight": np.zeros(3), "batches": np.array(7), "mask": np.array([True, False])}
    with pytest.raises(sn.ParameterError, match=r'array 1 of arrays must have dtype .* got int64; integers="keep" copies it'):
        sn.add_noise(state, STD)
    noisy = sn.add_noise(state, STD, integers="keep")
    assert noisy["weight"].all()
    assert noisy["batches"] == 7
    assert noisy["batches"] is not state["batches"]
    assert noisy["mask"].tolist() == [True, False]
    assert sn.add_noise(state, STD, out=state, integers="keep") is state
    assert state["batches"] == 7
    state["mask"].flags.writeable = False
    again = {**state, "the same": state["batches"]}
    assert sn.add_noise(again, STD, out=again, integers="keep") is again
    out = {"weight": np.zeros(3), "batches": np.array(0), "mask": np.array([True, True])}
    sn.add_noise(state, STD, out=out, integers="keep")
    assert out["batches"] == 7
    assert out["mask"].tolist() == [True, False]
    with pytest.raises(sn.ParameterError, match="must have dtype int64, got int32"):
        sn.add_noise(state, STD, out={**out, "batches": np.array(0, np.int32)}, integers="keep")
    with pytest.raises(sn.ParameterError, match="integers must be"):
        sn.add_noise(state, STD, integers="skip")


BAD = {
    "nan": (lambda: [np.ones(3), np.array([[1.0, np.nan]])], r"array 1 at index \(0, 1\)"),
    "infinity": (lambda: [np.ones(3, np.float16), np.array(-np.inf, np.float16)], "array 1$"),
    "late": (
        lambda: [np.ones(70000, np.float32), np.array([*[1] * 140_000, np.inf], np.float16)],
        r"array 1 at index \(140000,\)",
    ),
    "long": (lambda: [np.ones(5), np.array([*[1] * 9999, np.nan])], r"array 1 at index \(9999,\)"),
    "joined": (lambda: [np.ones(5), np.array([[1, 2], [3, np.nan], [5, 6]]), np.ones(3)], r"array 1 at index \(1, 1\)"),
    "large": (lambda: [np.ones(2), np.array([1e38])], r"below 2\*\*126 times the granularity .* array 1 at index \(0,\)"),
    "text": (lambda: [np.ones(2), np.array(["secret"])], "array 1 of arrays must have dtype .*, got <U6"),
    "object": (lambda: [np.array([1.0, None])], "array 0 of arrays must have dtype"),
    "complex": (lambda: [np.ones(2, complex)], "array 0 of arrays must have dtype .* got complex128"),
    "long double": (lambda: [np.ones(2, np.longdouble)], "array 0 of arrays must have dtype"),
    "other order of bytes": (lambda: [np.ones(2, ">f4")], "array 0 of arrays must have dtype .* got >f4"),
    "number": (lambda: [1.5], "array 0 of arrays must be a NumPy array or lend its memory"),
    "masked": (lambda: [np.ma.array([1.0])], "array 0 of arrays must not be a masked array"),
}


@pytest.mark.parametrize(("make", "text"), BAD.values(), ids=BAD)
def test_nothing_is_written_before_all_arrays_are_checked(make, text, rng):
    arrays = make()
    copies = [np.array(array) for array in arrays]
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=text) as caught:
        sn.add_noise(arrays, 1e-9 if "126" in text else STD, out=arrays, rng=sn.SeededRng(**SEEDED))
    assert "secret" not in str(caught.value)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_refused_call_takes_no_fill():
    rng = sn.SeededRng(**SEEDED)
    with pytest.raises(sn.ParameterError, match="array 0 at index"):
        sn.add_noise([np.array([np.nan])], STD, rng=rng)
    assert rng._stream.fill_count == 0
    with pytest.raises(sn.ParameterError, match="rng must be a SecureRng"):
        sn.add_noise([np.ones(2)], STD, rng=sn.SeededRng(1))
    with pytest.raises(sn.ParameterTypeError, match="KeyedRng belongs to labels"):
        sn.add_noise([np.ones(2)], STD, rng=sn.KeyedRng(bytes(32), "r"))


@pytest.mark.parametrize("std", [0, -1, math.inf, math.nan, 2.0**993, 5e-324])
def test_the_standard_deviation_must_fit(std):
    with pytest.raises(sn.ParameterError, match="std must be"):
        sn.add_noise([np.ones(2)], std)
    assert np.isfinite(sn.add_noise([np.ones(2)], 2.0**992)[0]).all()
    assert np.isfinite(sn.add_noise([np.ones(2) * 1e-310], 2.0**-1042)[0]).all()


def frozen():
    array = np.zeros(4)
    array.flags.writeable = False
    return array


WHOLE = np.zeros((8, 8))
OUT = {
    "read-only": (lambda: ([np.ones(4)], [frozen()]), "array 0 of out must be writable"),
    "fewer": (lambda: ([np.ones(4), np.ones(4)], [np.ones(4)]), "as many arrays"),
    "other keys": (lambda: ({"a": np.ones(4)}, {"b": np.ones(4)}), "same keys"),
    "list for dict": (lambda: ({"a": np.ones(4)}, [np.ones(4)]), "same keys"),
    "shape": (lambda: ([np.ones(4)], [np.ones((4, 1))]), "array 0 of out must have the shape"),
    "dtype": (lambda: ([np.ones(4)], [np.ones(4, complex)]), "array 0 of out must have dtype"),
    "twice": (lambda: ([np.ones(8), np.ones(8)], [WHOLE[0], WHOLE[0]]), "arrays 0 and 1 that do"),
    "overlap": (lambda: ([np.ones(8), np.ones((8, 8))], [WHOLE[3], WHOLE]), "arrays 0 and 1 that do"),
    "crossed": (lambda: ([np.ones(8), WHOLE[2]], [WHOLE[2], np.ones(8)]), "arrays 0 and 1 that do"),
    "moved": (lambda: ([WHOLE.ravel()[:-1]], [WHOLE.ravel()[1:]]), "arrays 0 and 0 that do"),
    "stride of 0": (lambda: ([np.ones(4)], [np.lib.stride_tricks.as_strided(WHOLE, (4,), (0,))]), "must not overlap itself"),
}


@pytest.mark.parametrize(("make", "text"), OUT.values(), ids=OUT)
def test_outputs_that_cannot_be_written(make, text):
    arrays, out = make()
    WHOLE[...] = 0
    with pytest.raises(sn.ParameterError, match=text):
        sn.add_noise(arrays, STD, out=out)
    assert not WHOLE.any()


def test_one_array_twice_is_refused_and_columns_are_not():
    one = np.zeros(4)
    arrays = [one, np.zeros(4), one]
    with pytest.raises(sn.ParameterError, match="arrays 0 and 2 that do"):
        sn.add_noise(arrays, STD, out=arrays)
    assert not one.any()
    tied = sn.add_noise([one, one], STD)
    assert (tied[0] != tied[1]).all()
    table = np.zeros((5, 3))
    columns = list(table.T)
    sn.add_noise(columns, STD, out=columns)
    assert table.all()


class Tensor:
    """An array of another library that lends its memory by DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_tensors_of_other_libraries_are_written_in_place():
    tensors = [Tensor(np.zeros((2, 2), np.float32)), Tensor(np.zeros(3))]
    assert sn.add_noise(tensors, STD, out=tensors) is tensors
    assert all(tensor.array.all() for tensor in tensors)
    assert all(type(array) is np.ndarray for array in sn.add_noise(tensors, STD))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_call_says_what_it_has_not_written(kind, monkeypatch):
    arrays = [np.zeros(5000), np.zeros(5000), np.zeros(5000)]

    def interrupted(batch, *arguments, write=module._Batch.write):
        if batch.parts[0].number == 1:
            raise kind
        write(batch, *arguments)

    monkeypatch.setattr(module._Batch, "write", interrupted)
    with pytest.raises(kind) as caught:
        sn.add_noise(arrays, STD, out=arrays)
    assert caught.value.__notes__ == ["add_noise ended while it wrote: arrays from number 1 on may be without noise"]
    assert [array.any() for array in arrays] == [True, False, False]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("dtype", "most"), [(np.float32, 2**19), (np.float64, 2**19), (np.float16, 2**22)])
def test_long_arrays_need_no_copies(dtype, most, threads):
    long = [np.ones(2**20, dtype), np.ones((2**10, 2**10), dtype).T]
    sn.add_noise(long, STD, out=long)
    tracemalloc.start()
    sn.add_noise(long, STD, out=long, threads=threads)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < most


def test_bfloat16_is_rounded_once():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = ml_dtypes.bfloat16
    before = [np.linspace(-3, 3, 3000).astype(kind), np.array(1, kind)]
    noisy = sn.add_noise(before, STD, rng=sn.SeededRng(**SEEDED))
    for array, after, first in zip(before, noisy, (0, 3000), strict=True):
        assert after.dtype == kind
        assert after.tobytes() == expected(array, STD, first, kind).tobytes()
    ties = np.array([1 + 2**-8, 1 + 2**-8 + 2**-40, 1 + 3 * 2**-8 - 2**-40, 2.0**300, -(2.0**-300)])
    got = module._of_two_bytes(ties, np.dtype(kind)).astype(np.float64)
    assert got.tolist() == [1, 1 + 2**-7, 1 + 2**-7, 2.0**128 - 2.0**120, 0]
    assert not np.signbit(got[-1])
