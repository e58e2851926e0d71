"""The extension by itself. Evidence: it refuses arguments that the package never passes, so no caller can make it read or write
foreign memory or draw from the wrong mechanism; a refused call consumes no fill.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import _native

MECHANISM = _native.staircase(1.0, 1.0, None)
VECTORS = _native.multivariate_staircase(1.0, 1.0, 2, 0.25, "l2")
CHOICE = _native.Selection.exponential(1.0, 1.0, False)


@pytest.fixture
def stream():
    fresh = _native.Stream.from_seed(1)
    yield fresh
    assert fresh.fill_count == 0


def test_names_of_mechanisms_shapes_and_norms():
    with pytest.raises(sn.ParameterError, match=r'^mechanism must be staircase, discrete_staircase, .*, got "normal"'):
        _native.check("normal", np.ones(3), np.ones(3), None)
    with pytest.raises(sn.ParameterError, match=r'^the shape must be "l1", "l2" or a number, got "l3"$'):
        _native.staircase(1.0, 1.0, "l3")
    with pytest.raises(sn.ParameterError, match=r'^norm must be "l1", "l2" or "linf", got "l3"$'):
        _native.multivariate_staircase(1.0, 1.0, 2, 0.25, "l3")


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_key_of_another_length(length):
    with pytest.raises(sn.ParameterError, match=rf"^key must be 32 bytes, got {length} bytes$"):
        _native.Stream.from_key(bytearray(length))


@pytest.mark.parametrize("k", [0, 2**53])
def test_a_number_of_parts_that_no_float_divides_exactly(k):
    with pytest.raises(sn.ParameterError, match=rf"^k must be from 1 to 2\*\*53 - 1, got {k}$"):
        _native.largest_quotient(1.0, k)


@pytest.mark.parametrize("dtype", ["int16", "complex128", "O", ">f8"])
def test_element_types(stream, dtype):
    """Byte order is part of the type, because swapped bytes are other numbers."""
    out, good = np.zeros(3, dtype), np.zeros(3)
    for call in (
        lambda: MECHANISM.fill(stream, out),
        lambda: VECTORS.fill(stream, out),
        lambda: MECHANISM.release(stream, good, out),
        lambda: VECTORS.release(stream, good, out),
    ):
        with pytest.raises(
            TypeError, match=r"^out must be an array of float64, float32, int64 or int32 in native byte order, got "
        ):
            call()
    assert (out == np.zeros(3, dtype)).all()
    for mechanism in (MECHANISM, VECTORS):
        with pytest.raises(TypeError, match=r"^values must be an array of float64 or int64 in native byte order, got "):
            mechanism.release(stream, out, good)
        for release in (mechanism.fast_release, mechanism.fast_release_whole, mechanism.fast_release_integers):
            assert release(stream, out, None) is None
            assert release(stream, good, out) is None
        for whole in (False, True):
            assert not mechanism.fast_fill(stream, out, whole)


def test_short_new_arrays_are_those_of_fills():
    for whole, dtype in ((False, np.float64), (True, np.int64)):
        mechanism = _native.discrete_laplace(1.0, 1.0) if whole else MECHANISM
        for n in (0, 1, 9, 63, 64, 1000, 1024):
            one, other = (_native.Stream.from_seed(n) for _ in range(2))
            found, out = mechanism.fast_sample(one, n, whole), np.empty(n, dtype)
            mechanism.fill(other, out)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, out)
            assert one.fill_count == other.fill_count
        assert mechanism.fast_sample(one, 1025, whole) is None
    dear = _native.multi_scale_discrete_laplace(1.0, 600.0, 1, 1)
    assert dear.fast_sample(one, 1, True).shape == (1,)
    assert dear.fast_sample(one, 3, True) is None


def test_shapes(stream):
    for mechanism in (MECHANISM, VECTORS):
        with pytest.raises(ValueError, match=r"^values must have the shape of out \[3\], got \[2\]$"):
            mechanism.release(stream, np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match=r"^sensitivity must have the shape of out \[3\], got \[2\]$"):
        _native.check("staircase", np.ones(3), np.ones(2), None)
    with pytest.raises(ValueError, match=r"^the shape must have the shape of out \[3\], got \[2\]$"):
        _native.check("staircase", np.ones(3), np.ones(3), np.ones(2))


def test_memory_in_use_or_read_only(stream):
    both, frozen = np.zeros(4), np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(sn.ParameterError, match=r"^values must not be written to by another call, nor overlap out$"):
        MECHANISM.release(stream, both[:3], both[1:])
    with pytest.raises(sn.ParameterError, match=r"^out must be writable, got a read-only array$"):
        MECHANISM.fill(stream, frozen)
    assert not both.any()
    assert not frozen.any()


def test_one_element_in_two_places(stream):
    """An axis of one element has no meaningful stride, which otherwise shows whether elements overlap."""
    memory = np.zeros(12, np.uint8)
    values, out = memory[:8].view(np.float64), memory[4:].view(np.float64)
    with pytest.raises(sn.ParameterError, match=r"^values must not be written to by another call, nor overlap out$"):
        MECHANISM.release(stream, values, out)
    assert not memory.any()


def test_rows_of_costs(stream):
    out = np.zeros(3, np.int64)
    with pytest.raises(ValueError, match=r"^costs must be contiguous along the last axis, and aligned$"):
        CHOICE.select(stream, np.zeros((3, 4))[:, ::2], out)
    with pytest.raises(ValueError, match=r"^costs must have candidates along the last axis$"):
        CHOICE.select(stream, np.zeros((3, 0)), out)
    with pytest.raises(ValueError, match=r"^the rows of costs must have the shape of out \[3\], got \[2\]$"):
        CHOICE.select(stream, np.zeros((2, 4)), out)
    with pytest.raises(ValueError, match=r"^costs must have the shape of out \[3\], got \[2\]$"):
        CHOICE.stairs(np.zeros(2), out)


@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="there are no huge pages")
def test_long_vectors_ask_for_huge_pages():
    """Evidence: what Linux says about the memory of a process that does nothing else. So long a vector has its own mapping."""
    code = """
        import re
        import numpy as np
        from stairnoise._native import Labels

        def advised():
            with open("/proc/self/smaps") as file:
                text = file.read()
            sizes, flags = (re.findall(rf"^{name}:(.*)$", text, re.M) for name in ("Size", "VmFlags"))
            return sum(int(size.split()[0]) for size, flag in zip(sizes, flags, strict=True) if "hg" in flag.split())

        numbers = np.arange(2**23)
        before = advised()
        labels = Labels.integers(numbers)
        print(advised() - before)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert int(done.stdout) >= 8 * 2**13 - 8
