"""Writing a private table: it is complete at once, or not there, and nothing is overwritten unasked."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stairnoise._errors import ParameterError
from stairnoise._optional import require


def _csv(table: Any) -> bytes:
    text: str = table.to_csv()
    return text.encode()


def _json(table: Any) -> bytes:
    text: str = table.to_json()
    return text.encode()


def _parquet(table: Any) -> bytes:
    arrow = require("pyarrow.parquet", "Parquet files need", "pyarrow")
    sink = require("pyarrow", "Parquet files need", "pyarrow").BufferOutputStream()
    arrow.write_table(table.to_arrow(), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


_WRITERS: dict[str, Callable[[Any], bytes]] = {".csv": _csv, ".parquet": _parquet, ".json": _json}


class NewFiles:
    """Files to write: that they can be written is checked at once, and later they are there complete, or not at all."""

    def __init__(self, *paths: Path, overwrite: bool) -> None:
        self._paths, self._overwrite = paths, overwrite
        for path in paths:
            self._require_free(path)
        # It fails now if nothing can be written there.
        _remove(_temporary(paths[-1], b""))

    def _require_free(self, path: Path) -> None:
        if path.is_dir() or (path.exists() and not path.is_file()):
            raise ParameterError(f"output must be a file, got {str(path)!r}, which is something else")
        if not self._overwrite and os.path.lexists(path):
            raise ParameterError(f"{path} exists; pass --force or overwrite=True to overwrite it")

    def write(self, *contents: bytes) -> None:
        """Write the files, in their order."""
        made: list[Path] = []
        parts: list[Path] = []
        try:
            for path, content in zip(self._paths, contents, strict=True):
                parts.append(_temporary(path, content))
            for path, part in zip(self._paths, parts, strict=True):
                self._place(part, path)
                made.append(path)
        except BaseException:
            if not self._overwrite:
                for path in made:
                    _remove(path)
            raise
        finally:
            for part in parts:
                _remove(part)

    def _place(self, part: Path, path: Path) -> None:
        """Give a finished file its name."""
        if self._overwrite:
            part.replace(path)
            return
        try:
            path.hardlink_to(part)
        except FileExistsError:
            self._require_free(path)
            raise
        except OSError:
            # A file system without links, where somebody may still write between this question and the answer.
            self._require_free(path)
            part.replace(path)


class Output:
    """A file for a private table, which was checked before anything is asked or spent."""

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        if path.suffix.lower() not in _WRITERS:
            raise ParameterError(f"output must be a file named *.csv, *.parquet or *.json, got {str(path)!r}")
        self._make = _WRITERS[path.suffix.lower()]
        self.path = path
        self.notes = path.with_name(path.name + ".json") if self._make is _csv else None
        """The file that says what the rows are, if the format has no place for it."""
        if self._make is _parquet:
            require("pyarrow", "Parquet files need", "pyarrow")
        self._new = NewFiles(*self.files(), overwrite=overwrite)

    def files(self) -> list[Path]:
        """Return the files that will be there; what is said about a table comes first, so that no table is there without it."""
        return [*([self.notes] if self.notes else []), self.path]

    def write(self, table: Any) -> None:
        """Write the table."""
        contents = [self._make(table)]
        if self.notes:
            about = table.about | {"file": self.path.name, "sha256": hashlib.sha256(*contents).hexdigest()}
            contents.insert(0, (json.dumps(about, ensure_ascii=False, indent=2) + "\n").encode())
        self._new.write(*contents)


def _temporary(path: Path, content: bytes) -> Path:
    """Write a file beside the one that it shall become."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        _remove(part)
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        _remove(part)
        raise
    return part


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
