"""One hostile value at a time for every argument of every public callable gives a result, or a refusal that changes nothing.

`make test-long` is exhaustive. Otherwise each call takes every sixteenth value of an argument, and the calls that have the
argument take turns. If there is an `out`, every other call gets a good one, to see that a refusal does not change it.
"""

import inspect
from collections import Counter
from itertools import groupby

import numpy as np
import pytest

from tests.property.hostile.calls import Call, calls, is_skipped, readings
from tests.property.hostile.judge import attempt, has_nan
from tests.property.hostile.pool import POOL

CALLS = {name: list(group) for name, group in groupby(calls(), key=lambda call: call.label)}


def parts():
    """Return the hostile values for each argument of each call."""
    seen, found = Counter(), {}
    for name, group in CALLS.items():
        for number, call in enumerate(group):
            for argument in call.arguments:
                found[name, number, argument] = list(POOL)[seen[argument] % 16 :: 16]
                seen[argument] += 1
    return found


PARTS = parts()


# Arete's Rényi divergence is an integral, which takes a second for some orders.
LONG = "Arete.rdp"


def of_classes():
    """Return the names of the calls by what they are methods of."""
    found = {}
    for name in CALLS:
        found.setdefault(LONG if name == LONG else name.partition(".")[0], []).append(name)
    return [pytest.param(names, id=of, marks=[pytest.mark.long] * (of == LONG)) for of, names in found.items()]


@pytest.mark.parametrize("names", of_classes())
def test_a_part_of_the_values(names):
    for name in names:
        for number, call in enumerate(CALLS[name]):
            for argument in call.arguments:
                _try_values(call, argument, PARTS[name, number, argument])


@pytest.mark.long
@pytest.mark.parametrize("name", CALLS)
def test_all_values(name):
    for call in CALLS[name]:
        for argument in call.arguments:
            _try_values(call, argument, list(POOL))


def _try_values(call: Call, argument: str, values: list[str]) -> None:
    failures = []
    good = np.asarray(call.function(**call.good())) if "out" in call.arguments and argument != "out" else None
    for number, value in enumerate(values):
        if is_skipped(argument, value):
            continue
        out = {"out": np.full_like(good, 77)} if good is not None and number % 2 else {}
        try:
            outcome = attempt(call, {argument: POOL[value](), **out})
            if outcome.refusal is None and inspect.isclass(call.function):
                _read(outcome.result)
            elif outcome.refusal is None and argument in ("values", "size", "n", "dtype", "threads", "costs", "out"):
                assert not has_nan(outcome.result)
        except BaseException as error:  # a panic is one
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            failures.append(f"{argument} = {value}: {error!r}")
    assert not failures, "\n".join(failures)


def _read(mechanism: object) -> None:
    """Require that an accepted mechanism has a text, a hash, and functions that return no NaN."""
    assert hash(mechanism) == hash(mechanism)
    assert repr(mechanism)
    if not hasattr(mechanism, "n_parties"):  # these methods take seconds
        for name, value in readings(mechanism):
            assert not has_nan(value), name
