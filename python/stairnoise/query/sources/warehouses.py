"""Spark SQL and the SQL of warehouses: engines in which a conversion can return null instead of an error.

The statement is the one of all engines, so one person is bounded in one way. A statement of Ibis would pin SQLGlot, lose casts
that Ibis takes for needless, and compare with null as `is null`. Values are literals in the statement, because other people's
clients run it: a text with signs is written as the hexadecimal digits of its bytes, and other values as casts of their digits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

from stairnoise._errors import ParameterError, ParameterTypeError, check, meant, outline, received
from stairnoise.query.condition.tree import Call, Condition, Literal, refused
from stairnoise.query.question import Question, folded
from stairnoise.query.sources.dialect import MOST_UNITS, Column, Dialect, Kind, Units
from stairnoise.query.sources.source import Source
from stairnoise.query.sources.statement import Checked
from stairnoise.query.types import Type, exact

_TYPE = re.compile(r"\s*([A-Z][A-Z0-9_]*(?: PRECISION)?)\s*(?:\(\s*([0-9]+)\s*(?:,\s*([0-9]+)\s*)?\))?(?:\s+COLLATE\s+\S+)?\s*")
# Texts without signs that an engine or a client can read as something else.
_PLAIN = re.compile(r"[A-Za-z0-9 _.,+-]*")
_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z0-9_$]*")
_TEXTS = ("STRING", "VARCHAR", "CHAR", "CHARACTER", "TEXT")
_SIDES = {"ltrim": "leading", "rtrim": "trailing", "trim": "both"}
_DAYS = "(case when {{0}} between date '0001-01-01' and date '9999-12-31' then {} end)"
# Integers of more digits do not fit 64 bits.
_DIGITS_OF_64_BITS = 18
# Some engines limit the length of a text, and end a query in which it grows beyond that.
_LONGEST_NAME = 1000


# Types of Spark, of which other engines have most.
_BITS = {"TINYINT": 8, "BYTE": 8, "SMALLINT": 16, "SHORT": 16, "INT": 32, "INTEGER": 32, "BIGINT": 64, "LONG": 64}
_OTHERS: dict[str, Kind] = {"BOOLEAN": "boolean", "DATE": "date", "TIMESTAMP_NTZ": "timestamp", **dict.fromkeys(_TEXTS, "text")}
_BIGQUERY: dict[str, Kind] = {"BOOL": "boolean", "BOOLEAN": "boolean", "DATE": "date", "DATETIME": "timestamp", "STRING": "text"}
_WIDE_DECIMALS = dict.fromkeys(("BIGNUMERIC", "BIGDECIMAL"), (76, 38))


def _forms(wide: str, bytewise: str, ilike: str = "({} ilike {})", **parts: str) -> dict[str, str]:
    """Return how calls in conditions are written. `is true` is not known everywhere."""
    parts = {part: f"extract({part} from {{0}})" for part in ("day", "month", "quarter", "week", "year")} | parts
    hour = "case when cast({0} as date) between date '0001-01-01' and date '9999-12-31' then extract(hour from {0}) end"
    return {
        **Dialect.forms,
        "is true": "coalesce({}, false)",
        "is false": "coalesce(not {}, false)",
        "wide": wide,
        "real": "cast({} as double)",
        "bytewise": bytewise,
        "ilike": ilike,
        **{part: _DAYS.format(of) for part, of in parts.items()},
        "hour": f"({hour})",
    }


class TryDialect(Dialect):
    """The SQL of engines that have a cast which returns null where a value makes an error; by default Spark's."""

    forms: ClassVar[Mapping[str, str]] = _forms(
        "cast({} as decimal(38, 0))", "collate({}, 'UTF8_BINARY')", dow="dayofweek({0}) - 1"
    )
    # Sums, differences and products that are null where they overflow.
    computed: ClassVar[Mapping[str, str]] = {"+": "try_add({}, {})", "-": "try_subtract({}, {})", "*": "try_multiply({}, {})"}

    name, timestamp = "spark", "timestamp_ntz"
    quote = "`"
    bits: ClassVar[dict[str, int]] = _BITS
    floats: ClassVar[dict[str, int]] = {"FLOAT": 32, "REAL": 32, "DOUBLE": 64}
    # Digits of a decimal without digits in its type.
    decimals: ClassVar[dict[str, tuple[int, int]]] = {"DECIMAL": (10, 0), "DEC": (10, 0), "NUMERIC": (10, 0)}
    others: ClassVar[dict[str, Kind]] = _OTHERS
    # By kind of column, and by bits of a float.
    types: ClassVar[dict[Any, str]] = {"integer": "bigint", "boolean": "boolean", "date": "date", 32: "float", 64: "double"}
    # Pieces of SQL about one value.
    bytewise, readable, _string = "cast({} as binary)", "hex(cast({} as binary))", "cast(X'{}' as string)"
    text, order = "cast({} as string)", "sha2({}, 256)"
    truncated, quotient = "try_cast({} as bigint)", "({} div {})"
    # A text can have a collation, and a zero a sign.
    one_text = frozenset({"integer", "boolean", "date"})
    # Null only if there is no value; a sum that overflows counts as the upper bound.
    total = f"case when count({{0}}) > 0 then coalesce(try_sum({{0}}), {MOST_UNITS}) end"

    def column(self, name: str, type_: str) -> Column:
        """Return a column of a declared type."""
        # Refuses names that cannot be written.
        self.quoted(name)
        found = _TYPE.fullmatch(type_.upper())
        if found is None:
            return Column(name, "other", type_)
        base, *digits = found.groups()
        if base in self.bits:
            return Column(name, "integer", type_, bits=self.bits[base])
        if base in self.floats:
            return Column(name, "real", type_, bits=self.floats[base])
        if base in self.decimals:
            precision, scale = (int(digits[0]), int(digits[1] or 0)) if digits[0] else self.decimals[base]
            return self._number(name, type_, precision, scale)
        return Column(name, self.others.get(base, "other"), type_)

    def _number(self, name: str, type_: str, precision: int, scale: int) -> Column:
        return Column(name, "decimal", type_, digits=(precision, scale))

    def quoted(self, name: str) -> str:
        """Return a name in the engine's quotes."""
        check("${" not in name, "names must not have ${, which Spark replaces in a statement")
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def folded(self, name: str) -> str:
        """Return a name as the engine stores it if nobody quoted it."""
        return name

    def string(self, text: str) -> str:
        """Return a text as a literal that no engine and no client reads in another way."""
        return f"'{text}'" if _PLAIN.fullmatch(text) and "--" not in text else self._string.format(text.encode().hex())

    def seen(self, column: Column, condition: Condition) -> str:
        """Return decimals as doubles: a comparison of decimals with different digits can overflow."""
        value = self.bare(column)
        return self.forms["real"].format(value) if column.kind == "decimal" else value

    def judge(self, columns: Mapping[str, Column]) -> None:
        """Refuse columns of a condition in whose comparisons a value could make an error."""
        for column in columns.values():
            if column.kind in ("other", "timestamp"):
                raise refused(f"uses {column.name!r}, and columns of type {column.declaration} cannot be compared")

    def fulfils(self, columns: Mapping[str, Column], condition: Condition) -> str:
        """Return an expression that is true or false; a bare null has no type."""
        return f"coalesce({super().fulfils(columns, condition)}, false)"

    def moment(self, column: Column, part: str) -> str:
        """Return a date, also of a timestamp, because a timestamp of the last day is behind its midnight."""
        value = self.bare(column)
        return f"cast({value} as date)" if column.kind == "timestamp" and part != "hour" else value

    def constant(self, constant: Literal) -> str:
        """Return a constant; every number that is not whole is a double."""
        value = constant.value
        if isinstance(value, str):
            return self.string(value)
        return self.real(float(value)) if isinstance(value, Decimal) else super().constant(constant)

    def real(self, value: float) -> str:
        """Return a double."""
        return self.forms["real"].format(f"'{value!r}'")

    def call(self, call: Call, operands: list[str]) -> str:
        """Return a call; character 0 of a text is the one before the first."""
        if call.function in self.computed:
            written, *others = operands
            for other in others:
                written = self.computed[call.function].format(written, other)
            return written
        if call.function == "case":
            # A bare null has no type, and is not true.
            tests = range(0, len(operands) - 1, 2)
            operands = ["false" if place in tests and text == "null" else text for place, text in enumerate(operands)]
        if call.function == "substr" and operands[1] == "(0)":
            lengths = [one.value for one in call.operands[2:] if isinstance(one, Literal)]
            operands = [operands[0], "1", *(str(max(length - 1, 0)) for length in lengths)]
        return super().call(call, operands)

    def read(self, column: Column, value: Any) -> Any:
        """Return a text for its digits."""
        if column.kind != "text" or value is None:
            return super().read(column, value)
        return bytes.fromhex(value).decode(errors="backslashreplace")

    def parameter(self, column: Column, value: Any) -> tuple[Any, ...]:
        """Return a listed value as a literal."""
        if column.kind == "text":
            return (self.bytewise.format(self.string(value)),)
        digits = format(exact(value), "f") if column.kind == "decimal" else str(value).lower()
        return (f"cast('{digits}' as {self._type(column)})",)

    def _type(self, column: Column) -> str:
        if column.kind == "decimal":
            assert column.digits is not None
            return self._decimal(*column.digits)
        return self.types[column.bits if column.kind == "real" else column.kind]

    def _decimal(self, precision: int, scale: int) -> str:
        return f"decimal({precision}, {scale})"

    def key(self, key: bytes) -> tuple[str, ...]:
        """Return the key as a literal."""
        return (f"'{key.hex()}'",)

    def units(self, column: Column, units: Units) -> str:
        """Return the nearest multiple of a unit; nothing overflows, also if all branches of a CASE are computed."""
        if column.kind == "integer" and units.unit == 1:
            return f"cast(greatest(least({self.quoted(column.name)}, {MOST_UNITS}), -{MOST_UNITS}) as {self.types['integer']})"
        return self.rounded(column, units)


