"""SQLite and DuckDB: functions of one row, and of Arrow columns."""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Sequence
from typing import Any

from stairnoise._errors import ParameterTypeError, outline
from stairnoise._optional import require
from stairnoise.columns import of_arrow
from stairnoise.columns.reading import by_library
from stairnoise.engines.rows import KeyedRelease, LabelType, wrong_type
from stairnoise.keyed.rng import KeyedRng
from stairnoise.keyed.rng import name as checked_name


def add_to_sqlite(
    con: Any,
    name: str,
    mechanism: Any,
    keyed: KeyedRng,
    statistic: str,
    *,
    label_type: LabelType | Sequence[LabelType],
    max_partitions_contributed: int = 1,
) -> None:
    """Add an SQL function ``name(label, value)`` to a connection of SQLite; it releases a value.

    The function is declared deterministic, which it is: the answer depends on label and value, not on when or how often
    SQLite calls it.

    Parameters
    ----------
    con : sqlite3.Connection
        The connection that has the function until it is closed.
    name : str
        Name of the function in SQL.
    mechanism : mechanism
        A mechanism for single numbers with scalar parameters, such as ``DiscreteLaplace(eps=1)``.
    keyed : KeyedRng
        If a function fetches its secret, that is called once, here.
    statistic : str
        Public name of what the values are, such as "count".
    label_type : {"text", "integer", "boolean", "date", "bytes"}, or list of them
        Type of the label in every engine, however SQLite stores it. "boolean" takes the integers 0 and 1, and "date" texts
        such as '2026-11-23'. With a list the function takes as many labels before the value, and they make a tuple.
    max_partitions_contributed : int, default 1
        How many values one person can change, as in `release` of the mechanism.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed. There is no unkeyed function: `keyed` must be a KeyedRng.

    Notes
    -----
    The value is INTEGER or REAL. A value NULL gives NULL; a label NULL is the label None. The result is an INTEGER if the
    mechanism is discrete and the value an INTEGER, else a REAL. A label that is not of its declared type is an error.

    SQLite reports an error of the function as "user-defined function raised exception", without its text.
    ``sqlite3.enable_callback_tracebacks(True)`` prints it. No text holds a label or a value.

    SQLite calls the function for one row at a time. Nothing compares rows, so one label with two values is not noticed.
    Group by the label, and use one release name for one snapshot of the data.

    Examples
    --------
    >>> import secrets, sqlite3
    >>> import stairnoise as sn
    >>> from stairnoise.engines import add_to_sqlite
    >>> con = sqlite3.connect(":memory:")
    >>> _ = con.execute("create table person (city text)")
    >>> _ = con.executemany("insert into person values (?)", [("Bern",), ("Bern",), ("Chur",)])
    >>> keyed = sn.KeyedRng(secrets.token_bytes(32), "persons 2026-Q3")
    >>> add_to_sqlite(con, "noisy", sn.DiscreteLaplace(eps=1),
    ...               keyed, "count", label_type="text")
    >>> query = "select city, noisy(city, count(*)) from person group by city"
    >>> con.execute(query).fetchall() == con.execute(query).fetchall()
    True
    """
    if not hasattr(con, "create_function") or "duckdb" in type(con).__module__:
        raise ParameterTypeError(f"con must be a connection of sqlite3, got {outline(con)}")
    release = KeyedRelease(mechanism, keyed, statistic, label_type, max_partitions_contributed)
    row, types = release.row(), release.label_types

    def function(*arguments: Any) -> float | None:
        *labels, value = arguments
        return row(*map(_label, labels, types), value)

    con.create_function(checked_name(name, "name"), len(types) + 1, function, deterministic=True)


def _label(value: Any, type_: str) -> Any:
    """Return the label that a value means: SQLite has no bools and dates. Each label has only one spelling."""
    kind = type(value)
    if value is None or (type_, kind) in (("text", str), ("integer", int), ("bytes", bytes)):
        return value
    if type_ == "boolean" and kind is int and value in (0, 1):
        return bool(value)
    day = _day(value) if type_ == "date" and kind is str else None
    if day is not None:
        return day
    spelled = {"boolean": " that is not 0 or 1", "date": " that is not a text such as 2026-11-23"}.get(type_, "")
    raise wrong_type(type_, f"{outline(value)}{spelled}")


