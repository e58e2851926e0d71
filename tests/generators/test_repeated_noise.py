"""No two processes, threads, interpreters or copies draw the same noise from an OS-seeded generator. Evidence: distinct draws.

The control for each kind of process, thread or copy is a generator from a key, which repeats its noise on purpose, so each check
is seen to find a repeat. A repeat is two neighbouring values that occurred before. Two random pairs of neighbours are equal with
probability below 1e-20 (1e-10 for a value of this mechanism), and any two in this file with probability below 1e-12.
"""

import concurrent.futures
import copy
import ctypes
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from itertools import product

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import in_turn, rest_long

KEY = bytes(range(32))
MECHANISM = sn.Laplace(1)
VALUES = 20
# Pairs of neighbours in a draw: the result of `repeats` if a whole draw was repeated.
REPEATED = VALUES - 1

FORK = getattr(os, "fork", None)

needs_fork = pytest.mark.skipif(FORK is None, reason="no fork on this system")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="the test calls Linux itself")

# Python 3.12 and later warn about forks in a process with threads, which some tests need.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")


def draw(rng=None):
    return MECHANISM.sample(VALUES, rng=rng).tobytes()


def from_key():
    return sn.SecureRng.from_key(KEY)


def repeats(draws):
    """Return the number of pairs of neighbouring values that occurred before."""
    assert {len(part) for part in draws} == {8 * VALUES}, "a draw is missing"
    pairs = [part[at : at + 16] for part in draws for at in range(0, 8 * REPEATED, 8)]
    return len(pairs) - len(set(pairs))


def in_child(work, fork=FORK):
    """Return the bytes of `work()` in a forked child."""
    reader, writer = os.pipe()
    child = fork()
    if child == 0:  # pragma: no cover - not measured in the child
        try:
            os.write(writer, work())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        sent = pipe.read()
    os.waitpid(child, 0)
    return sent


# Derived and default generators, made before the fork; the same generators from a key are the control.
DERIVED = {
    "itself": lambda rng: rng,
    "child": lambda rng: rng.spawn(1)[0],
    "view": lambda rng: rng.at(7),
    "view of a child": lambda rng: rng.spawn(2)[1].at(3).at(1),
}
DRAWN = [0, 1, 15, 16]


@needs_fork
@pytest.mark.parametrize(("derive", "drawn_before"), rest_long(in_turn(DERIVED, DRAWN), product(DERIVED, DRAWN)))
def test_fork(derive, drawn_before):
    made = [DERIVED[derive](make()) for make in (sn.SecureRng, from_key)]
    for rng in made * drawn_before:
        draw(rng)

    def both():
        return b"".join(map(draw, made))

    draws = [in_child(both), in_child(both), both()]
    assert repeats([part[: 8 * VALUES] for part in draws]) == 0
    assert repeats([part[8 * VALUES :] for part in draws]) == 2 * REPEATED


@needs_fork
def test_fork_of_the_default_generator():
    draw()
    theirs = [in_child(draw), in_child(lambda: in_child(draw))]
    assert repeats([*theirs, draw(), draw()]) == 0


@needs_fork
def test_fork_of_a_fork_whose_parent_never_drew():
    def draws(rng):
        theirs = in_child(lambda: in_child(lambda: draw(rng)))
        return [theirs, draw(rng)]

    assert repeats(draws(sn.SecureRng())) == 0
    assert repeats(draws(from_key())) == REPEATED


@needs_fork
def test_what_a_child_spawns_and_views():
    """Spawned children are counted, and a forked process starts at its parent's count."""

    def draws(rng):
        def theirs():
            return draw(rng.spawn(1)[0]) + draw(rng.at(0))

        sent = in_child(theirs)
        half = len(sent) // 2
        return [sent[:half], sent[half:], draw(rng.spawn(1)[0]), draw(rng.at(0))]

    assert repeats(draws(sn.SecureRng())) == 0
    assert repeats(draws(from_key())) == 2 * REPEATED


@needs_fork
def test_fork_in_a_thread_while_others_draw():
    """No lock is held while the interpreter can fork; a deadlock would show as a time-out."""

    def draws(rng):
        stop, sent = threading.Event(), []

        def keep_drawing():
            while not stop.is_set():
                MECHANISM.sample(100_000, rng=rng)

        def fork():
            signal_free = [in_child(lambda: draw(rng)) for _ in range(5)]
            sent.extend(signal_free)

        others = [threading.Thread(target=keep_drawing) for _ in range(2)]
        forker = threading.Thread(target=fork)
        for thread in (*others, forker):
            thread.start()
        forker.join(60)
        stop.set()
        for thread in others:
            thread.join(60)
        assert not forker.is_alive()
        return [*sent, draw(rng)]

    assert repeats(draws(sn.SecureRng())) == 0


