"""What engines write differently in one statement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from stairnoise.query.condition import Condition
from stairnoise.query.condition import quoted as quoted
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.units import MOST_UNITS, Units
from stairnoise.query.types import Type, of_listed


def literal(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


class Dialect(ABC):
    """SQL as one engine has it. Every method returns a piece of text."""

    # What stands for a parameter.
    mark = "?"

    def written(self, text: str) -> str:
        """Return a text as it must be written among marks."""
        return text

    def kept(self, table: str, columns: dict[str, Column], condition: Condition) -> str:
        """Return the rows for which a condition is true."""
        seen = {name: self.seen(columns[name], condition) for name in condition.columns}
        if all(value == quoted(name) for name, value in seen.items()):
            return f"select * from {table} where {self.fulfils(condition)}"
        # The condition sees these values by the columns' names; the columns themselves have other names meanwhile.
        own = {name: f"stairnoise_{place}" for place, name in enumerate(columns)}
        inner = [f"{quoted(name)} as {alias}" for name, alias in own.items()]
        inner += [f"{value} as {quoted(name)}" for name, value in seen.items()]
        renamed = self.written(", ".join(f"{alias} as {quoted(name)}" for name, alias in own.items()))
        wide = f"select {self.written(', '.join(inner))} from {table}"
        return f"select {renamed} from (select * from ({wide}) as wide where {self.fulfils(condition)}) as fulfilling"

    def bare(self, column: Column) -> str:
        """Return a column's value."""
        return quoted(column.name)

    def seen(self, column: Column, condition: Condition) -> str:
        """Return what a condition sees of a column: a value with which it cannot fail."""
        return self.bare(column)

    def fulfils(self, condition: Condition) -> str:
        """Return what is true for the rows that a condition selects."""
        return f"(\n{self.written(condition.text)}\n)"

    @abstractmethod
    def group(self, column: Column) -> str:
        """Return a column's value so that equal ones are equal in every byte: no other spelling can stand for a group."""

    def found(self, column: Column) -> str:
        """Return a value as `group` does, in a type that every such value can be read in."""
        return self.group(column)

    def type(self, column: Column, listed: Iterable[Any]) -> Type:
        """Return the type of a column's groups, listed or found."""
        if column.kind == "any":
            return of_listed(listed)
        assert column.kind != "other"
        return Type(column.kind)

    @abstractmethod
    def holds(self, column: Column, value: Any) -> bool:
        """Tell whether the declared type of a column has a listed value, so that no comparison with it can fail."""

    def parameter(self, column: Column, value: Any) -> tuple[str, Any]:
        """Return the mark for a listed value, and the value as the driver takes it."""
        return self.mark, value

    def code(self, column: Column, listed: list[Any]) -> tuple[str, list[Any]]:
        """Return the place of a column's value in a list, or null, and the parameters of that."""
        return self.code_of(self.written(self.group(column)), column, listed)

    def code_of(self, value: str, column: Column, listed: list[Any]) -> tuple[str, list[Any]]:
        """Return the place in a list of a value as `group` returns it, or null, and the parameters of that."""
        branches, parameters = [], []
        for place, group in enumerate(listed):
            if group is None:
                branches.append(f"when {value} is null then {place}")
                continue
            mark, parameter = self.parameter(column, group)
            branches.append(f"when {value} = {mark} then {place}")
            parameters.append(parameter)
        return f"case {' '.join(branches)} end", parameters

    @abstractmethod
    def text(self, value: str) -> str:
        """Return a value as a text, or null."""

    @abstractmethod
    def order(self, text: str) -> str:
        """Return SHA-256 of a text."""

    @abstractmethod
    def is_number(self, column: Column) -> str:
        """Return the condition that a column holds a number in a row; NaN is none."""

    @abstractmethod
    def units(self, column: Column, units: Units) -> str:
        """Return a number as the nearest multiple of a unit, at most `MOST_UNITS`, and as a whole number."""


def rounded(number: str, units: Units, literal: Any, whole: str) -> str:
    """Return the nearest multiple of a unit for a number in SQL.

    Only numbers within `MOST_UNITS` are scaled, and none below half a unit, so that nothing overflows or underflows.
    """
    most, half = literal(MOST_UNITS * units.unit), literal(units.unit / 2)
    scaled = f"{number} * {literal(1 / units.unit)}"
    up, down = (whole.format(f"{scaled} {sign} {literal(0.5)}") for sign in "+-")
    return (
        f"case when {number} >= {most} then {MOST_UNITS} when {number} <= -{most} then -{MOST_UNITS} "
        f"when {number} >= {half} then {up} when {number} <= -{half} then {down} else 0 end"
    )
