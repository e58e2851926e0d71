"""A pytest plugin: of the cases of a parametrised test, a few from the first to the last, and the others while they are quick.

They run the lines that all of them run, or fewer.
"""

import os
from collections import Counter
from itertools import groupby

import pytest

LEAST = 4
# Of processor time, so that a busy machine runs no fewer; the other cases of a test are run until it has taken so much.
SECONDS = 2.0

# A child that is forked while another thread holds coverage's lock waits for it for ever when its lines are saved.
LEFT_OUT = {"test_fork_in_a_thread_while_others_draw"}

spent: Counter[tuple[str, str]] = Counter()
optional: set[str] = set()


def test_of(item: pytest.Item) -> tuple[str, str]:
    """A test without its parameters."""
    return str(item.path), item.nodeid.split("[")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts those few first."""
    ordered: list[pytest.Item] = []
    for _, group in groupby(items, key=test_of):
        cases = list(group)
        few = min(LEAST, len(cases))
        first = [cases[i * (len(cases) - 1) // max(1, few - 1)] for i in range(few)]
        others = [case for case in cases if case not in first]
        optional.update(case.nodeid for case in others)
        ordered += first + others
    items[:] = ordered


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None):
    """Counts what each test takes."""
    before = sum(os.times()[:4])
    try:
        return (yield)
    finally:
        spent[test_of(item)] += sum(os.times()[:4]) - before


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leaves out a case of a test that has taken its time, and what coverage cannot run."""
    if item.name in LEFT_OUT:
        pytest.skip("coverage would wait for its own lock")
    if item.nodeid in optional and spent[test_of(item)] > SECONDS:
        pytest.skip("other cases of this test have taken long enough")
