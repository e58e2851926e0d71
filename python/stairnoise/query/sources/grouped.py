"""Columns of groups: the SQL of a group, and the label of what a statement returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stairnoise.query.condition import Call
from stairnoise.query.groupings import Bins, Edge, Grouping
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.dialect import Dialect
from stairnoise.query.types import Type


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

    def of(part: str) -> str:
        return dialect.call(Call("integer", part, ()), [value])

    value = dialect.moment(column, part)
    if part in ("year", "hour"):
        return of(part)
    if part == "weekday":
        return f"(case {of('dow')} when 0 then 7 else {of('dow')} end)"
    if part == "month":
        return f"({of('year')} * 12 + {of('month')} - 1)"
    if part == "quarter":
        return f"({of('year')} * 4 + {of('quarter')} - 1)"
    # Days around New Year are in a week of the other year.
    other = f"when {of('week')} > 51 and {of('month')} = 1 then -53 when {of('week')} = 1 and {of('month')} = 12 then 53"
    return f"({of('year')} * 53 + {of('week')} - 1 + case {other} else 0 end)"


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
