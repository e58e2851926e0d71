"""Data frames, Arrow tables and relations, as tables of a DuckDB connection of our own.

A frame's dtypes follow its rows: one null turns integers into doubles, and one text turns numbers into objects. So they decide
nothing. The types are those that the caller declares, and otherwise what the question needs: numbers to sum, the listed groups,
the only type that fits the condition, and texts. A value has the same text in every dtype, and is null if it is not of the
column's type.
"""

from __future__ import annotations

import contextlib
import datetime
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Any, TypeVar, get_args

from stairnoise._errors import ParameterError, ParameterTypeError, check, outline
from stairnoise._numpy_scalars import python_value
from stairnoise._optional import require
from stairnoise.query.condition.judge import judged
from stairnoise.query.condition.tree import Name
from stairnoise.query.groupings import Part
from stairnoise.query.question import Question, folded
from stairnoise.query.reading import Declared, Reading, TypeName, declared
from stairnoise.query.sources.dialect import Column, Kind, quoted
from stairnoise.query.sources.duckdb import ENGINE_TYPES, DuckDB, DuckDBDialect, converted
from stairnoise.query.sources.source import hidden, types_of_columns, unanswered
from stairnoise.query.sources.statement import Checked

pyarrow = require("pyarrow", "a query of a data frame needs", "'stairnoise[query]'")

# A column: its place in the frame, and its declared type.
Wanted = tuple[int, Declared | None]


class Held(ABC):
    """A frame of one library."""

    # The names as the library has them, and the dtypes as texts.
    names: Sequence[object]
    dtypes: Sequence[str]
    # What an error reveals if the frame is computed while it is read.
    lazy = ""

    @abstractmethod
    def empty(self, place: int) -> Any:
        """Return a column without rows, as DuckDB reads it."""

    @abstractmethod
    def rows(self, wanted: Sequence[Wanted]) -> Any:
        """Return columns with new names, ``c`` and the place, as DuckDB reads them."""


class ArrowTable(Held):
    """A Table or a RecordBatch of PyArrow."""

    def __init__(self, table: Any) -> None:
        self._table = table if isinstance(table, pyarrow.Table) else pyarrow.Table.from_batches([table])
        self.names = self._table.schema.names
        self.dtypes = [str(type_) for type_ in self._table.schema.types]

    def empty(self, place: int) -> Any:
        """Return a column without rows."""
        return self._table.select([place]).slice(0, 0)

    def rows(self, wanted: Sequence[Wanted]) -> Any:
        """Select the columns; nothing is copied."""
        return self._table.select([place for place, _ in wanted]).rename_columns([f"c{place}" for place, _ in wanted])


class PandasFrame(Held):
    """A DataFrame of pandas, without its index. Numbers are not copied; texts in columns of objects are."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names = list(frame.columns)
        self.dtypes = [f"category of {dtype.categories.dtype}" if _is_category(dtype) else str(dtype) for dtype in frame.dtypes]

    def empty(self, place: int) -> Any:
        """Return a column without rows."""
        column = _of_series(self._frame.iloc[:0, place], None)
        if isinstance(column.type, pyarrow.BaseExtensionType):
            raise TypeError
        return pyarrow.table({"c": column})

    def rows(self, wanted: Sequence[Wanted]) -> Any:
        """Convert the columns one by one."""
        return pyarrow.table({f"c{place}": _of_series(self._frame.iloc[:, place], declared) for place, declared in wanted})


class PolarsFrame(Held):
    """A DataFrame of Polars."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._schema = frame.collect_schema()
        self.names = self._schema.names()
        self.dtypes = [str(dtype) for dtype in self._schema.dtypes()]

    def empty(self, place: int) -> Any:
        """Return a column without rows."""
        polars = require("polars", "a query of a Polars frame needs", "polars")
        return polars.DataFrame(schema={"c": self._schema.dtypes()[place]})

    def rows(self, wanted: Sequence[Wanted]) -> Any:
        """Select the columns; nothing is copied."""
        names = [str(self.names[place]) for place, _ in wanted]
        return self._frame.select(names).rename({name: f"c{place}" for name, (place, _) in zip(names, wanted, strict=True)})


class PolarsLazyFrame(PolarsFrame):
    """A LazyFrame of Polars; only the columns of a question are computed."""

    lazy = "whether the LazyFrame can be computed"

    def rows(self, wanted: Sequence[Wanted]) -> Any:
        """Compute the columns."""
        return super().rows(wanted).collect()


