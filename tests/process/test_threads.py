"""Threads and instruction sets change no value, and threads do not block signals or forks. Evidence: equality."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import in_turn, pairs
from tests.examples import one_mechanism_of_each_and_array

RELEASING = [
    sn.Laplace(1, sensitivity=1),
    sn.Laplace([1.0, 2.0], sensitivity=1),
    sn.Gaussian(sigma=[1.0, 2.0]),
    sn.MultivariateStaircase(1, dim=2, sensitivity=1),
    sn.DiscreteGaussian(4),
]

# Long enough for the extension to split it, and not a whole number of pieces.
LONG = 2**18 + 12_345

DIGEST = """
import hashlib
import numpy as np
import stairnoise as sn
digest = hashlib.sha256()
answers = np.arange(300_000.0).reshape(300, 1000)
each = np.linspace(0.1, 2, 1000)
def study(): return sn.SeededRng(5, allow_release=True)
for mechanism in (sn.Staircase(4, 1), sn.Staircase(0.3, 1), sn.Laplace(1, 1), sn.DiscreteLaplace(0.5, 1),
            sn.DiscreteStaircase(2, 9), sn.Laplace(each, 1),
            sn.DiscreteStaircase(each, 9), sn.Staircase(each, 1, gamma=each / 2)):
    digest.update(mechanism.sample((300, 1000), rng=study()).tobytes())
    digest.update(mechanism.release(answers, rng=study()).tobytes())
    digest.update(mechanism.release(answers[:, ::-1], rng=study()).tobytes())
print(digest.hexdigest())
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "mechanism",
    [sn.Staircase(4, sensitivity=1), sn.Laplace(1, sensitivity=1), sn.DiscreteLaplace(0.5, 1), sn.DiscreteStaircase(1, 9)],
    ids=repr,
)
def test_any_number_of_threads_gives_the_same_values(mechanism):
    alone = mechanism.sample(LONG, rng=sn.SeededRng(1), threads=1)
    for threads in (2, 3, 50, None):
        np.testing.assert_array_equal(mechanism.sample(LONG, rng=sn.SeededRng(1), threads=threads), alone)
    strided = np.zeros(2 * LONG, alone.dtype)[::2]
    np.testing.assert_array_equal(mechanism.sample(out=strided, rng=sn.SeededRng(1), threads=2), alone)


# Memory that is cut into pieces: long rows, short rows, a single row, axes out of order, reversed, empty.
LAYOUTS = {
    "rows": np.zeros((3, 100_003)),
    "short rows": np.zeros((150_001, 2)),
    "one row": np.zeros((1, 300_000, 1)),
    "transposed": np.zeros((5, 300, 201)).transpose(1, 2, 0),
    "reversed": np.zeros(300_000)[::-1],
    "every other": np.zeros((600, 1200))[::2, ::-2],
    "empty": np.zeros((0, 300_000)),
}


def in_short_fills(eps, gamma, n):
    """Draw the values of one long fill as fills too short to be cut, each addressed by its index."""
    short = 50_000
    parts = [np.empty(0)]
    for first in range(0, n, short):
        mechanism = sn.Staircase(eps[first : first + short] if np.ndim(eps) else eps, gamma=gamma, sensitivity=1)
        parts.append(mechanism.sample(min(short, n - first), rng=sn.SeededRng(1).at(first)))
    return np.concatenate(parts)


EVERY_OWN = (LAYOUTS, ["none", "last axis", "first axis"], ["l1", "l2"])
IN_TURN = in_turn(*EVERY_OWN)


@pytest.mark.parametrize(
    ("layout", "own", "gamma"),
    [*IN_TURN, *(pytest.param(*case, marks=pytest.mark.long) for case in pairs(*EVERY_OWN) if case not in IN_TURN)],
)
def test_any_number_of_threads_and_any_layout_give_the_same_values(own, gamma, layout):
    out = LAYOUTS[layout]
    length = {"none": (), "last axis": out.shape[-1:], "first axis": (*out.shape[:1], *[1] * (out.ndim - 1))}[own]
    mechanism = sn.Staircase(np.linspace(0.1, 5, int(np.prod(length))).reshape(length), gamma=gamma, sensitivity=1)
    every_eps = np.broadcast_to(mechanism.eps, out.shape).ravel()
    alone = in_short_fills(every_eps if length else mechanism.eps, gamma, out.size).reshape(out.shape)
    for threads in (1, 2, 3):
        out[...] = 0
        np.testing.assert_array_equal(mechanism.sample(out=out, rng=sn.SeededRng(1), threads=threads), alone)


