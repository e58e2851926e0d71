"""Columns of groups: the SQL of a group, the label of what a statement returns, and the values that listed groups mean.

Listed groups are labels of data, so errors name them by place.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from stairnoise._errors import ParameterError, ParameterTypeError, check, outline, received
from stairnoise._numpy_scalars import python_value
from stairnoise.query.condition.tree import PARTS, Call
from stairnoise.query.groupings import MOST_GROUPS, Bins, Edge, Grouping, Part, spread, wrong_group
from stairnoise.query.question import Question
from stairnoise.query.sources.dialect import Column, Dialect, Kind
from stairnoise.query.types import Type, exact

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


# It returns what to do about a column that should have another type.
Remedy = Callable[[str, str], str]
# The key of each part of a date or timestamp. Days around New Year are in a week of the other year.
_KEYS = {
    "year": "{year}",
    "quarter": "({year} * 4 + {quarter} - 1)",
    "month": "({year} * 12 + {month} - 1)",
    "week": "({year} * 53 + {week} - 1 + case when {week} > 51 and {month} = 1 then -53 when {week} = 1 and {month} = 12 then 53 "
    "else 0 end)",
    "weekday": "(case {dow} when 0 then 7 else {dow} end)",
    "hour": "{hour}",
}


@dataclass(frozen=True, slots=True)
class Grouped:
    """Groups that are the values of a column."""

    dialect: Dialect
    column: Column
    # The groups as a question lists them, and in the column's type; None if they come from the data.
    labels: tuple[Any, ...] | None
    listed: list[Any] | None

    def code(self) -> tuple[str, list[Any]]:
        """Return the SQL of a group, with its parameters: the index of a listed group, or what `label` reads; or null."""
        if self.listed is None:
            return self.dialect.written(self.dialect.found(self.column)), []
        return self.dialect.code(self.column, self.listed)

    def label(self, value: Any) -> Any:
        """Return the group for a value of `code`."""
        return self.dialect.read(self.column, value) if self.labels is None else self.labels[value]

    @property
    def type(self) -> Type:
        """The type of the groups in the private table."""
        return self.dialect.type(self.column, self.labels or ())

    @property
    def kind(self) -> str:
        """The kind of what `code` returns of groups that are not listed."""
        return self.column.kind


@dataclass(frozen=True, slots=True)
class Computed(Grouped):
    """Groups that are computed from a column; listed ones are keys."""

    grouping: Grouping

    def code(self) -> tuple[str, list[Any]]:
        """Return the key, or the index of a listed key."""
        grouping = self.grouping
        if isinstance(grouping, Bins):
            return _interval(self.dialect, self.column, grouping.edges)
        key = self.dialect.written(_part(self.dialect, self.column, grouping.part))
        if self.listed is None:
            return key, []
        keys = [f"when {key} then {place}" for place, key in enumerate(self.listed) if key is not None]
        code = f"case {key} {' '.join(keys)} end" if keys else "null"
        return (f"case when {key} is null then {self.listed.index(None)} else {code} end" if None in self.listed else code), []

    def label(self, value: Any) -> Any:
        """Return the label of a key, or of the index of a listed one."""
        if self.labels is not None or value is None or isinstance(self.grouping, Bins):
            return None if value is None else (self.labels or ())[value]
        return self.grouping.label(value)

    @property
    def kind(self) -> str:
        """Keys are integers."""
        return "integer"

    @property
    def type(self) -> Type:
        """The type of the labels."""
        return self.grouping.type


def _part(dialect: Dialect, column: Column, part: str) -> str:
    """Return the key of a part of a date or timestamp, or null; see `Part.key`."""
    value = dialect.moment(column, part)
    return _KEYS[part].format(**{name: dialect.call(Call("integer", name, ()), [value]) for name in PARTS})


def _interval(dialect: Dialect, column: Column, edges: tuple[Edge, ...]) -> tuple[str, list[Any]]:
    """Return the place of the interval that a value is in, or null, and parameters. 400 intervals take nine comparisons."""
    value, given = dialect.written(dialect.ordered(column)), list[Any]()

    def below(edge: Edge) -> str:
        mark = dialect.edge(column, edge)
        if mark is None:
            return f"({value} is not null)"
        given.extend(mark[1:])
        return f"({value} < {mark[0]})"

    def place(first: int, last: int) -> str:
        if last - first == 1:
            return str(first)
        middle = (first + last) // 2
        return f"case when {below(edges[middle])} then {place(first, middle)} else {place(middle, last)} end"

    # NaN is below no number, or above all numbers.
    return f"case when {below(edges[-1])} and not {below(edges[0])} then {place(0, len(edges) - 1)} end", given


def checked_groups(question: Question, table: Mapping[str, Column], dialect: Dialect, remedy: Remedy) -> dict[str, Grouped]:
    """Return the columns of groups; refuse groups that a column's type does not have, and columns without groups."""
    for name in question.groups:
        check(name in question.by, "groups must be of columns of by", name)
    found: dict[str, Grouped] = {}
    for name in question.by:
        labels, grouping = question.groups.get(name), question.groupings.get(name)
        if labels is not None and len(labels) > MOST_GROUPS:
            raise ParameterError(f"groups of {name!r} must be at most {MOST_GROUPS}, got {len(labels)}")
        if grouping is not None:
            found[name] = _computed(grouping, table[grouping.column], labels, dialect, remedy)
            continue
        column = table[name]
        if column.kind == "timestamp":
            parts = f"use year({name}), quarter({name}), month({name}), week({name}), weekday({name}) or hour({name})"
            raise ParameterError(f"by must not name {name!r} itself, because it has timestamps: {parts}")
        if column.kind == "other":
            raise ParameterError(f"by must name columns of integers, numbers, texts, bools or dates; {column.described}")
        if labels is None and column.kind in ("real", "decimal"):
            raise ParameterError(
                f"groups of {name!r} must be listed, because the column is declared as {column.declaration}; or "
                f"{remedy(name, 'integer')}"
            )
        found[name] = Grouped(dialect, column, labels, None if labels is None else _listed(column, labels, dialect.holds))
    return found


