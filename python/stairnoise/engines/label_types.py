"""The declared type of a label.

Engines hold one label in several types: SQLite and CSV files have dates as texts, SQLite has bools as integers, and Dask makes
texts of a column of objects. A label of another type has other noise, and two noises of one answer cost twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from stairnoise._errors import ParameterError, ParameterTypeError, place, received
from stairnoise._native import Labels
from stairnoise.keyed import encoding
from stairnoise.keyed.labels import label_column

LabelType = Literal["text", "integer", "boolean", "date", "bytes"]

_TAGS = {
    "text": encoding.TEXT,
    "integer": encoding.INTEGER,
    "boolean": encoding.BOOL,
    "date": encoding.DATE,
    "bytes": encoding.BYTES,
}
_NAMES = f"{', '.join(map(repr, [*_TAGS][:-1]))} or {[*_TAGS][-1]!r}"


def declared(label_type: object) -> tuple[str, ...]:
    """Check the declared types of a label's parts, and return them."""
    types = tuple(label_type) if isinstance(label_type, (list, tuple)) else (label_type,)
    if not types:
        raise ParameterError("label_type must have at least one type, got none")
    for type_ in types:
        if not isinstance(type_, str) or type_ not in _TAGS:
            error = ParameterError if isinstance(type_, str) else ParameterTypeError
            raise error(f"label_type must be {_NAMES}, or a list of them, got {received(type_)}")
    return types


def typed_labels(columns: Sequence[Any], types: Sequence[str], n: int) -> Labels:
    """Return the labels of `n` rows, or refuse them if one is not of its declared type; several columns make tuples."""
    found = [label_column(column, n) for column in columns]
    for column, type_ in zip(found, types, strict=True):
        row = column.first_besides(_TAGS[type_][0])
        if row is not None:
            raise wrong_type(type_, f"one of another type{place((row,))}")
    return found[0] if len(found) == 1 else Labels.tuples(found)


def wrong_type(type_: str, found: str) -> ParameterTypeError:
    """Return the error for a label that is not of its declared type."""
    return ParameterTypeError(f"labels must be of label_type={type_!r}, got {found}; convert the column")
