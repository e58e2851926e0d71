"""A CSV file: its header and what the caller declares are its schema, and DuckDB reads its lines in one pass."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stairnoise.query.reading import CSV, Declared, Reading
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.duckdb import DuckDB
from stairnoise.query.sources.lines import Header, readable
from stairnoise.query.sources.records import ENGINE_TYPES, LINES, table
from stairnoise.query.sources.source import declare, types_of_columns
from stairnoise.query.sources.statement import Checked

_TEXT = Declared("text")


class CSVFile(DuckDB):
    """A CSV file as a table with the name of the file's stem."""

    # In a file without a header, names are data.
    suggests = False

    _path: Path

    def __init__(self, path: Path, reading: Reading) -> None:
        self._csv = reading.csv or CSV()
        self._header = Header(path, self._csv)
        names = self._header.names
        types = types_of_columns(reading.types, names, path.stem, propose=False)
        self._types = {name: types.get(name, _TEXT) for name in names}
        super().__init__(path=path)

    def _prepare(self) -> None:
        super()._prepare()
        # The filter that leaves lines out needs their fields: pushed down, it computes the fields twice.
        self._ask("set disabled_optimizers = 'filter_pushdown'")

    def schema(self, asked: Checked) -> dict[str, Any]:
        """Return the types of columns and the format, with the header's delimiter."""
        csv = asdict(replace(self._csv, delimiter=self._header.delimiter)) | {"nulls": list(self._csv.nulls)}
        return super().schema(asked) | {"csv": csv}

    def remedy(self, column: str, type_: str) -> str:
        """Return how to declare a type."""
        return declare(column, type_)

    def _tables(self) -> dict[str, tuple[str, ...]]:
        return {self._path.stem: ()}

    def _described(self, name: str | None) -> tuple[str, list[Column]]:
        self._table(name)
        columns = [Column(name, type_.name, ENGINE_TYPES[type_.name], declared=str(type_)) for name, type_ in self._types.items()]
        return table(self._header, self._types, self._csv), columns

    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        with readable(self._path, self._csv.encoding) as names:
            self._ask(f"set variable {LINES} = ?", [names])
            return super()._rows(text, parameters)