def _computed(grouping: Grouping, column: Column, labels: tuple[Any, ...] | None, dialect: Dialect, remedy: Remedy) -> Computed:
    """Return groups that are computed from a column of numbers, dates or timestamps."""
    declared = f"declared as {column.declaration or 'nothing'}"
    if isinstance(grouping, Part):
        if not dialect.has_parts(column, grouping.part):
            wanted = "timestamps" if grouping.part == "hour" else "dates or timestamps"
            raise ParameterError(
                f"by must have a column of {wanted} without a time zone in {grouping.name!r}; {column.described}: "
                f"{remedy(column.name, dialect.timestamp)}"
            )
        keys = None if labels is None else [None if label is None else grouping.key(label) for label in labels]
        return Computed(dialect, column, labels, keys, grouping)
    is_date = dialect.kind(column) == "date"
    if not is_date and (not column.summable or column.kind == "boolean"):
        how = remedy(column.name, "date" if grouping.are_dates else "real")
        raise ParameterError(f"bins of {column.name!r} must be of a column of numbers or dates; it is {declared}: {how}")
    if is_date != grouping.are_dates:
        kind = "dates" if is_date else "numbers"
        raise ParameterError(f"bins of {column.name!r} must have edges that are {kind}, because the column is {declared}")
    return Computed(dialect, column, labels, None, grouping)


def _listed(column: Column, listed: Iterable[object], holds: Callable[[Column, Any], bool]) -> list[Any]:
    values = [_value(column, value, place) for place, value in enumerate(listed)]
    for place, value in enumerate(values):
        if value is not None and not holds(column, value):
            rule = f"values that its type {column.declaration or '(none)'} can hold"
            raise wrong_group(column.name, rule, received(value), place)
    check(values, f"groups of {column.name!r} must be at least one, got none")
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
        rule = f"{names} or None, because the column is declared as {column.declaration or 'nothing'}"
        raise wrong_group(column.name, rule, outline(value), place, ParameterTypeError)
    return value


def values_of_texts(column: Column, texts: Sequence[str | None]) -> tuple[object, ...]:
    """Return the groups that texts mean; in a column of integers or dates a text can be a range."""
    found: list[object] = []
    for place, text in enumerate(texts):
        ends = text.split("..") if text is not None and column.kind in ("integer", "date") else [text]
        values = [None if end is None else _of_text(column, end, place) for end in ends]
        found += spread(column.name, *values) if len(values) == 2 else values[:1]
    return tuple(found)


def _decimal(text: str) -> Decimal:
    number = Decimal(text)
    if not number.is_finite():
        raise InvalidOperation
    return number


_OF_TEXTS: dict[Kind, Callable[[str], object]] = {
    "integer": int,
    "real": lambda text: int(text) if text.strip().lstrip("+-").isdigit() else float(text),
    "decimal": _decimal,
    "boolean": lambda text: {"true": True, "false": False, "1": True, "0": False}[text.strip().lower()],
    "date": lambda text: datetime.date.fromisoformat(text.strip()),
}


def _of_text(column: Column, text: str, place: int) -> object:
    try:
        return _OF_TEXTS.get(column.kind, str)(text)
    except (KeyError, ValueError, InvalidOperation):
        wanted = {"boolean": "true or false", "date": "dates as 2026-11-23"}.get(column.kind, _VALUES[column.kind][0])
        rule = f"{wanted}, because the column is declared as {column.declaration}"
        raise wrong_group(column.name, rule, "another text", place) from None
