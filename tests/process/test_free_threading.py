"""No code relies on the interpreter's lock, so free-threaded CPython keeps the lock off. Evidence: equality on many threads.

The races run on every interpreter. If threads take turns because of a lock, the races find faults of a switch between two calls.
"""

import concurrent.futures
import os
import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest

import stairnoise as sn

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
THREADS = 8


@pytest.fixture(autouse=True)
def short_turns():
    """Make the interpreter switch threads often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(work, arguments):
    """Call `work` with every argument, each in its own thread, all started together."""
    barrier = threading.Barrier(len(arguments))

    def wait_and_work(argument):
        barrier.wait(60)
        return work(argument)

    with concurrent.futures.ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(wait_and_work, arguments))


@pytest.mark.skipif(not FREE_THREADED, reason="this CPython has its lock: a free-threaded one is needed")
def test_importing_it_keeps_the_lock_off():
    """CPython turns the lock on, with a warning, for a module that does not declare itself safe."""
    program = "import sys, stairnoise; stairnoise.sample(3, eps=1); print(sys._is_gil_enabled())"
    clean = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], env=clean, capture_output=True, text=True, check=False)
    assert done.stdout == "False\n", done.stderr


@pytest.mark.parametrize("children", [60, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("key", [None, bytes(range(32))], ids=["system's key", "given key"])
def test_threads_that_race_for_the_first_draw_of_a_child_never_repeat_it(key, children):
    rng = sn.SecureRng() if key is None else sn.SecureRng.from_key(key)
    for child in rng.spawn(children):
        fills = at_once(lambda _, child=child: sn.Laplace(1, sensitivity=1).sample(4, rng=child).tobytes(), range(THREADS))
        assert len(set(fills)) == THREADS


def test_threads_that_race_for_the_first_draw_of_a_child_of_a_key_take_its_fills():
    """Whichever thread is first, the threads take the fills of one generator, each once."""
    alone = sn.SeededRng(5).spawn(3)[2]
    expected = {sn.Laplace(1, sensitivity=1).sample(4, rng=alone).tobytes() for _ in range(THREADS)}
    for _ in range(100):
        child = sn.SeededRng(5).spawn(3)[2]
        assert (
            set(at_once(lambda _, child=child: sn.Laplace(1, sensitivity=1).sample(4, rng=child).tobytes(), range(THREADS)))
            == expected
        )


def test_one_generator_gives_every_thread_fills_of_its_own():
    rng, again = sn.SeededRng(7, allow_release=True), sn.SeededRng(7)
    mechanism, draws = sn.DiscreteLaplace(0.5), 300

    def draw(_):
        return [mechanism.release(np.zeros(5, np.int64), rng=rng).tobytes() for _ in range(draws)]

    taken = [fill for fills in at_once(draw, range(THREADS)) for fill in fills]
    assert sorted(taken) == sorted(mechanism.sample(5, rng=again).tobytes() for _ in range(THREADS * draws))


def test_spawning_threads_get_different_children():
    rng = sn.SecureRng.from_key(bytes(32))
    spawned = [child for children in at_once(lambda _: rng.spawn(50), range(THREADS)) for child in children]
    assert len({sn.Laplace(1, sensitivity=1).sample(2, rng=child).tobytes() for child in spawned}) == THREADS * 50


@pytest.mark.parametrize("n", [100, 100_000])
def test_of_calls_that_write_the_same_memory_each_is_whole_or_refused(n):
    """The memory ends with one call's whole fill, not with parts of two; a refused call takes no fill."""
    out, rng, mechanism = np.empty(n), sn.SeededRng(3), sn.Laplace(1, sensitivity=1)

    def fill(_):
        try:
            mechanism.sample(out=out, rng=rng, threads=1)
        except sn.ParameterError as refused:
            return str(refused)
        return "whole"

    for _ in range(20):
        first = sn.SeededRng(3)
        ends = at_once(fill, range(THREADS))
        assert set(ends) <= {"whole", "out must not be in use by another call"}
        assert any((mechanism.sample(n, rng=first) == out).all() for _ in range(ends.count("whole")))
        rng.reseed(3)


def test_keyed_releases_from_many_threads_are_those_of_one():
    def release(number):
        keyed = sn.KeyedRng(bytes(range(32)), release="counts")
        return sn.DiscreteLaplace(1).release([number] * 50, labels=list(range(50)), statistic="n", rng=keyed).tobytes()

    alone = [release(number) for number in range(THREADS)]
    for _ in range(20):
        assert at_once(release, range(THREADS)) == alone


def test_first_uses_of_the_library_may_come_at_a_time():
    """Modules and mechanisms are made at first use. In a fresh process, no thread sees another's half-made object."""
    program = """
import threading
import stairnoise as sn
barrier = threading.Barrier(8)
failed = []
def use(number):
    barrier.wait(60)
    try:
        sn.sample(3, eps=1)
        sn.Gaussian(1, 1e-6).cdf(0.5)
        sn.DiscreteLaplace(1).compose(3).eps_for_delta(1e-6)
        sn.compare(eps=1)
        sn.KeyedRng(bytes(range(32)), release=str(number))
    except BaseException as error:
        failed.append(repr(error))
threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(failed)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
