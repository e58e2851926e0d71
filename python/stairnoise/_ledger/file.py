"""The SQLite file of a ledger: opened for one transaction at a time, and locked while something is spent.

No connection is kept, so a ledger can be used in threads, after a fork and in processes to which it was pickled.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

from stairnoise._errors import LedgerError

# "stnl" marks the file as a ledger; the format number is of the tables below.
_KIND, _FORMAT = 0x73746E6C, 1
_TABLES = (
    "CREATE TABLE ledger (budget REAL NOT NULL, delta REAL NOT NULL, created TEXT NOT NULL, version TEXT NOT NULL)",
    """CREATE TABLE spending (
        number INTEGER PRIMARY KEY, data TEXT NOT NULL, release TEXT, statistic TEXT, fingerprint TEXT, bind TEXT,
        law TEXT NOT NULL, exact TEXT, sensitivity NUMERIC, partitions INTEGER NOT NULL, eps REAL, delta REAL,
        total REAL, time TEXT NOT NULL)""",
)


@contextmanager
def transaction(path: Path, timeout: float, kind: Literal["read", "write", "create"] = "read") -> Iterator[sqlite3.Connection]:
    """Open a ledger for one transaction; an error undoes it, and errors of SQLite become a LedgerError.

    "create" also takes a file that does not exist, or is empty, and returns it with no tables.
    """
    # SQLite opens a file that may only be read for reading. What a killed program left undone is undone by the next one that
    # opens the file, even to read it: that takes "rw".
    mode = "rwc" if kind == "create" else "rw"
    begin = "BEGIN" if kind == "read" else "BEGIN IMMEDIATE"
    try:
        uri = f"{path.as_uri()}?mode={mode}"
        with closing(sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)) as connection:
            # The transaction is on the disk, the directory's entry included, before anything is drawn.
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute(begin)
            if kind != "create" or not is_new(connection):
                _require_ledger(connection, path)
            yield connection
            # Closing the connection undoes what has not been committed.
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise LedgerError(f"{path} {_reason(error, path, timeout, kind)}") from None


def is_missing(path: Path) -> bool:
    """Tell whether a file does not exist, or is empty."""
    try:
        return not path.stat().st_size
    except FileNotFoundError:
        return True
    except OSError as error:
        raise LedgerError(f"{path} cannot be used: {error.strerror}") from None


def is_new(connection: sqlite3.Connection) -> bool:
    """Tell whether nothing has ever been written to the file."""
    return _number(connection, "PRAGMA schema_version") == 0


def create(connection: sqlite3.Connection, header: tuple[Any, ...]) -> None:
    """Write the tables of a new ledger: its budget, its δ, when it was made, and the version that made it."""
    connection.execute(f"PRAGMA application_id = {_KIND}")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")
    for table in _TABLES:
        connection.execute(table)
    connection.execute("INSERT INTO ledger VALUES (?, ?, ?, ?)", header)


def limits(connection: sqlite3.Connection) -> tuple[float, float]:
    """Return the budget and the δ of a ledger."""
    budget, delta = connection.execute("SELECT budget, delta FROM ledger").fetchone()
    return budget, delta


def _require_ledger(connection: sqlite3.Connection, path: Path) -> None:
    if _number(connection, "PRAGMA application_id") != _KIND:
        # SQLite takes a file of a few bytes for a new database.
        what = "is not a ledger" if path.stat().st_size else "is empty: give a budget to make a ledger of it"
        raise LedgerError(f"{path} {what}")
    if (found := _number(connection, "PRAGMA user_version")) != _FORMAT:
        raise LedgerError(f"{path} must be a ledger of format {_FORMAT}, got format {found} of another version of stairnoise")


def _number(connection: sqlite3.Connection, question: str) -> int:
    found: int = connection.execute(question).fetchone()[0]
    return found


def _reason(error: sqlite3.Error, path: Path, timeout: float, kind: str) -> str:
    """Say what is wrong with a file; Python 3.10 has only the texts of SQLite to tell errors apart."""
    text = str(error)
    if "locked" in text:
        return f"is locked: another process held it for {timeout:g} seconds; nothing has been spent"
    if "not a database" in text or "malformed" in text:
        return "is not a ledger, or is damaged"
    if "readonly" in text:
        return "cannot be written to; nothing has been spent"
    if path.is_dir():
        return "is a directory, not a file"
    if "unable to open" in text and not path.exists():
        if not path.parent.is_dir():
            return "is in a directory that does not exist"
        return "does not exist" if kind != "create" else "cannot be made in its directory"
    return f"cannot be used: {text}; nothing has been spent"
