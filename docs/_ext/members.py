"""The members that a class's page lists, and docstrings in the form that Sphinx needs."""

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import stairnoise as sn

# Members of these classes belong to Python.
_PLAIN = (object, tuple, Sequence, BaseException)
_CODE = re.compile(r"(:\w+:`[^`]*`|``.*?``|`[^`]*`)")
_BAR = re.compile(r"(?<!\\)\|")
_CLASSES = [name for name in sn.__all__ if inspect.isclass(getattr(sn, name))]


def _own(name: str) -> dict[str, Any]:
    kind = getattr(sn, name)
    found = {member: inspect.getattr_static(kind, member) for member in dir(kind) if not member.startswith("_")}
    inherited = [base for base in kind.__mro__ if base in _PLAIN]
    return {member: thing for member, thing in found.items() if not any(vars(base).get(member) is thing for base in inherited)}


def properties(name: str) -> list[str]:
    """Return the properties of a public class; its docstring has other kinds of attributes."""
    return [member for member, thing in _own(name).items() if isinstance(thing, property)]


def methods(name: str) -> list[str]:
    """Return the methods of a public class, with those that it inherits from the library."""
    return [
        member
        for member, thing in _own(name).items()
        if inspect.isroutine(thing) or isinstance(thing, (classmethod, staticmethod))
    ]


def of(listed: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """Return a function's list for every public class, by the class's name."""
    return {name: listed(name) for name in _CLASSES}


def types() -> dict[str, str]:
    """Return links for words in parameters' types that numpydoc does not know; "generator" does not mean Python's."""
    errors = ("MemoryError", "ModuleNotFoundError", "RuntimeError", "TypeError")
    return {
        **{name: f"stairnoise.{name}" for name in _CLASSES},
        **{name: f":exc:`python:{name}`" for name in errors},
        "bytes": ":class:`python:bytes`",
        "dtype": "numpy.dtype",
        "generator": "generator",
        "iterator": ":term:`python:iterator`",
    }


def escape_bars(lines: list[str]) -> list[str]:
    """Return a docstring in which E|X| is text, because |X| is a substitution in reStructuredText."""
    found, formula, session = [], None, False
    for line in lines:
        session = line.lstrip().startswith(">>>") or (session and bool(line.strip()))
        indent = len(line) - len(line.lstrip())
        if formula is not None and line.strip() and indent <= formula:
            formula = None
        if line.lstrip().startswith((".. math::", ".. code-block::")):
            formula = indent
        if formula is None and not session:
            parts = _CODE.split(line)
            parts[::2] = [_BAR.sub(r"\|", part) for part in parts[::2]]
            line = "".join(parts)
        found.append(line)
    return found


def _docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = escape_bars(lines)


def _signature(app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: Any) -> Any:
    """Hide the parameters of a class that users do not construct, such as `Comparison`; its docstring does not list all."""
    if what != "class" or not signature:
        return None
    described = set(re.findall(r"\w+", inspect.getdoc(thing) or ""))
    return None if described.issuperset(inspect.signature(thing).parameters) else ("", returned)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
