"""DuckDB: its databases, and what files of other formats have in common with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from stairnoise._optional import require
from stairnoise.query.condition.tree import FUNCTIONS, TEXTUAL, Call, Condition, refused
from stairnoise.query.reading import Declared
from stairnoise.query.sources.dialect import MOST_UNITS, Column, Dialect, Kind, literal, quoted
from stairnoise.query.sources.scratch import scratch
from stairnoise.query.sources.source import Source, SourceError, decoded, hidden, unanswered
from stairnoise.query.types import Type, exact

duckdb = require("duckdb", "a query of this source needs", "'stairnoise[query]'")

_CLASSES = frozenset({None, "BETWEEN", "CASE", "COMPARISON", "CONJUNCTION", "CONSTANT", "TYPE"})
_LOGIC = frozenset(
    {"COMPARE_IN", "COMPARE_NOT_IN", "OPERATOR_COALESCE", "OPERATOR_IS_NOT_NULL", "OPERATOR_IS_NULL", "OPERATOR_NOT"}
    | {"OPERATOR_NULLIF", "OPERATOR_TRY"}
)
_OPERATORS = frozenset({"+", "-", "*", "~~", "~~*"})
_CONDITION = FUNCTIONS | {"date_part"}
# A condition has casts to these types only: the parser also turns x IS TRUE into one.
_CASTS = frozenset({"boolean", "date", "double", "hugeint"})
_CLAUSES = ("modifiers", "group_expressions", "group_sets", "having", "qualify", "sample")
# A database with a macro of one of these names is refused.
_CALLED = (
    _CONDITION
    | _OPERATORS
    | {"/", "//", "||", "count", "count_star", "decode", "dense_rank", "encode", "enum_code", "greatest", "isnan", "least"}
    | {"md5_number", "min", "row_number", "sum", "trunc"}
)
# Without replacements no name means a Python variable.
_SETTINGS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "python_enable_replacements": "false"}
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_FLOATS = {"FLOAT": 32, "DOUBLE": 64}
_MOMENTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_KINDS: dict[str, Kind] = {"BOOLEAN": "boolean", "DATE": "date", "VARCHAR": "text", **dict.fromkeys(_MOMENTS, "timestamp")}
# From this many listed texts on, an enumeration finds them faster than a CASE.
_MANY = 8
# The type for every type that can be declared for a column of a file or a frame.
ENGINE_TYPES = {"text": "VARCHAR", "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN"}
ENGINE_TYPES |= {"date": "DATE", "timestamp": "TIMESTAMP"}
# How to declare the type of a file's column.
DECLARE = "declare its type, as in --type {0}={1} or types={{{0!r}: {1!r}}}"
# As ISO 8601 has it, without a time zone; a date is its midnight.
_MOMENT = r"\d{4}-\d{2}-\d{2}([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?)?"
_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_WIDE = {"UBIGINT": Type("unsigned"), "HUGEINT": Type("text"), "UHUGEINT": Type("text")}


class DuckDBDialect(Dialect):
    """The SQL of DuckDB."""

    # Some types have values without a text.
    text = "(try(cast({} as varchar)) collate c)"
    bytewise = "(cast({} as varchar) collate c)"
    # A registered frame can have texts that are not UTF-8.
    readable = "encode(cast({} as varchar))"
    # A text can have a collation without case, and a zero a sign.
    one_text = frozenset({"integer", "boolean", "date"})
    # With SHA-256 a query takes half as long again, and `hash` differs by version.
    order = "md5_number({})"
    quotient = "({} // {})"
    forms: ClassVar[Mapping[str, str]] = {
        **Dialect.forms,
        "wide": "try_cast({} as hugeint)",
        "real": "cast({} as double)",
        # Otherwise DuckDB also removes other blanks of Unicode.
        **{name: f"{name}({{}}, ' ')" for name in ("ltrim", "rtrim", "trim")},
    }

    def kind(self, column: Column) -> str:
        """Return the kind of a column in conditions."""
        return column.type if column.kind == "timestamp" and column.type != "TIMESTAMP" else super().kind(column)

    def seen(self, column: Column, condition: Condition) -> str:
        """Return a text in binary collation; on a text that is not UTF-8 `lower` ends the process, even in `try`.

        Registered frames can have such texts.
        """
        name = quoted(column.name)
        if column.kind != "text":
            return name
        if column.type != "VARCHAR":
            return f"cast({name} as varchar)"
        return f"({f'try(decode(encode({name})))' if condition.calls & TEXTUAL else name} collate c)"

    def fulfils(self, columns: Mapping[str, Column], condition: Condition) -> str:
        """Return an expression that is true for the rows that a condition selects, and null where the condition fails.

        An error would reveal that there is such a row.
        """
        return f"try({super().fulfils(columns, condition)})"

    def call(self, call: Call, operands: list[str]) -> str:
        """Return a call; a sum or product is null where it is beyond 128 bits."""
        written = super().call(call, operands)
        return f"try{written}" if call.function in ("+", "-", "*") else written

    def real(self, value: float) -> str:
        """Return a double; without an exponent it would be a decimal."""
        return f"({Decimal(repr(value)):e})"

    def type(self, column: Column, listed: Iterable[Any]) -> Type:
        """Return the type of a column's groups; texts for integers of 128 bits, which other libraries do not have."""
        return _WIDE.get(column.type) or super().type(column, listed)

    def moment(self, column: Column, part: str) -> str:
        """Return a date or a timestamp; a cast of some timestamps of another precision fails."""
        value = super().moment(column, part)
        return value if column.type in ("DATE", "TIMESTAMP") else f"try(cast({value} as timestamp))"

    def code_of(self, value: str, column: Column, listed: list[Any]) -> tuple[str, list[Any]]:
        """Look texts up in an enumeration. A CASE compares them one by one, a third of the time of a query with 50 groups."""
        if column.kind != "text" or len(listed) < _MANY or any("\0" in group for group in listed if group is not None):
            return super().code_of(value, column, listed)
        texts = ", ".join(literal(group) for group in listed if group is not None)
        code = f"cast(enum_code(try_cast({value} as enum({texts}))) as integer)"
        if None not in listed:
            return code, []
        null = listed.index(None)
        return f"case when {value} is null then {null} else {code} + cast({code} >= {null} as integer) end", []

    def parameter(self, column: Column, value: Any) -> tuple[str, Any]:
        """Return the mark with a cast to the column's type, because 0.1 is not the same number in FLOAT and in DECIMAL."""
        if column.kind not in ("integer", "real", "decimal"):
            return self.mark, value
        return f"cast({self.mark} as {column.type})", format(exact(value), "f") if column.kind == "decimal" else str(value)

    def whole(self, name: str) -> str:
        """Return a HUGEINT; an unsigned integer beyond it is beyond all bounds."""
        return f"coalesce(try_cast({name} as hugeint), {MOST_UNITS})"