def _day(text: str) -> datetime.date | None:
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None


def add_to_duckdb(
    con: Any,
    name: str,
    mechanism: Any,
    keyed: KeyedRng,
    statistic: str,
    *,
    label_type: LabelType | Sequence[LabelType],
    max_partitions_contributed: int = 1,
) -> None:
    """Add an SQL function ``name(label, value)`` to a connection of DuckDB; it releases a value.

    The function is declared free of side effects, which it is: DuckDB may call it several times for one row, or share a
    result between rows, and the answers are the same. DuckDB hands over Arrow columns, so PyArrow must be installed.

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        The connection that has the function until it is closed.
    name : str
        Name of the function in SQL.
    mechanism : mechanism
        A mechanism for single numbers with scalar parameters, such as ``DiscreteLaplace(eps=1)``.
    keyed : KeyedRng
        If a function fetches its secret, that is called once, here.
    statistic : str
        Public name of what the values are, such as "count".
    label_type : {"text", "integer", "boolean", "date", "bytes"}, or list of them
        Type of the label in every engine: here VARCHAR or an ENUM, any integer or DECIMAL of scale 0, BOOLEAN, DATE, BLOB.
        With a list the function takes as many labels before the value, and they make a tuple.
    max_partitions_contributed : int, default 1
        How many values one person can change, as in `release` of the mechanism.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed. There is no unkeyed function: `keyed` must be a KeyedRng.
    ModuleNotFoundError
        PyArrow is not installed.

    Notes
    -----
    The value is an integer, a DECIMAL of scale 0, or a DOUBLE. The result is a BIGINT if the mechanism is discrete, else a
    DOUBLE. A value NULL gives NULL; a label NULL is the label None. A label that is not of its declared type is an error.
    If rows of one batch have equal labels and other values, the query fails. Rows of two batches are not compared.
    A sum of DOUBLE depends on the order of the rows, which threads change, and then has other noise each time: sum
    integers or decimals.

    Examples
    --------
    >>> import secrets
    >>> import duckdb
    >>> import stairnoise as sn
    >>> from stairnoise.engines import add_to_duckdb
    >>> con = duckdb.connect()
    >>> _ = con.execute("create table person as select unnest(['Bern', 'Bern', 'Chur']) city")
    >>> keyed = sn.KeyedRng(secrets.token_bytes(32), "persons 2026-Q3")
    >>> add_to_duckdb(con, "noisy", sn.DiscreteLaplace(eps=1),
    ...               keyed, "count", label_type="text")
    >>> query = "select city, noisy(city, count(*)) from person group by city order by city"
    >>> con.execute(query).fetchall() == con.execute(query).fetchall()
    True
    """
    if not hasattr(con, "create_function") or "duckdb" not in type(con).__module__:
        raise ParameterTypeError(f"con must be a connection of DuckDB, got {outline(con)}")
    release = KeyedRelease(mechanism, keyed, statistic, label_type, max_partitions_contributed).fetched()
    pyarrow = require("pyarrow", "add_to_duckdb needs", "pyarrow")
    dtype = "int64" if release.discrete else "float64"

    def function(*columns: Any) -> Any:
        *names, values = columns
        if pyarrow.types.is_null(values.type):  # NULL as a literal
            values = values.cast(dtype)
        column = by_library("values", values, of_arrow.column, values)
        noisy = release.batch(column, names, dtype)
        return pyarrow.array(noisy, mask=column.chunks.nulls)

    # DuckDB counts the parameters of the function. Without types it hands over each argument as it is, and casts none.
    names = [*(f"label_{place}" for place, _ in enumerate(release.label_types)), "value"]
    places = [inspect.Parameter(parameter, inspect.Parameter.POSITIONAL_ONLY) for parameter in names]
    function.__signature__ = inspect.Signature(places)  # type: ignore[attr-defined]
    kind, name = "BIGINT" if release.discrete else "DOUBLE", checked_name(name, "name")
    con.create_function(name, function, None, kind, type="arrow", null_handling="special", side_effects=False)
