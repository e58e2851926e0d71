"""Two calls cannot write one array at the same time, except in a child forked meanwhile.

Evidence: errors by their text; values by equality with a quiet fill.
"""

import os
import signal
import sys
import threading

import numpy as np
import pytest

import stairnoise as sn

LONG = 2**22


class Filling:
    """A fill in another thread, which runs until its array of zeros is full."""

    def __init__(self):
        self.out = np.zeros(LONG)
        self.thread = threading.Thread(target=lambda: sn.DiscreteGaussian(1e6).sample(out=self.out, threads=1))

    def __enter__(self):
        self.thread.start()
        while not self.out[0]:
            pass
        return self.out

    def __exit__(self, *_):
        self.thread.join()


def refusals(out):
    """Return the errors of calls that write or read memory while it is being filled."""
    calls = {
        "sample": lambda: sn.Laplace(1.0, sensitivity=1).sample(out=out[-1000:], rng=sn.SeededRng(1)),
        "release": lambda: sn.Laplace(1.0, sensitivity=1).release(np.zeros(1000), out=out[-1000:]),
        "in place": lambda: sn.Laplace(1.0, sensitivity=1).release(out[-1000:], out=out[-1000:]),
        "vectors": lambda: sn.MultivariateStaircase(1.0, dim=10, sensitivity=1).sample(out=out[-1000:].reshape(100, 10)),
        "values": lambda: sn.Laplace(1.0, sensitivity=1).release(out[-1000:]),
        "few values": lambda: sn.Laplace(1.0, sensitivity=1).release(out[-10:]),
        "eps": lambda: sn.sample(None, out[-1000:]),
        "costs": lambda: sn.ExponentialMechanism(1.0, sensitivity=1).select(out[-1000:]),
    }
    said = {}
    for name, call in calls.items():
        try:
            call()
        except sn.ParameterError as error:
            said[name] = str(error)
    return said


def test_memory_that_another_thread_fills_is_refused_by_name():
    with Filling() as out:
        said = refusals(out)
        still = not out[-1]
    if not still:
        pytest.skip("the fill ended before the other calls")
    in_use = "out must not be in use by another call"
    assert said.pop("costs").startswith("costs must not be written to by another call")
    assert said == {
        **dict.fromkeys(["sample", "release", "in place", "vectors"], in_use),
        **dict.fromkeys(["values", "few values"], "values must not be written to by another call, nor overlap out"),
        "eps": "eps must not be written to by another call, nor overlap out",
    }
    assert np.count_nonzero(out) > 0.99 * LONG
    sn.Laplace(1.0, sensitivity=1).sample(out=out[:10])


@pytest.mark.parametrize(
    ("cut", "meets"),
    [
        (lambda table: table[:, 1], False),
        (lambda table: table[:, 0], True),
        (lambda table: table[::-1, 1], False),
        (lambda table: table[:2], True),
        (lambda table: table.reshape(-1)[3::4], False),
        (lambda table: table.reshape(-1)[3::3], True),
        (lambda table: table.reshape(-1).view(np.uint8)[4:-4].view(np.float64)[::2], True),
        (lambda table: table.view(np.float32)[:, 3], False),
        (lambda table: table.view(np.float32)[:, 1], True),
        (lambda table: table[5:5], False),
    ],
    ids=["other column", "same", "reversed", "rows", "coarser", "finer", "across", "half", "half of the same", "nothing"],
)
def test_only_memory_that_is_written_is_in_use(cut, meets):
    """Evidence: which bytes the columns of a table share."""
    table = np.zeros((2**21, 2))
    thread = threading.Thread(target=lambda: sn.DiscreteGaussian(1e6).sample(out=table[:, 0], threads=1))
    thread.start()
    while not table[0, 0]:
        pass
    refused = False
    try:
        sn.Laplace(1.0, sensitivity=1).sample(out=cut(table)[:100])
    except sn.ParameterError:
        refused = True
    running = not table[-1, 0]
    thread.join()
    if not running and meets:
        pytest.skip("the fill ended before the second call")
    assert refused == meets


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_in_the_middle_of_a_fill_writes_the_same_memory():
    """The child inherits the list of arrays in use, but not the thread that was filling this array."""
    with Filling() as out:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(60)
                expected = sn.Laplace(1.0, sensitivity=1).sample(1000, rng=sn.SeededRng(4))
                ends = (
                    np.array_equal(sn.Laplace(1.0, sensitivity=1).sample(out=out[-1000:], rng=sn.SeededRng(4)), expected),
                    np.array_equal(sn.Laplace(1.0, sensitivity=1).release(out[-10:]).shape, (10,)),
                    sn.Laplace(1.0, sensitivity=1).release(out[:1000], out=out[:1000]) is not None,
                )
                code = 0 if all(ends) else 2
            finally:
                os._exit(code)
        still = not out[-1]
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    if not still:
        pytest.skip("the fill ended before the fork")