class Relation(ArrowTable):
    """A relation of DuckDB, which the caller's connection computes row by row."""

    lazy = "whether the relation can be computed"

    def __init__(self, relation: Any) -> None:
        self._relation = relation
        # Without rows. DuckDB refuses this if the connection has a result that was not fetched.
        super().__init__(_reader(relation.limit(0)).read_all())

    def rows(self, wanted: Sequence[Wanted]) -> Any:
        """Return a reader, which can be read once."""
        return _reader(self._relation.project(", ".join(f"{quoted(str(self.names[place]))} as c{place}" for place, _ in wanted)))


def _reader(relation: Any) -> Any:
    """Return a reader of a relation's rows, by the newer or the older name of the method."""
    return (getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch)()


def _is_category(dtype: Any) -> bool:
    return hasattr(dtype, "categories")


def _of_series(column: Any, declared: Declared | None) -> Any:
    """Return a column of pandas as an array of Arrow."""
    dtype = column.dtype
    if _is_category(dtype):
        codes = column.cat.codes.to_numpy()
        return pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes, mask=codes < 0), _of_series(dtype.categories, declared))
    if str(dtype) == "object" or getattr(dtype, "storage", None) == "python":
        return _of_objects(column, declared)
    return pyarrow.array(column, from_pandas=True)


def _of_objects(values: Iterable[Any], declared: Declared | None) -> Any:
    """Return any Python objects as texts. No object raises an error, because that would reveal the object."""
    try:
        # This refuses numbers and texts that UTF-8 cannot hold, and takes a tenth of the time.
        return pyarrow.array(values, pyarrow.large_string(), from_pandas=True)
    except Exception:
        return pyarrow.array([_text_of_object(value, declared) for value in values], pyarrow.large_string())


def _text_of_object(value: Any, declared: Declared | None) -> str | None:
    """Return the text that `_text` gives to the same value in a column of its own type, or None for other objects."""
    try:
        value = python_value(value)
        if isinstance(value, bytes):
            return value.decode()
        if isinstance(value, str):
            return value.encode().decode()
        if isinstance(value, bool):
            return str(int(value)) if declared and declared.name in ("integer", "real") else str(value).lower()
        if isinstance(value, int):
            return str(int(value))
        if isinstance(value, (float, Decimal, datetime.date)) and value == value:
            return _of_day(value, declared) if isinstance(value, datetime.date) else _of_number(value)
    except Exception:
        pass
    return None


