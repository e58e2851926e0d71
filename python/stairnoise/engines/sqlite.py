"""SQLite: a function of one row, in the module `sqlite3` of the standard library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stairnoise._errors import ParameterTypeError, outline
from stairnoise._keyed.rng import name as checked_name
from stairnoise.engines.rows import KeyedRelease

if TYPE_CHECKING:
    from stairnoise._keyed.rng import KeyedRng

MOST_LABELS = 8


def add_to_sqlite(con: Any, name: str, law: Any, keyed: KeyedRng, statistic: str, *, max_partitions_contributed: int = 1) -> None:
    """Add an SQL function ``name(label, value)`` to a connection of SQLite; it releases a value.

    The function is declared deterministic, which it is: the answer depends on label and value, not on when or how often
    SQLite calls it.

    Parameters
    ----------
    con : sqlite3.Connection
        The connection that has the function until it is closed.
    name : str
        Name of the function in SQL.
    law : mechanism
        A mechanism for single numbers with scalar parameters, such as ``DiscreteLaplace(eps=1)``.
    keyed : KeyedRng
        If a function fetches its secret, that is called once, here.
    statistic : str
        Public name of what the values are, such as "count".
    max_partitions_contributed : int, default 1
        How many values one person can change, as in `release` of the mechanism.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed. There is no unkeyed function: `keyed` must be a KeyedRng.

    Notes
    -----
    The SQL function takes one to eight labels, of type INTEGER, TEXT, BLOB or NULL, and then the value, INTEGER or REAL.
    Several labels make a tuple. A value NULL gives NULL; a label NULL is the label None. The result is an INTEGER if the
    mechanism is discrete and the value an INTEGER, else a REAL.

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
    >>> add_to_sqlite(con, "noisy", sn.DiscreteLaplace(eps=1), keyed, "count")
    >>> query = "select city, noisy(city, count(*)) from person group by city"
    >>> con.execute(query).fetchall() == con.execute(query).fetchall()
    True
    """
    if not hasattr(con, "create_function") or "duckdb" in type(con).__module__:
        raise ParameterTypeError(f"con must be a connection of sqlite3, got {outline(con)}")
    function = KeyedRelease(law, keyed, statistic, max_partitions_contributed).row()
    for labels in range(1, MOST_LABELS + 1):
        con.create_function(checked_name(name, "name"), labels + 1, function, deterministic=True)
