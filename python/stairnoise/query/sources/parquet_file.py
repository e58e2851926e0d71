"""A Parquet file: its schema, except the types of numbers, which can depend on the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from stairnoise.query.condition.tree import Condition
from stairnoise.query.reading import Declared, Reading
from stairnoise.query.sources.dialect import Column, quoted
from stairnoise.query.sources.duckdb import DECLARE, ENGINE_TYPES, DuckDB, DuckDBDialect, column_of, converted, duckdb
from stairnoise.query.sources.parquet_footer import AS_DECLARED, BARE, FileSystem, OpenFile, UnreadableFooterError
from stairnoise.query.sources.source import SourceError, types_of_columns

_NUMBER = "number"
_READ = "read_parquet('{}', hive_partitioning = false)"
_TEXTS = ("VARCHAR", "JSON")
# Expressions that make moments of milliseconds, or null.
_MOMENTS = {"TIMESTAMP": "try(epoch_ms({}))", "TIMESTAMP WITH TIME ZONE": "try(make_timestamptz({} * 1000))"}
# Expressions that make times of day of the moments of the first day, and moments of integers in units of 1/10^n second.
_TIMES = {"TIME": "cast({} as time)", "TIME WITH TIME ZONE": "cast(cast({} as time) as timetz)", "TIME_NS": "cast({} as time_ns)"}
_OF_INTEGERS = {10**3: "make_timestamp({} * 1000::bigint)", 10**6: "make_timestamp({})", 10**9: "make_timestamp({} // 1000)"}


class Text(Column):
    """A column of texts, which are read as bytes."""


class ParquetDialect(DuckDBDialect):
    """SQL in which integers and doubles are the same numbers, and texts are read as bytes."""

    # 5.0 has the text of 5.
    text = f"regexp_replace({DuckDBDialect.text}, '\\.0$', '')"

    def seen(self, column: Column, condition: Condition) -> str:
        """Return a number as a double."""
        if column.declaration == _NUMBER:
            return f"try_cast({quoted(column.name)} as double)"
        return self.bare(column) if isinstance(column, Text) else super().seen(column, condition)

    def bare(self, column: Column) -> str:
        """Return a value; for bytes the text, or null."""
        return _text(column.name) if isinstance(column, Text) else super().bare(column)

    def code(self, column: Column, listed: list[Any]) -> tuple[str, list[Any]]:
        """Return the index of a value in a list, or null, and the parameters of that expression.

        If the list has no null, bytes are compared. DuckDB computes most functions once for each entry of a file's dictionary,
        but not `decode`, which can fail. Comparing bytes takes a seventh of the time for 10^7 rows with letters beyond ASCII.
        """
        if not isinstance(column, Text) or None in listed:
            return super().code(column, listed)
        with duckdb.connect() as con:
            escaped = dict(
                con.execute("select x, cast(encode(x) as varchar) from unnest(?::varchar[]) as t(x)", [listed]).fetchall()
            )
        return self.code_of(f"({_escaped(column.name)} collate c)", column, [escaped[text] for text in listed])


class ParquetFile(DuckDB):
    """A Parquet file as a table with the name of the file's stem.

    A null in one row can make the writer of a file turn integers into doubles. So both are numbers here, unless the caller
    declares a type. A text that is not UTF-8 becomes null, and so does a time of day beyond the day.
    """

    dialect = ParquetDialect()
    remedies = DECLARE

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
        self._types = types_of_columns(self._types, [*self._declared], self._path.stem)
        values = ", ".join(
            f"{_value(name, _in_file(name, type_, in_file[name], file), type_, self._types.get(name))} as {quoted(name)}"
            for name, type_ in self._declared.items()
        )
        self._ask(f"create view {quoted(self._path.stem)} as select {values} from {_READ.format(BARE)}")

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
    """Return bytes as DuckDB writes them: in ASCII, with escapes for other bytes, quotes and backslashes."""
    return f"cast({quoted(name)} as varchar)"


def _text(name: str) -> str:
    """Return bytes as a text, or null. The judge's table has texts in this column, hence the cast."""
    decoded = f"try(decode(cast({quoted(name)} as blob)))"
    return f"case when contains({_escaped(name)}, '\\x') then {decoded} else {_escaped(name)} end"


def _in_file(name: str, type_: str, in_file: str, file: OpenFile) -> str:
    """Return a column's value in the file's type, or null for a moment or a time of day that DuckDB cannot hold."""
    value = quoted(name)
    if type_ in _MOMENTS and in_file == "BIGINT":
        return _MOMENTS[type_].format(value)
    if type_ not in _TIMES:
        return value
    second = 10**3 if in_file == "INTEGER" else 10**9 if name in file.nanosecond_times else 10**6
    of_integers = "make_timestamp_ns({})" if type_ == "TIME_NS" else _OF_INTEGERS[second]
    made = _TIMES[type_].format(of_integers.format(value))
    return f"case when {value} between 0 and {86_400 * second - 1} then {made} end"


def _value(name: str, value: str, type_: str, declared: Declared | None) -> str:
    """Return a column's value in the declared type, or null if it has none; undeclared texts stay bytes."""
    if declared is None:
        return value
    if type_ in _TEXTS:
        return converted(_text(name), declared)
    if declared.name == "integer" and column_of(name, type_).summable:
        return f"case when try_cast({value} as double) = trunc(try_cast({value} as double)) then try_cast({value} as bigint) end"
    return f"try_cast({value} as {ENGINE_TYPES[declared.name]})"
