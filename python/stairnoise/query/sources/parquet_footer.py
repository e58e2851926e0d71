"""A Parquet file without the annotations that let a value end a query.

DuckDB ends a query at a text that is not UTF-8, at a moment in milliseconds that it cannot hold, and at a time beyond the end of
the day. So it reads the file through a class that changes some bytes of the footer: texts become bytes, and these moments and
times become integers. The footer is a structure of Thrift's compact protocol. A column of texts is a column of bytes with an
annotation, in an old and a new form. A reader skips fields with an unknown number or an unexpected type, so each annotation is
turned into such a field of the same length. The size of the file and all offsets stay the same.
"""

from __future__ import annotations

import datetime
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stairnoise._optional import require

fsspec = require("fsspec", "a query of a Parquet file needs", "'stairnoise[query]'")

_PROTOCOL = "stairnoise"
AS_DECLARED, BARE = (f"{_PROTOCOL}://{name}.parquet" for name in ("declared", "bare"))
# The last bytes of a file: the size of the footer, and a mark.
_END = 8
# Thrift's numbers of fields: the schema of a file; the name of a column, the number of its children, and its two annotations;
# their values for texts, for enumerations, which are texts too, and for JSON; their values for times of day and moments, and for
# the units of these; and a number that no annotation has.
_SCHEMA, _NAME, _BELOW, _CONVERTED, _LOGICAL = 2, 4, 5, 6, 10
_CONVERTED_TEXTS, _LOGICAL_TEXTS = frozenset({0, 4, 19}), frozenset({1, 4, 12})
_CONVERTED_TIMES = frozenset({7, 8, 9})
_TIME, _TIMESTAMP, _UNIT, _MILLISECONDS, _NANOSECONDS, _UNUSED = 7, 8, 2, 1, 3, 9
# Thrift's numbers of types.
_TRUE, _FALSE, _BYTE, _INT32, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13
_SIZES = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8, _UUID: 16}


class UnreadableFooterError(Exception):
    """The footer of a file does not follow the format."""


