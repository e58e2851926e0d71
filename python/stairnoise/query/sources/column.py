"""A column of a table, as far as questions need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# "any" is a column of SQLite that does not say, or says something that SQLite does not know.
Kind = Literal["integer", "real", "text", "boolean", "date", "any", "other"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what its values are, and the type it was declared with."""

    name: str
    kind: Kind
    type: str

    @property
    def summable(self) -> bool:
        """Whether its values can be summed."""
        return self.kind in ("integer", "real", "any")