@pytest.mark.parametrize("threads", [0, -1, 2**12 + 1])
def test_threads_out_of_range(threads):
    with pytest.raises(sn.ParameterError, match=rf"threads must be an integer from 1 to 2\*\*12, got {threads}"):
        sn.sample(3, 1, threads=threads)


@pytest.mark.parametrize("threads", [1.0, True, "2"])
def test_threads_of_a_wrong_type(threads):
    with pytest.raises(sn.ParameterTypeError, match="threads must be an integer"):
        sn.sample(3, 1, threads=threads)


@one_mechanism_of_each_and_array
def test_any_number_of_threads_releases_the_same_values(mechanism):
    def study():
        return sn.SeededRng(1, allow_release=True)

    own = mechanism._value_shape or mechanism._parameter_shape or (3,)
    # Categories are integers; other answers can have fractions.
    answers = np.full((LONG // np.prod(own) + 1, *own), 1 if isinstance(mechanism, sn.RandomizedResponse) else 0.25)
    alone = mechanism.release(answers, rng=study(), threads=1)
    for threads in (2, 3, None):
        np.testing.assert_array_equal(mechanism.release(answers, rng=study(), threads=threads), alone)
    in_place = answers.copy()
    assert mechanism.release(in_place, rng=study(), out=in_place, threads=2) is in_place
    np.testing.assert_array_equal(in_place, alone)


@pytest.mark.parametrize("mechanism", RELEASING, ids=repr)
@pytest.mark.parametrize("k", [1, 2])
def test_threads_of_a_release_are_checked_before_it(mechanism, k, rng):
    out = np.full((3, 2), 7.0)
    for threads, error, text in [
        (0, sn.ParameterError, r"threads must be an integer from 1 to 2\*\*12, got 0"),
        (2**12 + 1, sn.ParameterError, r"threads must be an integer from 1 to 2\*\*12, got 4097"),
        (True, sn.ParameterTypeError, "threads must be an integer, got True"),
        ("2", sn.ParameterTypeError, "threads must be an integer, got '2'"),
    ]:
        with pytest.raises(error, match=f"^{text}$"):
            mechanism.release(np.zeros((3, 2)), max_partitions_contributed=k, rng=rng, out=out, threads=threads)
    assert (out == 7).all()
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize("mechanism", RELEASING, ids=repr)
def test_a_number_of_threads_comes_before_the_environment(mechanism, monkeypatch, rng):
    monkeypatch.setenv("STAIRNOISE_NUM_THREADS", "two")
    assert mechanism.release(np.zeros((LONG, 2)), rng=rng, threads=2).shape == (LONG, 2)
    with pytest.raises(sn.ParameterError, match=r"^STAIRNOISE_NUM_THREADS must be "):
        mechanism.release(np.zeros((LONG, 2)), rng=rng)
    assert rng._stream.fill_count == 1


@pytest.mark.parametrize(("mechanism", "first", "threads"), pairs(RELEASING, [0, 65_535, 65_536, 300_000, 2**20 - 1], [1, 2, 7]))
def test_the_first_of_many_wrong_answers_is_named_by_any_number_of_threads(mechanism, threads, first, rng):
    answers = np.zeros((2**20, 2))
    answers[first:, 1] = np.inf
    answers[-1, 1] = np.nan
    out = np.full(answers.shape, 7.0)
    for values in (answers, np.asfortranarray(answers)):
        with pytest.raises(sn.ParameterError, match=rf"^values must be finite, got one that is not at index \({first}, 1\)$"):
            mechanism.release(values, rng=rng, out=out, threads=threads)
    assert (out == 7).all()
    assert rng._stream.fill_count == 0


def test_environment_sets_the_number_of_threads(monkeypatch):
    right = run(DIGEST, STAIRNOISE_NUM_THREADS="1")
    assert right.returncode == 0, right.stderr
    assert run(DIGEST, STAIRNOISE_NUM_THREADS="3").stdout == right.stdout
    assert run(DIGEST, STAIRNOISE_NUM_THREADS=f"{2**12}").stdout == right.stdout
    # If the larger numbers started that many threads, this test would not end.
    for wrong in ("0", "-1", "two", f"{2**12 + 1}", "2147483648", "1" + 30 * "0"):
        monkeypatch.setenv("STAIRNOISE_NUM_THREADS", wrong)
        with pytest.raises(
            sn.ParameterError, match=rf"^STAIRNOISE_NUM_THREADS must be an integer from 1 to 2\*\*12, got {wrong}$"
        ):
            sn.sample(LONG, 1)


def test_a_release_names_a_wrong_number_of_threads_too(monkeypatch, rng):
    monkeypatch.setenv("STAIRNOISE_NUM_THREADS", "two")
    for mechanism in (sn.Laplace(1, sensitivity=1), sn.MultivariateStaircase(1, 1, 2)):
        with pytest.raises(sn.ParameterError, match=r"^STAIRNOISE_NUM_THREADS must be an integer from 1 to 2\*\*12, got two$"):
            mechanism.release(np.zeros((LONG, 2)), rng=rng)
    assert rng._stream.fill_count == 0


def test_every_tier_gives_the_same_values():
    tiers = sn.cpu_tiers()
    assert tiers[0] == "portable"
    assert len({run(DIGEST, STAIRNOISE_CPU=tier).stdout for tier in tiers}) == 1


def test_a_tier_that_is_not_there_is_refused():
    refused = run("import stairnoise", STAIRNOISE_CPU="avx1024")
    assert refused.returncode == 1
    expected = f"ParameterError: STAIRNOISE_CPU must be one of {', '.join(sn.cpu_tiers())} here, got avx1024"
    assert expected in refused.stderr


def fill_for_long(out):
    # One fill could end before the signal comes; a hundred take half a minute.
    for _ in range(100):
        sn.Staircase(0.3, sensitivity=1).sample(out=out)


@pytest.fixture
def interruptible():
    """Restore Python's handling of Ctrl-C, which background jobs start with ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="os.kill with SIGINT ends the process there")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("stride", [1, 2])
def test_a_signal_stops_a_long_fill(stride):
    out = np.zeros(2 * 10**8)[: 10**8 * stride : stride]
    timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
    before = threading.active_count()
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fill_for_long(out)
    timer.join()
    # The bound detects a hang and measures nothing: the extension checks for signals every 0.1 s.
    assert time.monotonic() - started < 30
    assert threading.active_count() == before
    assert sn.sample(LONG, 4).shape == (LONG,), "the next fill works"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_fills_in_parallel():
    program = f"""
import os, stairnoise as sn
sn.sample({LONG}, 4, threads=2)
child = os.fork()
noise = sn.sample({LONG}, 4, threads=2)
if child:
    os.waitpid(child, 0)  # one prints after the other
print(noise[:4].tobytes().hex(), flush=True)
if not child:
    os._exit(0)
"""
    done = run(program)
    first, second = done.stdout.split()
    assert first != second, "parent and child draw the same noise"


TASKS = Path("/proc/self/task")
AT_ONCE = {
    "sample": lambda out, rng: sn.Laplace(1.0, sensitivity=1).sample(out=out, rng=rng, threads=3),
    "sample by mechanisms of several draws": lambda out, rng: sn.Gaussian(1.0, 1e-6, sensitivity=1).sample(
        out=out, rng=rng, threads=3
    ),
    "sample with own parameters": lambda out, rng: sn.Laplace(np.full(out.shape, 1.0), sensitivity=1).sample(
        out=out, rng=rng, threads=3
    ),
    "sample into every second place": lambda out, rng: sn.Laplace(1.0, sensitivity=1).sample(out=out[::2], rng=rng, threads=3),
    "sample in Fortran order": lambda out, rng: sn.Laplace(1.0, sensitivity=1).sample(
        out=out.reshape(1000, -1).T, rng=rng, threads=3
    ),
    "release": lambda out, rng: sn.Laplace(1.0, sensitivity=1).release(np.zeros(out.size), out=out, rng=rng, threads=3),
}


@pytest.mark.skipif(not TASKS.is_dir(), reason="needs /proc")
@pytest.mark.parametrize("work", AT_ONCE)
def test_long_work_has_the_threads_that_were_asked_for(work):
    """Evidence: the threads of this process, counted repeatedly during the work until they are seen."""
    out, rng, seen = np.empty(2_000_000), sn.SeededRng(1, allow_release=True), set()
    done = threading.Event()

    def go_on():
        while not done.is_set():
            AT_ONCE[work](out, rng)

    worker = threading.Thread(target=go_on)
    worker.start()
    end = time.monotonic() + 60
    # Between two fills the worker runs alone, and a thread of an earlier test can end meanwhile.
    while (not seen or max(seen) < min(seen) + 2) and time.monotonic() < end:
        seen.add(len(list(TASKS.iterdir())))
    done.set()
    worker.join()
    assert max(seen) >= min(seen) + 2
