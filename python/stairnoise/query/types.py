"""The types of a private table's columns, and its values as texts.

Types come from the question and the declared schema: no row decides one.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from stairnoise._digits import decimals, fixed

Holds = Literal["integer", "unsigned", "real", "decimal", "text", "boolean", "date"]

_OF_LISTED: dict[type, Holds] = {int: "integer", float: "real", str: "text", bool: "boolean", datetime.date: "date"}
# The largest number of digits of a decimal in Polars, and of 128 bits in Arrow.
_MOST_DIGITS = 38


def exact(value: Any) -> Decimal:
    """Return a number as it is written: the float 0.1 is a tenth."""
    return Decimal(str(value))


class Type(NamedTuple):
    """The type of a column; its integers fit 64 bits."""

    holds: Holds
    # Digits of a decimal, and how many of them come after the point.
    digits: int = 0
    scale: int = 0

    def value(self, value: Any) -> Any:
        """Convert a value of the table to this type."""
        if value is None:
            return None
        if self.holds == "text":
            return text(value)
        if self.holds == "decimal":
            return exact(value)
        return float(value) if self.holds == "real" else value


def decimal(digits: int, scale: int) -> Type:
    """Return the type of decimals, or that of texts if other libraries have no decimals with so many digits."""
    return Type("decimal", digits, scale) if 0 <= scale <= digits <= _MOST_DIGITS else Type("text")


def decimal_of(listed: Iterable[Any]) -> Type:
    """Return the type of listed values whose digits the schema does not limit."""
    numbers = [exact(value) for value in listed if value is not None]
    scale = max((max(-int(number.as_tuple().exponent), 0) for number in numbers), default=0)
    whole = max((number.adjusted() + 1 for number in numbers), default=0)
    return decimal(_MOST_DIGITS if whole + scale <= _MOST_DIGITS else whole + scale, scale)


def of_listed(listed: Iterable[Any]) -> Type:
    """Return the type of listed values of a column without a type: that of the values if they all have one, else text."""
    kinds = {type(value) for value in listed if value is not None}
    return Type(_OF_LISTED.get(kinds.pop(), "text")) if len(kinds) == 1 else Type("text")


def to_pandas(pandas: Any, columns: dict[str, list[Any]], types: Sequence[Type], groups: int) -> Any:
    """Return a DataFrame. Columns of groups have nullable types even if there is no null."""
    plain = {"integer": "int64", "real": "float64", "boolean": "bool"}
    nullable = {"integer": "Int64", "unsigned": "UInt64", "real": "Float64", "boolean": "boolean"}
    kinds = [(nullable if place < groups else plain).get(type_.holds, object) for place, type_ in enumerate(types)]
    typed = zip(columns.items(), kinds, strict=True)
    return pandas.DataFrame({name: pandas.Series(values, dtype=kind) for (name, values), kind in typed})


def to_polars(polars: Any, columns: dict[str, list[Any]], types: Sequence[Type]) -> Any:
    """Return a DataFrame of Polars."""
    kinds = {"integer": polars.Int64, "unsigned": polars.UInt64, "real": polars.Float64, "text": polars.String}
    kinds |= {"boolean": polars.Boolean, "date": polars.Date}
    found = [kinds.get(type_.holds) or polars.Decimal(type_.digits, type_.scale) for type_ in types]
    return polars.DataFrame(columns, schema=dict(zip(columns, found, strict=True)))


def to_arrow(arrow: Any, columns: dict[str, list[Any]], types: Sequence[Type], metadata: dict[str, str]) -> Any:
    """Return a Table of PyArrow."""
    kinds = {"integer": arrow.int64(), "unsigned": arrow.uint64(), "real": arrow.float64(), "text": arrow.string()}
    kinds |= {"boolean": arrow.bool_(), "date": arrow.date32()}
    found = [kinds.get(type_.holds) or arrow.decimal128(type_.digits, type_.scale) for type_ in types]
    return arrow.table(columns, arrow.schema(zip(columns, found, strict=True), metadata))


def text(value: object) -> str:
    """Return the text of a value; None is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def csv_field(value: object) -> str:
    """Return a field of CSV; an empty text is quoted, so that it differs from None."""
    written = text(value)
    if isinstance(value, str) and (not written or written != written.strip() or any(mark in written for mark in ',"\r\n#')):
        return '"' + written.replace('"', '""') + '"'
    return written


def places(row: Iterable[object]) -> int:
    """Return how many decimals show every digit of the numbers of a row."""
    return decimals(*(value for value in row if isinstance(value, float)))


def number(value: float, places: int) -> str:
    """Write a number with some decimals; integers have none."""
    return text(value) if isinstance(value, int) else fixed(value, places)
