"""What engines write differently in one statement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from stairnoise.query.condition import Condition
from stairnoise.query.condition import quoted as quoted
from stairnoise.query.sources.column import Column, is_decimal, is_float, is_integer
from stairnoise.query.sources.units import MOST_UNITS, Units
from stairnoise.query.types import Type, decimal, decimal_of, of_listed

# The dates that Python has.
_FIRST_DAY, _LAST_DAY = "date '0001-01-01'", "date '9999-12-31'"


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


class Dialect(ABC):
    """The SQL of one engine. Unless stated otherwise, a method returns a piece of SQL."""

    # Stands for a parameter.
    mark = "?"

    def written(self, text: str) -> str:
        """Escape what the driver would take for a mark."""
        return text

    def kept(self, table: str, columns: dict[str, Column], condition: Condition) -> str:
        """Select the rows for which a condition is true."""
        seen = {name: self.seen(columns[name], condition) for name in condition.columns}
        if all(value == quoted(name) for name, value in seen.items()):
            return f"select * from {table} where {self.fulfils(condition)}"
        # Inside, the columns' names stand for what the condition sees, and the columns have aliases.
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
        """Return what a condition sees of a column: a value on which it cannot fail."""
        return self.bare(column)

    def fulfils(self, condition: Condition) -> str:
        """Return an expression that is true for the rows that a condition selects."""
        return f"(\n{self.written(condition.text)}\n)"

    @abstractmethod
    def group(self, column: Column) -> str:
        """Return a column's value with a comparison byte by byte, so that no other spelling can stand for a group."""

    def found(self, column: Column) -> str:
        """Return the value of `group` in a type that Python can read for every row; dates beyond Python's become null."""
        if column.kind != "date":
            return self.group(column)
        name = quoted(column.name)
        return f"case when {name} between {_FIRST_DAY} and {_LAST_DAY} then {name} end"

    def type(self, column: Column, listed: Iterable[Any]) -> Type:
        """Return the type that a column's groups, listed or found, have in the private table."""
        if column.kind == "any":
            return of_listed(listed)
        if column.kind == "decimal":
            return decimal(*column.digits) if column.digits else decimal_of(listed)
        assert column.kind != "other"
        return Type(column.kind)

    def holds(self, column: Column, value: Any) -> bool:
        """Return whether a column's declared type has a listed value, so that no comparison with the value can fail."""
        if column.kind == "integer":
            return is_integer(value, column.bits, signed=column.signed)
        if column.kind == "real":
            return is_float(value, column.bits)
        return column.digits is None or is_decimal(value, *column.digits)

    def parameter(self, column: Column, value: Any) -> tuple[str, Any]:
        """Return the mark for a listed value, and the value as the driver takes it."""
        return self.mark, value

    def code(self, column: Column, listed: list[Any]) -> tuple[str, list[Any]]:
        """Return the index of a column's value in a list, or null, and the parameters of that expression."""
        return self.code_of(self.written(self.group(column)), column, listed)

    def code_of(self, value: str, column: Column, listed: list[Any]) -> tuple[str, list[Any]]:
        """Do the same for a value that `group` returned."""
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
        """Return a hash of a text, by which a person's groups are ordered.

        The hash must be the same in every version of the engine, so that a keyed release can be repeated. Privacy needs no more:
        for a fixed key the order depends on that person's rows alone.
        """

    def has_one_text(self, column: Column) -> bool:
        """Return whether equal values of a column always have the same text."""
        return False

    @abstractmethod
    def is_number(self, column: Column) -> str:
        """Return whether a column holds a number in a row; NaN is none."""

    def units(self, column: Column, units: Units) -> str:
        """Return the integer multiple of a unit that is nearest to a number, within ±`MOST_UNITS`."""
        name = quoted(column.name)
        if column.kind == "integer" and units.unit == 1:
            return f"greatest(least({self.whole(name)}, {MOST_UNITS}), -{MOST_UNITS})::int8"
        return rounded(f"{name}::float8", units, lambda number: f"'{number!r}'::float8", "trunc({})::int8")

    def whole(self, name: str) -> str:
        """Return an integer in a type in which it can be compared with `MOST_UNITS`."""
        return f"{name}::int8"


def rounded(number: str, units: Units, literal: Any, whole: str) -> str:
    """Return the integer multiple of a unit that is nearest to a number in SQL.

    Only numbers from half a unit to `MOST_UNITS` units are scaled, so nothing overflows or underflows.
    """
    most, half = literal(MOST_UNITS * units.unit), literal(units.unit / 2)
    scaled = f"{number} * {literal(1 / units.unit)}"
    up, down = (whole.format(f"{scaled} {sign} {literal(0.5)}") for sign in "+-")
    return (
        f"case when {number} >= {most} then {MOST_UNITS} when {number} <= -{most} then -{MOST_UNITS} "
        f"when {number} >= {half} then {up} when {number} <= -{half} then {down} else 0 end"
    )
