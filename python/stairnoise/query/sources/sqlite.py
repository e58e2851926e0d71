"""SQLite: the module `sqlite3` of the standard library."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import sqlite3
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from stairnoise.query.condition.tree import FUNCTIONS, Condition, Literal, refused
from stairnoise.query.sources.dialect import Column, Dialect, Kind, Units, is_float, is_integer, literal, quoted
from stairnoise.query.sources.source import Source, hidden, unanswered

_ORDER = "stairnoise_order"
_CALLED = FUNCTIONS | {"date", "glob", "strftime", "typeof"}
# What SQLite calls a number, a text and so on; a column can hold values of another type than the declared one.
_SEEN = {
    "integer": "(case when typeof({0}) in ('integer', 'real') then {0} end)",
    "real": "(case when typeof({0}) in ('integer', 'real') then {0} end)",
    "text": "(case when typeof({0}) = 'text' then {0} end)",
    "boolean": "(case when {0} in (0, 1) then {0} end)",
    # A modifier, because without one SQLite 3.40 takes 30 February for a date.
    "date": "(case when date({0}, '+0 days') = {0} and {0} >= '0001-01-01' then date({0}, '+0 days') end)",
}
# A date or a timestamp in the form of ISO 8601. No function of SQLite reads beyond a null byte.
_MOMENT = (
    "(case when typeof({0}) = 'text' and instr({0}, char(0)) = 0 and date(substr({0}, 1, 10), '+0 days') = substr({0}, 1, 10) "
    "and {0} >= '0001-01-01' and (length({0}) = 10 or (substr({0}, 11) glob '[T ][0-2][0-9]:[0-5][0-9]*' "
    "and substr({0}, 12, 2) < '24' and (length({0}) = 16 or (substr({0}, 17) glob ':[0-5][0-9]*' "
    "and (length({0}) = 19 or (substr({0}, 20) glob '.[0-9]*' and substr({0}, 21) not glob '*[^0-9]*')))))) "
    "then substr({0}, 1, 16) end)"
)
_SIGNS = {"year": "%Y", "month": "%m", "day": "%d", "dow": "%w", "hour": "%H"}
_GLOB = str.maketrans({"%": "*", "_": "?", "*": "[*]", "?": "[?]", "[": "[[]"})
_SECONDS_LOCKED = 2.0
# Instructions between two calls of the progress handler: a few milliseconds.
_STEPS = 100_000
# The error of `sqlite3` after an exception in one of our functions, which raise none of their own.
_STOPPED = ("interrupted", "user-defined function raised exception")
_HIDDEN = 1
# Only SQLite's own tables have names that begin with this.
_OWN = "sqlite_"
# SQLite's errors that are not about data.
_TOLD = {
    "database is locked": "is locked by another program",
    "database table is locked": "is locked by another program",
    "database schema is locked": "is locked by another program",
    "file is not a database": "is not a database of SQLite, or is encrypted",
    "unable to open database file": "cannot be opened",
    "database disk image is malformed": "is damaged",
    "interrupted": "was interrupted",
    "attempt to write a readonly database": "needs recovery, which cannot be done read-only",
}


class SQLiteDialect(Dialect):
    """The SQL of SQLite."""

    text = "(cast({} as text) collate binary)"
    # The function that `_rows` adds takes bytes, because a text need not be UTF-8.
    order = f"{_ORDER}(cast({{}} as blob))"
    truncated = "cast({} as integer)"
    forms: ClassVar[Mapping[str, str]] = {
        **Dialect.forms,
        # LIKE ignores the case of ASCII letters, as `lower` does.
        "like": "({} glob {})",
        "ilike": "(lower({}) glob lower({}))",
        "real": "cast({} as real)",
        # Before 3.39, SQLite has no IS DISTINCT FROM.
        "is distinct from": "({} is not {})",
        "is not distinct from": "({} is {})",
        **{part: f"cast(strftime('{sign}', {{}}) as integer)" for part, sign in _SIGNS.items()},
        "quarter": "((strftime('%m', {}) + 2) / 3)",
        # The week of the Thursday, as in ISO 8601.
        "week": "((strftime('%j', {}, '-3 days', 'weekday 4') - 1) / 7 + 1)",
    }

    def kind(self, column: Column) -> str:
        """Return the kind of a column in conditions; a column declared as DATE has texts such as 2026-07-01."""
        declared = column.type.upper()
        return "date" if column.kind == "any" and "DATE" in declared and "TIME" not in declared else super().kind(column)

    def seen(self, column: Column, condition: Condition) -> str:
        """Return a value of the column's kind, or null."""
        return _SEEN.get(self.kind(column), "({0} collate binary)").format(quoted(column.name))

    def constant(self, constant: Literal) -> str:
        """Return a constant; a pattern in the form of GLOB, and a date as a text."""
        if constant.kind == "pattern":
            return literal(constant.value.translate(_GLOB))
        return literal(constant.value.isoformat()) if constant.kind == "date" else super().constant(constant)

    def group(self, column: Column) -> str:
        """Return a value; in a column without a type 5 and "5" differ, so there it is a text."""
        name = quoted(column.name)
        return f"(cast({name} as text) collate binary)" if _is_untyped(column) else f"({name} collate binary)"

    def found(self, column: Column) -> str:
        """Return the value of `group`, or null for a value of another type than the declared one, which SQLite can store."""
        name, group = quoted(column.name), self.group(column)
        if column.kind in ("integer", "text"):
            return f"case when typeof({name}) = '{column.kind}' then {group} end"
        return f"case when {name} in (0, 1) then {group} end" if column.kind == "boolean" else group

    def holds(self, column: Column, value: Any) -> bool:
        """Allow numbers of 64 bits, whatever the declared type: SQLite has no others."""
        return is_integer(value, 64) if isinstance(value, int) else not isinstance(value, (float, Decimal)) or is_float(value, 64)

    def parameter(self, column: Column, value: Any) -> tuple[str, Any]:
        """Return the mark, and the value as SQLite stores it in such a column."""
        value = _stored(value)
        if _is_untyped(column):
            value = str(int(value) if isinstance(value, bool) else value)
        return self.mark, value

    def ordered(self, column: Column) -> str:
        """Return a number whatever the declared type, because SQLite stores numbers of all types there, or a date as a text."""
        return _SEEN["date" if self.kind(column) == "date" else "real"].format(quoted(column.name))

    def has_parts(self, column: Column, part: str) -> bool:
        """Return whether texts can be dates or timestamps, for which SQLite has no type."""
        return column.kind in ("text", "any") and not (part == "hour" and self.kind(column) == "date")

    def moment(self, column: Column, part: str) -> str:
        """Return a text that SQLite's functions of dates take, or null."""
        return _MOMENT.format(quoted(column.name))

    def edge(self, column: Column, edge: Any) -> tuple[Any, ...]:
        """Return the mark, and the edge in a type that SQLite compares exactly with its numbers."""
        return self.mark, _stored(edge)

    def is_number(self, column: Column) -> str:
        """Check the type of the row's value; in a column without a type, a text counts as SQLite's `sum` reads it."""
        name = quoted(column.name)
        if column.kind == "boolean":
            return f"{name} in (0, 1)"
        return f"typeof({name}) in ('integer', 'real')" if column.type else f"{name} is not null"

    def units(self, column: Column, units: Units) -> str:
        """Round in doubles, which have the range of SQLite's numbers."""
        return self.rounded(column, units)

    def number(self, column: Column) -> str:
        """Return a number as it is; in a column without a type, a text counts as SQLite's `sum` reads it."""
        name = quoted(column.name)
        return name if column.type else f"cast({name} as numeric)"

    def numeral(self, column: Column, value: float) -> str:
        """Return a double."""
        return repr(value)


