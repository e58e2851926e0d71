"""The true answers of a column, and what a null is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, outline
from stairnoise._values import true_values
from stairnoise.columns.column import Chunks, Column, Nulls
from stairnoise.columns.libraries import library
from stairnoise.columns.reading import by_library, reader


class Answers(NamedTuple):
    """The answers of a column, which Python has checked; the extension looks at their range."""

    source: Any
    column: Column
    # int64 or float64, of one axis.
    answers: Chunks
    single_precision: bool
    # Places that become null.
    missing: Nulls


def read_answers(file: Any, source: Any, nulls: str) -> Answers:
    """Read a column with the file of its library."""
    column: Column = by_library("values", source, file.column, source)
    missing = column.chunks.nulls
    if missing is not None and nulls == "refuse":
        first = int(np.argmax(missing))
        raise ParameterError(f'values must not be null without nulls="zero" or nulls="keep", got a null at index ({first},)')
    return Answers(source, column, *_exact(column.chunks), missing if nulls == "keep" else None)


def answers_of(values: Any) -> NDArray[Any]:
    """Return the numbers of a column that has no nulls."""
    found = library(values)
    if found is None or found[1] == "frame":
        raise ParameterError(f"values must be a single column, got {outline(values)}")
    return read_answers(reader(found[0]), values, "refuse").answers.whole()


def _exact(chunks: Chunks) -> tuple[Chunks, bool]:
    """Convert numbers to int64 or float64; tell whether they were float32."""
    if chunks.dtype in (np.int64, np.float64):
        return chunks, False
    answers, single_precision = true_values(chunks.whole())
    return Chunks([answers]), single_precision