class Databricks(TryDialect):
    """The SQL of Databricks, which is that of Spark."""

    name = "databricks"


class BigQuery(TryDialect):
    """The SQL of BigQuery."""

    name, timestamp = "bigquery", "datetime"
    forms: ClassVar[Mapping[str, str]] = {
        **_forms(
            "cast({} as bignumeric)",
            "collate({}, '')",
            "(lower({}) like lower({}))",
            dow="extract(dayofweek from {0}) - 1",
            week="extract(isoweek from {0})",
        ),
        "real": "cast({} as float64)",
        **{name: f"{name}({{}}, ' ')" for name in ("ltrim", "rtrim", "trim")},
    }
    computed: ClassVar[Mapping[str, str]] = {"+": "safe_add({}, {})", "-": "safe_subtract({}, {})", "*": "safe_multiply({}, {})"}
    bits: ClassVar[dict[str, int]] = dict.fromkeys(("INT64", "INT", "SMALLINT", "INTEGER", "BIGINT", "TINYINT", "BYTEINT"), 64)
    floats: ClassVar[dict[str, int]] = {"FLOAT64": 64, "FLOAT": 64}
    decimals: ClassVar[dict[str, tuple[int, int]]] = dict.fromkeys(("NUMERIC", "DECIMAL"), (38, 9)) | _WIDE_DECIMALS
    others: ClassVar[dict[str, Kind]] = _BIGQUERY
    types: ClassVar[dict[Any, str]] = {"integer": "int64", "boolean": "bool", "date": "date", 64: "float64"}
    bytewise, readable, _string = "cast({} as bytes)", "to_hex(cast({} as bytes))", "cast(from_hex('{}') as string)"
    text, order = f"collate(substr(cast({{}} as string), 1, {_LONGEST_NAME}), '')", "to_hex(sha256({}))"
    nan, truncated, total = "is_nan({})", "safe_cast(trunc({}) as int64)", "sum(cast({} as numeric))"
    quotient = "div({}, {})"

    def quoted(self, name: str) -> str:
        """Return a name in the engine's quotes, in which a backslash has a meaning."""
        if "\\" in name or "`" in name:
            raise ParameterError(f"names for BigQuery must have no backslash and no backtick, got {received(name)}")
        return f"`{name}`"

    def _decimal(self, precision: int, scale: int) -> str:
        return "numeric" if scale <= 9 and precision - scale <= 29 else "bignumeric"


