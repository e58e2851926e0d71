"""A Parquet file: its schema, but for the types of numbers, which may have followed the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from stairnoise.query.condition import Condition
from stairnoise.query.reading import Declared, Reading
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.dialect import quoted
from stairnoise.query.sources.duckdb import DuckDB, DuckDBDialect, duckdb, held
from stairnoise.query.sources.parquet_footer import AS_DECLARED, BARE, FileSystem, OpenFile, UnreadableFooterError
from stairnoise.query.sources.records import ENGINE_TYPES, converted
from stairnoise.query.sources.source import SourceError, declare, types_of_columns

_NUMBER = "number"
_READ = "read_parquet('{}', hive_partitioning = false)"
_TEXTS = ("VARCHAR", "JSON")
# What makes moments and times of day of the integers in the file, or null, by both types.
_TIMES = {
    ("TIMESTAMP", "BIGINT"): "try(epoch_ms({0}))",
    ("TIMESTAMP WITH TIME ZONE", "BIGINT"): "try(make_timestamptz({0} * 1000))",
    ("TIME", "INTEGER"): "case when {0} between 0 and 86399999 then cast(make_timestamp({0} * 1000::bigint) as time) end",
    ("TIME", "BIGINT"): "case when {0} between 0 and 86399999999 then cast(make_timestamp({0}) as time) end",
    ("TIME_NS", "BIGINT"): "case when {0} between 0 and 86399999999999 then cast(make_timestamp_ns({0}) as time_ns) end",
}


class Text(Column):
    """A column of texts, which come as bytes."""


class ParquetDialect(DuckDBDialect):
    """SQL in which a number is the same in a column of integers and in one of doubles, and texts come as bytes."""

    def seen(self, column: Column, condition: Condition) -> str:
        """Return a number as a double."""
        return f"try_cast({quoted(column.name)} as double)" if column.declaration == _NUMBER else self.bare(column)

    def bare(self, column: Column) -> str:
        """Return a value; of bytes the text, or null."""
        if not isinstance(column, Text):
            return super().bare(column)
        return _text(column.name)

    def code(self, column: Column, listed: list[Any]) -> tuple[str, list[Any]]:
        """Return the place of a value in a list, or null, and the parameters of that.

        Without null in the list the bytes are compared: DuckDB computes most functions once for each entry of a file's
        dictionary, but not `decode`, which may fail. So 10^7 rows with letters beyond ASCII take a seventh of the time.
        """
        if not isinstance(column, Text) or None in listed:
            return super().code(column, listed)
        with duckdb.connect() as con:
            escaped = dict(
                con.execute("select x, cast(encode(x) as varchar) from unnest(?::varchar[]) as t(x)", [listed]).fetchall()
            )
        return self.code_of(f"({_escaped(column.name)} collate c)", column, [escaped[text] for text in listed])

    def text(self, value: str) -> str:
        """Return a value as a text; 5.0 has that of 5."""
        return f"regexp_replace({super().text(value)}, '\\.0$', '')"


class ParquetFile(DuckDB):
    """A Parquet file as a table that is named by the file's stem.

    What writes a file may make doubles of integers because one row has a null. So both are numbers here, unless the caller
    declares a type. A text that is not UTF-8 is null, and so is a time beyond the day.
    """

    dialect = ParquetDialect()

    _path: Path

    def __init__(self, path: Path, reading: Reading) -> None:
        self._declared: dict[str, str] = {}
        self._types = dict(reading.types)
        super().__init__(path=path)

    def _prepare(self) -> None:
        super()._prepare()
        try:
            file = OpenFile(self._path)
        except UnreadableFooterError:
            raise SourceError(f"source {self._name} is not a Parquet file that can be read") from None
        self._open.callback(file.close)
        self._con.register_filesystem(FileSystem(file))
        self._declared, in_file = (
            dict(self._ask(f"select column_name, column_type from (describe select * from {_READ.format(name)})"))
            for name in (AS_DECLARED, BARE)
        )
        if file.nanosecond_times and not any("TIME_NS" in type_ for type_ in self._declared.values()):
            raise SourceError(f"source {self._name} has times of day in nanoseconds, which this version of DuckDB does not have")
        self._types = types_of_columns(self._types, [*self._declared], self._path.stem)
        values = ", ".join(
            f"{_value(name, type_, in_file[name], self._types.get(name))} as {quoted(name)}"
            for name, type_ in self._declared.items()
        )
        self._ask(f"create view {quoted(self._path.stem)} as select {values} from {_READ.format(BARE)}")

    def remedy(self, column: str, type_: str) -> str:
        """Return how a type is declared."""
        return declare(column, type_)

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        name, columns = super()._described(table)
        return name, [self._public(column) for column in columns]

    def _public(self, column: Column) -> Column:
        name, declared, in_file = column.name, self._types.get(column.name), self._declared[column.name]
        if declared is not None:
            return Column(name, declared.name, column.type, declared=str(declared))
        if column.kind == "integer" or column.type == "DOUBLE":
            return Column(name, "real", "DOUBLE", declared=_NUMBER)
        return Text(name, "text", "VARCHAR", declared=in_file) if in_file in _TEXTS else replace(column, declared=in_file)


def _escaped(name: str) -> str:
    """Return bytes as DuckDB writes them: ASCII, in which each of the others, a quote or a backslash is an escape."""
    return f"cast({quoted(name)} as varchar)"


def _text(name: str) -> str:
    """Return bytes as a text, or null; the cast to bytes lets the expression be checked on a column of texts."""
    decoded = f"try(decode(cast({quoted(name)} as blob)))"
    return f"case when contains({_escaped(name)}, '\\x') then {decoded} else {_escaped(name)} end"


def _value(name: str, type_: str, in_file: str, declared: Declared | None) -> str:
    """Return a column's value in the type that the caller declares, or null if it is none; undeclared texts stay bytes."""
    value, kind = quoted(name), held(type_)
    if (type_, in_file) in _TIMES:
        value = _TIMES[type_, in_file].format(value)
    if declared is None:
        return value
    if type_ in _TEXTS:
        return converted(_text(name), declared)
    if declared.name == "integer" and kind in ("integer", "real", "decimal"):
        return f"case when try_cast({value} as double) = trunc(try_cast({value} as double)) then try_cast({value} as bigint) end"
    return f"try_cast({value} as {ENGINE_TYPES[declared.name]})"
