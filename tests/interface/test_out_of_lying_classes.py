"""A subclass's own account of its memory is never used: noise is written to exactly the requested memory.

Evidence: equality with plain arrays.
"""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import stairnoise as sn
from tests.combinations import looped

TRUE = 1000.0


class Lying(np.ndarray):
    """A subclass whose every attribute and method about memory is wrong."""

    flags = property(lambda self: np.zeros(1).flags)
    strides = property(lambda self: np.zeros(np.ndarray.shape.__get__(self)).strides)
    shape = property(lambda self: (3,))
    size = property(lambda self: 3)
    ndim = property(lambda self: 1)
    dtype = property(lambda self: np.dtype(np.float64))
    itemsize = property(lambda self: 8)
    base = property(lambda self: None)
    data = property(lambda self: memoryview(bytearray(24)))
    T = property(lambda self: np.zeros(3))
    flat = property(lambda self: np.zeros(3).flat)
    ctypes = property(lambda self: np.zeros(3).ctypes)
    __array_interface__ = property(lambda self: np.zeros(3).__array_interface__)
    __array_struct__ = property(lambda self: np.zeros(3).__array_struct__)

    def __array_finalize__(self, origin):
        pass

    def _elsewhere(self, *args, **kwargs):
        return np.full(np.ndarray.shape.__get__(self), TRUE)

    __array__ = __getitem__ = copy = view = astype = ravel = reshape = __array_wrap__ = _elsewhere

    def __setitem__(self, where, what):
        pass

    def __array_function__(self, function, types, args, kwargs):
        return False

    def __array_ufunc__(self, *args, **kwargs):
        return self._elsewhere()

    def item(self, *args):
        return TRUE


SINGLE = ("flags", "strides", "shape", "dtype", "__array__", "__getitem__", "__setitem__", "copy", "view", "astype")
CLASSES = [Lying, *(type(f"of_{name}", (np.ndarray,), {name: Lying.__dict__[name]}) for name in SINGLE)]


def misaligned(n):
    return np.frombuffer(bytearray(8 * n + 1), np.uint8)[1:].view(np.float64)


MEMORY = {
    "aligned": lambda n: np.zeros(n),
    "misaligned": misaligned,
    "strided": lambda n: np.zeros(3 * n)[::3],
    "packed": lambda n: np.zeros(n, np.dtype([("tag", "u1"), ("value", "f8")]))["value"],
    "backwards": lambda n: np.zeros(n)[::-1],
}
N = 12


def seeded():
    return sn.SeededRng(5, allow_release=True)


LAPLACE, EACH, GAUSSIAN = (
    sn.Laplace(1.0, sensitivity=1),
    sn.Laplace(np.linspace(0.5, 1, N), sensitivity=1),
    sn.Gaussian(1.0, 1e-6, sensitivity=1),
)
VECTORS = sn.MultivariateStaircase(1.0, dim=N, sensitivity=1)
CALLS = {
    "sample": lambda out: LAPLACE.sample(out=out, rng=seeded()),
    "function": lambda out: sn.sample(None, 1.0, out=out, rng=seeded()),
    "array mechanism": lambda out: EACH.sample(out=out, rng=seeded()),
    "release": lambda out: LAPLACE.release(np.full(N, TRUE), out=out, rng=seeded()),
    "release of each": lambda out: EACH.release(np.full(N, TRUE), out=out, rng=seeded()),
    "k": lambda out: LAPLACE.release(np.full(N, TRUE), max_partitions_contributed=3, out=out, rng=seeded()),
    "Gaussian": lambda out: GAUSSIAN.release(np.full(N, TRUE), out=out, rng=seeded()),
    "vectors": lambda out: VECTORS.sample(out=out, rng=seeded()),
    "release of vectors": lambda out: VECTORS.release(np.full(N, TRUE), out=out, rng=seeded()),
}


@looped("kind", CLASSES)
@looped("memory", MEMORY)
def test_noise_comes_to_the_memory_itself(kind, memory):
    for name, call in CALLS.items():
        expected = call(np.zeros(N))
        place = MEMORY[memory](N)
        place[...] = TRUE
        out = place.view(kind)
        assert call(out) is out
        assert np.array_equal(place, expected), name
        assert TRUE not in place, name


