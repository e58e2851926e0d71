"""Modules that are loaded at their first use, so that drawing noise does not wait for the theory.

A package calls ``load_on_demand(__name__)`` in its ``__init__``. Then ``from stairnoise.mechanisms.laplace import loss`` loads
nothing until the first ``loss.Steps``. An import of a name still loads its module at once, as in
``from stairnoise.mechanisms.laplace.loss import Steps``. A test that patches such a module imports it as
``import stairnoise.mechanisms.laplace.loss as loss``, which loads it too. Type checkers see ordinary imports. Python 3.15 has the
same as ``lazy from … import …`` (PEP 810).
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _LazyModule:
    """A module that is imported when one of its names is asked for."""

    __slots__ = ("_module", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            self._module = import_module(self._name)
        return getattr(self._module, name)

    def __repr__(self) -> str:
        return f"<lazy module {self._name!r}>"


def load_on_demand(package: str) -> None:
    """Give a package a ``__getattr__`` (PEP 562) that returns its modules unloaded."""

    def module(name: str) -> _LazyModule:
        if name.startswith("__") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return _LazyModule(f"{package}.{name}")

    # Set from outside: type checkers would believe that a package which defines __getattr__ has every name.
    sys.modules[package].__getattr__ = module  # type: ignore[method-assign]
