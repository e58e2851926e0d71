"""A CSV file: its header and what the caller declares are its schema, and DuckDB reads its lines as records in one pass."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stairnoise.query.reading import CSV, Declared, Reading
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.dialect import literal, quoted
from stairnoise.query.sources.duckdb import DECLARE, ENGINE_TYPES, DuckDB, converted
from stairnoise.query.sources.lines import Header, escaped, field_pattern, readable, record_pattern
from stairnoise.query.sources.source import types_of_columns
from stairnoise.query.sources.statement import Checked

_TEXT = Declared("text")
# The variable with the names of the files of lines.
_LINES = "stairnoise_lines"
# One column, and no option that concerns several lines. DuckDB's parallel reader loses lines at the borders of its parts if
# other lines are no texts. A line of 1 MiB can take three times as many bytes in UTF-8.
_OPTIONS = (
    "header = false, auto_detect = false, delim = '\x01', quote = '', escape = '', new_line = '\\n', parallel = false, "
    "max_line_size = 4194304, columns = {'line': 'VARCHAR'}"
)


class CSVFile(DuckDB):
    """A CSV file as a table with the name of the file's stem."""

    remedies = DECLARE
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

    def _tables(self) -> dict[str, tuple[str, ...]]:
        return {self._path.stem: ()}

    def _described(self, name: str | None) -> tuple[str, list[Column]]:
        self._table(name)
        columns = [Column(name, type_.name, ENGINE_TYPES[type_.name], declared=str(type_)) for name, type_ in self._types.items()]
        return _table(self._header, self._types, self._csv), columns

    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        with readable(self._path, self._csv.encoding) as names:
            self._ask(f"set variable {_LINES} = ?", [names])
            return super()._rows(text, parameters)


def _table(header: Header, types: dict[str, Declared], csv: CSV) -> str:
    """Return the table in parentheses: the values of all lines that have as many fields as the header."""
    values = ", ".join(
        f"{converted(_value(f'f[{place}]', csv), types[name], csv.decimal)} as {quoted(name)}"
        for place, name in enumerate(header.names, 1)
    )
    lines = f"read_csv(getvariable('{_LINES}'), {_OPTIONS})"
    source = f"(select {_fields(header.delimiter, csv)} as f, {_plain(header.delimiter, csv)} as plain from {lines})"
    return f"(select {values} from {source} where len(f) = {len(header.names)})"


def _plain(delimiter: str, csv: CSV) -> str:
    """Return whether a line has no quote and no blank to remove. This check is quick, and most lines pass it."""
    parts = [csv.quote] if csv.quote is not None else []
    ends: list[str] = []
    if csv.strip:
        parts += [f" {delimiter}", f"{delimiter} "]
        ends = [f"not {end}(line, ' ')" for end in ("starts_with", "ends_with")]
    return " and ".join([*(f"not contains(line, {literal(part)})" for part in parts), *ends]) or "true"


def _fields(delimiter: str, csv: CSV) -> str:
    """Return the fields of a line as a list, with their quotes; null for a line that is not a record."""
    split = f"string_split(line, {literal(delimiter)})"
    if csv.quote is None:
        return split
    record, one = literal(record_pattern(delimiter, csv)), literal(f"({field_pattern(delimiter, csv)}){escaped(delimiter)}")
    matched = f"regexp_extract_all(line || {literal(delimiter)}, {one}, 1)"
    record = f"case when regexp_full_match(line, {record}) then {matched} end"
    return f"case when contains(line, {literal(csv.quote)}) then {record} else {split} end"


def _value(field: str, csv: CSV) -> str:
    """Return a field's text without its quotes, or null."""
    return f"case when plain then {_known(field, csv)} else {_bare(field, csv)} end"


def _known(text: str, csv: CSV) -> str:
    for null in csv.nulls:
        text = f"nullif({text}, {literal(null)})"
    return text


def _bare(field: str, csv: CSV) -> str:
    """Return the text of any field, quoted or not."""
    text = _known(f"trim({field})" if csv.strip else field, csv)
    if csv.quote is None:
        return text
    inner = f"substr({text}, 2, length({text}) - 2)"
    if csv.escape == csv.quote:
        inner = f"replace({inner}, {literal(csv.quote * 2)}, {literal(csv.quote)})"
    else:
        inner = f"regexp_replace({inner}, {literal(f'{escaped(csv.escape)}(.)')}, '\\1', 'g')"
    return f"case when starts_with({text}, {literal(csv.quote)}) then {inner} else {text} end"
