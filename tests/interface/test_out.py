"""``out``: which arrays are filled, and which are refused; a refusal changes nothing."""

import itertools
import math
from array import array

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import stairnoise as sn
from stairnoise._output import overlaps_itself

D = sn.Staircase(2.0, sensitivity=1)


def expected(shape, mechanism=D):
    return mechanism.sample(shape, rng=sn.SeededRng(5))


class Tagged(np.ndarray):
    """A subclass that changes nothing."""


def _packed_field():
    return np.zeros(6, np.dtype([("tag", "u1"), ("value", "f8")], align=False))["value"]


OUTS = {
    "contiguous": lambda: np.zeros(6),
    "matrix": lambda: np.zeros((2, 3)),
    "zero-dimensional": lambda: np.zeros(()),
    "empty": lambda: np.zeros(0),
    "empty, three axes": lambda: np.zeros((2, 0, 3)),
    "Fortran": lambda: np.zeros((3, 4), order="F"),
    "transposed": lambda: np.zeros((2, 3, 4)).transpose(1, 2, 0),
    "strided": lambda: np.zeros(12)[::2],
    "reversed": lambda: np.zeros(6)[::-1],
    "reversed in one axis": lambda: np.zeros((4, 6))[::-1, ::3],
    "inner axis strided": lambda: np.zeros((3, 8))[:, 1::3],
    "subclass": lambda: np.zeros(6).view(Tagged),
    "np.matrix": lambda: np.zeros((2, 3)).view(np.matrix),
    "record field, unaligned": _packed_field,
    "unaligned buffer": lambda: np.frombuffer(bytearray(49), np.uint8)[1:].view(np.float64),
    "interleaved strides": lambda: as_strided(np.zeros(9), (2, 2), (24, 16)),
    "one element, stride 0": lambda: as_strided(np.zeros(1), (1, 1), (0, 0)),
    "float32": lambda: np.zeros((2, 3), np.float32),
}


@pytest.mark.parametrize("kind", OUTS)
def test_filled_and_returned(kind):
    out = OUTS[kind]()
    assert D.sample(out=out, rng=sn.SeededRng(5)) is out
    assert np.array_equal(np.asarray(out), expected(out.shape).astype(out.dtype))


@pytest.mark.parametrize("kind", OUTS)
def test_filled_with_a_size_and_the_function(kind):
    out = OUTS[kind]()
    assert sn.sample(out.shape, 2.0, out=out, rng=sn.SeededRng(5)) is out
    assert np.array_equal(np.asarray(out), expected(out.shape).astype(out.dtype))


@pytest.mark.parametrize("kind", OUTS)
def test_filled_per_element(kind):
    out = OUTS[kind]()
    eps = np.linspace(0.5, 3, out.size).reshape(out.shape)
    mechanism = sn.Staircase(eps, sensitivity=1)
    mechanism.sample(out=out, rng=sn.SeededRng(5))
    assert np.array_equal(np.asarray(out), expected(out.shape, mechanism).astype(out.dtype))


def test_memory_around_a_strided_out_is_untouched():
    memory = np.full((6, 9), 7.5)
    D.sample(out=memory[1::2, ::-3], rng=sn.SeededRng(5))
    untouched = np.ones_like(memory, bool)
    untouched[1::2, ::-3] = False
    assert (memory[untouched] == 7.5).all()


def test_memmap(tmp_path):
    out = np.memmap(tmp_path / "noise.dat", np.float64, "w+", shape=(4, 5))
    assert D.sample(out=out, rng=sn.SeededRng(5)) is out
    out.flush()
    stored = np.fromfile(tmp_path / "noise.dat").reshape(4, 5)
    assert np.array_equal(stored, expected((4, 5)))


def test_out_takes_the_place_of_size_for_array_parameters(rng):
    mechanism = sn.Laplace([1.0, 2.0, 3.0], sensitivity=1)
    out = np.zeros((4, 3))
    assert mechanism.sample(out=out, rng=rng) is out
    assert (out != 0).all()


def _read_only():
    out = np.zeros(3)
    out.flags.writeable = False
    return out


def _broadcast():
    out = np.broadcast_to(np.zeros(1), (3,))
    return as_strided(np.zeros(1), out.shape, out.strides)


