"""The three questions: `count`, `sum` and `mean`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stairnoise.query.arguments import Statistic
from stairnoise.query.release import Release
from stairnoise.query.table import PrivateTable

if TYPE_CHECKING:
    from stairnoise.accounting.ledger.ledger import Ledger
    from stairnoise.keyed.rng import KeyedRng
    from stairnoise.query.reading import CSV
    from stairnoise.rng import Rng

    Groups = Mapping[str, Sequence[object]] | Sequence[object]


def count(
    source: Any,
    table: str | None = None,
    *,
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    types: Mapping[str, str] | None = None,
    csv: CSV | None = None,
    eps: float,
    delta: float | None = None,
    mechanism: str | None = None,
    rng: Rng | KeyedRng | None = None,
    confidence: float = 0.95,
    nonnegative: bool = False,
    all_digits: bool = False,
    ledger: Ledger | None = None,
) -> PrivateTable:
    """Count the people in each group of a table, privately.

    The data are read, never written, in one statement, which this function makes. The true counts are not kept, shown or
    named in errors.

    Parameters
    ----------
    source : path, str or connection
        A file of SQLite or DuckDB, a .csv or .parquet file, a URL such as ``"postgresql://host/database"``, or an open
        connection of ``sqlite3``, ``duckdb`` or ``psycopg``.
    table : str or None
        The table; None for the only one. That of a CSV or Parquet file is the file's name without the suffix. SQLite, DuckDB and
        files compare names of tables and columns without regard to the case of ASCII letters, PostgreSQL exactly.
    by : str or sequence of str, default ()
        Columns whose values make the groups. None: one number for the whole table.
    groups : dict of lists, or list
        The groups that may be there, for each column of `by`; for a single column a list. Every combination gets a row,
        also one that nobody is in: leaving it out would tell that. Values that are not listed are left out. A column
        without a list needs `delta`, because which groups the data have is private too. Then a random choice
        (`PartitionSelection`) shows groups of many people and leaves out groups of few.
    where : str or None
        A condition on one row, such as ``"age >= 18"``. Subqueries, functions of many rows and comments are refused.
    person : str or None
        The column that says whose row it is. All rows of a person are protected together. Rows with null there are left out.
    row_is_person : bool, default False
        Whether every row is another person. This or `person` must be said.
    max_groups : int, default 1
        How many groups one person counts in at most; only with `person`. A person in more groups counts in some of them,
        chosen at random.
    types : dict of str, optional
        For a CSV or Parquet file: types of columns, each ``"text"``, ``"integer"``, ``"real"``, ``"boolean"``, ``"date"`` or a
        date with its format such as ``"date:%d.%m.%Y"``. A value that is none of its type is null. Other columns of a CSV file
        are texts. Those of a Parquet file have their own types, but numbers are real.
    csv : CSV, optional
        How the lines of a CSV file become values, if the file is not as `CSV` assumes.
    eps : float
        ε of the whole table.
    delta : float or None
        δ of the whole table: for groups that are not listed, or for a mechanism that has one.
    mechanism : str or None
        "discrete_laplace" or "discrete_staircase"; or with a `delta` "discrete_gaussian", "truncated_discrete_staircase" or,
        for counts alone, "discrete_canonical". None: the recommended one of the first two.
    rng : SecureRng, KeyedRng or None
        None: fresh noise from the process's secure generator. With a `KeyedRng` the same question about the same data has
        the same answer; another question or a change of the data has other noise.
    confidence : float, default 0.95
        Probability that a private value is within its ``error_bound`` of the true one.
    nonnegative : bool, default False
        Whether negative private values become 0. This costs no privacy; it raises the values of small groups on average.
    all_digits : bool, default False
        Whether values keep all digits of the mechanism's lattice, the multiples of `unit`. Otherwise they are rounded to the
        third digit of their bound, which then includes that rounding. This costs no privacy either way.
    ledger : Ledger or None
        Where the cost is written before the data are read. A release that its budget does not hold is refused. A keyed
        release that is repeated costs nothing.

    Returns
    -------
    PrivateTable
        A row for each group: the values of `by`, ``count``, and ``error_bound``. The bound is computed from the exact
        distribution; it includes `max_groups`.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed, or the data do not have such a table, column or groups. Nothing has been drawn or spent.
    BudgetError, LedgerError
        The ledger's budget would be exceeded, and nothing has been read, drawn or spent. Or the name of a keyed release was
        used for other data; the ledger records that, and nothing has been drawn.
    SourceError
        The data cannot be read. Nothing has been drawn; what the text says is spent stays spent.
    ModuleNotFoundError
        The package that reads the source is not installed.

    Examples
    --------
    >>> import sqlite3
    >>> from stairnoise import query
    >>> con = sqlite3.connect(":memory:")
    >>> _ = con.execute("create table visits (person integer, city text)")
    >>> _ = con.executemany("insert into visits values (?, ?)", [(n % 80, ["Paris", "Rome"][n % 2]) for n in range(200)])
    >>> table = query.count(con, "visits", by="city", groups=["Paris", "Rome", "Oslo"], person="person", eps=1)
    >>> table.columns, len(table)
    (('city', 'count', 'error_bound'), 3)
    """
    return _private("count", **locals())


def sum(
    source: Any,
    table: str | None = None,
    *,
    column: str,
    bounds: tuple[float, float],
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    types: Mapping[str, str] | None = None,
    csv: CSV | None = None,
    eps: float,
    delta: float | None = None,
    mechanism: str | None = None,
    rng: Rng | KeyedRng | None = None,
    confidence: float = 0.95,
    nonnegative: bool = False,
    all_digits: bool = False,
    ledger: Ledger | None = None,
) -> PrivateTable:
    """Add up a column in each group of a table, privately.

    Parameters
    ----------
    source, table, by, groups, where, person, row_is_person, max_groups, types, csv, eps, delta, mechanism
        As in `count`.
    rng, confidence, all_digits, ledger
        As in `count`. If groups are not listed, half of `eps` chooses them.
    column : str
        A column of numbers; of a CSV file one with such a type in `types`. Nulls are left out.
    bounds : (float, float)
        What one person may add to a group at least and at most. A person's total is clipped to them, and the noise is
        proportional to the larger magnitude. Choose them without looking at the data.
    nonnegative : bool, default False
        As in `count`; not with a negative lower bound.

    Returns
    -------
    PrivateTable
        A row for each group: the values of `by`, ``sum``, and ``error_bound``. The bound is that of the noise, and of
        rounding the private sum to float64. The true sum is that of the clipped totals, each rounded to the unit that the table
        names in `about`.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError, ModuleNotFoundError
        As in `count`. Or the column does not hold numbers.
    """
    return _private("sum", **locals())


def mean(
    source: Any,
    table: str | None = None,
    *,
    column: str,
    bounds: tuple[float, float],
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    types: Mapping[str, str] | None = None,
    csv: CSV | None = None,
    eps: float,
    delta: float | None = None,
    mechanism: str | None = None,
    rng: Rng | KeyedRng | None = None,
    confidence: float = 0.95,
    all_digits: bool = False,
    ledger: Ledger | None = None,
) -> PrivateTable:
    """Average a column in each group of a table, privately.

    Half of `eps` protects the sum of the differences from the middle of the bounds, and half the count. Both are random, so
    the mean has an interval, which is not symmetric.

    Parameters
    ----------
    source, table, by, groups, where, person, row_is_person, max_groups, types, csv, eps, delta, mechanism
        As in `count`.
    rng, confidence, all_digits, ledger
        As in `count`.
    column : str
        A column of numbers. People without a number there are left out.
    bounds : (float, float)
        Ends of what one person's number may be; a total of several rows is clipped to them. The mean is between them.

    Returns
    -------
    PrivateTable
        A row for each group: the values of `by`, ``mean``, ``error_bound``, and the ends ``low`` and ``high`` of an interval
        that contains the true mean with the probability `confidence` or more. The mean is that of people's totals, clipped to
        the bounds. ``may_be_empty`` is True where the private count allows that nobody is in the group: an empty group has no
        mean, and its row says nothing.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError, ModuleNotFoundError
        As in `sum`.
    """
    return _private("mean", **locals())


def _private(statistic: Statistic, source: Any, table: str | None, nonnegative: bool = False, **asked: Any) -> PrivateTable:
    return Release(statistic, table, nonnegative=nonnegative, **asked).run(source).table
