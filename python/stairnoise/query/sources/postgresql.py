"""PostgreSQL: through psycopg, in a transaction that only reads."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

from stairnoise._optional import require
from stairnoise.query.condition.tree import Condition, refused
from stairnoise.query.sources.dialect import Column, Dialect, Kind, quoted
from stairnoise.query.sources.source import Source, SourceError, decoded, hidden, unanswered
from stairnoise.query.types import exact

_SOURCE = "the PostgreSQL source"
_INSTALL = "'stairnoise[postgresql]'"
_SECONDS_TO_CONNECT = 10
# Functions and operators are PostgreSQL's own, texts follow the standard, and no query waits for another session.
_SETTINGS = (
    "set local search_path = pg_catalog, pg_temp",
    "set local standard_conforming_strings = on",
    "set local datestyle = 'ISO, YMD'",
    "set local lock_timeout = '2s'",
)
_TABLES = """
    select n.nspname, c.relname, pg_table_is_visible(c.oid), c.oid::bigint
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where c.relkind in ('r', 'v', 'm', 'p', 'f') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
    order by 1, 2
"""
_COLUMNS = """
    select a.attname, format_type(a.atttypid, a.atttypmod), case t.typtype when 'd' then b.oid else t.oid end::bigint,
        case t.typtype when 'd' then b.typtype else t.typtype end = 'e',
        case t.typtype when 'd' then t.typtypmod else a.atttypmod end, a.attcollation::bigint
    from pg_attribute as a join pg_type as t on t.oid = a.atttypid left join pg_type as b on b.oid = t.typbasetype
    where a.attrelid = %s and a.attnum > 0 and not a.attisdropped order by a.attnum