NOT_MEMORY = "out must be a NumPy array or lend its memory (DLPack, buffer protocol)"
REFUSED = [
    ([0.0, 0.0], sn.ParameterTypeError, f"{NOT_MEMORY}, got a value of type list"),
    (0.0, sn.ParameterTypeError, f"{NOT_MEMORY}, got a value of type float"),
    (bytearray(8), sn.ParameterError, "out must have dtype float64 or float32, got uint8"),
    (np.float64(0), sn.ParameterTypeError, f"{NOT_MEMORY}, got a value of type float64"),
    (np.ma.zeros(3), sn.ParameterTypeError, "out must not be a masked array"),
    (_read_only(), sn.ParameterError, "out must be writable, got a read-only array"),
    (np.broadcast_to(np.zeros(1), (3,)), sn.ParameterError, "out must be writable"),
    (np.zeros(3, np.int64), sn.ParameterError,
     "out must have dtype float64 or float32, got int64"),
    (np.zeros(3, np.float16), sn.ParameterError,
     "out must have dtype float64 or float32, got float16"),
    (np.zeros(3, complex), sn.ParameterError,
     "out must have dtype float64 or float32, got complex128"),
    (np.zeros(3, object), sn.ParameterError,
     "out must have dtype float64 or float32, got object"),
    (np.zeros(3, np.dtype("f8").newbyteorder()), sn.ParameterError,
     f"out must have dtype float64 or float32, got {np.dtype('f8').newbyteorder()}"),
    (_broadcast(), sn.ParameterError,
     "out must not overlap itself, got shape (3,) with strides (0,)"),
    (as_strided(np.zeros(4), (3, 2), (8, 8)), sn.ParameterError,
     "out must not overlap itself, got shape (3, 2) with strides (8, 8)"),
    (as_strided(np.zeros(4), (3,), (4,)), sn.ParameterError,
     "out must not overlap itself, got shape (3,) with strides (4,)"),
    (as_strided(np.zeros(9), (3, 2), (24, 48)), sn.ParameterError,
     "out must not overlap itself, got shape (3, 2) with strides (24, 48)"),
]  # fmt: skip


@pytest.mark.parametrize(("out", "error", "text"), REFUSED)
def test_refused_and_untouched(out, error, text, rng):
    before = np.array(out)
    for call in (
        lambda: D.sample(out=out, rng=rng),
        lambda: sn.sample(None, 2.0, out=out, rng=rng),
        lambda: D.release(np.zeros(np.shape(out)), out=out, rng=rng),
    ):
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value).startswith(text)
    assert np.array_equal(np.array(out), before)
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize("out", [np.zeros(8, np.uint8), np.zeros(3, np.int64), array("i", [0, 0])])
def test_only_lent_bytes_get_a_hint(out, rng):
    with pytest.raises(sn.ParameterError, match=r"^out must have dtype float64 or float32, got u?int\d+$"):
        D.sample(out=out, rng=rng)


@pytest.mark.parametrize(
    ("call", "dtypes"),
    [
        (lambda out: sn.DiscreteLaplace(1.0).sample(out=out), "int64, int32 or float64"),
        (lambda out: sn.Laplace(1.0, sensitivity=1).sample(out=out), "float64 or float32"),
        (lambda out: sn.StaircaseSelection(1.0, 1.0).select(np.zeros((3, 2)), out=out), "int64"),
    ],
)
def test_an_error_lists_all_dtypes_there_are(call, dtypes):
    with pytest.raises(sn.ParameterError, match=rf"^out must have dtype {dtypes}, got float16$"):
        call(np.zeros(3, np.float16))


@pytest.mark.parametrize("size", [3, (2, 2), (4, 1), ()])
def test_size_and_out_must_agree(size, rng):
    shape = size if isinstance(size, tuple) else (size,)
    with pytest.raises(sn.ParameterError) as caught:
        sn.sample(size, 2.0, out=np.zeros(4), rng=rng)
    assert str(caught.value) == f"out must have shape {shape}, as size asks, got (4,)"
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize(("have", "asked"), [("float64", "float32"), ("float32", "float64")])
def test_dtype_and_out_must_agree(have, asked, rng):
    out = np.zeros(4, have)
    with pytest.raises(sn.ParameterError) as caught:
        D.sample(out=out, dtype=asked, rng=rng)
    assert str(caught.value) == f"out and dtype must agree, got out of dtype {have} and dtype {asked}"
    assert D.sample(out=out, dtype=np.dtype(have), rng=rng) is out


