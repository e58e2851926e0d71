"""Reading the table of ``stairnoise release``: its encoding, its delimiter, and one column of numbers.

Errors name the line on which a record begins, and the column; no message shows a header or a field.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Sequence
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from stairnoise._errors import ParameterError, check

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
# Byte order marks and their encodings; the mark of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    *((mark, "utf-32") for mark in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
    *((mark, "utf-16") for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
)
_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")
# float() takes digits of every script, underscores, and words such as "infinity".
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_LONGEST = 4300  # digits of an integer that Python reads


class KeyedValues(NamedTuple):
    """A table: one numeric column, and the columns that label its numbers."""

    key_names: list[str]
    keys: list[list[str]]
    column: str
    values: list[int] | list[float]

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return all(isinstance(value, int) or value.is_integer() for value in self.values)

    def keeping(self, names: Sequence[str]) -> KeyedValues:
        """Return the table with only these columns as labels."""
        for name in names:
            if self.key_names.count(name) != 1:
                rule = "another column than the one to protect" if name == self.column else "a column that the header has once"
                raise ParameterError(f"keep must be {rule}, got {name!r}")
        places = [self.key_names.index(name) for name in names]
        return self._replace(key_names=list(names), keys=[[key[place] for place in places] for key in self.keys])


def read_table(path: Path | None, column: str, delimiter: str | None = None, encoding: str | None = None) -> KeyedValues:
    """Read a CSV file with a header line, "-" for standard input; for None, read the bundled census counts.

    None for the delimiter or the encoding: find it.
    """
    separators = _separators(delimiter)
    if path is None:
        return _table((files("stairnoise") / "data" / "marital_race.csv").read_text("utf-8"), separators, column, "the table")
    piped = str(path) == "-"
    name = "standard input" if piped else str(path)
    content = sys.stdin.buffer.read() if piped else path.read_bytes()
    return _table(_decoded(content, encoding, name), separators, column, name)


def _separators(delimiter: str | None) -> list[str]:
    """Return the delimiters to try."""
    if delimiter is None:
        return list(DELIMITERS.values())
    if delimiter not in DELIMITERS and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ParameterError(f"delimiter must be {', '.join(DELIMITERS)} or one character, got {delimiter!r}")
    return [DELIMITERS.get(delimiter, delimiter)]


def _decoded(content: bytes, encoding: str | None, name: str) -> str:
    """Return the text of a file, without a byte order mark."""
    known = encoding if encoding is not None else next((found for mark, found in _MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(known).removeprefix("\ufeff")
    except UnicodeError as error:
        before = content[: getattr(error, "start", 0)]
        line = len(re.findall(rb"\r\n|\r|\n", before)) + 1
        where = f" in line {line}" if known.startswith("utf-8") else ""
        hint = "" if encoding else "; name its encoding, such as --encoding latin-1"
        raise ParameterError(f"{name} must be {known.removesuffix('-sig').upper()}, got other bytes{where}{hint}") from None
    except (LookupError, ValueError):  # ValueError: a name with the character 0
        raise ParameterError(f"encoding must be one that Python knows, such as utf-8 or latin-1, got {known!r}") from None


def _table(text: str, separators: list[str], column: str, name: str) -> KeyedValues:
    records = _records(text, _separator(text, separators, column), name)
    check(records, f"{name} must be a CSV file with a header line, got none")
    (_, header), *rows = records
    check(column in header, f"column must be in the header, which has {len(header)} names, got {column!r}")
    if header.count(column) > 1:
        raise ParameterError(f"column must be in the header once, got {column!r}, which is there {header.count(column)} times")
    for line, row in rows:
        if len(row) != len(header):
            raise ParameterError(f"line {line} must have {len(header)} fields, as the header has, got {len(row)}")
    place = header.index(column)
    values = _numbers([(line, row.pop(place)) for line, row in rows], column)
    header.pop(place)
    return KeyedValues(header, [row for _, row in rows], column, values)


def _separator(text: str, separators: list[str], column: str) -> str:
    """Return the delimiter with which the header has the column; of several, the one that gives the most names."""

    def names(separator: str) -> int:
        try:
            header = _stripped(next(filter(None, _reader(text, separator, strict=False)), []))
        except csv.Error:
            return 0
        return len(header) if column in header else 0

    return max(separators, key=names)


def _records(text: str, separator: str, name: str) -> list[tuple[int, list[str]]]:
    """Return the nonempty records, each with the number of its first line."""
    reader = _reader(text, separator, strict=True)
    records, begins = [], 1
    try:
        for record in reader:
            if record:
                records.append((begins, _stripped(record)))
            begins = reader.line_num + 1
    except csv.Error:
        raise ParameterError(f"{name} must be a CSV file, got one that cannot be read in line {begins}") from None
    return records


def _reader(text: str, separator: str, *, strict: bool) -> Any:
    """Return a reader that skips blanks before fields and quotes."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict, skipinitialspace=separator != " ")


def _stripped(record: list[str]) -> list[str]:
    """Remove blanks at the ends of fields, as `query.CSV` does by default."""
    return [field.rstrip(" ") for field in record]


def _numbers(texts: list[tuple[int, str]], column: str) -> list[int] | list[float]:
    if all(_INTEGER.fullmatch(text) and len(text) < _LONGEST for _, text in texts):
        return [int(text) for _, text in texts]
    return [_float(text, line, column) for line, text in texts]


def _float(text: str, line: int, column: str) -> float:
    """Return a number from a column with fractions; integers that float64 does not have are refused."""
    if not text.strip():
        raise ParameterError(f"line {line}: {column!r} is empty; expected a number")
    if not _NUMBER.fullmatch(text) or len(text) > _LONGEST:
        raise ParameterError(f"line {line}: {column!r} is not a number")
    number = float(text)
    if not isfinite(number):
        raise ParameterError(f"line {line}: {column!r} is a number beyond float64")
    if _INTEGER.fullmatch(text) and number != int(text):
        raise ParameterError(f"line {line}: {column!r} is an integer that float64 cannot hold, and other lines have fractions")
    return number
