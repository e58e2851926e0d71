"""A judged condition: a small tree of our own, which each dialect writes as SQL.

Every node has a kind: ``boolean``, ``integer``, ``decimal``, ``real``, ``text``, ``date``, ``timestamp``, ``null``, or ``any``
for a column of SQLite whose values can have several types. The kind of a column of another type is the name of that type.

A `Call` is an operator or a function. Besides the functions that a user can call (`FUNCTIONS` and `PARTS`) there are:

| function | meaning |
|---|---|
| ``and or + - *`` | of two operands or more, from left to right |
| ``= <> < <= > >=``, ``is distinct from``, ``is not distinct from`` | comparisons of two operands of one kind |
| ``not``, ``is null``, ``is true``, ``is false`` | of one operand |
| ``between``, ``in`` | the value comes first, then two limits or one or more values |
| ``like``, ``ilike`` | the second operand is a literal of kind ``pattern``: ``%`` stands for any text, ``_`` for a character |
| ``case`` | test, result, test, result, ..., result if no test is true |
| ``case of`` | value, value, result, value, result, ..., result if no value is equal |
| ``wide`` | an integer in a type in which sums and products cannot overflow, or become null |
| ``real`` | an integer or a decimal as a double |
| ``bytewise`` | a text that is compared byte by byte |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from stairnoise._errors import ParameterError

# These give an answer for every row in every engine. Others fail for some rows, as `abs` does for the smallest integer and a
# cast for most texts, and a failure would reveal data; or they are not about one row.
TEXTUAL = frozenset({"lower", "ltrim", "rtrim", "trim", "upper"})
FUNCTIONS = TEXTUAL | {"coalesce", "length", "nullif", "substr"}
# Parts of a date, and of a timestamp. Sunday is the first day of a week for `dow`, 0; `week` is that of ISO 8601.
PARTS = frozenset({"day", "dow", "hour", "month", "quarter", "week", "year"})


@dataclass(frozen=True, slots=True)
class Name:
    """A column, by the name that it has in the schema."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A value: None, a bool, an int, a Decimal (for a real too), a date, or a str (for a type that only the engine reads too)."""

    kind: str
    value: Any


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function with its operands."""

    kind: str
    function: str
    operands: tuple[Node, ...]


Node: TypeAlias = "Name | Literal | Call"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was judged.

    Attributes
    ----------
    tree : Name, Literal or Call
        Is true for the rows that the condition selects.
    computes : frozenset of str
        The kinds of the columns and results with which it computes sums, differences and products.
    """

    tree: Node
    computes: frozenset[str]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it uses."""
        return tuple(dict.fromkeys(node.name for node in _nodes(self.tree) if isinstance(node, Name)))

    @property
    def calls(self) -> frozenset[str]:
        """The operators and functions that it uses."""
        return frozenset(node.function for node in _nodes(self.tree) if isinstance(node, Call))


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for operand in node.operands if isinstance(node, Call) else ():
        yield from _nodes(operand)


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def refused(why: str) -> ParameterError:
    """Return the error about a condition."""
    return ParameterError(f"where must be a condition on one row; this one {why}")


def check(holds: bool, why: str) -> None:
    """Refuse a condition for a reason unless something holds."""
    if not holds:
        raise refused(why)