class SQLite(Source):
    """A database of SQLite."""

    dialect = SQLiteDialect()

    _con: sqlite3.Connection

    def __init__(self, con: sqlite3.Connection, *, path: Path | None = None) -> None:
        super().__init__(con, path)
        if path is not None:
            self._open.callback(con.close)
        # The first read takes the snapshot, which lasts until the transaction ends.
        if not con.in_transaction:
            self._ask("begin")
            self._open.callback(con.rollback)

    @classmethod
    def of_file(cls, path: Path) -> SQLite:
        """Open a file read-only."""
        uri = f"{path.resolve().as_uri()}?mode=ro"
        connect = partial(sqlite3.connect, uri, uri=True, timeout=_SECONDS_LOCKED, isolation_level=None)
        con = hidden(connect, sqlite3.Error, f"source {str(path)!r}", _problem)
        con.execute("pragma trusted_schema = off")
        # While it runs, Python calls signal handlers, such as that of Ctrl-C.
        con.set_progress_handler(lambda: 0, _STEPS)
        return cls(con, path=path)

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        _, (schema, name) = self._table(table)
        rows = self._ask(f"pragma {quoted(schema)}.table_xinfo({quoted(name)})")
        columns = [Column(row[1], _held(row[2]), row[2]) for row in rows if row[6] != _HIDDEN]
        return f"{quoted(schema)}.{quoted(name)}", columns

    def _tables(self) -> dict[str, tuple[str, str]]:
        """Return tables and views by name, and by schema and name."""
        found: dict[str, tuple[str, str]] = {}
        for _, schema, *_ in sorted(self._ask("pragma database_list")):
            rows = self._ask(f"select name from {quoted(schema)}.sqlite_master where type in ('table', 'view') order by name")
            for name in (name for (name,) in rows if not name.lower().startswith(_OWN)):
                found[f"{schema}.{name}"] = schema, name
                found.setdefault(name, (schema, name))
        return dict(sorted(found.items(), key=lambda item: "." in item[0]))

    def _judge(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        """Compile the condition on an empty table in memory; SQLite's authorizer sees everything that it would do."""
        selects = iter([sqlite3.SQLITE_OK])

        def permission(action: int, first: str | None, second: str | None, *_: str | None) -> int:
            if action == sqlite3.SQLITE_SELECT:
                return next(selects, sqlite3.SQLITE_DENY)
            called = action == sqlite3.SQLITE_FUNCTION and str(second).lower() in _CALLED
            read = action == sqlite3.SQLITE_READ and first == "stairnoise_rows"
            return sqlite3.SQLITE_OK if called or read else sqlite3.SQLITE_DENY

        # No condition uses the names of this table and of its first column.
        described = "".join(f", {quoted(column.name)} {_affinity(column.type)}" for column in columns.values())
        with contextlib.closing(sqlite3.connect(":memory:")) as con:
            con.execute(f"create table stairnoise_rows (stairnoise_row{described})")
            con.set_authorizer(permission)
            try:
                con.execute(f"explain select 1 from stairnoise_rows where {self.dialect.fulfils(columns, condition)}")
            except (sqlite3.Error, sqlite3.Warning) as error:
                problem = str(error)
            else:
                return
        raise refused(f"is not understood by SQLite: {problem}")

    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        # SQLite neither replaces nor removes a function while a statement of the caller is unfinished.
        with contextlib.suppress(sqlite3.OperationalError):
            self._con.create_function(_ORDER, 1, lambda text: hashlib.sha256(text).digest(), deterministic=True)
        try:
            return self._ask(text, parameters)
        finally:
            with contextlib.suppress(sqlite3.OperationalError):
                self._con.create_function(_ORDER, 1, None)

    def _ask(self, text: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
        cursor = self._con.cursor()
        cursor.row_factory = None
        before, self._con.text_factory = self._con.text_factory, _decoded
        try:
            given = parameters or []
            return hidden(lambda: cursor.execute(text, given).fetchall(), sqlite3.Error, f"source {self._name}", self._stopped)
        finally:
            self._con.text_factory = before
            cursor.close()

    def _stopped(self, error: sqlite3.Error) -> str | None:
        """Return what is wrong, or None for Ctrl-C."""
        return None if self._path is not None and any(sign in str(error) for sign in _STOPPED) else _problem(error)


def _held(declared: str) -> Kind:
    """Return the kind of a column by SQLite's rules for declared types."""
    words = declared.upper()
    if "INT" in words:
        return "integer"
    if any(word in words for word in ("CHAR", "CLOB", "TEXT")):
        return "text"
    if any(word in words for word in ("REAL", "FLOA", "DOUB")):
        return "real"
    return "boolean" if "BOOL" in words else "any"


def _stored(value: Any) -> Any:
    """Return a value as SQLite stores it."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Decimal) or (type(value) is int and not is_integer(value, 64)):
        return int(value) if is_integer(int(value), 64) and value == int(value) else float(value)
    return value


def _is_untyped(column: Column) -> bool:
    return column.kind == "any" and not column.type


def _affinity(declared: str) -> str:
    return {"integer": "integer", "text": "text", "real": "real"}.get(_held(declared), "numeric" if declared else "")


def _decoded(text: bytes) -> str:
    """Return a text whatever its bytes are: an error of `sqlite3` would show the bytes."""
    return text.decode(errors="backslashreplace")


def _problem(error: sqlite3.Error) -> str:
    told = next((meaning for text, meaning in _TOLD.items() if text in str(error)), None)
    return told or unanswered("SQLite", error)
