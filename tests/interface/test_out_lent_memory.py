"""If ``out`` or ``values`` is memory of another library, it is filled in place and returned, or refused untouched.

Evidence: equality with NumPy arrays. Torch, JAX and PyArrow are used if they are installed; a class of this file
lends by DLPack what these libraries do not, such as memory of another device.
"""

import array
import contextlib
import ctypes
import mmap
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from stairnoise._memory import lent_memory
from tests.examples import mechanisms_of_numbers
from tests.interface.canaries import NUMBER, leaks

DLPACK_SAYS_WRITABLE = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
N = 6
ROOT = Path(__file__).resolve().parents[2]


class Lender:
    """An object that offers an array's memory by DLPack and has no other feature of an array."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


class Copier(Lender):
    """A lender that always lends a copy."""

    def __dlpack__(self, **options):
        return self.array.copy().__dlpack__(**options)


class Raising(Lender):
    """A lender whose errors show the content."""

    def __dlpack__(self, **options):
        raise RuntimeError(f"cannot lend {self.array}")

    def __dlpack_device__(self):
        raise RuntimeError(f"cannot lend {self.array}")


def of_dlpack(dtype):
    if not DLPACK_SAYS_WRITABLE:
        pytest.skip("this NumPy treats all DLPack memory as read-only, and a Lender has no __array__")
    return Lender(np.zeros(N, dtype))


def of_torch(dtype):
    return pytest.importorskip("torch").zeros(N, dtype=getattr(pytest.importorskip("torch"), np.dtype(dtype).name))


def of_torch_strided(dtype):
    torch = pytest.importorskip("torch")
    return torch.zeros(N, 3, dtype=getattr(torch, np.dtype(dtype).name))[:, 1]


def of_arrow(dtype):
    arrow = pytest.importorskip("pyarrow")
    return memoryview(arrow.allocate_buffer(N * np.dtype(dtype).itemsize)).cast(np.dtype(dtype).char)


LENDERS = {
    "array.array": lambda dtype: array.array(np.dtype(dtype).char, bytes(N * np.dtype(dtype).itemsize)),
    "bytearray": lambda dtype: memoryview(bytearray(N * np.dtype(dtype).itemsize)).cast(np.dtype(dtype).char),
    "strided memoryview": lambda dtype: memoryview(bytearray(2 * N * np.dtype(dtype).itemsize)).cast(np.dtype(dtype).char)[::2],
    "memoryview of an array": lambda dtype: memoryview(np.zeros(N, dtype)),
    "ctypes": lambda dtype: (np.ctypeslib.as_ctypes_type(dtype) * N)(),
    "mmap": lambda dtype: memoryview(mmap.mmap(-1, N * np.dtype(dtype).itemsize)).cast(np.dtype(dtype).char),
    "DLPack": of_dlpack,
    "Torch": of_torch,
    "Torch, strided": of_torch_strided,
    "PyArrow buffer": of_arrow,
}
each_lender = pytest.mark.parametrize("lender", LENDERS.values(), ids=LENDERS)


def content(lender):
    """Return the memory's content, read by the lender's own means and not by the package."""
    if isinstance(lender, Lender):
        return lender.array.copy()
    return np.array(lender.tolist() if hasattr(lender, "tolist") else list(lender))


def set_content(lender, numbers):
    lender = lender.array if isinstance(lender, Lender) else lender
    for place, number in enumerate(numbers):
        lender[place] = number


def seeded():
    return sn.SeededRng(5, allow_release=True)


def mechanisms_and_dtypes():
    for mechanism in mechanisms_of_numbers():
        for dtype in ("int64", "int32", "float64") if mechanism._integers else ("float64", "float32"):
            yield mechanism, dtype


@each_lender
def test_noise_of_every_mechanism_is_drawn_in_place(lender):
    for mechanism, dtype in mechanisms_and_dtypes():
        out = lender(dtype)
        expected = mechanism.sample(N, dtype=dtype, rng=seeded())
        assert mechanism.sample(out=out, rng=seeded()) is out
        assert np.array_equal(content(out), expected), mechanism


@each_lender
def test_every_mechanism_releases_in_place(lender):
    answers = np.arange(N) * 3
    for mechanism, dtype in mechanisms_and_dtypes():
        for values in (answers, answers * 1.0, None):
            out = lender(dtype)
            set_content(out, answers.tolist())
            expected = mechanism.release(
                answers.astype(dtype) if values is None else values, out=np.zeros(N, dtype), rng=seeded()
            )
            assert mechanism.release(out if values is None else values, out=out, rng=seeded()) is out
            assert np.array_equal(content(out), expected), mechanism


@pytest.mark.parametrize("kind", ["memoryview", "ctypes", "Torch"])
def test_several_axes_and_vectors(kind):
    def make(dtype="float64"):
        if kind == "memoryview":
            return memoryview(bytearray(48)).cast("B").cast("d", (2, 3))
        if kind == "ctypes":
            return ((ctypes.c_double * 3) * 2)()
        return pytest.importorskip("torch").zeros(3, 2, dtype=pytest.importorskip("torch").float64).T

    for mechanism in (
        sn.Laplace(1.0, sensitivity=1),
        sn.Laplace([1.0, 2.0, 3.0], sensitivity=1),
        sn.MultivariateStaircase(1.0, dim=3, sensitivity=1),
    ):
        out, values = make(), np.arange(6.0).reshape(2, 3)
        assert mechanism.sample(out=out, rng=seeded()) is out
        assert np.array_equal(np.asarray(out), mechanism.sample(out=np.zeros((2, 3)), rng=seeded()))
        assert mechanism.release(values, out=out, rng=seeded()) is out
        assert np.array_equal(np.asarray(out), mechanism.release(values, rng=seeded()))
    with pytest.raises(sn.ParameterError, match=r"^out must have a last axis of length dim = 4, got shape \(2, 3\)$"):
        sn.MultivariateStaircase(1.0, dim=4, sensitivity=1).sample(out=make())
    with pytest.raises(sn.ParameterError, match=r"^out must have shape \(3,\), as size asks, got \(2, 3\)$"):
        sn.Laplace(1.0, sensitivity=1).sample(3, out=make())


@each_lender
def test_the_function_array_parameters_and_selections(lender):
    eps = np.linspace(0.5, 3, N)
    out = lender("float64")
    assert sn.sample(N, eps, out=out, rng=seeded()) is out
    assert np.array_equal(content(out), sn.sample(N, eps, rng=seeded()))
    assert sn.sample(None, 2.0, out=out, rng=seeded()) is out
    assert np.array_equal(content(out), sn.sample(N, 2.0, rng=seeded()))
    chosen, costs, mechanism = lender("int64"), np.arange(4.0 * N).reshape(N, 4) % 5, sn.ExponentialMechanism(1.0, sensitivity=1)
    for call in (mechanism.select, mechanism.sample):
        assert call(costs, out=chosen, rng=seeded()) is chosen
        assert np.array_equal(content(chosen), call(costs, rng=seeded()))


def test_parameters_may_lie_in_the_memory_that_is_filled():
    eps = array.array("d", [0.5, 1.0, 2.0])
    expected = sn.sample(None, np.array(eps), rng=seeded())
    for given in (eps, np.frombuffer(eps)):
        eps[:] = array.array("d", [0.5, 1.0, 2.0])
        sn.sample(None, given, out=eps, rng=seeded())
        assert eps.tolist() == expected.tolist()


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 3, 6])
def test_values_that_share_memory_with_out(shift):
    memory = bytearray(8 * 18)
    whole = memoryview(memory).cast("d")
    out, values = whole[6:12], whole[6 + shift : 12 + shift]
    set_content(values, range(6))
    expected = sn.Laplace(1.0, sensitivity=1).release(np.arange(6.0), rng=seeded())
    sn.Laplace(1.0, sensitivity=1).release(values, out=out, rng=seeded())
    assert out.tolist() == expected.tolist()


# Values


@each_lender
@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
def test_values_are_read_from_lent_memory(lender, dtype):
    values = lender(dtype)
    set_content(values, range(N))
    for mechanism in mechanisms_of_numbers():
        released = mechanism.release(values, rng=seeded())
        expected = mechanism.release(np.arange(N, dtype=dtype), rng=seeded())
        assert type(released) is np.ndarray
        assert released.dtype == expected.dtype
        assert np.array_equal(released, expected), mechanism
        assert content(values).tolist() == list(range(N))


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
def test_arrays_of_jax_are_read_and_never_written():
    """The test runs in another process, because tests cannot fork once JAX is loaded."""
    program = "from tests.interface.test_out_lent_memory import jax_arrays; jax_arrays()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


def jax_arrays():
    import jax

    values = jax.numpy.arange(N, dtype="float32")
    mechanism, rng = sn.Laplace(1.0, sensitivity=1), seeded()
    assert np.array_equal(mechanism.release(values, rng=seeded()), mechanism.release(np.arange(N, dtype="float32"), rng=seeded()))
    for call in (lambda: mechanism.sample(out=values, rng=rng), lambda: mechanism.release(values, out=values, rng=rng)):
        with pytest.raises(sn.ParameterError, match=r"^out must be writable, got a read-only array$"):
            call()
    assert values.tolist() == list(range(N))
    assert rng._stream.fill_count == 0
    with pytest.raises(sn.ParameterTypeError, match=r"^values must be a real number or an array of real numbers, got .*bfloat16"):
        mechanism.release(jax.numpy.zeros(3, "bfloat16"))


# Refusals


def refusals():
    zeros = np.full(3, float(NUMBER))
    frozen = zeros.copy()
    frozen.flags.writeable = False
    swapped = np.dtype("f8").newbyteorder()
    yield memoryview(zeros.tobytes()).cast("d"), sn.ParameterError, "out must be writable, got a read-only array"
    yield memoryview(frozen), sn.ParameterError, "out must be writable, got a read-only array"
    yield (
        bytearray(zeros.tobytes()),
        sn.ParameterError,
        ('out must have dtype float64 or float32, got uint8; memoryview(out).cast("d") has float64, cast("q") int64'),
    )
    yield array.array("q", [NUMBER]), sn.ParameterError, "out must have dtype float64 or float32, got int64"
    yield memoryview(np.zeros(3, "e")), sn.ParameterError, "out must have dtype float64 or float32, got float16"
    yield memoryview(zeros.astype(swapped)), sn.ParameterError, f"out must have dtype float64 or float32, got {swapped}"
    yield (
        Lender(zeros.copy(), (2, 0)),
        sn.ParameterTypeError,
        (
            "out must lend its memory to NumPy (in the CPU's memory, strided, of a dtype of NumPy's), got a value of type Lender "
            "in the memory of another device (DLPack's type 2): copy it to the CPU first"
        ),
    )
    lent = "out must lend its memory to NumPy (in the CPU's memory, strided, of a dtype of NumPy's), got a value of type "
    yield Copier(zeros.copy()), sn.ParameterTypeError, lent + "Copier"
    yield Raising(zeros.copy()), sn.ParameterTypeError, lent + "Raising"
    if DLPACK_SAYS_WRITABLE:
        yield Lender(frozen), sn.ParameterError, "out must be writable, got a read-only array"
    yield Lender(np.zeros(3, bool)), sn.ParameterError, "out must have dtype float64 or float32, got bool"


REFUSED = list(refusals())


def raw(out):
    return out.array.tobytes() if isinstance(out, Lender) else bytes(out)


@pytest.mark.parametrize(("out", "error", "text"), REFUSED, ids=[f"{type(one[0]).__name__}-{i}" for i, one in enumerate(REFUSED)])
def test_refused_and_untouched(out, error, text, rng):
    before = raw(out)
    for call in (
        lambda: sn.Laplace(1.0, sensitivity=1).sample(out=out, rng=rng),
        lambda: sn.sample(None, 2.0, out=out, rng=rng),
        lambda: sn.Laplace(1.0, sensitivity=1).release(np.zeros(3), out=out, rng=rng),
    ):
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value) == text
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        assert not leaks(str(caught.value))
    assert raw(out) == before
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize("make", [lambda torch: torch.zeros(3, requires_grad=True), lambda torch: torch.nn.Linear(2, 2).weight])
def test_tensors_with_gradients_are_refused_by_name(make, rng):
    torch = pytest.importorskip("torch")
    out = make(torch)
    for name, call in {
        "out": lambda: sn.Laplace(1.0, sensitivity=1).sample(out=out, rng=rng),
        "values": lambda: sn.Laplace(1.0, sensitivity=1).release(out, rng=rng),
    }.items():
        with pytest.raises(sn.ParameterTypeError, match=rf"^{name} must .* that requires gradients: pass its detach\(\)$"):
            call()
    assert sn.Laplace(1.0, sensitivity=1).sample(out=out.detach()).shape == out.shape


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "bool", "complex64", "uint8"])
def test_tensors_of_other_types_are_refused(dtype, rng):
    torch = pytest.importorskip("torch")
    out = torch.zeros(3, dtype=getattr(torch, dtype))
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=r"^out must "):
        sn.Laplace(1.0, sensitivity=1).sample(out=out, rng=rng)
    assert not out.any()
    if dtype in ("bfloat16", "bool", "complex64"):
        with pytest.raises(sn.ParameterTypeError, match=r"^values must be a real number or an array of real numbers, got "):
            sn.Laplace(1.0, sensitivity=1).release(out, rng=rng)


def test_tensors_without_memory_of_their_own_are_refused(rng):
    torch = pytest.importorskip("torch")
    for out in (torch.zeros(3, device="meta"), torch.zeros(3).to_sparse(), torch.zeros(1).expand(4)):
        with pytest.raises(sn.StairnoiseError, match=r"^out must "):
            sn.Laplace(1.0, sensitivity=1).sample(out=out, rng=rng)
    assert rng._stream.fill_count == 0


def test_values_on_another_device_are_refused_by_name(rng):
    with pytest.raises(sn.ParameterTypeError, match=r"type Lender in the memory of another device \(DLPack's type 2\)"):
        sn.Laplace(1.0, sensitivity=1).release(Lender(np.zeros(3), (2, 0)), rng=rng)
    with pytest.raises(sn.ParameterTypeError) as caught:
        sn.Laplace(1.0, sensitivity=1).release(Raising(np.full(3, NUMBER)), rng=rng)
    assert not leaks(str(caught.value))


# Lifetimes


def test_lent_memory_is_given_back_after_the_call():
    """A lent bytearray cannot be resized. After a call, and after a refusal, it can be resized again."""
    memory = bytearray(8 * N)
    numbers = array.array("d", bytes(8 * N))
    sn.Laplace(1.0, sensitivity=1).sample(out=numbers)
    numbers.append(1.0)
    with contextlib.suppress(sn.ParameterError):
        sn.Laplace(1.0, sensitivity=1).sample(out=memory)
    memory.extend(b"1")
    mapped = mmap.mmap(-1, 8 * N)
    with memoryview(mapped) as view, view.cast("d") as out:
        sn.Laplace(1.0, sensitivity=1).sample(out=out)
    mapped.close()


def test_a_view_keeps_the_memory_alive_and_locked():
    numbers = array.array("d", bytes(8 * N))
    view = lent_memory(numbers)
    with pytest.raises(BufferError):
        numbers.append(1.0)
    del numbers
    view[:] = 1.0
    assert view.sum() == N


def test_memory_that_another_call_fills_is_refused_however_it_is_lent():
    """The borrow check compares addresses: one call has the memory as an ``array.array``, the other as a view of its bytes."""
    for _ in range(5):
        numbers = array.array("d", bytes(8 * 2**22))
        plain, end = np.frombuffer(numbers), memoryview(numbers)[-10:]
        thread = threading.Thread(target=lambda out: sn.DiscreteGaussian(1e6).sample(out=out, threads=1), args=[numbers])
        thread.start()
        while not plain[0]:
            pass
        found = [
            refusal(lambda end=end: sn.Laplace(1.0, sensitivity=1).sample(out=end)),
            refusal(lambda end=end: sn.Laplace(1.0, sensitivity=1).release(end, threads=1)),
        ]
        still = not plain[-1]
        thread.join()
        if still:
            break
    assert still, "the other call ended too early, five times"
    assert found == ["out must not be in use by another call", "values must not be written to by another call, nor overlap out"]


def refusal(call):
    try:
        call()
    except sn.ParameterError as error:
        return str(error)
    return None
