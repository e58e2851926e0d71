"""A CSV file: its header and what the caller declares are its schema, and DuckDB reads its lines as records in one pass.

Each line is read by itself, so that no line changes another.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import string
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO

from stairnoise.query.reading import CSV, Declared, Reading
from stairnoise.query.sources.dialect import Column, literal, quoted
from stairnoise.query.sources.duckdb import DECLARE, ENGINE_TYPES, DuckDB, converted
from stairnoise.query.sources.source import SourceError, hidden, types_of_columns
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


# Lines are read in blocks of this size, and a longer line is left out.
_BLOCK = 2**20
_BOM = codecs.BOM_UTF8
# Characters that no text has; some of them separate lines on the way to the engine.
_CONTROL = (b"\r", b"\0", b"\x01")
# If a header has several of them equally often, the first wins.
_DELIMITERS = ",;\t|"


class Header:
    """The first line of a file, which is public: the names of the columns, and the delimiter if the caller specifies none."""

    def __init__(self, path: Path, csv: CSV) -> None:
        text = _first_line(path, csv)
        self.delimiter = csv.delimiter or _delimiter(text, csv.quote)
        self.names = _names(path, text, self.delimiter, csv)


def _first_line(path: Path, csv: CSV) -> str:
    with path.open("rb") as file:
        line = file.readline(_BLOCK)
    if not line:
        raise SourceError(f"source {str(path)!r} is empty")
    if csv.encoding == "utf-8":
        line = line.removeprefix(_BOM)
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    try:
        text = line.decode(csv.encoding)
    except UnicodeDecodeError:
        raise SourceError(f"source {str(path)!r} has a first line that is not encoded in {csv.encoding}") from None
    if len(line) >= _BLOCK or any(character in line for character in _CONTROL):
        raise SourceError(f"source {str(path)!r} has a first line that is not a header")
    return text


def _delimiter(header: str, quote: str | None) -> str:
    """Return the delimiter that a header has most often outside of quotes."""
    bare = header if quote is None else re.sub("{0}[^{0}]*{0}".format(escaped(quote)), "", header)
    candidates = [candidate for candidate in _DELIMITERS if candidate != quote]
    return max(candidates, key=bare.count)


def _names(path: Path, header: str, delimiter: str, csv: CSV) -> list[str]:
    """Return the names of the columns; a column without a name is named by its place."""
    record = re.compile(record_pattern(delimiter, csv))
    if not record.fullmatch(header):
        raise SourceError(f"source {str(path)!r} has a quote in its first line that is not closed")
    fields = re.findall(f"({field_pattern(delimiter, csv)}){escaped(delimiter)}", header + delimiter)
    names = [_name(field, csv) or f"column{place}" for place, field in enumerate(fields, 1)]
    lowered = [name.lower() for name in names]
    if len(set(lowered)) < len(lowered):
        # The error names places: in a file without a header the first line is data.
        second = next(place for place, name in enumerate(lowered) if name in lowered[:place])
        places = f"columns {lowered.index(lowered[second]) + 1} and {second + 1}"
        raise SourceError(f"source {str(path)!r} has one name for {places} in its first line, which must be a header")
    return names


def _name(text: str, csv: CSV) -> str:
    text = text.strip(" ") if csv.strip else text
    if csv.quote is None or not text.startswith(csv.quote):
        return text
    if csv.escape == csv.quote:
        return text[1:-1].replace(csv.quote * 2, csv.quote)
    return re.sub(f"{escaped(csv.escape)}(.)", r"\1", text[1:-1])


def escaped(character: str) -> str:
    """Escape a character for the patterns of Python and of RE2."""
    return f"\\{character}" if character in string.punctuation else character


def field_pattern(delimiter: str, csv: CSV) -> str:
    """Return the pattern of a field for Python and RE2: a quoted field, or one that does not begin with a quote."""
    end, blanks = escaped(delimiter), " *" if csv.strip else ""
    if csv.quote is None:
        return f"[^{end}]*"
    quote, escape = escaped(csv.quote), escaped(csv.escape)
    inner = f"[^{quote}]|{quote}{quote}" if csv.escape == csv.quote else f"[^{quote}{escape}]|{escape}."
    bare = f"[^{quote}{' ' if csv.strip else ''}{end}][^{end}]*"
    return f"{blanks}{quote}(?:{inner})*{quote}{blanks}|{blanks}(?:{bare})?"


def record_pattern(delimiter: str, csv: CSV) -> str:
    """Return the pattern of a whole line."""
    one = f"(?:{field_pattern(delimiter, csv)})"
    return f"{one}(?:{escaped(delimiter)}{one})*"


def lines(file: BinaryIO, encoding: str, start: int = 1, stop: int = sys.maxsize) -> Iterator[bytes]:
    """Yield the lines that begin in a range of bytes, in UTF-8 and many at a time; lines that are no texts are left out.

    The header begins before byte 1. Whether a line is left out depends on its own bytes only. Blocks are first checked as a
    whole, because most of them lose no line.
    """
    file.seek(start - 1)
    while (end := file.readline(_BLOCK)) and not end.endswith(b"\n"):
        pass
    left, rest = stop - file.tell(), b""
    while block := file.read(max(0, min(_BLOCK, left))):
        left -= len(block)
        head, newline, tail = block.rpartition(b"\n")
        if not newline:
            # A line longer than a block is left out, so the rest of it is not kept.
            rest = rest + block if len(rest) <= _BLOCK else rest
            continue
        first, newline, others = head.partition(b"\n")
        yield _texts(rest + first + b"\n", encoding)
        if newline:
            yield _texts(others + b"\n", encoding)
        rest = tail
    if rest:
        yield _texts(rest + file.readline(_BLOCK).removesuffix(b"\n") + b"\n", encoding)


def _texts(block: bytes, encoding: str) -> bytes:
    """Return those lines of a block that are texts."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    # Only the first line can make this longer than a block.
    if len(block) <= _BLOCK and not any(character in block for character in _CONTROL):
        if block.isascii():
            return block
        with contextlib.suppress(UnicodeDecodeError):
            text = block.decode(encoding)
            return block if encoding == "utf-8" else text.encode()
    return b"".join(_text_line(line, encoding) for line in block.split(b"\n"))


