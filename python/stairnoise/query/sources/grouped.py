"""Columns of groups: the SQL of a group, and the label of what a statement returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Computed(Grouped):
    """Groups that are computed from a column; listed ones are keys."""

    grouping: Grouping

    def code(self) -> tuple[str, list[Any]]:
        """Return the key, or the index of a listed key."""
        assert isinstance(self.grouping, Bins)
        return _interval(self.dialect, self.column, self.grouping.edges)

    @property
    def type(self) -> Type:
        """The type of the labels."""
        return self.grouping.type


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
