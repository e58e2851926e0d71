"""Listed groups: which values of a column they mean. They are labels of data, so errors name them by place."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._numpy_scalars import python_value
from stairnoise.query.question import Question
from stairnoise.query.sources.column import Column, Kind

_ALLOWED: dict[Kind, tuple[type, ...]] = {
    "integer": (int,),
    "real": (int, float),
    "text": (str,),
    "boolean": (bool,),
    "date": (datetime.date,),
    "any": (int, float, str, bool, datetime.date),
}
_NAMES: dict[Kind, str] = {
    "integer": "integers",
    "real": "numbers",
    "text": "texts",
    "boolean": "bools",
    "date": "dates",
    "any": "integers, numbers, texts, bools or dates",
}
# A CASE of more is slow, and SQLite takes no more than 32 766 parameters.
_MOST_GROUPS = 10_000


def checked_groups(
    question: Question, table: dict[str, Column], holds: Callable[[Column, Any], bool], remedy: Callable[[str, str], str]
) -> dict[str, list[Any]]:
    """Return the listed groups of each column, all of which its declared type has; refuse columns that cannot be grouped by."""
    for name in question.groups:
        if name not in question.by:
            raise ParameterError(f"groups must be of columns of by, got {received(name)}")
    found = {}
    for name in question.by:
        column = table[name]
        if column.kind == "other":
            raise ParameterError(
                f"by must name columns of integers, numbers, texts, bools or dates; {name!r} is declared as {column.declaration}"
            )
        if name in question.groups:
            found[name] = _listed(column, question.groups[name], holds)
        elif column.kind == "real":
            raise ParameterError(
                f"groups of {name!r} must be listed, because the column is declared as {column.declaration}; or "
                f"{remedy(name, 'integer')}"
            )
    return found


def _listed(column: Column, listed: Iterable[object], holds: Callable[[Column, Any], bool]) -> list[Any]:
    values = [_value(column, each, place) for place, each in enumerate(listed)]
    for place, value in enumerate(values):
        if value is not None and not holds(column, value):
            raise ParameterError(
                f"groups of {column.name!r} must be values that its type {column.declaration or '(none)'} can hold, got "
                f"{received(value)} at index {place}"
            )
    if not values:
        raise ParameterError(f"groups of {column.name!r} must be at least one, got none")
    if len(values) > _MOST_GROUPS:
        raise ParameterError(f"groups of {column.name!r} must be at most {_MOST_GROUPS}, got {len(values)}")
    # SQLite takes 5 and "5" for one value where a column has no type.
    identity: Callable[[Any], object] = str if column.kind == "any" else lambda value: value
    seen = set()
    for value in values:
        if identity(value) in seen:
            raise ParameterError(f"groups of {column.name!r} must be listed once each, got one of them twice")
        seen.add(identity(value))
    return values


def _value(column: Column, value: Any, place: int) -> Any:
    """Return a listed value as a parameter of a statement."""
    value = python_value(value)
    if value is None:
        return None
    kind = type(value)
    if kind not in _ALLOWED[column.kind] or (kind is float and not math.isfinite(value)):
        raise ParameterTypeError(
            f"groups of {column.name!r} must be {_NAMES[column.kind]} or None, because the column is declared as "
            f"{column.declaration or 'nothing'}, got {outline(value)} at index {place}"
        )
    return value


def values_of_texts(column: Column, texts: Sequence[str | None]) -> tuple[object, ...]:
    """Return the groups that texts mean."""
    return tuple(None if text is None else _of_text(column, text, place) for place, text in enumerate(texts))


def _of_text(column: Column, text: str, place: int) -> object:
    try:
        if column.kind == "integer":
            return int(text)
        if column.kind == "real":
            return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
        if column.kind == "boolean":
            return {"true": True, "false": False, "1": True, "0": False}[text.strip().lower()]
        if column.kind == "date":
            return datetime.date.fromisoformat(text.strip())
    except (KeyError, ValueError):
        wanted = {"boolean": "true or false", "date": "dates as 2026-11-23"}.get(column.kind, _NAMES[column.kind])
        raise ParameterError(
            f"groups of {column.name!r} must be {wanted}, because the column is declared as {column.declaration}, got "
            f"another text at index {place}"
        ) from None
    return text
