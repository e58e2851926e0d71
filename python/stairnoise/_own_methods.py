"""Methods that a public class inherits, under its own name: Python's errors about arguments show it."""

from __future__ import annotations

from types import FunctionType
from typing import Any

_PUBLIC = "stairnoise"


def own_methods(cls: type) -> None:
    """Copy inherited public methods into a public class; "Releasing.release() missing 1 required ..." would name a mixin."""
    if cls.__module__ != _PUBLIC:
        return
    seen: set[str] = set(vars(cls))
    for base in cls.__mro__[1:]:
        for name, value in vars(base).items():
            if name not in seen and isinstance(value, FunctionType) and not name.startswith("_"):
                setattr(cls, name, _of_class(cls, value))
            seen.add(name)


def _of_class(cls: type, function: FunctionType) -> Any:
    made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__, made.__dict__ = function.__kwdefaults__, function.__dict__
    made.__doc__, made.__annotations__ = function.__doc__, function.__annotations__
    # Pickles find it by these.
    made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.{function.__name__}"
    return made
