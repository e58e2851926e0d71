"""The functions of docs/distributed_work.md, in a pool of processes that fail. Evidence: equality and distinct draws."""

import doctest
import multiprocessing
import os
import re
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import rest_long

PAGE = Path(__file__).resolve().parents[2] / "docs" / "distributed_work.md"
SECRET = bytes(range(32))
PARTITIONS = 4
VALUES = 30
METHODS = [method for method in multiprocessing.get_all_start_methods() if method != "spawn"]

# Python 3.12 and later warn about forks in a process with threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")


def shown():
    """Return the page's two functions, unchanged."""
    names = {}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        if re.match(r"import stairnoise|def (stream|task)\b", example.source):
            exec(example.source, names)
    return names


def attempt(partition, number, data):
    """Run one try of a task; the first try of every third partition dies after its draw, before its answer."""
    noise = shown()["stream"](SECRET, partition, PARTITIONS)
    released = sn.DiscreteLaplace(0.01).release(data, rng=noise)
    if number == 0 and partition % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid(), released


def run(method, data):
    """Try every partition until two tries answer, as if slow tasks were started twice."""
    answers = {}
    for partition in range(PARTITIONS):
        answers[partition] = []
        for number in range(3 if partition % 3 == 0 else 2):
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
                try:
                    answers[partition].append(pool.submit(attempt, partition, number, data).result())
                except BrokenProcessPool:
                    assert (number, partition % 3) == (0, 0)
    return answers


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a task is killed as POSIX does it")
@pytest.mark.parametrize("method", rest_long(METHODS[:1], METHODS))
def test_a_retried_task_repeats_its_noise_and_no_two_partitions_share_any(method):
    data = np.zeros(VALUES, np.int64)
    answers = run(method, data)
    firsts = []
    for tried in answers.values():
        assert len(tried) == 2
        assert len({process for process, _ in tried}) == len(tried), "each try runs in a new process"
        assert all(np.array_equal(released, tried[0][1]) for _, released in tried)
        firsts.append(tried[0][1])
    assert len({released.tobytes() for released in firsts}) == PARTITIONS
    # Some three random values in a row would repeat with probability 2e-4; the secret is fixed, and none repeats.
    triples = [tuple(part[i : i + 3]) for part in firsts for i in range(VALUES - 2)]
    assert len(set(triples)) == len(triples)


def test_the_partitions_stream_is_a_child_by_its_number():
    stream = shown()["stream"]
    children = sn.SecureRng.from_key(SECRET).spawn(PARTITIONS)
    for partition, child in enumerate(children):
        expected = sn.sample(VALUES, 1.0, rng=child)
        assert np.array_equal(sn.sample(VALUES, 1.0, rng=stream(SECRET, partition, PARTITIONS)), expected)


def test_data_that_changes_between_tries_shows_in_the_difference():
    """The page forbids this, because the difference of the two answers has no noise."""
    task = shown()["task"]
    before, after = (task(SECRET, 3, PARTITIONS, counts) for counts in ([5, 70, 9], [5, 71, 9]))
    assert (after - before).tolist() == [0, 1, 0]