class Snowflake(TryDialect):
    """The SQL of Snowflake, whose integers are decimals and whose `try_cast` takes only texts."""

    name = "snowflake"
    # A product of integers can overflow, and one of doubles cannot.
    forms: ClassVar[Mapping[str, str]] = _forms(
        "cast({} as double)", "collate({}, '')", dow="mod(dayofweekiso({0}), 7)", week="weekiso({0})"
    )
    computed: ClassVar[Mapping[str, str]] = {sign: f"({{}} {sign} {{}})" for sign in "+-*"}
    quote = '"'
    bits: ClassVar[dict[str, int]] = {}
    floats: ClassVar[dict[str, int]] = dict.fromkeys(("FLOAT", "FLOAT4", "FLOAT8", "DOUBLE", "DOUBLE PRECISION", "REAL"), 64)
    decimals: ClassVar[dict[str, tuple[int, int]]] = dict.fromkeys(
        ("NUMBER", "DECIMAL", "NUMERIC", "INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "BYTEINT"), (38, 0)
    )
    types: ClassVar[dict[Any, str]] = {"integer": "number(38, 0)", "boolean": "boolean", "date": "date", 64: "double"}
    bytewise, readable = "try_to_binary({}, 'UTF-8')", "hex_encode(try_to_binary({}, 'UTF-8'))"
    _string = "hex_decode_string('{}')"
    text, nan = f"collate(substr(cast({{}} as varchar), 1, {_LONGEST_NAME}), '')", "{} = cast('NaN' as double)"
    truncated, total = f"cast(trunc(least(greatest({{}}, -{MOST_UNITS}), {MOST_UNITS})) as number(38, 0))", "sum({})"
    # A quotient of decimals has six decimals, and is rounded.
    quotient = "(({0} - mod({0}, {1})) / {1})"

    others: ClassVar[dict[str, Kind]] = TryDialect.others | {"DATETIME": "timestamp"}

    def folded(self, name: str) -> str:
        """Return a name of plain letters in capitals."""
        return name.upper() if _PLAIN_NAME.fullmatch(name) else name

    def _number(self, name: str, type_: str, precision: int, scale: int) -> Column:
        if scale:
            return super()._number(name, type_, precision, scale)
        return Column(name, "integer", type_, bits=64 if precision <= _DIGITS_OF_64_BITS else 128, digits=(precision, 0))

    def type(self, column: Column, listed: Any) -> Type:
        """Return the type of a column's groups; texts for integers that can be beyond 64 bits."""
        return Type("text") if column.bits > 64 else super().type(column, listed)


class Trino(TryDialect):
    """The SQL of Trino."""

    name, timestamp = "trino", "timestamp"
    forms: ClassVar[Mapping[str, str]] = {
        **_forms("cast({} as decimal(38, 0))", "{}", "(lower({}) like lower({}))", dow="mod(day_of_week({0}), 7)"),
        **{name: f"trim({side} ' ' from {{}})" for name, side in _SIDES.items()},
    }
    computed: ClassVar[Mapping[str, str]] = {sign: f"try({{}} {sign} {{}})" for sign in "+-*"}
    quote = '"'
    floats: ClassVar[dict[str, int]] = {"REAL": 32, "DOUBLE": 64}
    decimals: ClassVar[dict[str, tuple[int, int]]] = {"DECIMAL": (38, 0), "DEC": (38, 0), "NUMERIC": (38, 0)}
    others: ClassVar[dict[str, Kind]] = TryDialect.others | {"TIMESTAMP": "timestamp"}
    types: ClassVar[dict[Any, str]] = TryDialect.types | {32: "real"}
    bytewise, readable, _string = "to_utf8(cast({} as varchar))", "to_hex(to_utf8(cast({} as varchar)))", "from_utf8(X'{}')"
    text, order = f"substr(cast({{}} as varchar), 1, {_LONGEST_NAME})", "to_hex(sha256(to_utf8({})))"
    nan, truncated, total = "is_nan({})", "try_cast(truncate({}) as bigint)", "sum(cast({} as decimal(38, 0)))"
    quotient = "({} / {})"


DIALECTS: dict[str, TryDialect] = {made.name: made for made in (TryDialect(), Databricks(), BigQuery(), Snowflake(), Trino())}


# A name in quotes, or a part of a name without them.
_NAME = r'"(?:[^"]|"")+"|`[^`]+`|[^."`]+'
_NAMES = re.compile(rf"({_NAME})(?:\.({_NAME}))?(?:\.({_NAME}))?")


class Described(Source):
    """A table with the declared types of its columns."""

    dialect: TryDialect

    def __init__(self, dialect: object, table: object, schema: object) -> None:
        super().__init__(None)
        self.dialect = _dialect(dialect)
        names = _NAMES.fullmatch(table) if isinstance(table, str) else None
        if names is None:
            raise ParameterError(f"table must be a name of one to three parts with dots between them, got {received(table)}")
        self._name = ".".join(self.dialect.quoted(self._own(name)) for name in names.groups() if name is not None)
        if not isinstance(schema, Mapping) or not all(isinstance(text, str) for field in schema.items() for text in field):
            raise ParameterTypeError(f"schema must be a dict of the columns' types, as declared, got {outline(schema)}")
        self._columns = [self.dialect.column(self._own(name), type_) for name, type_ in schema.items()]
        if len({folded(column.name) for column in self._columns}) < len(self._columns):
            raise ParameterError("schema must name every column once, whatever the case of letters")
        self._table_name = str(table)

    def _own(self, name: str) -> str:
        """Return a name as the engine stores it."""
        if name[:1] in ('"', "`") and len(name) > 1:
            return name[1:-1].replace('""', '"')
        return self.dialect.folded(name)

    def _tables(self) -> dict[str, str]:
        return {self._table_name: self._name}

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        return self._name, self._columns

    def checked(self, question: Question) -> Checked:
        """Check a question; some warehouses neither partition by floats nor have a text of every value of other types."""
        found = super().checked(question)
        others = ("real", "timestamp", "other")
        if question.person is not None and (column := found.columns[found.question.person or ""]).kind in others:
            raise ParameterError(f"person must be a column of integers, texts, decimals, bools or dates; {column.described}")
        return found

    def schema(self, asked: Checked) -> dict[str, Any]:
        """Return the declared types, and who saw the answers."""
        seen = "the exact answers that the statement's client has seen, and the statement with its salt in the warehouse's log"
        return super().schema(asked) | {"dialect": self.dialect.name, "answers": seen}

    def _judge(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        self.dialect.judge(columns)

    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        raise AssertionError("another client runs the statement")


def _dialect(name: object) -> TryDialect:
    if not isinstance(name, str) or name not in DIALECTS:
        hint = meant(name, DIALECTS) if isinstance(name, str) else ""
        raise ParameterError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, got {received(name)}{hint}")
    return DIALECTS[name]
