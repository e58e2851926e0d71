"""Reading columns by the file of their library, and the errors of libraries, which can hold data."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, StairnoiseError, outline
from stairnoise._parameters import true_values
from stairnoise.columns.column import Chunks, Column, Nulls, library

Read = TypeVar("Read")

_FILES = {"pandas": "of_pandas", "polars": "of_polars", "pyarrow": "of_arrow"}


class Answers(NamedTuple):
    """The checked answers of a column; only their range is left for the extension to check."""

    source: Any
    column: Column
    # int64 or float64, with one axis.
    answers: Chunks
    single_precision: bool
    # Places that become null.
    missing: Nulls


def reader(package: str) -> Any:
    """Return the file that reads and makes columns and frames of a package."""
    return import_module(f"stairnoise.columns.{_FILES[package]}")


def by_library(argument: str, source: object, convert: Callable[..., Read], *arguments: Any) -> Read:
    """Call a function that reads or makes columns. The error of another library can hold data, and engines print errors."""
    try:
        return convert(*arguments)
    except StairnoiseError:
        raise
    except Exception as error:
        full = isinstance(error, MemoryError)
    # Outside the handlers: an error that is raised within one refers to the handled error.
    if full:
        raise MemoryError(f"no memory to convert {argument}")
    raise ParameterTypeError(f"{argument} must be of a class that can be read and made again, got {outline(source)}")


def kept_nulls(found: Nulls, nulls: str) -> Nulls:
    """Return the places that stay null, or refuse a null."""
    if found is not None and nulls == "refuse":
        first = int(np.argmax(found))
        raise ParameterError(f'values must not be null without nulls="zero" or nulls="keep", got a null at index ({first},)')
    return found if nulls == "keep" else None


def read_answers(file: Any, source: Any, nulls: str) -> Answers:
    """Read a column with the file of its library."""
    column: Column = by_library("values", source, file.column, source)
    return Answers(source, column, *_exact(column.chunks), kept_nulls(column.chunks.nulls, nulls))


def answers_of(values: Any) -> NDArray[Any]:
    """Return the numbers of a column that has no nulls."""
    found = library(values)
    if found is None or found[1] == "frame":
        raise ParameterError(f"values must be a single column, got {outline(values)}")
    return read_answers(reader(found[0]), values, "refuse").answers.whole()


def _exact(chunks: Chunks) -> tuple[Chunks, bool]:
    """Convert numbers to int64 or float64; return whether they were float32."""
    if chunks.dtype in (np.int64, np.float64):
        return chunks, False
    answers, single_precision = true_values(chunks.whole())
    return Chunks([answers]), single_precision
