"""Writing a private table: a file appears complete or not at all, and replaces another one only on request."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stairnoise._errors import ParameterError, check
from stairnoise._optional import require


class NewFiles:
    """Files to write. The constructor checks that they can be written; `write` makes them appear complete or not at all."""

    def __init__(self, *paths: Path, overwrite: bool) -> None:
        self._paths, self._overwrite = paths, overwrite
        for path in paths:
            self._require_free(path)
        # Fails now if nothing can be written there.
        _remove(_temporary(paths[-1], b""))

    def _require_free(self, path: Path) -> None:
        if path.is_dir() or (path.exists() and not path.is_file()):
            raise ParameterError(f"output must be a file, got {str(path)!r}, which is something else")
        check(self._overwrite or not os.path.lexists(path), f"{path} exists; pass --force or overwrite=True to overwrite it")

    def write(self, *contents: bytes) -> None:
        """Write the files, in their order."""
        parts: list[Path] = []
        with contextlib.ExitStack() as temporary, contextlib.ExitStack() as made:
            for path, content in zip(self._paths, contents, strict=True):
                parts.append(_temporary(path, content))
                temporary.callback(_remove, parts[-1])
            for path, part in zip(self._paths, parts, strict=True):
                self._place(part, path)
                if not self._overwrite:
                    made.callback(_remove, path)
            made.pop_all()

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
            # A file system without links: another process could still write between this check and the replacement.
            self._require_free(path)
            part.replace(path)


class Output:
    """A file for a private table, which was checked before anything is asked or spent."""

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        self._suffix = path.suffix.lower()
        check(self._suffix in _CONTENTS, f"output must be a file named *.csv, *.parquet or *.json, got {str(path)!r}")
        self.path = path
        # The file with the notes about the rows, if the format has no place for them.
        self.notes = path.with_name(path.name + ".json") if self._suffix == ".csv" else None
        if self._suffix == ".parquet":
            require("pyarrow", "Parquet files need", "pyarrow")
        self._new = NewFiles(*self.files(), overwrite=overwrite)

    def files(self) -> list[Path]:
        """Return the files to write. The notes come first, so that no table appears without them."""
        return [*([self.notes] if self.notes else []), self.path]

    def write(self, table: Any) -> None:
        """Write the table."""
        contents: list[bytes] = [_CONTENTS[self._suffix](table)]
        if self.notes:
            about = table.about | {"file": self.path.name, "sha256": hashlib.sha256(*contents).hexdigest()}
            contents.insert(0, (json.dumps(about, ensure_ascii=False, indent=2) + "\n").encode())
        self._new.write(*contents)


def _parquet(table: Any) -> Any:
    sink = require("pyarrow", "Parquet files need", "pyarrow").BufferOutputStream()
    require("pyarrow.parquet", "Parquet files need", "pyarrow").write_table(table.to_arrow(), sink)
    return sink.getvalue().to_pybytes()


_CONTENTS: dict[str, Callable[[Any], Any]] = {
    ".csv": lambda table: table.to_csv().encode(),
    ".parquet": _parquet,
    ".json": lambda table: table.to_json().encode(),
}


def _temporary(path: Path, content: bytes) -> Path:
    """Write a file beside its final place, where it will be renamed."""
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
