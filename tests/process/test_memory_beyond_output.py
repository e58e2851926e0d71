"""Releases and fills need memory for their output and little else, whatever the layout of their arrays.

Evidence: peak memory of NumPy and Python by `tracemalloc`, which counts every array. The extension's own
scratch memory, at most some hundred KiB a thread, is not counted.
"""

import tracemalloc

import numpy as np
import pytest

import stairnoise as sn

N = 2**21
OUTPUT = 8 * N
# The output has 16 MiB, so this is far less than a copy of any array.
ROOM = 2**20


def peak(call):
    """Return the peak number of bytes allocated during a call."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def misaligned(n):
    return np.frombuffer(bytearray(8 * n + 1), np.uint8)[1:].view(np.float64)


class Tagged(np.ndarray):
    """A subclass. The package has to load numpy.ma to learn whether it is masked."""


sn.Laplace(1.0, sensitivity=1).sample(out=np.zeros(1).view(Tagged))
EPS = np.linspace(0.5, 2, N)
LAPLACE, COUNTS, EACH, COLUMNS = (
    sn.Laplace(1.0, sensitivity=1),
    sn.DiscreteLaplace(1.0),
    sn.Laplace(EPS, sensitivity=1),
    sn.Laplace(EPS[:64], sensitivity=1),
)
VALUES, WHOLE = np.ones(N), np.ones(N, np.int64)
ODD = misaligned(N)
GAUSSIANS = sn.Gaussian(sigma=np.tile([1.0, 2.0], N // 16))

WITHOUT_OUTPUT = {
    "in place": lambda: LAPLACE.release(VALUES, out=VALUES),
    "in place, strided": lambda: LAPLACE.release(VALUES[::2], out=VALUES[::2]),
    "in place, k": lambda: LAPLACE.release(VALUES, out=VALUES, max_partitions_contributed=3),
    "in place, integers": lambda: COUNTS.release(WHOLE, out=WHOLE),
    "in place, each": lambda: EACH.release(VALUES, out=VALUES),
    "in place, each, k": lambda: EACH.release(VALUES, out=VALUES, max_partitions_contributed=3),
    "in place, of a subclass": lambda: LAPLACE.release(VALUES.view(Tagged), out=VALUES),
    "in place, Gaussian": lambda: sn.Gaussian(1.0, 1e-6, sensitivity=1).release(VALUES[: N // 8], out=VALUES[: N // 8]),
    "in place, Gaussian of each": lambda: GAUSSIANS.release(VALUES[: N // 8], out=VALUES[: N // 8]),
    "in place, vectors": lambda: sn.MultivariateStaircase(1.0, dim=4, sensitivity=1).release(
        VALUES.reshape(-1, 4), out=VALUES.reshape(-1, 4)
    ),
    "misaligned sample": lambda: LAPLACE.sample(out=ODD),
    "misaligned release": lambda: LAPLACE.release(VALUES, out=ODD),
    "misaligned, in place": lambda: LAPLACE.release(ODD, out=ODD),
    "misaligned, each": lambda: EACH.sample(out=ODD),
    "misaligned choices": lambda: sn.ExponentialMechanism(1.0, sensitivity=1).select(np.zeros(3), out=ODD.view(np.int64)),
    "misaligned parameters": lambda: sn.sample(None, ODD, mechanism="laplace", out=VALUES),
}
WITH_OUTPUT = {
    "k": lambda: LAPLACE.release(VALUES, max_partitions_contributed=3),
    "each": lambda: EACH.release(VALUES),
    "each, k": lambda: EACH.release(VALUES, max_partitions_contributed=3),
    "columns, k": lambda: COLUMNS.release(VALUES.reshape(-1, 64), max_partitions_contributed=3),
    "misaligned values": lambda: LAPLACE.release(ODD),
    "one value under many eps": lambda: EACH.release(3.0, max_partitions_contributed=3),
}


@pytest.fixture(autouse=True)
def ordinary():
    VALUES.fill(1), WHOLE.fill(1), ODD.fill(1)


@pytest.mark.parametrize("name", WITHOUT_OUTPUT)
def test_a_call_with_out_needs_little(name):
    assert peak(WITHOUT_OUTPUT[name]) < ROOM


@pytest.mark.parametrize("name", WITH_OUTPUT)
def test_a_call_needs_its_output_and_little_else(name):
    assert OUTPUT <= peak(WITH_OUTPUT[name]) < OUTPUT + ROOM


def test_overlapping_in_part_may_copy_and_is_right():
    values = np.arange(100.0)
    expected = LAPLACE.release(values[:60].copy(), rng=sn.SeededRng(3, allow_release=True))
    out = values[20:80]
    LAPLACE.release(values[:60], out=out, rng=sn.SeededRng(3, allow_release=True))
    assert np.array_equal(out, expected)


@pytest.mark.parametrize(("values", "out"), [(np.float64, np.float32), (np.int64, np.float64), (np.int64, np.int32)])
def test_memory_of_another_type_is_no_hindrance(values, out):
    """Evidence: equality with arrays that lie apart."""
    mechanism = sn.DiscreteLaplace(1.0, sensitivity=1)
    true = np.arange(9000).astype(values)
    expected = mechanism.release(true, out=np.empty(true.shape, out), rng=sn.SeededRng(3, allow_release=True))
    memory = true.copy()
    place = memory.view(out)[:: memory.itemsize // np.dtype(out).itemsize]
    mechanism.release(memory, out=place, rng=sn.SeededRng(3, allow_release=True))
    assert np.array_equal(place, expected)


@pytest.mark.parametrize("shape", [(300, 1000), (150_000, 2), (7, 11, 4000)])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_in_place_at_any_strides_and_on_any_number_of_threads(shape, threads, monkeypatch):
    """Evidence: equality with a release of a copy on one thread."""
    values = np.arange(float(np.prod(shape))).reshape(shape) / 3
    for mechanism in (LAPLACE, sn.Laplace(np.linspace(0.5, 1, shape[-1]), sensitivity=1)):
        monkeypatch.setenv("STAIRNOISE_NUM_THREADS", "1")
        expected = mechanism.release(values, rng=sn.SeededRng(3, allow_release=True))
        monkeypatch.setenv("STAIRNOISE_NUM_THREADS", threads)
        for arrange in (lambda a: a, lambda a: np.asfortranarray(a), lambda a: np.stack([a, a], -1)[..., 1]):
            place = arrange(values.copy())
            mechanism.release(place, out=place, rng=sn.SeededRng(3, allow_release=True))
            assert np.array_equal(place, expected)
