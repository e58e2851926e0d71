"""However processes are forked, no two draw the same words from a SecureBitGenerator of no given key. Evidence: distinct words.

The control for each kind of process is a given key, which repeats its words on purpose, so each check is seen to find a repeat.
Any two words in this file are equal with probability below 2**-40, and any two 32-bit halves with probability below 1e-5.
"""

import concurrent.futures
import multiprocessing
import os
import pickle
import sys
import threading

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import pairs
from tests.generators.test_repeated_noise import START_METHODS, clone, in_child

KEY = bytes(range(32))
WORDS = 20
MAKERS = {"os": sn.SecureBitGenerator, "key": lambda: sn.SecureBitGenerator(KEY)}
DERIVED = {"itself": lambda bits: bits, "child": lambda bits: bits.spawn(1)[0]}

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
# Python 3.12 and later warn about forks in a process with threads, which some tests need.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")


def draw(bits):
    return bits.random_raw(WORDS).tobytes()


def repeats(draws):
    """Return the number of words that occurred before."""
    assert {len(part) for part in draws} == {8 * WORDS}, "a draw is missing"
    words = np.concatenate([np.frombuffer(part, np.uint64) for part in draws])
    return words.size - np.unique(words).size


@needs_fork
@pytest.mark.parametrize(("drawn_before", "derive", "way"), pairs([0, 1, 507, 508, 509], DERIVED.values(), ["fork", "clone"]))
def test_fork(drawn_before, derive, way):
    if way == "clone" and sys.platform != "linux":
        pytest.skip("the test calls Linux itself")
    fork = {"fork": os.fork, "clone": clone}[way]

    made = [derive(make()) for make in MAKERS.values()]
    for bits in made:
        bits.random_raw(drawn_before)

    def both():
        return b"".join(map(draw, made))

    siblings = [in_child(both, fork) for _ in range(2)]
    draws = [*siblings, in_child(lambda: in_child(both, fork), fork), both()]
    assert repeats([part[: 8 * WORDS] for part in draws]) == 0
    assert repeats([part[8 * WORDS :] for part in draws]) == 3 * WORDS


@needs_fork
def test_half_a_word_is_not_taken_into_a_child():
    """`next_uint32` keeps the upper half of a word for its next call."""

    def draws(make):
        rng = np.random.Generator(make())
        half = lambda: rng.integers(2**32, dtype=np.uint32).tobytes()  # noqa: E731
        half()
        return [in_child(half), in_child(half), half()]

    assert len(set(draws(MAKERS["os"]))) == 3
    assert len(set(draws(MAKERS["key"]))) == 1


@needs_fork
def test_what_a_child_spawns():
    def draws(bits):
        return [in_child(lambda: draw(bits.spawn(1)[0])), in_child(lambda: draw(bits.spawn(1)[0])), draw(bits.spawn(1)[0])]

    assert repeats(draws(MAKERS["os"]())) == 0
    assert repeats(draws(MAKERS["key"]())) == 2 * WORDS


@needs_fork
def test_fork_in_a_thread_while_others_draw_from_other_bit_generators():
    """The child's generator does not wait for a thread that only the parent has. A deadlock would show as a time-out."""
    bits, busy = sn.SecureBitGenerator(), [np.random.Generator(sn.SecureBitGenerator()) for _ in range(2)]
    stop, sent = threading.Event(), []

    def keep_drawing(rng):
        while not stop.is_set():
            rng.random(100_000)

    threads = [threading.Thread(target=keep_drawing, args=(rng,)) for rng in busy]
    forker = threading.Thread(target=lambda: sent.extend(in_child(lambda: draw(bits)) for _ in range(5)))
    for thread in (*threads, forker):
        thread.start()
    forker.join(60)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert not forker.is_alive()
    assert repeats([*sent, draw(bits)]) == 0


@needs_fork
def test_fork_while_a_thread_draws_past_the_lock():
    """The thread draws through ctypes; the child waits for no lock, and shares no word with the parent's later ones."""
    bits = sn.SecureBitGenerator()
    functions, stop = bits.ctypes, threading.Event()

    def keep_drawing():
        while not stop.is_set():
            for _ in range(1000):
                functions.next_uint64(functions.state)

    thread = threading.Thread(target=keep_drawing)
    thread.start()
    sent = [in_child(lambda: draw(bits)) for _ in range(8)]
    stop.set()
    thread.join(60)
    assert repeats([*sent, draw(bits)]) == 0


MADE_AT_IMPORT = {name: make() for name, make in MAKERS.items()}


def draw_in_worker(name):
    return draw(MADE_AT_IMPORT[name])


@pytest.mark.parametrize("method", START_METHODS)
def test_pools_of_processes(method):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        draws = {name: pool.map(draw_in_worker, [name] * 6, chunksize=1) for name in MAKERS}
    for name, drawn in draws.items():
        drawn.append(draw_in_worker(name))
    assert repeats(draws["os"]) == 0
    # Several workers draw the first words of the same key.
    assert repeats(draws["key"]) > 0


@pytest.mark.parametrize("method", START_METHODS)
def test_it_is_not_sent_to_processes(method):
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        for sent in (sn.SecureBitGenerator(), np.random.Generator(sn.SecureBitGenerator(KEY))):
            with pytest.raises(sn.CopyError, match=r"use spawn\(n_children\)"):
                pool.submit(id, sent).result(60)
    with pytest.raises(sn.CopyError):
        pickle.dumps({"rng": [sn.SecureBitGenerator()]})


@needs_fork
def test_a_random_state_keeps_a_normal_variate_across_a_fork():
    """As documented, RandomState keeps the second of a pair of normal variates, unknown to this package; Generator keeps none."""
    legacy = np.random.RandomState(sn.SecureBitGenerator())
    legacy.standard_normal()
    assert in_child(lambda: np.float64(legacy.standard_normal()).tobytes()) == np.float64(legacy.standard_normal()).tobytes()
    rng = np.random.Generator(sn.SecureBitGenerator())
    rng.standard_normal()
    assert in_child(lambda: np.float64(rng.standard_normal()).tobytes()) != np.float64(rng.standard_normal()).tobytes()