def clone():
    """Fork by a system call, past Python and the C library, so none of their handlers runs in the child."""
    libc = ctypes.PyDLL(None)
    numbers = {"x86_64": 56, "aarch64": 220}
    if os.uname().machine not in numbers:
        pytest.skip("the system call's number is not known on this machine")
    return libc.syscall(numbers[os.uname().machine], int(signal.SIGCHLD), 0, 0, 0, 0)


@needs_linux
def test_clone_past_the_c_library():
    def draws(rng):
        return [in_child(lambda: draw(rng), fork=clone), draw(rng)]

    assert repeats(draws(sn.SecureRng())) == 0
    assert repeats(draws(from_key())) == REPEATED


SAME_ID = """
import ctypes, os, sys
import stairnoise as sn

NEW_PROCESS_IDS = 0x20000000
libc = ctypes.CDLL(None, use_errno=True)

def first_process_of_a_container(work):
    reader, writer = os.pipe()
    if libc.unshare(NEW_PROCESS_IDS) != 0:
        sys.exit(77)
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, work())
        finally:
            os._exit(0)
    os.close(writer)
    sent = os.fdopen(reader, "rb").read()
    os.waitpid(child, 0)
    return sent

def id_and_noise(rng):
    return b"%d %s\\n" % (os.getpid(), sn.Laplace(1).sample(20, rng=rng).tobytes().hex().encode())

def outer():
    rng = sn.SecureRng.from_key(bytes(32)) if sys.argv[1] == "from_key" else sn.SecureRng()
    rng.at(0)
    return first_process_of_a_container(lambda: id_and_noise(rng)) + id_and_noise(rng)

sys.stdout.write(first_process_of_a_container(outer).decode())
"""


@needs_linux
@pytest.mark.parametrize("make", ["SecureRng", "from_key"])
def test_parent_and_child_of_the_same_process_id(make):
    """The first processes of two nested containers both have the id 1, so the id alone cannot detect a fork."""
    done = subprocess.run([sys.executable, "-c", SAME_ID, make], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 77:
        pytest.skip("this user cannot make process id namespaces")
    assert done.returncode == 0, done.stderr
    (theirs, their_noise), (mine, my_noise) = (line.split() for line in done.stdout.splitlines())
    assert theirs == mine == "1"
    assert repeats([bytes.fromhex(their_noise), bytes.fromhex(my_noise)]) == (REPEATED if make == "from_key" else 0)


# A pool's worker can use module globals, a generator made before the fork, and mechanisms sent to the worker.

MADE_AT_IMPORT = {"SecureRng": sn.SecureRng(), "from_key": from_key()}


def draw_in_worker(mechanism, name):
    rng = None if name == "default" else MADE_AT_IMPORT[name]
    return mechanism.sample(VALUES, rng=rng).tobytes()


START_METHODS = multiprocessing.get_all_start_methods()


@pytest.mark.parametrize("method", START_METHODS)
def test_pools_of_processes(method):
    context = multiprocessing.get_context(method)
    names = ("default", "SecureRng", "from_key")
    with context.Pool(2) as pool:
        draws = {name: pool.starmap(draw_in_worker, [(MECHANISM, name)] * 6, chunksize=1) for name in names}
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        for name in names:
            draws[name] += [call.result() for call in [pool.submit(draw_in_worker, MECHANISM, name) for _ in range(4)]]
    for name in names:
        draws[name].append(draw_in_worker(MECHANISM, name))
    assert repeats(draws["default"] + draws["SecureRng"]) == 0
    # Several workers draw the first noise of the same key.
    assert repeats(draws["from_key"]) > 0


@pytest.mark.parametrize("method", START_METHODS)
def test_generators_are_not_sent_to_processes(method):
    rng = sn.SecureRng()
    if method != "fork":
        process = multiprocessing.get_context(method).Process(target=draw, args=(rng,))
        with pytest.raises(sn.CopyError, match=r"use spawn\(k\)"):
            process.start()
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        for sent in (rng, from_key(), [rng], {"rng": rng}):
            with pytest.raises(sn.CopyError, match=r"use spawn\(k\)"):
                pool.submit(id, sent).result(60)


def test_threads_of_one_generator():
    def draws(rng, derive):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda _: draw(derive(rng)), range(400)))

    for make in (sn.SecureRng, from_key, lambda: None):
        assert repeats(draws(make(), lambda rng: rng)) == 0
    for make in (sn.SecureRng, from_key):
        assert repeats(draws(make(), lambda rng: rng.spawn(1)[0])) == 0
    assert repeats(draws(from_key(), lambda rng: rng.at(0))) > 0, "views must repeat the generator"


