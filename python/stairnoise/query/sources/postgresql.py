"""PostgreSQL: through psycopg, in a transaction that only reads."""

from __future__ import annotations

import codecs
import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from stairnoise._optional import require
from stairnoise.query.condition import FUNCTIONS, Condition, first_problem, refused
from stairnoise.query.sources.column import Column, Kind
from stairnoise.query.sources.dialect import Dialect, quoted, rounded
from stairnoise.query.sources.numbers import is_decimal, is_float, is_integer
from stairnoise.query.sources.source import Source, SourceError, decoded
from stairnoise.query.sources.units import MOST_UNITS, Units
from stairnoise.query.types import Type, decimal, decimal_of, exact

_INSTALL = "'stairnoise[postgresql]'"
_SECONDS_TO_CONNECT = 10
# Functions and operators are PostgreSQL's own, texts are read by the standard, and no other session is waited for.
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
        case t.typtype when 'd' then t.typtypmod else a.atttypmod end, a.attcollation::bigint,
        coalesce(l.collisdeterministic, true)
    from pg_attribute as a join pg_type as t on t.oid = a.atttypid left join pg_type as b on b.oid = t.typbasetype
    left join pg_collation as l on l.oid = a.attcollation
    where a.attrelid = %s and a.attnum > 0 and not a.attisdropped order by a.attnum
"""
# Numbers of types and of the default collation, which are the same in every database.
_BOOL, _DATE, _FLOAT4, _FLOAT8, _NUMERIC, _DEFAULT_COLLATION = 16, 1082, 700, 701, 1700, 100
# The type "char" (18) is no text: it has bytes that are none, on which functions fail.
_BITS, _TEXTS = {20: 64, 21: 16, 23: 32}, frozenset({19, 25, 1042, 1043})
_FLOATS = {_FLOAT4: 32, _FLOAT8: 64}
# date, time, timestamp, timestamptz: some values of one are out of range for another.
_TIMES = frozenset({_DATE, 1083, 1114, 1184})
_UUID = 2950
_COMPARED = _TEXTS | _TIMES | {*_BITS, *_FLOATS, _BOOL, _NUMERIC, _UUID}
_NO_PRECISION = -1
_FIRST_DAY, _LAST_DAY = "'0001-01-01'::date", "'9999-12-31'::date"

_COMPUTING = frozenset({"+", "-", "*"})
_COMPARING = frozenset({"=", "<>", "<", ">", "<=", ">="})
_EXPRESSIONS = frozenset(
    f"AEXPR_{name}" for name in ("BETWEEN", "DISTINCT", "ILIKE", "IN", "LIKE", "NOT_BETWEEN", "NOT_DISTINCT", "NULLIF", "OP")
)
_NODES = frozenset(
    {"A_Const", "A_Expr", "BoolExpr", "BooleanTest", "CaseExpr", "CaseWhen", "CoalesceExpr"}
    | {"ColumnRef", "FuncCall", "List", "NullTest", "String"}
)
# Classes of SQLSTATE: data (of constants), syntax and access, features that are not there.
_OF_STATEMENTS = frozenset({"22", "42", "0A"})
_FRAMES = ("select 1 from stairnoise_rows where (\n{}\n)", "select case when (\n{}\n) then 1 end from stairnoise_rows")
# Names of functions as the parser gives them, and how many arguments they may have: `length` with an encoding can fail.
_ARGUMENTS = {"length": 1, "lower": 1, "upper": 1, "substr": 3, "btrim": 2, "ltrim": 2, "rtrim": 2}


@dataclass(frozen=True, slots=True)
class PostgreSQLColumn(Column):
    """A column with what the judge of conditions needs to know."""

    base: int = 0
    enumeration: bool = False
    modifier: int = _NO_PRECISION
    collation: int = 0
    deterministic: bool = True


class PostgreSQLDialect(Dialect):
    """SQL as PostgreSQL has it."""

    mark = "%s"

    def written(self, text: str) -> str:
        """Return a text with its per cent signs doubled, because psycopg looks for marks in it."""
        return text.replace("%", "%%")

    def seen(self, column: Column, condition: Condition) -> str:
        """Return integers that do not overflow: an error would tell that there is such a row."""
        name = quoted(column.name)
        return f"cast({name} as numeric)" if condition.computes and column.kind == "integer" else name

    def group(self, column: Column) -> str:
        """Return a value; of texts and enumerations the text, whatever the collation."""
        name = quoted(column.name)
        return f'({name}::text collate "C")' if column.kind == "text" else name

    def found(self, column: Column) -> str:
        """Return a value as `group` does; a date that Python does not have is null.

        A text comes as the server's bytes, because not all of them have a character in UTF-8.
        """
        if column.kind == "text":
            return f"convert_to({self.group(column)}, getdatabaseencoding())"
        name = quoted(column.name)
        return f"case when {name} between {_FIRST_DAY} and {_LAST_DAY} then {name} end" if column.kind == "date" else name

    def type(self, column: Column, listed: Iterable[Any]) -> Type:
        """Return the type of a column's groups; that of a numeric without digits comes from the list."""
        assert isinstance(column, PostgreSQLColumn)
        if column.base != _NUMERIC:
            return super().type(column, listed)
        return decimal_of(listed) if column.modifier == _NO_PRECISION else decimal(*_digits(column.modifier))

    def holds(self, column: Column, value: Any) -> bool:
        """Compare with the range of the declared type; a text has no null byte."""
        assert isinstance(column, PostgreSQLColumn)
        if column.base in _BITS:
            return is_integer(value, _BITS[column.base])
        if column.base in _FLOATS:
            return is_float(value, _FLOATS[column.base])
        if column.base == _NUMERIC and column.modifier != _NO_PRECISION:
            return is_decimal(value, *_digits(column.modifier))
        return "\0" not in value if isinstance(value, str) else True

    def parameter(self, column: Column, value: Any) -> tuple[str, Any]:
        """Return the mark for a listed value; a comparison of a numeric with a double could be out of range."""
        assert isinstance(column, PostgreSQLColumn)
        if column.base == _NUMERIC:
            return "%s::numeric", exact(value)
        return {_FLOAT4: "%s::float4", _FLOAT8: "%s::float8"}.get(column.base, "%s"), value

    def text(self, value: str) -> str:
        """Return a value as a text, or null."""
        return f'({value}::text collate "C")'

    def order(self, text: str) -> str:
        """Return SHA-256 of a text's own bytes."""
        return f"sha256(convert_to({text}, getdatabaseencoding()))"

    def is_number(self, column: Column) -> str:
        """Return that a value is there, and is not NaN."""
        name = quoted(column.name)
        return f"{name} is not null" if column.kind == "integer" else f"{name} is not null and {name} <> 'NaN'"

    def units(self, column: Column, units: Units) -> str:
        """Leave whole numbers as they are; round numerics as numerics, because some of them are beyond a double."""
        assert isinstance(column, PostgreSQLColumn)
        name = quoted(column.name)
        if column.kind == "integer" and units.unit == 1:
            least, most = -MOST_UNITS, MOST_UNITS
            return f"(case when {name} > {most} then {most} when {name} < {least} then {least} else {name} end)::int8"
        if column.base == _NUMERIC:
            return rounded(name, units, lambda number: format(Decimal(number), "f"), "trunc({})::int8")
        return rounded(f"{name}::float8", units, lambda number: f"'{number!r}'::float8", "trunc({})::int8")