"""
# Numbers of types and of the default collation; every database has the same.
_BOOL, _DATE, _FLOAT4, _FLOAT8, _NUMERIC, _DEFAULT_COLLATION = 16, 1082, 700, 701, 1700, 100
# The type "char" (18) is not among the texts: it can hold bytes that are no text, on which functions fail.
_BITS, _TEXTS = {20: 64, 21: 16, 23: 32}, frozenset({19, 25, 1042, 1043})
_FLOATS = {_FLOAT4: 32, _FLOAT8: 64}
_KINDS: dict[Kind, Collection[int]] = {"integer": _BITS, "real": _FLOATS, "decimal": {_NUMERIC}, "text": _TEXTS}
_TIME, _TIMESTAMP, _TIMESTAMPTZ, _UUID = 1083, 1114, 1184, 2950
_KINDS |= {"boolean": {_BOOL}, "date": {_DATE}, "timestamp": {_TIMESTAMP}}
_COMPARED = _TEXTS | {*_BITS, *_FLOATS, _BOOL, _DATE, _NUMERIC, _TIME, _TIMESTAMP, _TIMESTAMPTZ, _UUID}
_NO_PRECISION = -1
# The bytes of a text in the database.
_BYTES = "convert_to({}, getdatabaseencoding())"

# Classes of SQLSTATE: data (here of constants), syntax and access, unsupported features.
_OF_STATEMENTS = frozenset({"22", "42", "0A"})


@dataclass(frozen=True, slots=True)
class PostgreSQLColumn(Column):
    """A column with the facts that the judge of conditions needs."""

    base: int = field(default=0, kw_only=True)
    collation: int = field(default=0, kw_only=True)


class PostgreSQLDialect(Dialect):
    """The SQL of PostgreSQL."""

    mark = "%s"
    text = bytewise = '({}::text collate "C")'
    # The server's bytes, because not all of them have a character in UTF-8.
    readable = _BYTES.format(text)
    order = f"sha256({_BYTES})"
    nan, with_nan = "{} = 'NaN'", frozenset({"real", "decimal"})
    # Sums of integers are numerics.
    quotient = "div({}, {})"

    def written(self, text: str) -> str:
        """Double the per cent signs of a text, because psycopg looks for marks."""
        return text.replace("%", "%%")

    # Numerics do not overflow: an error would reveal that there is such a row.
    forms: ClassVar[Mapping[str, str]] = {**Dialect.forms, "wide": "cast({} as numeric)", "bytewise": '({} collate "C")'}

    def seen(self, column: Column, condition: Condition) -> str:
        """Return a text, also for an enumeration and for characters that blanks fill up."""
        return f"cast({quoted(column.name)} as text)" if column.kind == "text" else quoted(column.name)

    def real(self, value: float) -> str:
        """Return a double; without the cast it would be a numeric."""
        return f"float8 '{value!r}'"

    def holds(self, column: Column, value: Any) -> bool:
        """Compare with the range of the declared type; a text has no null byte."""
        return "\0" not in value if isinstance(value, str) else super().holds(column, value)

    def parameter(self, column: Column, value: Any) -> tuple[str, Any]:
        """Return the mark with a cast: a comparison of a numeric with a double could be out of range."""
        if column.kind == "decimal":
            return "%s::numeric", exact(value)
        return f"%s::float{column.bits // 8}" if column.kind == "real" else "%s", value

    def number(self, column: Column) -> str:
        """Return a numeric as it is, because some numerics are beyond a double."""
        return quoted(column.name) if column.kind == "decimal" else super().number(column)

    def numeral(self, column: Column, value: float) -> str:
        """Return a numeric or a double."""
        return format(Decimal(value), "f") if column.kind == "decimal" else super().numeral(column, value)


class PostgreSQL(Source):
    """A database of PostgreSQL."""

    dialect = PostgreSQLDialect()

    def __init__(self, con: Any, *, owned: bool = False) -> None:
        self._psycopg = require("psycopg", "a query of PostgreSQL needs", _INSTALL)
        super().__init__(con)
        if owned:
            self._open.callback(con.close)
        # A transaction of the caller keeps its isolation level, so each statement can have a snapshot of its own.
        idle = con.info.transaction_status == self._psycopg.pq.TransactionStatus.IDLE
        rules = "set transaction isolation level repeatable read, read only" if idle else "set transaction read only"
        self._open.enter_context(con.transaction(force_rollback=True))
        try:
            con.execute(rules)
            self._ask("set local client_encoding = 'UTF8'")
            ((encoding,),) = self._ask("show server_encoding")
            self._codec = _codec(encoding)
            self._by_name = _by_name(self._ask(_TABLES))
            for setting in _SETTINGS:
                self._ask(setting)
        except BaseException:
            self.close()
            raise

    @classmethod
    def of_url(cls, url: str) -> PostgreSQL:
        """Connect to a server."""
        psycopg = require("psycopg", "a query of PostgreSQL needs", _INSTALL)

        def problem(error: Exception) -> str:
            if not isinstance(error, psycopg.OperationalError):
                return "is not an address that psycopg understands"
            return f"cannot be connected to: {' '.join(str(error).splitlines()[:1])}"

        options = {} if "connect_timeout" in url else {"connect_timeout": _SECONDS_TO_CONNECT}
        connect = partial(psycopg.connect, url, autocommit=True, **options)
        return cls(hidden(connect, psycopg.Error, _SOURCE, problem), owned=True)

    def _tables(self) -> dict[str, tuple[str, int]]:
        return self._by_name

    def _named(self, name: str, known: Iterable[str]) -> str | None:
        """Compare exactly: PostgreSQL has names that differ only in case."""
        return name if name in known else None

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        _, (name, number) = self._table(table)
        return name, [_column(*row) for row in self._ask(_COLUMNS, [number])]

    def _column_of(self, word: str, quoted: bool, columns: Iterable[str]) -> str | None:
        name = word if quoted else word.lower()
        return name if name in columns else None

    def _judge(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        """Let the server analyse the condition: it reads names, types and constants, but no row."""
        problem = _problem_of(condition, [column for column in columns.values() if isinstance(column, PostgreSQLColumn)])
        if problem is not None:
            raise refused(problem)
        told = None
        try:
            with self._con.transaction(force_rollback=True), self._con.cursor() as cursor:
                # Without parameters psycopg looks for no marks.
                kept = f"select * from {table} where {self.dialect.fulfils(columns, condition)}"
                cursor.execute(f"prepare stairnoise_condition as select 1 from ({kept}) as kept")
                cursor.execute("deallocate stairnoise_condition")
        except self._psycopg.Error as error:
            # The statement is only analysed, so these errors are about columns, types and constants.
            if (error.sqlstate or "")[:2] in _OF_STATEMENTS and not isinstance(error, self._psycopg.errors.InsufficientPrivilege):
                told = error.diag.message_primary
            problem = self._problem(error)
        if told is not None:
            raise refused(f"is not understood by PostgreSQL: {told}")
        if problem is not None:
            raise SourceError(f"{_SOURCE} {problem}")

    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return decoded(self._ask(text, parameters), self._codec)

    def _ask(self, text: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
        def rows() -> list[tuple[Any, ...]]:
            # An error rolls back to the savepoint, and the transaction goes on.
            with self._con.transaction(), self._con.cursor(row_factory=self._psycopg.rows.tuple_row) as cursor:
                cursor.execute(text, parameters)
                return cursor.fetchall() if cursor.description else []

        return hidden(rows, self._psycopg.Error, _SOURCE, self._problem)

    def _problem(self, error: Any) -> str:
        errors = self._psycopg.errors
        if isinstance(error, errors.LockNotAvailable):
            return "is locked by another session"
        if isinstance(error, errors.InsufficientPrivilege):
            return f"refuses: {error.diag.message_primary}"
        if isinstance(error, errors.QueryCanceled):
            return "cancelled the query"
        return unanswered("PostgreSQL", error)


def _codec(encoding: str) -> str:
    """Return Python's name for a server's encoding, or UTF-8 if Python does not have that encoding."""
    try:
        return codecs.lookup(encoding.replace("WIN", "cp")).name
    except LookupError:
        return "utf-8"


def _by_name(rows: list[tuple[Any, ...]]) -> dict[str, tuple[str, int]]:
    """Return tables by schema and name, and by name alone if the search path finds them."""
    tables = [(schema, name, seen, (f"{quoted(schema)}.{quoted(name)}", number)) for schema, name, seen, number in rows]
    seen = {name: table for _, name, visible, table in tables if visible}
    return {**{f"{schema}.{name}": table for schema, name, _, table in tables}, **seen}


def _column(name: str, type_: str, base: int | None, enumeration: bool | None, modifier: int, collation: int) -> PostgreSQLColumn:
    """Return a column as `_COLUMNS` describes it."""
    kind: Kind = "text" if enumeration else next((kind for kind, bases in _KINDS.items() if base in bases), "other")
    bits = {**_BITS, **_FLOATS}.get(base or 0, 64)
    digits = _digits(modifier) if base == _NUMERIC and modifier != _NO_PRECISION else None
    return PostgreSQLColumn(name, kind, type_, bits=bits, digits=digits, base=base or 0, collation=collation)


def _digits(modifier: int) -> tuple[int, int]:
    """Return the digits of a numeric(p, s), and how many of them come after the point, which can be negative."""
    precision, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    return precision, (scale ^ 1024) - 1024


def _problem_of(condition: Condition, columns: list[PostgreSQLColumn]) -> str | None:
    """Return why a condition cannot be asked: on some values PostgreSQL would fail, which would reveal the values."""
    if condition.computes - {"integer", "null"}:
        return "computes with something other than integers, which on PostgreSQL can be out of range"
    for column in columns:
        if column.base not in _COMPARED and column.kind != "text":
            return f"uses {column.name!r}, and columns of type {column.type} cannot be compared"
    if len({column.collation for column in columns} - {0, _DEFAULT_COLLATION}) > 1:
        return "uses columns with different collations"
    if "real" in condition.calls and any(column.kind == "decimal" and not _is_double(column.digits) for column in columns):
        return "uses a numeric column beside a floating-point one, which does not hold all numbers of its precision"
    return None


def _is_double(digits: tuple[int, int] | None) -> bool:
    """Return whether a double has the range of a numeric with these digits."""
    return digits is not None and digits[0] - digits[1] <= 300 and digits[1] <= 300
