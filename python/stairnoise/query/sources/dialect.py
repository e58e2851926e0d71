"""Columns, and what engines write differently in one statement.

A column has a declared type, which has only some values, and a unit in which it is summed: in units, sums are whole numbers,
exact in every engine and for any order of the rows.
"""

from __future__ import annotations

import datetime
import math
import struct
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from stairnoise._digits import as_typed
from stairnoise._errors import ParameterError, check
from stairnoise.quantiles.lattice import Lattice
from stairnoise.query.condition.tree import FUNCTIONS, PARTS, Call, Condition, Literal, Name, Node
from stairnoise.query.condition.tree import quoted as quoted
from stairnoise.query.types import Type, decimal, decimal_of, exact, of_listed

# "any" is a column of SQLite without a declared type, or with one that SQLite does not know.
Kind = typing.Literal["integer", "real", "decimal", "text", "boolean", "date", "timestamp", "any", "other"]

# SQLite has no type for dates and times; a declared type with one of these words means one.
_TIMES = ("DATE", "TIME")
# A person's total is less than 2^31 units, so 2^32 people stay within 64 bits.
_BITS = 31
# A row counts at most this many units, beyond both bounds, so 2^31 rows of one person stay within 64 bits.
MOST_UNITS = 2**32
LARGEST, _LEAST = 2.0**100, 2.0**-100


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the kind of its values, the engine's type, and the schema's word for the type if that differs."""

    name: str
    kind: Kind
    type: str
    declared: str = field(default="", kw_only=True)
    # Size of an integer or a float.
    bits: int = field(default=64, kw_only=True)
    signed: bool = field(default=True, kw_only=True)
    # Digits of a decimal, and how many of them come after the point; None if the type does not limit them.
    digits: tuple[int, int] | None = field(default=None, kw_only=True)

    @property
    def declaration(self) -> str:
        """The declared type, which is public."""
        return self.declared or self.type

    @property
    def described(self) -> str:
        """Its name and its declared type, for errors."""
        return f"{self.name!r} is declared as {self.declaration or 'nothing'}"

    @property
    def summable(self) -> bool:
        """Whether its values can be summed."""
        if self.kind == "any":
            return not any(word in self.type.upper() for word in _TIMES)
        return self.kind in ("integer", "real", "decimal", "boolean")

    def at_or_above(self, number: int | Decimal) -> int | Decimal | None:
        """Return the smallest number of an integer or decimal type that is not below this one, or None if all are below."""
        if self.kind == "decimal" and self.digits is None:
            return number
        precision, scale = self.digits or (0, 0)
        most = 10**precision - 1 if self.digits else 2 ** (self.bits - self.signed) - 1
        least = -most if self.digits else -self.signed * 2 ** (self.bits - 1)
        found = max(math.ceil(Fraction(number) * Fraction(10) ** scale), least)
        if found > most:
            return None
        return found if self.kind == "integer" else Decimal(f"{found}E{-scale}")


def is_integer(value: Any, bits: int, *, signed: bool = True) -> bool:
    """Return whether a value is an integer that fits this many bits."""
    least = -(2 ** (bits - 1)) if signed else 0
    return isinstance(value, int) and least <= value < least + 2**bits


def is_float(value: Any, bits: int) -> bool:
    """Return whether a number, rounded to a float of 32 or 64 bits, is finite, and is 0 only if the number is 0."""
    try:
        rounded = as_float(value, bits)
    except OverflowError:
        return False
    return math.isfinite(rounded) and (rounded != 0 or value == 0)


def as_float(value: Any, bits: int) -> float:
    """Return a number rounded to a float of 32 or 64 bits."""
    form = {32: "<f", 64: "<d"}[bits]
    (rounded,) = struct.unpack(form, struct.pack(form, float(value)))
    return float(rounded)


def is_decimal(value: Any, digits: int, scale: int) -> bool:
    """Return whether a number, as it is written, has at most this many digits, and at most `scale` of them after the point."""
    _, places, last = exact(value).as_tuple()
    assert isinstance(last, int)
    written = "".join(map(str, places))
    kept = written.rstrip("0")
    last += len(written) - len(kept)
    return not kept or (last >= -scale and len(kept) + last <= digits - scale)


@dataclass(frozen=True, slots=True)
class Units:
    """A unit, and the bounds as multiples of it."""

    unit: float
    low: int
    high: int


def units_of(bounds: tuple[float, float], *, whole: bool) -> Units:
    """Return the unit for these bounds: 1 for whole numbers if possible, else the power of two that leaves 31 bits.

    Bounds that are not multiples of the unit are moved inwards, by less than 2**-30 of the larger bound.
    """
    low, high = bounds
    largest = max(abs(low), abs(high))
    if not low <= high or not math.isfinite(largest):
        raise ParameterError(f"bounds must be a lower and an upper number, got {low!r} and {high!r}")
    if not _LEAST <= largest <= LARGEST:
        raise ParameterError(f"bounds must be 0 or between 2**-100 and 2**100 in size, and not both 0, got {low!r} and {high!r}")
    unit = math.ldexp(1.0, math.frexp(largest)[1] - _BITS)
    if whole and low.is_integer() and high.is_integer():
        unit = max(unit, 1.0)
    least, most = math.ceil(low / unit), math.floor(high / unit)
    check(least <= most, f"bounds must have a multiple of {unit!r} between them, got {low!r} and {high!r}")
    return Units(unit, least, most)


# The SQL of an engine.

# The dates that Python has.
_FIRST_DAY, _LAST_DAY = "date '0001-01-01'", "date '9999-12-31'"
# Before and after the dates that Python has, engines count years in different ways, and some values have no year.
_PART = "(case when {{0}} >= date '0001-01-01' and {{0}} < date '10000-01-01' then extract({} from {{0}}) end)"


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


class Dialect:
    """The SQL of one engine. Unless stated otherwise, a method returns a piece of SQL."""

    # Stands for a parameter.
    mark = "?"
    # The type of timestamps without a time zone.
    timestamp = "timestamp"
    # The kinds of columns of which equal values always have one text, and those that can have NaN.
    one_text: ClassVar[frozenset[str]] = frozenset()
    with_nan: ClassVar[frozenset[str]] = frozenset({"real"})

    # A value as a text, or null; a text that is compared byte by byte, and one that Python can read for every row.
    text: ClassVar[str]
    bytewise: ClassVar[str]
    readable: ClassVar[str]
    # A hash of a text, by which a person's groups are ordered. It must be the same in every version of the engine, so that a
    # keyed release can be repeated. Privacy needs no more: for a fixed key the order depends on that person's rows alone.
    order: ClassVar[str]
    # Whether a number is NaN; a number without its decimals as an integer, or null if it is beyond them; the quotient of two
    # integers that are not negative, rounded down; and the sum of one person's values, none of which is beyond `MOST_UNITS`, or
    # null if there is none.
    nan, truncated, quotient, total = "isnan({})", "trunc({})::int8", "({} / {})", "sum({})"

    def quoted(self, name: str) -> str:
        """Return a name as this engine writes it."""
        return quoted(name)

    def written(self, text: str) -> str:
        """Escape what the driver would take for a mark."""
        return text

    # How a call in a condition is written, unless it is an operator between its operands or a function with the same name.
    forms: ClassVar[Mapping[str, str]] = {
        "not": "(not {})",
        "is null": "({} is null)",
        "is true": "({} is true)",
        "is false": "({} is false)",
        "between": "({} between {} and {})",
        "like": "({} like {})",
        "ilike": "({} ilike {})",
        "wide": "{}",
        "real": "cast({} as double precision)",
        "bytewise": "{}",
        **{part: _PART.format(part) for part in PARTS},
    }

    def kept(self, table: str, columns: Mapping[str, Column], condition: Condition) -> str:
        """Select the rows for which a condition is true."""
        return f"select * from {table} where {self.written(self.fulfils(columns, condition))}"

    def bare(self, column: Column) -> str:
        """Return a column's value."""
        return self.quoted(column.name)

    def kind(self, column: Column) -> str:
        """Return the kind of a column in conditions, which is no SQL; see `stairnoise.query.condition.tree`."""
        # No kind of ours is in upper case.
        return column.type.upper() if column.kind == "other" else column.kind

    def seen(self, column: Column, condition: Condition) -> str:
        """Return what a condition sees of a column: a value of the column's kind, or null."""
        return self.bare(column)

    def fulfils(self, columns: Mapping[str, Column], condition: Condition) -> str:
        """Return an expression that is true for the rows that a condition selects, and cannot fail for any row."""
        return self.expression(condition.tree, {name: self.seen(columns[name], condition) for name in condition.columns})

    def expression(self, node: Node, columns: Mapping[str, str]) -> str:
        """Return a node of a condition; the columns are given."""
        if isinstance(node, Name):
            return columns[node.name]
        if isinstance(node, Literal):
            return self.constant(node)
        return self.call(node, [self.expression(operand, columns) for operand in node.operands])

    def constant(self, constant: Literal) -> str:
        """Return a constant."""
        value = constant.value
        if isinstance(value, Decimal):
            return self.real(float(value)) if constant.kind == "real" else f"({value:f})"
        if isinstance(value, datetime.date):
            return f"date '{value.isoformat()}'"
        if isinstance(value, str):
            return literal(value)
        return "null" if value is None else f"({value})".lower()

    def real(self, value: float) -> str:
        """Return a double."""
        return f"({value!r})"

    def call(self, call: Call, operands: list[str]) -> str:
        """Return a call, whose operands are already written."""
        function = call.function
        if function in self.forms:
            return self.forms[function].format(*operands)
        if function in FUNCTIONS:
            return f"{function}({', '.join(operands)})"
        if function == "in":
            return f"({operands[0]} in ({', '.join(operands[1:])}))"
        if not function.startswith("case"):
            return f"({f' {function} '.join(operands)})"
        *branches, last = operands
        of = branches.pop(0) if function == "case of" else ""
        whens = [f"when {test} then {result}" for test, result in zip(branches[::2], branches[1::2], strict=True)]
        return f"(case {of} {' '.join(whens)} else {last} end)"

    def group(self, column: Column) -> str:
        """Return a column's value with a comparison byte by byte, so that no other spelling can stand for a group."""
        value = self.bare(column)
        return self.bytewise.format(value) if column.kind == "text" else value

    def found(self, column: Column) -> str:
        """Return the value of `group` in a type that Python can read for every row; dates beyond Python's become null."""
        if column.kind == "text":
            return self.readable.format(self.bare(column))
        if column.kind != "date":
            return self.group(column)
        name = self.quoted(column.name)
        return f"case when {name} between {_FIRST_DAY} and {_LAST_DAY} then {name} end"

    def read(self, column: Column, value: Any) -> Any:
        """Return the group that Python reads for a value of `found`; SQLite returns 0 and 1 for bools."""
        return bool(value) if column.kind == "boolean" and value is not None else value

    def type(self, column: Column, listed: Iterable[Any]) -> Type:
        """Return the type that a column's groups, listed or found, have in the private table."""
        if column.kind == "any":
            return of_listed(listed)
        if column.kind == "decimal":
            return decimal(*column.digits) if column.digits else decimal_of(listed)
        assert column.kind != "other"
        assert column.kind != "timestamp"
        return Type(column.kind)

    def holds(self, column: Column, value: Any) -> bool:
        """Return whether a column's declared type has a listed value, so that no comparison with the value can fail."""
        if column.kind == "integer":
            return is_integer(value, column.bits, signed=column.signed)
        if column.kind == "real":
            return is_float(value, column.bits)
        return column.digits is None or is_decimal(value, *column.digits)

    def parameter(self, column: Column, value: Any) -> tuple[Any, ...]:
        """Return the mark for a listed value, and the value as the driver takes it; or the value in SQL."""
        return self.mark, value

    def ordered(self, column: Column) -> str:
        """Return a number or a date that can be compared with `edge`, or null."""
        return self.bare(column)

    def has_parts(self, column: Column, part: str) -> bool:
        """Return whether values have a part such as the month; the session's time zone would decide about others."""
        return column.kind == "timestamp" or (column.kind == "date" and part != "hour")

    def moment(self, column: Column, part: str) -> str:
        """Return a date or a timestamp whose part can be taken, or null."""
        return self.bare(column)

    def edge(self, column: Column, edge: Any) -> tuple[Any, ...] | None:
        """Return a mark as `parameter` does, so that the same values are below it as below the edge; None if all values are."""
        if column.kind == "real":
            # 0.7 in a float of 32 bits is below 0.7 in one of 64.
            number = as_float(edge, column.bits if is_float(edge, column.bits) else 64)
            return self.parameter(Column(column.name, "real", "DOUBLE"), number)
        found = edge if column.kind == "date" else column.at_or_above(edge)
        return None if found is None else self.parameter(column, found)

    def key(self, key: bytes) -> tuple[str, ...]:
        """Return the mark for the key of the order, and the key; or the key in SQL."""
        return self.mark, key.hex()

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
            mark, *given = self.parameter(column, group)
            branches.append(f"when {value} = {mark} then {place}")
            parameters += given
        return f"case {' '.join(branches)} end", parameters

    def is_number(self, column: Column) -> str:
        """Return whether a column holds a number in a row; NaN is none."""
        name = self.quoted(column.name)
        return f"{name} is not null" + (f" and not {self.nan.format(name)}" if column.kind in self.with_nan else "")

    def units(self, column: Column, units: Units) -> str:
        """Return the integer multiple of a unit that is nearest to a number, within ±`MOST_UNITS`."""
        name = self.quoted(column.name)
        if column.kind == "integer" and units.unit == 1:
            return f"greatest(least({self.whole(name)}, {MOST_UNITS}), -{MOST_UNITS})::int8"
        return self.rounded(column, units)

    def rounded(self, column: Column, units: Units) -> str:
        """Do the same for every number. Only numbers from half a unit to `MOST_UNITS` units are scaled, so nothing overflows."""
        number, numeral = self.number(column), partial(self.numeral, column)
        most, half = numeral(MOST_UNITS * units.unit), numeral(units.unit / 2)
        scaled = f"{number} * {numeral(1 / units.unit)}"
        up, down = (self.truncated.format(f"{scaled} {sign} {numeral(0.5)}") for sign in "+-")
        return (
            f"case when {number} >= {most} then {MOST_UNITS} when {number} <= -{most} then -{MOST_UNITS} "
            f"when {number} >= {half} then {up} when {number} <= -{half} then {down} else 0 end"
        )

    def candidate(self, column: Column, lattice: Lattice) -> str:
        """Return the index of the candidate nearest to a number, the upper one of two.

        Only numbers from half a step above the first candidate to the last one are divided, so nothing overflows or underflows.
        """
        assert lattice.step is not None
        first, last = lattice.points[[0, -1]].tolist()
        number, numeral = self.number(column), partial(self.numeral, column)
        half = numeral(float(as_typed(first) + lattice.step / 2))
        place = self.truncated.format(f"({number} - {numeral(first)}) / {numeral(float(lattice.step))} + {numeral(0.5)}")
        most = len(lattice.points) - 1
        return f"case when {number} < {half} then 0 when {number} >= {numeral(last)} then {most} else {place} end"

    def number(self, column: Column) -> str:
        """Return a number in the type in which it is rounded."""
        return self.forms["real"].format(self.quoted(column.name))

    def numeral(self, column: Column, value: float) -> str:
        """Return a constant in this type."""
        return self.forms["real"].format(f"'{value!r}'")

    def truth(self, column: Column, units: Units) -> str:
        """Return 1 in units for true, and 0 for false."""
        return f"case when {self.bare(column)} then {min(round(1 / units.unit), MOST_UNITS)} else 0 end"

    def whole(self, name: str) -> str:
        """Return an integer in a type in which it can be compared with `MOST_UNITS`."""
        return f"{name}::int8"
