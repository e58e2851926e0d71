"""The errors, and how they describe a refused argument.

Every text names the argument, the rule that it broke and what was received: the value of a parameter,
but of data only type, dtype, shape and place (`got`)::

    StairnoiseError
    ├── ParameterError          a ValueError: right type, impossible value
    ├── ParameterTypeError      a TypeError: wrong type of argument
    │   └── LazyError           a computation that has not run, such as a query
    ├── CopyError               a TypeError: copying or pickling a generator
    └── LedgerError             a ledger that cannot be used, or refuses a spending
        └── BudgetError         a spending beyond the budget

The extension raises the same classes for numeric facts, such as the range of ``eps``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from stairnoise._numpy_scalars import python_value

_LONGEST_REPR = 60
_MOST_ITEMS = 20
# Kinds of NumPy dtypes that hold numbers.
_NUMBERS = "?biufc"

# Arguments that hold data, or can hold data by mistake: true answers, costs, numbers of candidates, samples, points at which a
# distribution is evaluated, numbers that the caller believes to be released, and memory that can hold the true answers.
_DATA = frozenset(
    {"arrays", "costs", "counts", "k", "labels", "multiplicities", "n", "out", "released", "samples", "scores", "values", "x"}
    | {"num_users", "result"}
)

# Types whose ``repr`` runs no foreign code. Bytes are not included, because keys are bytes.
_WRITTEN = frozenset({bool, int, float, complex, str, type, type(None), type(...), np.longdouble, np.clongdouble})
_WRITTEN_MODULES = frozenset({"decimal", "fractions", "stairnoise"})


class StairnoiseError(Exception):
    """Base class of every error that stairnoise raises on purpose."""


class ParameterError(StairnoiseError, ValueError):
    """An argument of the right type whose value, shape or dtype is not allowed."""


class ParameterTypeError(StairnoiseError, TypeError):
    """An argument of a type that is not allowed, such as a string instead of a number."""


class LazyError(ParameterTypeError):
    """An argument that stands for a computation, such as a Polars LazyFrame or a DuckDB relation; it was not run."""


class CopyError(StairnoiseError, TypeError):
    """An attempt to copy or pickle a generator, whose copy would repeat its noise."""


class LedgerError(StairnoiseError):
    """A file that cannot be used as a ledger, or a release that it refuses, which must not be drawn."""


class BudgetError(LedgerError):
    """A spending that would exceed the budget of the ledger; nothing has been spent."""


for _public in (StairnoiseError, ParameterError, ParameterTypeError, LazyError, CopyError, LedgerError, BudgetError):
    _public.__module__ = "stairnoise"


def check(holds: object, text: str, *values: object) -> None:
    """Raise an error unless something holds: the text, and the value that was received, if there is one."""
    if not holds:
        raise ParameterError(text + "".join(f", got {received(value)}" for value in values))


def got(name: str, value: object, array: np.ndarray[Any, Any] | None = None) -> str:
    """Describe a refused argument: `outline` describes data, `received` a parameter."""
    return outline(value, array) if name in _DATA else received(value)


def outline(value: object, array: np.ndarray[Any, Any] | None = None) -> str:
    """Describe data by type, dtype and shape; this runs no foreign code and shows no content.

    `array` is the converted value, if there is one.
    """
    if isinstance(value, np.ndarray):
        plain = np.asarray(value)
        return f"an array of dtype {dtype_name(plain.dtype)} and shape {plain.shape}"
    converted = "" if array is None else f" (as an array: dtype {dtype_name(array.dtype)}, shape {array.shape})"
    return f"a value of type {type(value).__name__}{converted}"


def received(value: object) -> str:
    """Describe a refused parameter by its ``repr``, cut to a short text, or by `outline` if foreign code would run."""
    try:
        text = _written(python_value(value))
    except ValueError:  # Python writes no integer of more than 4300 digits
        return f"a value of type {type(value).__name__} that cannot be written out"
    if text is None:
        return outline(value)
    return text if len(text) <= _LONGEST_REPR else f"{text[:_LONGEST_REPR]}... ({type(value).__name__})"


def place(index: tuple[Any, ...]) -> str:
    """Name a place in an array; return nothing for a single number."""
    return f" at index {tuple(map(int, index))}" if index else ""


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Name a dtype; for rare dtypes only its class, because labels of fields and other contents may be data."""
    return str(dtype) if dtype.kind in _NUMBERS + "mMSUO" else type(dtype).__name__


def meant(name: object, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown name: a similar known name as a suggestion, if there is one."""
    if not isinstance(name, str):
        return ""
    from difflib import get_close_matches  # takes a millisecond that only an error needs

    # "Discrete Laplace" and "DiscreteLaplace" match "discrete_laplace".
    by_letters = {_letters(one): one for one in known}
    near = get_close_matches(_letters(name), by_letters, n=1)
    return f"; did you mean {by_letters[near[0]]!r}?" if near else ""


def arguments_of(method: Any) -> tuple[str, ...]:
    """Return the names of a method's arguments, without ``self``; `inspect` would take 50 times as long."""
    code = method.__code__
    return code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]  # type: ignore[no-any-return]


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def _written(value: object) -> str | None:
    """Return the ``repr`` of a value, or None if only foreign code could write it."""
    kind = type(value)
    if isinstance(value, np.ndarray):
        plain = np.asarray(value)
        return repr(plain) if not plain.ndim and plain.dtype.kind in _NUMBERS else None
    if _writes_itself(value, depth=2):
        return repr(value)
    return next((base.__repr__(value) for base in (int, float, str) if issubclass(kind, base)), None)


def _writes_itself(value: object, depth: int) -> bool:
    kind = type(value)
    if isinstance(value, (list, tuple)) and kind in (list, tuple):
        return len(value) <= _MOST_ITEMS and depth > 0 and all(_writes_itself(item, depth - 1) for item in value)
    return kind in _WRITTEN or kind.__module__ in _WRITTEN_MODULES
