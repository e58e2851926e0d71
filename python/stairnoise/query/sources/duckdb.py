"""DuckDB: its databases, CSV and Parquet."""

from __future__ import annotations

from pathlib import Path

from stairnoise._optional import require
from stairnoise.query.sources.source import Source
from stairnoise.query.sources.statement import quoted


class DuckDB(Source):
    """A database of DuckDB, or a file that it reads as a table."""

    engine = "DuckDB"

    @classmethod
    def of_file(cls, path: Path) -> DuckDB:
        """Open a file to read only."""
        duckdb = require("duckdb", "a query of this file needs", "'stairnoise[query]'")
        if path.suffix in (".csv", ".parquet"):
            con = duckdb.connect()
            literal = "'" + str(path).replace("'", "''") + "'"
            con.execute(f"create view {quoted(path.stem)} as select * from {literal}")
        else:
            con = duckdb.connect(str(path), read_only=True)
        return cls(con, owned=True)

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns."""
        return [row[0] for row in self._con.execute(f"describe {quoted(table)}").fetchall()]