@looped("kind", CLASSES)
@looped("memory", MEMORY)
def test_values_and_parameters_are_those_in_the_memory(kind, memory):
    values, eps = MEMORY[memory](N), MEMORY[memory](N)
    values[...], eps[...] = np.arange(N), np.linspace(0.5, 1, N)
    mechanisms = (
        sn.Laplace(1.0, sensitivity=1),
        sn.Laplace(eps.copy(), sensitivity=1),
        sn.MultivariateStaircase(1.0, dim=N, sensitivity=1),
    )
    for mechanism in mechanisms:
        assert np.array_equal(
            mechanism.release(values.view(kind), rng=seeded()), mechanism.release(np.arange(N) * 1.0, rng=seeded())
        )
    of_each = sn.Laplace(eps.view(kind), sensitivity=1).sample(rng=seeded())
    assert np.array_equal(of_each, mechanisms[1].sample(rng=seeded()))
    assert np.array_equal(sn.sample(None, eps.view(kind), rng=seeded()), sn.sample(None, eps.copy(), rng=seeded()))
    assert np.array_equal(values, np.arange(N))
    assert np.array_equal(eps, np.linspace(0.5, 1, N))


@looped("kind", CLASSES)
@looped("memory", MEMORY)
def test_a_release_in_place_and_parameters_that_are_overwritten(kind, memory):
    values = MEMORY[memory](N)
    values[...] = np.arange(N) + TRUE
    expected = sn.Laplace(1.0, sensitivity=1).release(values.copy(), rng=seeded())
    lying = values.view(kind)
    assert sn.Laplace(1.0, sensitivity=1).release(lying, out=lying, rng=seeded()) is lying
    assert np.array_equal(values, expected)
    eps = MEMORY[memory](N)
    eps[...] = np.linspace(0.5, 1, N)
    expected = sn.sample(None, eps.copy(), rng=seeded())
    sn.sample(None, eps.view(kind), out=eps.view(kind), rng=seeded())
    assert np.array_equal(eps, expected)


@looped("kind", CLASSES)
@looped("misplaced", [False, True])
def test_choices_come_to_the_memory_itself(kind, misplaced):
    costs = np.arange(5.0 * N).reshape(N, 5) % 7
    mechanism = sn.ExponentialMechanism(1.0, sensitivity=1)
    expected = mechanism.select(costs, rng=seeded())
    memory = np.frombuffer(bytearray(8 * N + misplaced), np.uint8)[misplaced:].view(np.int64)
    memory[...] = -1
    out = memory.view(kind)
    rows = costs.copy().view(kind)
    assert mechanism.select(rows, out=out, rng=seeded()) is out
    assert np.array_equal(memory, expected)
    assert np.array_equal(mechanism.select(rows, rng=seeded()), expected)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_what_must_be_refused_is_refused_whatever_it_says(kind):
    frozen = np.zeros(N)
    frozen.flags.writeable = False
    over = as_strided(np.zeros(N + 1), (N, 2), (8, 8))
    whole = np.zeros(N, np.int64)
    rng = seeded()
    for array, text in [(frozen, "out must be writable"), (over, "out must not overlap itself"), (whole, "out must have dtype")]:
        out = array.view(kind)
        for call in (
            lambda out=out: sn.Laplace(1.0, sensitivity=1).sample(out=out, rng=rng),
            lambda out=out, shape=array.shape: sn.Laplace(1.0, sensitivity=1).release(np.zeros(shape), out=out, rng=rng),
        ):
            with pytest.raises(sn.ParameterError, match=f"^{text}"):
                call()
        assert not array.any()
    assert rng._stream.fill_count == 0


class Pretending:
    """An object that is no array but claims to be one."""

    __class__ = property(lambda self: np.ndarray)  # type: ignore[assignment]
    dtype, shape, ndim, flags, strides = np.dtype(np.float64), (3,), 1, np.zeros(1).flags, (8,)


def test_what_only_says_that_it_is_an_array_is_refused():
    for call in (
        lambda: sn.Laplace(1.0, sensitivity=1).sample(out=Pretending(), rng=seeded()),
        lambda: sn.sample(None, 1.0, out=Pretending(), rng=seeded()),
        lambda: sn.MultivariateStaircase(1.0, dim=3, sensitivity=1).sample(out=Pretending(), rng=seeded()),
        lambda: sn.Laplace(1.0, sensitivity=1).release([0.0] * 3, out=Pretending(), rng=seeded()),
    ):
        with pytest.raises(sn.ParameterTypeError, match=r"^out must be a NumPy array"):
            call()
