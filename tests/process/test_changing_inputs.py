"""Another thread writes to an input while a call reads it: the call answers for allowed numbers, or raises an error.

Evidence: every check refuses the writer's values, and they would show in the answer. The writer and the calls race for a
fifth of a second each, so these passes are weaker than the first test, which changes costs between their check and their use.
"""

import threading
import time

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped

KEYED = sn.KeyedRng(bytes(32), "r", bind="label")
ROWS, CANDIDATES = 300, 40
COUNTS = 20_000
SECONDS = 0.1
SELECTING = [
    sn.StaircaseSelection(1, sensitivity=1),
    sn.ExponentialMechanism(1, sensitivity=1),
    sn.PermuteAndFlip(1, sensitivity=1),
]
CHANGED = "must not be written to by another thread during the call"


class Meddling:
    """A native mechanism that writes to the costs right after their check."""

    def __init__(self, native, costs):
        self.native, self.costs = native, costs

    def checked(self, *arguments):
        answer = self.native.checked(*arguments)
        self.costs[...] = np.nan
        return answer

    def __getattr__(self, name):
        return getattr(self.native, name)


USES = {
    "select": lambda mechanism, costs: mechanism.select(costs),
    "select often": lambda mechanism, costs: mechanism.select(costs, size=(5, 2)),
    "sample": lambda mechanism, costs: mechanism.sample(costs[0], 50),
    "top": lambda mechanism, costs: mechanism.top(costs, 1),
    "probabilities": lambda mechanism, costs: mechanism.probabilities(costs),
    "log_probabilities": lambda mechanism, costs: mechanism.log_probabilities(costs),
    "expected_cost": lambda mechanism, costs: mechanism.expected_cost(costs),
}


@looped("use", USES.values())
@looped("order", ["C", "F"])
@looped("kind", [sn.StaircaseSelection, sn.ExponentialMechanism, sn.PermuteAndFlip])
def test_costs_are_read_once(kind, order, use):
    """A candidate of a nonzero cost is selected with probability below e**-1700."""
    honest = np.array([[400.0, 0.0, 400.0], [400.0, 400.0, 0.0]], order=order)
    costs, mechanism = honest.copy(order), kind(9, 1)
    object.__setattr__(mechanism, "_mechanism", Meddling(mechanism._mechanism, costs))
    found = use(mechanism, costs)
    assert np.isnan(costs).all()
    assert np.array_equal(found, use(kind(9, 1), honest))


def while_written(memory, values, work):
    """Yield the results of repeated `work()` while another thread writes the values to the memory, one after the other."""
    stop = threading.Event()

    def write():
        while not stop.is_set():
            for value in values:
                memory[...] = value

    writer = threading.Thread(target=write)
    writer.start()
    try:
        until, answers = time.monotonic() + SECONDS, []
        while time.monotonic() < until:
            try:
                answers.append(work())
            except sn.ParameterError as error:
                answers.append(error)
        return answers
    finally:
        stop.set()
        writer.join()


@pytest.mark.parametrize("mechanism", SELECTING, ids=lambda mechanism: type(mechanism).__name__)
@pytest.mark.parametrize("k", [None, 2])
def test_selections_while_costs_are_written(mechanism, k):
    costs = np.ones((ROWS, CANDIDATES))
    draw = (lambda: mechanism.select(costs)) if k is None else (lambda: mechanism.top(costs, k))
    for answer in while_written(costs, [np.nan, 1.0, np.inf, -np.inf, 5.0], draw):
        assert isinstance(answer, sn.ParameterError) or ((answer >= 0) & (answer < CANDIDATES)).all()


VALUES = np.zeros(COUNTS)
WHOLE = np.zeros(COUNTS, np.int64)
EPS = np.ones(COUNTS)
OUT = np.empty(COUNTS)
FORTRAN = np.zeros((100, COUNTS // 100)).T
PARTITIONS = sn.PartitionSelection(1, 1e-6)
NUMBERS = [np.nan, 0.0, np.inf, 1e300, 5.0]

RELEASES = {
    "float64": (VALUES, NUMBERS, lambda: sn.Laplace(1, sensitivity=1).release(VALUES)),
    "into out": (VALUES, NUMBERS, lambda: sn.Staircase(1, sensitivity=1).release(VALUES, out=OUT)),
    "other order": (FORTRAN, NUMBERS, lambda: sn.Laplace(1, sensitivity=1).release(FORTRAN)),
    "several draws": (VALUES, NUMBERS, lambda: sn.DiscreteGaussian(9).release(VALUES)),
    "array of eps": (VALUES, NUMBERS, lambda: sn.Laplace(EPS, sensitivity=1).release(VALUES)),
    "Gaussians": (VALUES, NUMBERS, lambda: sn.DiscreteGaussian(EPS).release(VALUES)),
    "keyed": (VALUES, NUMBERS, lambda: sn.DiscreteLaplace(1, 1).release(VALUES, labels=WHOLE * 0, statistic="s", rng=KEYED)),
    "counts": (WHOLE, [-1, 3, -(2**63)], lambda: PARTITIONS.release(WHOLE)),
}


@pytest.mark.parametrize(("memory", "values", "release"), RELEASES.values(), ids=RELEASES)
def test_releases_while_answers_are_written(memory, values, release):
    memory[...] = 0
    for answer in while_written(memory, values, release):
        if isinstance(answer, sn.ParameterError):
            assert str(answer).startswith(("values must", "counts must", "labels must"))
        else:
            # The noise of no value is beyond 10**4, with probability below 1e-300.
            assert np.all(np.abs(answer) < 1e4)


def test_noise_while_parameters_are_written():
    for answer in while_written(EPS, [np.nan, 1.0, -1.0, 1e-300, 2.0], lambda: sn.sample(None, EPS, mechanism="laplace")):
        assert isinstance(answer, sn.ParameterError) or np.isfinite(answer).all()


class Endless(list):
    """A list that claims to be longer than all memory."""

    def __len__(self):
        return 2**40


def test_lengths_that_objects_claim_are_not_believed():
    native = sn._native
    labels = native.Labels.integers(np.arange(3))
    assert len(native.Labels.tuples(Endless([labels, labels]))) == 3
    assert len(native.Labels.objects(Endless(["a", "b"]), bytes)) == 2
    out = np.empty(3)
    native.laplace(1.0, 1.0).release_column(native.Stream.from_seed(1, True), Endless([np.zeros(3)]), None, out)
    assert np.isfinite(out).all()
    native.merged_laplace(Endless([1.0, 2.0]), Endless([3.0]), 1.0)
    assert len(native.truncated_staircase_ends(1.0, 1e-6, 5, Endless([1, 2]))) == 2

    class NoList:
        __len__ = Endless.__len__

        def __getitem__(self, place):
            raise IndexError

    with pytest.raises(TypeError):
        native.Labels.tuples(NoList())