class _Footer:
    """A footer, and where in it the next value begins."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = bytearray(content), 0
        # Columns of times of day in nanoseconds.
        self.nanosecond_times: set[str] = set()

    def bare(self) -> bytes:
        """Return the footer without these annotations."""
        for number, kind, _ in self._fields():
            if number == _SCHEMA and kind == _LIST:
                self._items()
                self._element(0)
                # The schema comes before everything that is long.
                break
            self._skip(kind)
        return bytes(self.content)

    def _element(self, depth: int) -> None:
        """Read one element of the schema and its children, and change their annotations. Columns have depth 1."""
        name, below, nanoseconds = b"", 0, False
        for number, kind, place in self._fields():
            if number == _NAME and kind == _BINARY:
                length = self._natural()
                name = bytes(self.content[self.at : self.at + length])
                self.at += length
            elif number == _BELOW and kind == _INT32:
                below = self._integer()
            elif number == _CONVERTED and kind == _INT32:
                if self._integer() in _CONVERTED_TEXTS | _CONVERTED_TIMES:
                    self._as_byte(place)
            elif number == _LOGICAL and kind == _STRUCT:
                for meaning, of, at in self._fields():
                    if meaning in (_TIME, _TIMESTAMP):
                        unit = self._unit()
                        if meaning == _TIME or unit == _MILLISECONDS:
                            self._as_unused(at, meaning)
                        nanoseconds = meaning == _TIME and unit == _NANOSECONDS
                    else:
                        self._skip(of)
                    if meaning in _LOGICAL_TEXTS:
                        self._as_byte(at)
            else:
                self._skip(kind)
        if nanoseconds and depth == 1:
            self.nanosecond_times.add(name.decode(errors="replace"))
        for _ in range(below):
            self._element(depth + 1)

    def _unit(self) -> int:
        """Read the annotation of a time, and return its unit."""
        found = 0
        for number, kind, _ in self._fields():
            if number == _UNIT:
                for unit, of, _ in self._fields():
                    found = unit
                    self._skip(of)
            else:
                self._skip(kind)
        return found

    def _as_byte(self, place: int) -> None:
        """Turn a field into one of a single byte; the value that was just read must have one byte."""
        if self.at != place + 2:
            raise UnreadableFooterError
        self.content[place] = self.content[place] & 0xF0 | _BYTE

    def _as_unused(self, place: int, number: int) -> None:
        """Turn an annotation into one that no reader knows; its first byte has its number."""
        if self.content[place] != number << 4 | _STRUCT:
            raise UnreadableFooterError
        self.content[place] = _UNUSED << 4 | _STRUCT

    def _fields(self) -> Iterator[tuple[int, int, int]]:
        """Yield number, type and place of each field of a structure; the caller reads each value before the next field."""
        number = 0
        while header := self._byte():
            place = self.at - 1
            number = number + (header >> 4) if header >> 4 else self._integer()
            yield number, header & 0x0F, place

    def _items(self) -> tuple[int, int]:
        """Return how many items a list has, and their type."""
        header = self._byte()
        return (header >> 4 if header >> 4 < 0x0F else self._natural()), header & 0x0F

    def _skip(self, kind: int) -> None:
        if kind == _STRUCT:
            for _, of, _ in self._fields():
                self._skip(of)
        elif kind in (_LIST, _SET):
            count, of = self._items()
            for _ in range(count):
                self._skip(_BYTE if of in (_TRUE, _FALSE) else of)
        elif kind == _BINARY:
            length = self._natural()
            self.at += length
        elif kind in _SIZES:
            self.at += _SIZES[kind]
        elif kind == _MAP:
            raise UnreadableFooterError
        else:
            self._natural()

    def _byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def _natural(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        value = self._natural()
        return value >> 1 ^ -(value & 1)


class OpenFile:
    """A file that stays open until it is closed, for any number of readers in any threads."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._lock = threading.Lock()
        try:
            found = os.fstat(self._file.fileno())
            self.size, self.modified = found.st_size, datetime.datetime.fromtimestamp(found.st_mtime, datetime.timezone.utc)
            end = self._read(max(self.size - _END, 0), _END)
            self._start = self.size - _END - int.from_bytes(end[:4], "little")
            if self._start < 0:
                raise UnreadableFooterError
            footer = _Footer(self._read(self._start, self.size - _END - self._start))
            self._footer = footer.bare()
            self.nanosecond_times = footer.nanosecond_times
        except (IndexError, RecursionError):
            self.close()
            raise UnreadableFooterError from None
        except BaseException:
            self.close()
            raise

    def read(self, start: int, length: int, *, bare: bool) -> bytes:
        """Return some bytes of the file, with the original or the changed footer."""
        content = self._read(start, length)
        first, last = max(start, self._start), min(start + len(content), self._start + len(self._footer))
        if first >= last or not bare:
            return content
        return content[: first - start] + self._footer[first - self._start : last - self._start] + content[last - start :]

    def _read(self, start: int, length: int) -> bytes:
        with self._lock:
            self._file.seek(start)
            return self._file.read(length)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _Reader(fsspec.spec.AbstractBufferedFile):  # type: ignore[misc,name-defined]
    """A reader of the file for DuckDB, with a place of its own."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        content: bytes = self.fs.file.read(start, end - start, bare=BARE.endswith(self.path))
        return content


class FileSystem(fsspec.AbstractFileSystem):  # type: ignore[misc,name-defined]
    """A file under two names, `AS_DECLARED` and `BARE`, for `register_filesystem` of DuckDB."""

    protocol = _PROTOCOL
    cachable = False

    def __init__(self, file: OpenFile) -> None:
        super().__init__()
        self.file = file

    def _open(self, path: str, mode: str = "rb", **_: Any) -> _Reader:
        """Return a new reader of the file, without a buffer: DuckDB has its own."""
        return _Reader(self, path, mode, cache_type="none", size=self.file.size)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return the name, size and type of the file."""
        return {"name": path, "size": self.file.size, "type": "file"}

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return the name, which is not a pattern."""
        return [path]

    def modified(self, path: str) -> datetime.datetime:
        """Return when the file was last written."""
        return self.file.modified
