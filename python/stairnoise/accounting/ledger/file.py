"""The SQLite file of a ledger: opened for one transaction at a time, and locked while something is spent.

No connection is kept, so a ledger can be used in threads, after a fork and in processes to which it was pickled.
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

from stairnoise._errors import LedgerError

# "stnl" marks the file as a ledger; the format number is of the tables below.
_KIND, _FORMAT = 0x73746E6C, 1
_TABLES = (
    """CREATE TABLE ledger (
        budget REAL NOT NULL, delta REAL NOT NULL, composed INTEGER NOT NULL, rows INTEGER NOT NULL,
        created TEXT, version TEXT)""",
    """CREATE TABLE spending (
        number INTEGER PRIMARY KEY, data TEXT NOT NULL, release TEXT, statistic TEXT, fingerprint TEXT, bind TEXT,
        mechanism TEXT NOT NULL, exact TEXT, sensitivity NUMERIC, l2_sensitivity REAL, partitions INTEGER NOT NULL,
        eps REAL, delta REAL, total REAL NOT NULL, time TEXT NOT NULL, refused INTEGER NOT NULL)""",
)
_DAMAGED = "is not a ledger, or is damaged"
# Files that SQLite keeps beside a database.
NEIGHBOURS = ("-journal", "-wal", "-shm")


@contextmanager
def transaction(path: Path, timeout: float, kind: Literal["read", "write"] = "read") -> Iterator[sqlite3.Connection]:
    """Open a ledger for one transaction; an error undoes it, and errors of SQLite become a LedgerError."""
    begin = "BEGIN" if kind == "read" else "BEGIN IMMEDIATE"
    try:
        # SQLite opens a file that may only be read for reading. What a killed program left undone is undone by the next one
        # that opens the file, even to read it: that takes "rw".
        with closing(_connected(path, "rw", timeout)) as connection:
            # The transaction is on the disk, the directory's entry included, before anything is drawn.
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute(begin)
            _require_ledger(connection, path)
            yield connection
            # Closing the connection undoes what has not been committed.
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise LedgerError(f"{path} {_reason(error, path, timeout)}") from None
    except UnicodeDecodeError:
        # A message of SQLite about damaged names, which Python cannot read.
        raise LedgerError(f"{path} {_DAMAGED}") from None


def exists(path: Path) -> bool:
    """Return whether the file exists."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise LedgerError(f"{path} cannot be used: {error.strerror}") from None
    return True


def create(path: Path, header: tuple[Any, ...]) -> None:
    """Make a ledger of its limits, when it was made, and the version that made it; leave a file that another one made.

    The file gets its name when it is complete, so an empty one is never taken for a new ledger.
    """
    for name in NEIGHBOURS:
        # A process that made the ledger meanwhile may be writing to it.
        if exists(beside := path.with_name(path.name + name)) and not exists(path):
            raise LedgerError(f"{path} does not exist, but {beside.name} of an earlier ledger does: bring the ledger back")
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with closing(_connected(part, "rwc", 0.0)) as connection:
            connection.execute(f"PRAGMA application_id = {_KIND}")
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
            connection.execute("BEGIN")
            for table in _TABLES:
                connection.execute(table)
            connection.execute(f"INSERT INTO ledger VALUES ({', '.join('?' * len(header))})", header)
            connection.execute("COMMIT")
        _place(part, path)
    except (sqlite3.Error, OSError):
        there = "cannot be made in its directory" if path.parent.is_dir() else "is in a directory that does not exist"
        raise LedgerError(f"{path} {there}") from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _place(part: Path, path: Path) -> None:
    """Give a finished file its name, unless another file has it."""
    try:
        path.hardlink_to(part)
    except FileExistsError:
        return
    except OSError:
        # A file system without links, where somebody may still write between this question and the answer.
        if not exists(path):
            part.rename(path)


def _connected(path: Path, mode: str, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, timeout=timeout, isolation_level=None)


def _require_ledger(connection: sqlite3.Connection, path: Path) -> None:
    if _number(connection, "PRAGMA application_id") != _KIND:
        # SQLite takes a file of a few bytes for a new database.
        what = "is not a ledger" if path.stat().st_size else "is empty, and no ledger: what was in it is lost"
        raise LedgerError(f"{path} {what}")
    if (found := _number(connection, "PRAGMA user_version")) != _FORMAT:
        raise LedgerError(f"{path} must be a ledger of format {_FORMAT}, got format {found} of another version of stairnoise")


def _number(connection: sqlite3.Connection, question: str) -> int:
    return int(connection.execute(question).fetchone()[0])


def _reason(error: sqlite3.Error, path: Path, timeout: float) -> str:
    """Return what is wrong with a file; Python 3.10 distinguishes errors of SQLite only by their texts."""
    text = str(error)
    if "locked" in text:
        return f"is locked: another process held it for {timeout:g} seconds; nothing has been spent"
    if any(one in text for one in ("not a database", "malformed", "no such table", "no such column", "decode to UTF-8")):
        return _DAMAGED
    if "readonly" in text:
        return "cannot be written to; nothing has been spent"
    if path.is_dir():
        return "is a directory, not a file"
    if "unable to open" in text and not path.exists():
        return "does not exist" if path.parent.is_dir() else "is in a directory that does not exist"
    return f"cannot be used: {text}; nothing has been spent"
