"""The file of a library, and what becomes of errors that the library raises."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from stairnoise._errors import ParameterTypeError, StairnoiseError, outline

Read = TypeVar("Read")

_FILES = {"pandas": "of_pandas", "polars": "of_polars", "pyarrow": "of_arrow"}


def reader(package: str) -> Any:
    """Return the file that reads columns and frames of a package, and makes them again."""
    return import_module(f"stairnoise.columns.{_FILES[package]}")


def by_library(argument: str, source: object, convert: Callable[..., Read], *arguments: Any) -> Read:
    """Call what reads or makes columns; the error of another library may hold data, and engines print it."""
    try:
        return convert(*arguments)
    except StairnoiseError:
        raise
    except MemoryError:
        full = True
    except Exception:
        full = False
    # Outside the handlers, whose errors stay reachable from this one.
    if full:
        raise MemoryError(f"no memory to convert {argument}")
    raise ParameterTypeError(f"{argument} must be of a class that can be read and made again, got {outline(source)}")
