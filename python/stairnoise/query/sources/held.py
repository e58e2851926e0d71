"""What the libraries of data frames have in common for a query: names of columns, a few of them as DuckDB reads them."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from stairnoise._numpy_scalars import python_value
from stairnoise._optional import require
from stairnoise.query.reading import Declared
from stairnoise.query.sources.dialect import quoted

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
        return pyarrow.array([_text(value, declared) for value in values], pyarrow.large_string())


def _text(value: Any, declared: Declared | None) -> str | None:
    """Return the text that `frame` gives to the same value in a column of its own type, or None for other objects."""
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
