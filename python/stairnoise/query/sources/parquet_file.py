"""A Parquet file: its schema, but for the types of numbers, which may have followed the rows."""

from __future__ import annotations

from pathlib import Path

from stairnoise._errors import ParameterError
from stairnoise.query.condition import Condition
from stairnoise.query.reading import Declared, Reading
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.dialect import literal, quoted
from stairnoise.query.sources.duckdb import DuckDB, DuckDBDialect, connected, held
from stairnoise.query.sources.records import ENGINE_TYPES, converted
from stairnoise.query.sources.source import declare, types_of_columns

_NUMBER = "number"


class ParquetDialect(DuckDBDialect):
    """SQL in which a number is the same in a column of integers and in one of doubles."""

    def seen(self, column: Column, condition: Condition) -> str:
        """Return a number as a double."""
        if column.declaration == _NUMBER:
            return f"try_cast({quoted(column.name)} as double)"
        return super().seen(column, condition)

    def text(self, value: str) -> str:
        """Return a value as a text; 5.0 has that of 5."""
        return f"regexp_replace({super().text(value)}, '\\.0$', '')"


class ParquetFile(DuckDB):
    """A Parquet file as a table that is named by the file's stem.

    What writes a file may make doubles of integers because one row has a null. So both are numbers here, unless the caller
    declares a type.
    """

    dialect = ParquetDialect()

    _path: Path

    def __init__(self, path: Path, reading: Reading) -> None:
        if any(each in str(path.resolve()) for each in "*?["):
            raise ParameterError(f"source must have no *, ? or [ in its path, which DuckDB reads as a pattern, got {str(path)!r}")
        self._types = dict(reading.types)
        super().__init__(connected(), path=path)

    def _prepare(self) -> None:
        super()._prepare()
        path = self._path
        source = f"read_parquet({literal(str(path.resolve()))}, hive_partitioning = false)"
        described = self._ask(f"select column_name, column_type from (describe select * from {source})")
        self._types = types_of_columns(self._types, [name for name, _ in described], path.stem)
        values = ", ".join(f"{_value(name, type_, self._types.get(name))} as {quoted(name)}" for name, type_ in described)
        self._ask(f"create view {quoted(path.stem)} as select {values} from {source}")

    def remedy(self, column: str, type_: str) -> str:
        """Return how a type is declared."""
        return declare(column, type_)

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        name, columns = super()._described(table)
        return name, [self._public(column) for column in columns]

    def _public(self, column: Column) -> Column:
        declared = self._types.get(column.name)
        if declared is not None:
            return Column(column.name, declared.name, column.type, declared=str(declared))
        if column.kind == "integer" or column.type == "DOUBLE":
            return Column(column.name, "real", "DOUBLE", declared=_NUMBER)
        return column


def _value(name: str, type_: str, declared: Declared | None) -> str:
    """Return a column's value in the type that the caller declares, or null if it is none."""
    value, kind = quoted(name), held(type_)
    if declared is None:
        return value
    if kind == "text":
        return converted(f"cast({value} as varchar)", declared)
    if declared.name == "integer" and kind in ("integer", "real", "decimal"):
        return f"case when try_cast({value} as double) = trunc(try_cast({value} as double)) then try_cast({value} as bigint) end"
    return f"try_cast({value} as {ENGINE_TYPES[declared.name]})"