def test_dtype_and_out_agree_by_value(rng):
    """A dtype with metadata equals NumPy's own dtype, but is another object."""
    out = np.zeros(4, np.dtype("f8", metadata={"unit": "m"}))
    assert D.sample(out=out, dtype="f8", rng=rng) is out


def test_parameters_must_broadcast_to_out(rng):
    with pytest.raises(sn.ParameterError) as caught:
        sn.Laplace([1.0, 2.0], sensitivity=1).sample(out=np.zeros(3), rng=rng)
    assert str(caught.value) == ("out must be a shape that the parameters, of shape (2,), broadcast to, got (3,)")


def test_parameters_may_be_the_memory_that_is_filled():
    eps = np.array([0.5, 1.0, 2.0])
    noise = sn.sample(None, eps.copy(), rng=sn.SeededRng(5))
    sn.sample(None, eps, out=eps, rng=sn.SeededRng(5))
    assert np.array_equal(eps, noise)


@pytest.mark.parametrize(
    ("shape", "strides", "overlaps"),
    [
        ((3,), (8,), False), ((3,), (-8,), False), ((3,), (0,), True), ((3,), (7,), True),
        ((2, 3), (24, 8), False), ((2, 3), (8, 16), False), ((2, 3), (16, 8), True),
        ((1, 3), (0, 8), False), ((0, 3), (0, 0), False), ((), (), False),
        ((2, 2), (24, 16), False), ((3, 2), (16, 24), False), ((3, 3), (16, 24), False),
        ((4, 3), (16, 24), True), ((2, 2), (-24, 16), False), ((2, 2), (20, 12), False),
        ((10**9, 10**9), (0, 8), True), ((2, 2, 2), (8, 16, 24), True),
        ((2, 2, 2), (8, 16, 32), False),
    ],
)  # fmt: skip
def test_overlaps_itself(shape, strides, overlaps):
    array = _Layout(shape, strides)
    assert overlaps_itself(array) is overlaps


def test_overlaps_itself_as_its_bytes_say():
    """Evidence: the byte positions of all elements, for two axes of up to three elements and strides of up to 40 bytes."""
    for shape in itertools.product((1, 2, 3), repeat=2):
        for strides in itertools.product(range(-12, 41, 4), repeat=2):
            firsts = sorted(sum(map(math.prod, zip(index, strides, strict=True))) for index in np.ndindex(shape))
            overlaps = any(after - before < 8 for before, after in itertools.pairwise(firsts))
            assert overlaps_itself(_Layout(shape, strides)) is overlaps, (shape, strides)


@pytest.mark.parametrize(
    ("shape", "strides", "overlaps"),
    [
        ((2**10, 2**45), (2**48, 8), False), ((2**45, 2**10), (8, 2**48), False), ((2**45, 2**10), (-8, 2**48), False),
        ((2**45, 2**10), (16, 2**49), False), ((2**45, 3), (24, 8), False), ((3, 1, 2**45), (8, 0, 24), False),
        ((2**45, 2), (8, 2**47), True), ((2**45, 2**10), (8, 0), True), ((2**45, 4), (8, 8), True),
    ],
)  # fmt: skip
def test_usual_layouts_need_no_list_of_their_elements(shape, strides, overlaps):
    """No memory could hold such a list."""
    assert overlaps_itself(_Layout(shape, strides)) is overlaps


class _Layout:
    """The layout of a float64 array that has no memory."""

    itemsize = 8

    def __init__(self, shape, strides):
        self.shape = shape
        self.strides = strides
        self.size = int(np.prod([float(n) for n in shape])) if shape else 1


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 has no such arrays")
def test_more_than_32_dimensions_are_refused_and_not_a_panic():
    """The extension's arrays have at most 32 dimensions."""
    out = np.zeros((1,) * 33)
    rng = sn.SeededRng(1, allow_release=True)
    for call in (
        lambda: sn.Laplace(1.0, sensitivity=1).sample(out=out, rng=rng),
        lambda: sn.Laplace(1.0, sensitivity=1).release(1.5, out=out, rng=rng),
    ):
        with pytest.raises(sn.ParameterError, match=r"^out must have at most 32 dimensions, got 33$"):
            call()
    assert rng._stream.fill_count == 0
    assert out.sum() == 0
