"""A column of a table, as far as questions need it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# "any" is a column of SQLite that does not say, or says something that SQLite does not know.
Kind = Literal["integer", "real", "decimal", "text", "boolean", "date", "any", "other"]

# What SQLite, which has no type for it, declares as a time.
_TIMES = ("DATE", "TIME")


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what its values are, the engine's type of them, and what the schema says if that is another word."""

    name: str
    kind: Kind
    type: str
    declared: str = field(default="", kw_only=True)

    @property
    def declaration(self) -> str:
        """What the schema, which is public, says of the column."""
        return self.declared or self.type

    @property
    def summable(self) -> bool:
        """Whether its values can be summed."""
        if self.kind == "any":
            return not any(word in self.type.upper() for word in _TIMES)
        return self.kind in ("integer", "real", "decimal")
