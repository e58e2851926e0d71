"""scripts/mutants_in_forks.py exchanges mutants in a live module."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("cosmic_ray", reason="needs cosmic-ray")

from scripts.mutants_in_forks import Forks, exchange, forked

SOURCE = """
from functools import cache
LIMIT = 4
def over(n, by=1):
    return n > LIMIT + by
@cache
def double(n):
    return 2 * n
"""


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType]:
    """A module of the package, and a second module that imported its names."""
    made = ModuleType("stairnoise._made"), ModuleType("stairnoise._user")
    for module in made:
        module.__file__ = f"{module.__name__}.py"
        monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(SOURCE, made[0].__dict__)
    made[1].__dict__.update(LIMIT=made[0].LIMIT, over=made[0].over, double=made[0].double)
    return made


def test_functions_and_constants_change_where_they_were_imported(modules: tuple[ModuleType, ModuleType]) -> None:
    module, user = modules
    assert user.double(4) == 8
    assert user.over(6)
    exchange(module, SOURCE.replace("2 * n", "2 + n").replace("by=1", "by=2").replace("LIMIT = 4", "LIMIT = 5"))
    assert user.double(4) == 6
    assert user.LIMIT == 5
    assert not user.over(7)
    assert user.over(8)


def test_the_same_text_changes_nothing(modules: tuple[ModuleType, ModuleType]) -> None:
    module, user = modules
    exchange(module, SOURCE)
    assert (user.double(3), user.LIMIT, user.over(5), user.over(6)) == (6, 4, False, True)


def test_a_fork_answers_or_does_not() -> None:
    assert forked(lambda: [1, "a"]) == [1, "a"]
    assert forked(lambda: sys.exit("ends")) is None


def test_a_file_that_cannot_be_collected_ends_the_run() -> None:
    """If the run went on, its tests would be missing, and mutants that only they kill would survive."""
    session: Any = SimpleNamespace(testsfailed=1, items=[])
    with pytest.raises(pytest.UsageError, match="collected"):
        Forks("", []).pytest_runtestloop(session)
