"""The values of a column that listed groups mean. Listed groups are labels of data, so errors name them by place."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._numpy_scalars import python_value
from stairnoise.query.groupings import MOST_GROUPS, Bins, Part, spread
from stairnoise.query.question import Question
from stairnoise.query.sources.column import Column, Kind
from stairnoise.query.sources.dialect import Dialect
from stairnoise.query.sources.grouped import Computed, Grouped
from stairnoise.query.types import exact

# The name and the Python types of the values of each kind of column.
_VALUES: dict[Kind, tuple[str, tuple[type, ...]]] = {
    "integer": ("integers", (int,)),
    "real": ("numbers", (int, float, Decimal)),
    "decimal": ("numbers", (int, float, Decimal)),
    "text": ("texts", (str,)),
    "boolean": ("bools", (bool,)),
    "date": ("dates", (datetime.date,)),
    "any": ("integers, numbers, texts, bools or dates", (int, float, Decimal, str, bool, datetime.date)),
}
# A key that is the same for equal values of a column. In a column without a type, 5 and "5" are one group in SQLite.
_SAME: dict[Kind, Callable[[Any], object]] = {"any": str, "real": float, "decimal": exact}


def checked_groups(
    question: Question, table: Mapping[str, Column], dialect: Dialect, remedy: Callable[[str, str], str]
) -> dict[str, Grouped]:
    """Return the columns of groups; refuse groups that a column's type does not have, and columns without groups."""
    for name in question.groups:
        if name not in question.by:
            raise ParameterError(f"groups must be of columns of by, got {received(name)}")
    found: dict[str, Grouped] = {}
    for name in question.by:
        labels = question.groups.get(name)
        grouping = question.groupings.get(name)
        column = table[name if grouping is None else grouping.column]
        if isinstance(grouping, Bins):
            _require_bins(grouping, column, dialect, remedy)
            found[name] = Computed(dialect, column, labels, None, grouping)
            continue
        if isinstance(grouping, Part):
            _require_part(grouping, column, dialect, remedy)
            keys = None if labels is None else [None if label is None else grouping.key(label) for label in labels]
            found[name] = Computed(dialect, column, labels, keys, grouping)
            continue
        if column.kind == "timestamp":
            parts = f"use year({name}), quarter({name}), month({name}), week({name}), weekday({name}) or hour({name})"
            raise ParameterError(f"by must not name {name!r} itself, because it has timestamps: {parts}")
        if column.kind == "other":
            raise ParameterError(
                f"by must name columns of integers, numbers, texts, bools or dates; {name!r} is declared as {column.declaration}"
            )
        if labels is None and column.kind in ("real", "decimal"):
            raise ParameterError(
                f"groups of {name!r} must be listed, because the column is declared as {column.declaration}; or "
                f"{remedy(name, 'integer')}"
            )
        found[name] = Grouped(dialect, column, labels, None if labels is None else _listed(column, labels, dialect.holds))
    return found


def _require_part(part: Part, column: Column, dialect: Dialect, remedy: Callable[[str, str], str]) -> None:
    """Require a column of dates or timestamps."""
    if not dialect.has_parts(column, part.part):
        wanted = "timestamps" if part.part == "hour" else "dates or timestamps"
        raise ParameterError(
            f"by must have a column of {wanted} without a time zone in {part.name!r}; {column.name!r} is declared as "
            f"{column.declaration or 'nothing'}: {remedy(column.name, 'timestamp')}"
        )


def _require_bins(bins: Bins, column: Column, dialect: Dialect, remedy: Callable[[str, str], str]) -> None:
    """Require that a column's values can be compared with edges."""
    is_date = dialect.kind(column) == "date"
    if is_date or (column.summable and column.kind != "boolean"):
        if is_date == bins.are_dates:
            return
        wanted = f"have edges that are {'dates' if is_date else 'numbers'}, because the column"
    else:
        wanted = "be of a column of numbers or dates; it"
    how = "" if wanted.startswith("have") else f": {remedy(column.name, 'date' if bins.are_dates else 'real')}"
    raise ParameterError(f"bins of {column.name!r} must {wanted} is declared as {column.declaration or 'nothing'}{how}")


def _listed(column: Column, listed: Iterable[object], holds: Callable[[Column, Any], bool]) -> list[Any]:
    values = [_value(column, value, place) for place, value in enumerate(listed)]
    for place, value in enumerate(values):
        if value is not None and not holds(column, value):
            raise ParameterError(
                f"groups of {column.name!r} must be values that its type {column.declaration or '(none)'} can hold, got "
                f"{received(value)} at index {place}"
            )
    if not values:
        raise ParameterError(f"groups of {column.name!r} must be at least one, got none")
    if len(values) > MOST_GROUPS:
        raise ParameterError(f"groups of {column.name!r} must be at most {MOST_GROUPS}, got {len(values)}")
    same = _SAME.get(column.kind)
    if len({value if value is None or same is None else (same(value),) for value in values}) < len(values):
        raise ParameterError(f"groups of {column.name!r} must be listed once each, got one of them twice")
    return values


def _value(column: Column, value: Any, place: int) -> Any:
    """Return a listed value as a parameter of a statement."""
    value = python_value(value)
    if value is None:
        return None
    names, types = _VALUES[column.kind]
    if type(value) not in types or (isinstance(value, float) and not math.isfinite(value)):
        raise ParameterTypeError(
            f"groups of {column.name!r} must be {names} or None, because the column is declared as "
            f"{column.declaration or 'nothing'}, got {outline(value)} at index {place}"
        )
    return value


def values_of_texts(column: Column, texts: Sequence[str | None]) -> tuple[object, ...]:
    """Return the groups that texts mean; in a column of integers or dates a text can be a range."""
    found: list[object] = []
    for place, text in enumerate(texts):
        ends = text.split("..") if text is not None and column.kind in ("integer", "date") else [text]
        values = [None if end is None else _of_text(column, end, place) for end in ends]
        found += spread(column.name, *values) if len(values) == 2 else values[:1]
    return tuple(found)


def _of_text(column: Column, text: str, place: int) -> object:
    try:
        if column.kind == "integer":
            return int(text)
        if column.kind == "decimal":
            return _decimal(text)
        if column.kind == "real":
            return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
        if column.kind == "boolean":
            return {"true": True, "false": False, "1": True, "0": False}[text.strip().lower()]
        if column.kind == "date":
            return datetime.date.fromisoformat(text.strip())
    except (KeyError, ValueError, InvalidOperation):
        wanted = {"boolean": "true or false", "date": "dates as 2026-11-23"}.get(column.kind, _VALUES[column.kind][0])
        raise ParameterError(
            f"groups of {column.name!r} must be {wanted}, because the column is declared as {column.declaration}, got "
            f"another text at index {place}"
        ) from None
    return text


def _decimal(text: str) -> Decimal:
    number = Decimal(text)
    if not number.is_finite():
        raise InvalidOperation
    return number