def _of_number(value: float | Decimal) -> str:
    if isinstance(value, Decimal):
        text = format(value if value else abs(value), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(float(value))


def _of_day(value: datetime.date, declared: Declared | None) -> str | None:
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    if value.tzinfo is not None:
        return None
    text = value.isoformat(sep=" ")
    text = text.rstrip("0") if "." in text else text
    return text[:10] if declared and declared.name == "date" else text


# A frame as a table.

# The name of a frame to which the caller gives none, and the names in SQL.
_NAME, _HELD, _VIEW = "frame", "stairnoise_held", "stairnoise_frame"
_TEXT, _REAL, _BOOLEAN, _ISO = Declared("text"), Declared("real"), Declared("boolean"), Declared("date", "%Y-%m-%d")
_INTEGERS, _FLOATS, _DECIMALS = r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER", "FLOAT|DOUBLE", r"DECIMAL\(.*\)"
_MOMENT, _MOMENTS = Declared("timestamp"), "TIMESTAMP(_S|_MS|_NS)?"
# Types of DuckDB whose equal values have one text.
_SPELLED = rf"{_INTEGERS}|BOOLEAN|DATE|VARCHAR|ENUM\(.*\)|UUID"
_READABLE = rf'{_SPELLED}|{_FLOATS}|{_DECIMALS}|{_MOMENTS}|"NULL"'
# The types that are tried for a column of a condition. Three columns take a fifth of a second.
_TRIED: tuple[TypeName, ...] = ("text", "real", "date", "timestamp", "boolean")
_MOST_COLUMNS = 3
# DuckDB's error for a relation whose connection has a result that was not fetched.
_UNREAD = "unfinished result"
_OTHER_RESULT = "is of a connection that has a result: fetch all its rows first"

_T = TypeVar("_T")


class FrameDialect(DuckDBDialect):
    """SQL for columns of texts, which can be integers, bools or days in the view, where equal values have one text."""

    one_text = frozenset(get_args(Kind))


class Frame(DuckDB):
    """A frame as a table with the name that the question gives it; the index of pandas is no column."""

    dialect = FrameDialect()
    remedies = "declare its type, as in types={{{0!r}: {1!r}}}"

    def __init__(self, held: Callable[[Any], Held], frame: Any, reading: Reading) -> None:
        self._held = _quietly(lambda: held(frame))
        self._places = {name: place for place, name in enumerate(_checked(self._held.names))}
        types_of_columns(reading.types, [*self._places], _NAME)
        self._types: dict[str, Declared] = {}
        super().__init__()
        self._name = "the frame"

    def checked(self, question: Question) -> Checked:
        """Check a question against the names of the columns and its own types; dtypes that cannot be read are refused."""
        question = self.resolved(question)
        bools = {str(one.column): _BOOLEAN for one in question.summed if one.bounds is None}
        question = replace(question, reading=replace(question.reading, types={**bools, **question.reading.types}))
        self._types = _types(question)
        if question.where is not None:
            fits = self._fitting(question.where)
            question = replace(question, reading=replace(question.reading, types={**fits, **question.reading.types}))
            self._types |= fits
        found = super().checked(question)
        for name in found.used:
            if not self._readable(self._places[name]):
                raise ParameterError(
                    f"source must have numbers, texts, bools, dates or moments without a time zone in {name!r}, got the dtype "
                    f"{self._held.dtypes[self._places[name]]}"
                )
        return found

    def _fitting(self, condition: str) -> dict[str, Declared]:
        """Return the only type that fits each column of a condition whose type nobody declared.

        Raises
        ------
        ParameterError
            The condition is refused whatever the types are, or a column can have several.
        """
        types: dict[str, TypeName] = {}

        def name_of(word: str, quoted: bool) -> Name | None:
            found = self._column_of(word, quoted, self._places)
            if found is None:
                return None
            return Name(self._types[found].name if found in self._types else types.setdefault(found, "text"), found)

        def refused() -> ParameterError | None:
            try:
                judged(condition, [*self._places], name_of, partial(self.remedy, "COLUMN"))
            except ParameterError as error:
                return error
            return None

        first = refused()
        fits: dict[str, set[TypeName]] = {name: set() for name in types}
        for chosen in product(_TRIED, repeat=len(fits)) if len(fits) <= _MOST_COLUMNS else ():
            types.update(zip(fits, chosen, strict=True))
            if refused() is None:
                for name, type_ in types.items():
                    fits[name].add(type_)
        if first is not None and len(fits) <= _MOST_COLUMNS and not all(fits.values()):
            raise first
        # A comparison with 1 or 'true' fits bools too, which are such numbers and texts, and one with a text fits timestamps too.
        fits = {name: found - {"boolean", "timestamp"} or found for name, found in fits.items()}
        for name, found in fits.items():
            if len(found) != 1:
                raise ParameterError(
                    f"types must have {name!r}, because where does not decide it, and a frame's dtypes can follow its rows: for "
                    f"example types={{{name!r}: 'text'}}"
                )
        return {name: declared(name, found.pop()) for name, found in fits.items()}

    def schema(self, asked: Checked) -> dict[str, Any]:
        """Return the types of the columns, and why reading the frame can fail."""
        return super().schema(asked) | ({"lazy": self._held.lazy} if self._held.lazy else {})

    def _answered(self, asked: Checked, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        """Read the frame once for each statement; some can be read only once."""
        with self._registered(asked):
            return super()._answered(asked, text, parameters)

    @contextlib.contextmanager
    def _registered(self, asked: Checked) -> Iterator[None]:
        """Make a view of the columns that a question uses."""
        types = _types(asked.question)
        names = asked.used or [next(name for name, place in self._places.items() if self._readable(place))]
        rows = _quietly(lambda: self._held.rows([(self._places[name], types.get(name)) for name in names]))
        self._con.register(_HELD, rows)
        try:
            engine = [type_ for (type_,) in self._ask(f"select column_type from (describe select * from {_HELD})")]
            values = ", ".join(
                f"{_value(f'c{self._places[name]}', type_, types.get(name))} as {quoted(name)}"
                for name, type_ in zip(names, engine, strict=True)
            )
            self._ask(f"create or replace view {_VIEW} as select {values} from {_HELD}")
            yield
        finally:
            self._con.unregister(_HELD)

    def _readable(self, place: int) -> bool:
        """Return whether DuckDB reads a dtype as one of the types that a question can use; no row is read."""
        try:
            self._con.register(_HELD, self._held.empty(place))
            ((type_,),) = self._con.execute(f"select column_type from (describe select * from {_HELD})").fetchall()
            self._con.unregister(_HELD)
        except Exception:
            return False
        return re.fullmatch(_READABLE, type_) is not None

    def _table(self, name: str | None) -> tuple[str, Any]:
        return name or _NAME, ()

    def _tables(self) -> dict[str, tuple[str, ...]]:
        return {_NAME: ()}

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        types = {name: self._types.get(name, _TEXT) for name in self._places}
        return _VIEW, [Column(name, type_.name, ENGINE_TYPES[type_.name], declared=str(type_)) for name, type_ in types.items()]


def _checked(names: Sequence[object]) -> list[str]:
    """Require texts that DuckDB tells apart."""
    check(names, "source must have columns, got a frame without any")
    found: dict[bytes, str] = {}
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise ParameterTypeError(f"source must have texts as names of columns, got {outline(name)} at column {place}")
        other = found.setdefault(folded(name), name)
        if len(found) <= place:
            raise ParameterError(
                f"source must have columns whose names differ by more than the case of letters, got {other!r} and {name!r}"
            )
    return list(found.values())


def _types(question: Question) -> dict[str, Declared]:
    """Return the types of columns that are declared, summed or listed; all others are texts."""
    types = dict.fromkeys(question.columns, _REAL)
    types |= {name: _of_groups(listed) for name, listed in question.groups.items() if name not in question.groupings}
    for one in question.groupings.values():
        is_date = one.column in question.by if isinstance(one, Part) else one.are_dates
        types.setdefault(one.column, _ISO if is_date else _MOMENT if isinstance(one, Part) else _REAL)
    return types | dict(question.reading.types)


def _of_groups(listed: Sequence[object]) -> Declared:
    kinds = {type(value) for value in listed if value is not None}
    if kinds and kinds <= {int, float, Decimal}:
        return Declared("integer") if kinds == {int} else _REAL
    return {frozenset({bool}): _BOOLEAN, frozenset({datetime.date}): _ISO}.get(frozenset(kinds), _TEXT)


def _quietly(action: Callable[[], _T]) -> _T:
    """Return a result; no error shows what a library says, because that may hold data."""

    def problem(error: BaseException) -> str:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error
        return _OTHER_RESULT if _UNREAD in str(error) else unanswered("its library", error)

    # A panic of Polars is no Exception.
    return hidden(action, BaseException, "source the frame", problem)


def _value(value: str, type_: str, declared: Declared | None) -> str:
    """Return a column's value in the declared type, or null if it is not of this type; undeclared values keep theirs."""
    if declared is None:
        return value if re.fullmatch(_SPELLED, type_) else _text(value, type_)
    name = declared.name
    if name in ("integer", "real") and re.fullmatch(f"BOOLEAN|{_INTEGERS}|{_FLOATS}|{_DECIMALS}", type_):
        return _number(value, type_, ENGINE_TYPES[name])
    if name == "date" and re.fullmatch(f"DATE|{_MOMENTS}", type_):
        return f"try_cast({value} as date)"
    if name == "timestamp" and re.fullmatch(f"DATE|{_MOMENTS}", type_):
        # A cast of some timestamps of another precision fails.
        return f"try(cast({value} as timestamp))"
    if (name, type_) == ("boolean", "BOOLEAN"):
        return value
    text = _text(value, type_)
    if name == "text":
        return text
    if type_ == "VARCHAR":
        # On a text that is not UTF-8, `lower` ends the process.
        text = f"try(decode(encode({value})))"
    read = converted(text, declared)
    return f"coalesce({read}, {converted(text, _ISO)})" if name == "date" else read


def _number(value: str, type_: str, wanted: str) -> str:
    """Return a number or a bool as an integer or a double, or null if it is no integer, or not finite."""
    number = f"try_cast({value} as {wanted})"
    if not re.fullmatch(f"{_FLOATS}|{_DECIMALS}", type_):
        return number
    condition = f"{value} = trunc({value})" if wanted == "BIGINT" else f"isfinite({number})"
    return f"case when {condition} then {number} end"


def _text(value: str, type_: str) -> str:
    """Return the text of a value: 5 for 5, 5.0 and 5.00, and null for NaN."""
    if type_ in ("TIMESTAMP_S", "TIMESTAMP_MS"):
        # Beyond the years of TIMESTAMP, a cast to a text ends the database, even in `try`.
        value = f"try_cast({value} as timestamp)"
    text = f"try(cast({value} as varchar))"
    if re.fullmatch(_FLOATS, type_):
        whole = f"{value} = trunc({value}) and abs({value}) < {2.0**63!r}"
        return f"case when {whole} then cast(try_cast({value} as bigint) as varchar) when not isnan({value}) then {text} end"
    if re.fullmatch(_DECIMALS, type_):
        return f"case when contains({text}, '.') then rtrim(rtrim({text}, '0'), '.') else {text} end"
    return text