INTERPRETERS = """
import os
try:
    import _interpreters as interpreters
    create = lambda: interpreters.create("legacy")
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters
    create = interpreters.create

PROGRAM = '''
import os, warnings
warnings.simplefilter("ignore")
try:
    import stairnoise as sn
except (ImportError, RuntimeError):  # the second is how NumPy 2.2 refuses
    sent = b"refused"
else:
    makers = [lambda: None, sn.SecureRng, lambda: sn.SecureRng.from_key(bytes(range(32)))]
    sent = b"".join(sn.Laplace(1).sample(20, rng=make()).tobytes() for make in makers)
'''

for _ in range(3):
    interpreter = create()
    reader, writer = os.pipe()
    interpreters.run_string(interpreter, PROGRAM + f"os.write({writer}, sent)")
    os.close(writer)
    print(os.fdopen(reader, "rb").read().hex())
exec(PROGRAM)
print(sent.hex(), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="a second interpreter with NumPy 1 ends the process")
def test_sub_interpreters():
    """The first interpreter to import it gets the extension; others are refused, or have other generators."""
    done = subprocess.run([sys.executable, "-c", INTERPRETERS], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    lines = [bytes.fromhex(line) for line in done.stdout.splitlines()]
    assert len(lines) == 4
    drawn = [line for line in lines if line != b"refused"]
    assert drawn, "the first interpreter gets the extension"
    length = 8 * VALUES
    secure = [line[i * length : (i + 1) * length] for line in drawn for i in range(2)]
    assert repeats(secure) == 0
    assert repeats([line[2 * length :] for line in drawn]) == (len(drawn) - 1) * REPEATED


class Holder:
    """A caller's object, with Python's default ways of copying."""

    def __init__(self, rng):
        self.rng = rng


@pytest.mark.parametrize("make", [sn.SecureRng, from_key, lambda: sn.SeededRng(1), lambda: sn.SecureRng().at(2)])
@pytest.mark.parametrize("hold", [lambda rng: rng, lambda rng: [rng], lambda rng: {"a": (rng,)}, Holder])
def test_copies_of_what_holds_a_generator_are_refused(make, hold):
    held = hold(make())
    for travel in (copy.deepcopy, pickle.dumps):
        with pytest.raises(sn.CopyError, match=r"use spawn\(k\) for independent generators"):
            travel(held)


@pytest.mark.parametrize("make", [sn.SecureRng, from_key, lambda: sn.SeededRng(1)])
def test_ways_around_the_refusal_lead_nowhere(make):
    rng = make()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError):
            pickle.dumps(rng, protocol)
        with pytest.raises(TypeError):
            pickle.dumps(object.__reduce_ex__(rng, protocol), protocol)
    with pytest.raises(TypeError):
        object.__reduce__(rng)
    with pytest.raises(TypeError):
        type(rng._stream).__new__(type(rng._stream))
    assert repeats([draw(rng), draw(rng)]) == 0


def test_a_copied_or_pickled_mechanism_takes_no_generator_with_it():
    mechanisms = [MECHANISM, copy.copy(MECHANISM), copy.deepcopy(MECHANISM), pickle.loads(pickle.dumps(MECHANISM))]
    assert repeats([mechanism.sample(VALUES).tobytes() for mechanism in mechanisms]) == 0
    assert repeats([mechanism.sample(VALUES, rng=from_key()).tobytes() for mechanism in mechanisms]) == 3 * REPEATED


FORK_IN_A_HANDLER = """
import os, signal, time
import numpy as np
import stairnoise as sn

eps = np.linspace(0.3, 0.4, 10**5)
reader, writer = os.pipe()
children = []

def fork(number, frame):
    # The extension looks for signals 0.1 s after a fill began; an earlier one came before the fill.
    if frame.f_code.co_name == "_fill" and time.monotonic() - started > 0.1:
        children.append(os.fork())

def seconds():
    started = time.monotonic()
    sn.Staircase(eps, gamma="l2").sample(threads=1)
    return time.monotonic() - started

# A fill that ends before the first look has its signal after it.
while seconds() < 0.5:
    eps = np.append(eps, eps)
signal.signal(signal.SIGALRM, fork)
while not children:
    mechanism = sn.Staircase(eps, gamma="l2")
    started = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        mechanism.sample(threads=1)
    except RuntimeError as error:
        assert children == [0], "the parent goes on"
        os.write(writer, str(error).encode())
        os._exit(0)
if children[0] == 0:
    os.write(writer, b"the child went on")
    os._exit(0)
os.waitpid(children[0], 0)
os.close(writer)
print(os.read(reader, 1000).decode())
"""


@needs_fork
def test_a_child_forked_by_a_signal_handler_does_not_end_its_parents_fill():
    for _ in range(5):
        # On a busy machine the signal can come before or after the fill; then the child can go on.
        done = subprocess.run([sys.executable, "-c", FORK_IN_A_HANDLER], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        if "the child went on" not in done.stdout:
            break
    assert "forked by a signal handler during this fill, whose noise belongs to the parent" in done.stdout