class PostgreSQL(Source):
    """A database of PostgreSQL."""

    engine = "PostgreSQL"
    dialect = PostgreSQLDialect()

    def __init__(self, con: Any, *, owned: bool = False) -> None:
        self._psycopg = require("psycopg", "a query of PostgreSQL needs", _INSTALL)
        self._con, self._owned = con, owned
        self._open = contextlib.ExitStack()
        if owned:
            self._open.callback(con.close)
        # Inside a transaction of the caller's its own rules hold, and each statement has a snapshot of its own.
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
        try:
            options = {} if "connect_timeout" in url else {"connect_timeout": _SECONDS_TO_CONNECT}
            con = psycopg.connect(url, autocommit=True, **options)
        except psycopg.OperationalError as error:
            problem = f"cannot be connected to: {' '.join(str(error).splitlines()[:1])}"
        except psycopg.Error:
            problem = "is not an address that psycopg understands"
        else:
            return cls(con, owned=True)
        raise SourceError(f"the PostgreSQL source {problem}")

    def close(self) -> None:
        """End the snapshot, and close what was opened."""
        self._open.close()

    def _tables(self) -> dict[str, tuple[str, int]]:
        return self._by_name

    def _named(self, name: str, known: Iterable[str]) -> str | None:
        """Return a name as it is: PostgreSQL has names that differ in case alone."""
        return name if name in known else None

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        _, (name, number) = self._table(table)
        columns: list[Column] = []
        for column, type_, base, enumeration, modifier, collation, deterministic in self._ask(_COLUMNS, [number]):
            kind = _held(base, bool(enumeration))
            columns.append(
                PostgreSQLColumn(column, kind, type_, base or 0, bool(enumeration), modifier, collation, deterministic)
            )
        return name, columns

    def _column_of(self, word: str, quoted: bool, columns: dict[str, Column]) -> str | None:
        name = word if quoted else word.lower()
        return name if name in columns else None

    def _judge(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        found = {name: column for name, column in columns.items() if isinstance(column, PostgreSQLColumn)}
        problem = _mixed(list(found.values()), computes=condition.computes)
        for frame in _FRAMES:
            problem = problem or _judged(frame.format(condition.text), found)
        if problem is not None:
            raise refused(problem)
        self._prepare(condition, table, columns)

    def _prepare(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        """Let the server analyse the condition, which reads names, types and constants but no row."""
        # psycopg takes no per cent sign for a mark where there are no parameters.
        kept = _Unmarked().kept(table, columns, condition)
        problem = told = None
        try:
            with self._con.transaction(force_rollback=True), self._con.cursor() as cursor:
                cursor.execute(f"prepare stairnoise_condition as select 1 from ({kept}) as kept")
                cursor.execute("deallocate stairnoise_condition")
        except self._psycopg.Error as error:
            # Of a statement that is only analysed, these errors name columns, types and constants.
            if (error.sqlstate or "")[:2] in _OF_STATEMENTS and not isinstance(error, self._psycopg.errors.InsufficientPrivilege):
                told = error.diag.message_primary
            problem = self._problem(error)
        if told is not None:
            raise refused(f"is not understood by PostgreSQL: {told}")
        if problem is not None:
            raise SourceError(f"the PostgreSQL source {problem}")

    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return decoded(self._ask(text, parameters), self._codec)

    def _ask(self, text: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
        try:
            # After an error the transaction goes on before the savepoint.
            with self._con.transaction(), self._con.cursor(row_factory=self._psycopg.rows.tuple_row) as cursor:
                cursor.execute(text, parameters)
                rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
        except self._psycopg.Error as error:
            problem = self._problem(error)
        else:
            return rows
        raise SourceError(f"the PostgreSQL source {problem}")

    def _problem(self, error: Any) -> str:
        errors = self._psycopg.errors
        if isinstance(error, errors.LockNotAvailable):
            return "is locked by another session"
        if isinstance(error, errors.InsufficientPrivilege):
            return f"refuses: {error.diag.message_primary}"
        if isinstance(error, errors.QueryCanceled):
            return "cancelled the query"
        return f"could not answer ({type(error).__name__}; what PostgreSQL says is not shown, because it may hold data)"


def _codec(encoding: str) -> str:
    """Return Python's name of a server's encoding, or UTF-8 if Python has no such encoding."""
    try:
        return codecs.lookup(encoding.replace("WIN", "cp")).name
    except LookupError:
        return "utf-8"


def _by_name(rows: list[tuple[Any, ...]]) -> dict[str, tuple[str, int]]:
    """Return tables by their names, where the search path finds them, and by schema and name."""
    tables = [(schema, name, seen, (f"{quoted(schema)}.{quoted(name)}", number)) for schema, name, seen, number in rows]
    seen = {name: table for _, name, visible, table in tables if visible}
    return {**{f"{schema}.{name}": table for schema, name, _, table in tables}, **seen}


class _Unmarked(PostgreSQLDialect):
    def written(self, text: str) -> str:
        return text


def _held(base: int | None, enumeration: bool) -> Kind:
    if base in _BITS:
        return "integer"
    if base in _FLOATS:
        return "real"
    if base == _NUMERIC:
        return "decimal"
    if base in _TEXTS or enumeration:
        return "text"
    return "boolean" if base == _BOOL else "date" if base == _DATE else "other"


def _digits(modifier: int) -> tuple[int, int]:
    """Return how many digits a numeric(p, s) has, and how many of them after the point, which may be negative."""
    precision, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    return precision, (scale ^ 1024) - 1024


def _mixed(columns: list[PostgreSQLColumn], *, computes: bool) -> str | None:
    """Return why these columns may not be compared: for some values PostgreSQL would fail, which tells of them."""
    for column in columns:
        if column.base not in _COMPARED and not column.enumeration:
            return f"uses {column.name!r}, and columns of type {column.type} cannot be compared"
        if not column.deterministic:
            return f"uses {column.name!r}, whose collation is not deterministic"
    if len({column.collation for column in columns} - {0, _DEFAULT_COLLATION}) > 1:
        return "uses columns with different collations"
    if len({column.base for column in columns} & _TIMES) > 1:
        return "uses dates or times of different types"
    bases = {column.base for column in columns}
    # PostgreSQL converts a numeric to the type of a double (of a single float in CASE and COALESCE), or fails.
    if _FLOAT4 in bases and (computes or _NUMERIC in bases):
        return "uses a column of type real beside a numeric one, or computes: make a view in which it is a double precision"
    if _FLOAT8 in bases and any(column.base == _NUMERIC and not _is_double(column.modifier) for column in columns):
        return "uses a numeric column beside a floating-point one, which does not hold all numbers of its precision"
    return None


def _is_double(modifier: int) -> bool:
    """Tell whether a double has the range of a numeric."""
    digits, scale = _digits(modifier)
    return modifier != _NO_PRECISION and digits - scale <= 300 and scale <= 300


def _judged(text: str, columns: dict[str, PostgreSQLColumn]) -> str | None:
    """Return why a condition is refused, from the tree of the statement that it stands in."""
    parser = require("pglast.parser", "a condition on PostgreSQL needs", _INSTALL)
    try:
        tree = json.loads(parser.parse_sql_json(text))
    except parser.ParseError as error:
        return f"is not understood by PostgreSQL: {error.args[0]}"
    except RecursionError:
        return "is nested too deep"
    statements = tree["stmts"]
    if len(statements) != 1 or set(statements[0]["stmt"]) != {"SelectStmt"}:
        return "is more than a condition"
    select = statements[0]["stmt"]["SelectStmt"]
    targets = [target["ResTarget"]["val"] for target in select.get("targetList", [])]
    clauses = {"targetList", "fromClause", "whereClause", "limitOption", "op"}
    if not set(select) <= clauses or len(targets) != 1 or len(select.get("fromClause", [])) != 1:
        return "is more than a condition"

    def problem(node: dict[str, Any]) -> str | None:
        found = (_of_node(name, value, columns) for name, value in node.items() if name[0].isupper())
        return next(filter(None, found), None)

    return first_problem([*targets, select.get("whereClause")], problem)


def _of_node(name: str, node: Any, columns: dict[str, PostgreSQLColumn]) -> str | None:
    if name not in _NODES:
        return f"has a {name}"
    if name == "A_Expr":
        return _of_expression(node, columns)
    if name == "ColumnRef" and len(node["fields"]) != 1:
        return "names a column together with its table: leave the table out"
    if name == "FuncCall":
        return _of_call(node)
    return None


def _of_expression(node: dict[str, Any], columns: dict[str, PostgreSQLColumn]) -> str | None:
    operator = _names(node["name"])
    if node["kind"] not in _EXPRESSIONS or len(operator) != 1:
        return f"has the operator {' '.join(operator)}"
    if node["kind"] in ("AEXPR_LIKE", "AEXPR_ILIKE") and "sval" not in node["rexpr"].get("A_Const", {}):
        return "has a pattern that is not a text in quotes"
    if node["kind"] != "AEXPR_OP" or operator[0] in _COMPARING:
        return None
    if operator[0] not in _COMPUTING:
        return f"has the operator {operator[0]}"
    for operand in (node.get("lexpr"), node.get("rexpr")):
        if operand is not None and not _computable(operand, columns):
            return f"computes with {operator[0]}, which on PostgreSQL may be done with integer columns and numbers only"
    return None


def _computable(operand: dict[str, Any], columns: dict[str, PostgreSQLColumn]) -> bool:
    """Tell whether an operand is an integer column, a number, or computed from them."""
    ((name, node),) = operand.items()
    if name == "ColumnRef":
        found = columns.get(_names(node["fields"])[0])
        return found is not None and found.kind == "integer"
    if name == "A_Const":
        return "ival" in node or "fval" in node
    return name == "A_Expr" and node["kind"] == "AEXPR_OP" and _names(node["name"])[0] in _COMPUTING


def _of_call(node: dict[str, Any]) -> str | None:
    names, arguments = _names(node["funcname"]), node.get("args", [])
    # The parser itself writes trim(x) as pg_catalog.btrim(x).
    name = names[-1]
    if (len(names) > 1 and node.get("funcformat") != "COERCE_SQL_SYNTAX") or name not in _ARGUMENTS:
        return f"calls {'.'.join(names)}"
    if set(node) - {"funcname", "args", "funcformat", "location"} or not 1 <= len(arguments) <= _ARGUMENTS[name]:
        return f"calls {name} in a way that is not allowed"
    # A negative length ends the query.
    if name == "substr" and any(
        argument.get("A_Const", {}).get("ival", {"ival": -1}).get("ival", 0) < 0 for argument in arguments[1:]
    ):
        return "calls substr with something other than whole numbers, none below 0"
    return None


def _names(fields: list[Any]) -> list[str]:
    return [field["String"]["sval"] if "String" in field else "*" for field in fields]


assert {"trim", *_ARGUMENTS} - {"btrim"} | {"coalesce", "nullif"} == FUNCTIONS
