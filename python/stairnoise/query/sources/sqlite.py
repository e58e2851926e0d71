"""SQLite: the module `sqlite3` of the standard library."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from stairnoise.query.sources.source import Source
from stairnoise.query.sources.statement import quoted


class SQLite(Source):
    """A database of SQLite."""

    engine = "SQLite"

    @classmethod
    def of_file(cls, path: Path) -> SQLite:
        """Open a file to read only."""
        return cls(sqlite3.connect(path.resolve().as_uri() + "?mode=ro", uri=True), owned=True)

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns."""
        return [row[1] for row in self._con.execute(f"pragma table_info({quoted(table)})")]
