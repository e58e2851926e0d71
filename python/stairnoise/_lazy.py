"""Modules that are loaded at their first use, so that drawing noise does not wait for the theory.

A package calls ``load_on_demand(__name__)`` in its ``__init__``. Then ``from stairnoise.mechanisms.laplace import loss`` loads
nothing until the first ``loss.Steps``. An import of a name still loads its module at once, as in
``from stairnoise.mechanisms.laplace.loss import Steps``. Type checkers see ordinary imports. Python 3.15 has the same as
``lazy from … import …`` (PEP 810).
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any


class _LazyModule:
    """A module that is imported when one of its names is asked for; it then takes this object's place in the module that asks."""

    # Without a __dict__ of its own, so that a lazy module has the module's.
    __slots__ = ("_module", "_name")
    _module: ModuleType | None
    _name: str

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_module", None)

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            object.__setattr__(self, "_module", import_module(self._name))
        # A call of this function takes a quarter of a microsecond, more than many a call of the module's functions.
        names = sys._getframe(1).f_globals
        for key, value in list(names.items()):
            if value is self:
                names[key] = self._module
        return getattr(self._module, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(import_module(self._name), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(import_module(self._name), name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the name; cloudpickle sends the globals of a function, lazy modules too."""
        return _LazyModule, (self._name,)

    def __repr__(self) -> str:
        return f"<lazy module {self._name!r}>"


def lazy_module(package: str, name: str) -> _LazyModule:
    """Return a module of a package unloaded, or raise AttributeError: what a package's ``__getattr__`` does (PEP 562)."""
    module = f"{package}.{name}"
    # An import system of another kind, as in some frozen programs, finds the module after this error and loads it at once.
    if name.startswith("__") or PathFinder.find_spec(module, sys.modules[package].__path__) is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return _LazyModule(module)


def load_on_demand(package: str) -> None:
    """Give a package this ``__getattr__``.

    It is set from outside, because type checkers believe that a package which defines ``__getattr__`` has every name.
    """
    sys.modules[package].__getattr__ = partial(lazy_module, package)  # type: ignore[method-assign]
