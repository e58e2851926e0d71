"""What can go wrong, and how a refused argument is described.

Every text names the parameter, the rule it broke and the value received::

    StairnoiseError
    ├── ParameterError          a ValueError: right kind of argument, impossible value
    ├── ParameterTypeError      a TypeError: wrong kind of argument
    └── CopyError               a TypeError: copying or pickling a generator

The extension raises the same classes for numeric facts, such as the range of ``eps``.
"""

from __future__ import annotations

import numpy as np

_LONGEST_REPR = 60


class StairnoiseError(Exception):
    """Base class of every error that stairnoise raises on purpose."""

    __module__ = "stairnoise"


class ParameterError(StairnoiseError, ValueError):
    """An argument of the right type whose value, shape or dtype is not allowed."""

    __module__ = "stairnoise"


class ParameterTypeError(StairnoiseError, TypeError):
    """An argument of a type that is not allowed, such as a string where a number is due."""

    __module__ = "stairnoise"


class CopyError(StairnoiseError, TypeError):
    """An attempt to copy or pickle a generator, whose copy would repeat its noise."""

    __module__ = "stairnoise"


def received(value: object) -> str:
    """Describe a refused value: its ``repr`` when short, its type and dtype otherwise."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of dtype {value.dtype} and shape {value.shape}"
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except Exception:  # a foreign __repr__ may raise anything, and Python writes no integer of more than 4300 digits
        return f"a value of type {type(value).__name__} that cannot be written out"
    if len(text) <= _LONGEST_REPR:
        return text
    return f"{text[:_LONGEST_REPR]}... ({type(value).__name__})"