def _text_line(line: bytes, encoding: str) -> bytes:
    if len(line) >= _BLOCK or any(character in line for character in _CONTROL):
        return b""
    try:
        return line.decode(encoding).encode() + b"\n"
    except UnicodeDecodeError:
        return b""


@contextlib.contextmanager
def readable(path: Path, encoding: str) -> Iterator[list[str]]:
    """Yield the names of two pipes, each with half of the lines, which an engine reads once.

    So two threads of the engine work; three pipes were no faster.
    """
    if not Path("/dev/fd").is_dir():
        with _copied(path, encoding) as name:
            yield [name]
        return
    middle = max(1, path.stat().st_size // 2)
    with ThreadPoolExecutor(2) as pool:
        readers, written = [], []
        try:
            for ends in ((1, middle), (middle, sys.maxsize)):
                reader, writer = os.pipe()
                readers.append(reader)
                written.append(pool.submit(_write, writer, path, encoding, *ends))
            yield [f"/dev/fd/{reader}" for reader in readers]
        finally:
            # Closing a pipe ends its writer.
            for reader in readers:
                os.close(reader)
    for half in written:
        hidden(half.result, OSError, f"source {str(path)!r}", lambda error: f"cannot be read: {error.strerror}")


def _write(writer: int, path: Path, encoding: str, start: int, stop: int) -> None:
    """Write the lines that begin in a range of bytes into a pipe, as long as somebody reads it."""
    with contextlib.suppress(BrokenPipeError), os.fdopen(writer, "wb") as pipe, path.open("rb") as file:
        pipe.writelines(lines(file, encoding, start, stop))


@contextlib.contextmanager
def _copied(path: Path, encoding: str) -> Iterator[str]:
    """Yield the name of a file with the lines, on systems where a pipe has no name."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "lines"
        with copy.open("wb") as written, path.open("rb") as file:
            written.writelines(lines(file, encoding))
        yield str(copy)
