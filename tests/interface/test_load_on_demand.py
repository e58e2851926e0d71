"""Packages load their modules at first use.

Evidence: the loaded modules of a fresh interpreter, before and after.
"""

import pickle
import subprocess
import sys
import textwrap

import pytest

from stairnoise import _lazy
from stairnoise.accounting import ledger


def test_a_module_is_loaded_at_its_first_use():
    code = """
        import sys
        from stairnoise.accounting.ledger import file
        before = "sqlite3" in sys.modules, "stairnoise.accounting.ledger.file" in sys.modules
        file.NEIGHBOURS
        print(*before, sys.modules["stairnoise.accounting.ledger.file"] is file)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


@pytest.mark.parametrize("name", ["files", "__wrapped__"])
def test_a_name_without_a_module_is_no_module(name):
    with pytest.raises(AttributeError, match=f"module 'stairnoise.accounting.ledger' has no attribute '{name}'"):
        getattr(ledger, name)


def test_a_change_reaches_the_module_itself(monkeypatch):
    from stairnoise.accounting.ledger import file

    lazy = _lazy.lazy_module("stairnoise.accounting.ledger", "file")
    monkeypatch.setattr(lazy, "NEIGHBOURS", ())
    assert file.NEIGHBOURS == ()
    monkeypatch.delattr(lazy, "NEIGHBOURS")
    assert not hasattr(file, "NEIGHBOURS")


def test_a_lazy_module_is_pickled_by_its_name() -> None:
    """Otherwise, an unpickled lazy module would look up its own attributes endlessly."""
    sent = pickle.dumps(_lazy.lazy_module("stairnoise.accounting.ledger", "costs"))
    assert pickle.loads(sent).__name__ == "stairnoise.accounting.ledger.costs"