class DuckDB(Source):
    """A database of DuckDB, or a file that it reads as a table.

    While a file of DuckDB is read, no other process can write it. Each statement has one snapshot, also with an open
    connection. Two statements, such as those of a count and of a median, share it only if the caller has begun a transaction.
    """

    dialect = DuckDBDialect()

    def __init__(self, con: Any = None, *, path: Path | None = None) -> None:
        super().__init__(con or duckdb.connect(config=_SETTINGS), path)
        self._is_database = con is not None
        self._own = con is None or path is not None
        self._judge_con: Any = None
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Give our own connection a directory for what does not fit into memory, and refuse a database's macros of built-ins."""
        if self._own:
            # By default DuckDB takes the working directory, where everybody can read it.
            directory = self._open.enter_context(scratch())
            self._open.callback(self._con.close)
            self._ask(f"set temp_directory = {literal(str(directory))}")
        # The list takes as long as a query of a small file.
        if self._is_database:
            macros = {name.lower() for (name,) in self._ask("select function_name from duckdb_functions() where not internal")}
            if macros & _CALLED:
                raise SourceError(f"source {self._name} has a macro with the name of a built-in function")

    @classmethod
    def of_file(cls, path: Path) -> DuckDB:
        """Open a database read-only."""
        connect = partial(duckdb.connect, str(path), read_only=True, config=_SETTINGS)
        source = cls(hidden(connect, duckdb.Error, f"source {str(path)!r}", _problem), path=path)
        # A view of the database could read other files.
        source._ask("set enable_external_access = false")
        source._ask("set lock_configuration = true")
        return source

    def _tables(self) -> dict[str, tuple[str, ...]]:
        """Return the full names of tables and views: by name, by schema and name, and by all three parts."""
        rows = self._ask(
            "select distinct database_name, schema_name, table_name, database_name = current_database() or "
            "database_name = 'temp', schema_name = current_schema() from duckdb_columns() where not internal "
            "order by database_name <> 'temp', database_name, schema_name, table_name"
        )
        by_name: dict[str, tuple[str, ...]] = {}
        for database, schema, name, here, current in rows:
            short = [name] if current or database == "temp" else []
            for known in [*([*short, f"{schema}.{name}"] if here else []), f"{database}.{schema}.{name}"]:
                by_name.setdefault(known, (database, schema, name))
        return dict(sorted(by_name.items(), key=lambda item: item[0].count(".")))

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        _, full = self._table(table)
        rows = self._ask(
            "select column_name, data_type from duckdb_columns() where database_name = ? and schema_name = ? and table_name = ? "
            "order by column_index",
            list(full),
        )
        return ".".join(map(quoted, full)), [column_of(name, type_) for name, type_ in rows]

    def _judge(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        written = self.dialect.expression(condition.tree, {name: quoted(name) for name in columns})
        ((text,),) = self._ask("select json_serialize_sql(?::varchar)", [f"select 1 from stairnoise_rows where {written}"])
        problem = _of_tree(text, set(columns)) or self._bound(written, condition, columns)
        if problem is not None:
            raise refused(problem)

    def _bound(self, written: str, condition: Condition, columns: dict[str, Column]) -> str | None:
        """Return why the condition does not fit the types of these columns.

        The table is one of our own in memory, outside the database and the caller's transaction, which an error would end. Its
        only row has nulls, on which only constants can fail, such as a text that is no date.
        """
        described = ["stairnoise_row integer", *(f"{quoted(column.name)} {column.type}" for column in columns.values())]
        if self._judge_con is None:
            self._judge_con = duckdb.connect(config={**_SETTINGS, "threads": "1"}) if self._is_database else self._con.cursor()
            self._open.callback(self._judge_con.close)
        con = self._judge_con
        try:
            con.execute(f"create or replace temp table stairnoise_rows ({', '.join(described)})")
            con.execute("insert into stairnoise_rows default values")
            con.execute(f"select 1 from stairnoise_rows where {written}").fetchall()
            con.execute(f"explain {self.dialect.kept('stairnoise_rows', columns, condition)}").fetchall()
        except duckdb.Error as error:
            return f"is not understood by DuckDB: {str(error).splitlines()[0]}"
        return None

    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return decoded(self._ask(text, parameters), "utf-8")

    def _ask(self, text: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
        def rows() -> list[tuple[Any, ...]]:
            return self._con.execute(text, parameters or []).fetchall()  # type: ignore[no-any-return]

        return hidden(rows, (duckdb.Error, RuntimeError), f"source {self._name}", _problem)


def _of_tree(text: str, columns: set[str]) -> str | None:
    """Return why a condition is refused, from the parsed statement around it."""
    nodes: list[dict[str, Any]] = []

    def collected(node: dict[str, Any]) -> dict[str, Any]:
        nodes.append(node)
        return node

    try:
        tree = json.loads(text, object_hook=collected)
    except RecursionError:
        return "is nested too deep"
    if tree.get("error"):
        return f"is not understood by DuckDB: {str(tree.get('error_message')).splitlines()[0]}"
    selects = [statement["node"] for statement in tree["statements"]]
    if len(selects) != 1 or selects[0]["type"] != "SELECT_NODE" or any(selects[0].get(clause) for clause in _CLAUSES):
        return "is more than a condition"
    return next((f"has a {node['class'].lower()} that is not allowed" for node in nodes if not _is_allowed(node, columns)), None)


def _is_allowed(node: dict[str, Any], columns: set[str]) -> bool:
    kind = node.get("class")
    if kind == "OPERATOR":
        return node["type"] in _LOGIC
    if kind == "CAST":
        type_ = node.get("type_expr") or node.get("cast_type") or {}
        return str(type_.get("type_name") or type_.get("id")).lower() in _CASTS
    if kind == "COLUMN_REF":
        # The parser turns current_user into a column.
        return len(node["column_names"]) == 1 and node["column_names"][0] in columns
    if kind == "FUNCTION":
        ordered = (node.get("order_bys") or {}).get("orders")
        changed = ordered or any(node.get(key) for key in ("catalog", "distinct", "filter", "schema"))
        known = _OPERATORS if node.get("is_operator") else _CONDITION | _OPERATORS
        return not changed and str(node["function_name"]).lower() in known
    return kind in _CLASSES


def column_of(name: str, type_: str) -> Column:
    """Return a column of a declared type."""
    unsigned = type_.removeprefix("U")
    if unsigned in _BITS:
        return Column(name, "integer", type_, bits=_BITS[unsigned], signed=type_ == unsigned)
    if type_ in _FLOATS:
        return Column(name, "real", type_, bits=_FLOATS[type_])
    if type_.startswith("DECIMAL("):
        digits, scale = type_.removeprefix("DECIMAL(").removesuffix(")").split(",")
        return Column(name, "decimal", type_, digits=(int(digits), int(scale)))
    return Column(name, "text" if type_.startswith("ENUM(") else _KINDS.get(type_, "other"), type_)


def converted(text: str, declared: Declared, decimal: str = ".") -> str:
    """Return a text as a value of a type, or null if it is none. DuckDB's own cast would round 1.5 to an integer."""
    if declared.name == "integer":
        return f"case when regexp_full_match({text}, '[+-]?[0-9]+') then try_cast({text} as bigint) end"
    if declared.name == "real":
        number = text if decimal == "." else f"replace(replace({text}, '.', 'x'), ',', '.')"
        number = f"try_cast({number} as double)"
        return f"case when isfinite({number}) then {number} end"
    if declared.name == "boolean":
        lists = [f"when lower({text}) in ({', '.join(map(literal, words))}) then" for words in (_TRUE, _FALSE)]
        return f"case {lists[0]} true {lists[1]} false end"
    if declared.name == "date":
        assert declared.format is not None
        return f"cast(try_strptime({text}, {literal(declared.format)}) as date)"
    if declared.name == "timestamp":
        return f"case when regexp_full_match({text}, {literal(_MOMENT)}) then try_cast({text} as timestamp) end"
    return text


def _problem(error: Exception) -> str | None:
    text = str(error)
    if not isinstance(error, duckdb.Error):
        # DuckDB turns Ctrl-C into this error.
        if "interrupted" in text:
            return None
        raise error
    if "Could not set lock" in text or "being used by another process" in text:
        return "is locked by another program"
    if "not a valid DuckDB database" in text or "different version" in text or "newer version" in text:
        return "is not a database that this DuckDB can read"
    if "file system operations are disabled" in text:
        return "has a view of another file, and other files are not read: open the database yourself and pass the connection"
    if "not utf-8 encoded" in text:
        return "is not encoded in UTF-8"
    return unanswered("DuckDB", error)
