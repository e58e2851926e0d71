"""The questions: `count`, `sum`, `mean`, `median`, `quantile`, `table` for several statistics, and `top`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from stairnoise._errors import ParameterTypeError, check, outline, received
from stairnoise._parameters import count as number
from stairnoise._parameters import flag, mapping
from stairnoise.accounting.ledger.ledger import Ledger
from stairnoise.keyed.rng import KeyedRng
from stairnoise.query.private_table import PrivateTable
from stairnoise.query.question import MOST_GROUPS, Asked
from stairnoise.query.reading import CSV
from stairnoise.query.release import Release
from stairnoise.query.statistics import Top
from stairnoise.rng import Rng

Groups = Mapping[str, Sequence[object]] | Sequence[object]
Bins = Mapping[str, Sequence[float | Decimal | datetime.date]]
Bounds = Mapping[str, tuple[float, float] | None]
Share = float | Fraction
Quantiles = Mapping[tuple[str, Share | Sequence[Share]], tuple[float, float]]


def count(
    source: Any,
    table: str | None = None,
    *,
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    bins: Bins | None = None,
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

    The data are only read. The true counts are not kept, shown or named in errors.

    Parameters
    ----------
    source : path, str, connection or data frame
        A file of SQLite or DuckDB, a .csv or .parquet file, a URL such as ``"postgresql://host/database"``, or an open
        connection of ``sqlite3``, ``duckdb`` or ``psycopg``. Or a DataFrame of pandas or Polars, a Polars LazyFrame, a PyArrow
        Table or RecordBatch, a relation of DuckDB, or a DataFrame or session of PySpark. The index of pandas is no column.
    table : str or None
        The table; None for the only one. A CSV or Parquet file is a table, named as the file without its suffix. A frame has the
        name that you give it here, or "frame". Names of tables and columns ignore the case of ASCII letters, except in
        PostgreSQL.
    by : str or sequence of str, default ()
        Columns whose values make the groups, or parts of dates and timestamps: ``"year(day)"``, and quarter, month, week,
        weekday and hour. Weeks and weekdays are those of ISO 8601. By default there is one number for the whole table.
    groups : dict of lists, or list
        All possible groups, for each column of `by`; for a single column a list. A text can be a range of integers, dates or
        parts: ``"0..120"``, ``"2026-01-01..2026-01-31"``, ``"2026-01..2026-12"``. Weekdays and hours need no list. Every
        combination gets a row: omitting the row of an empty group would reveal that it is empty. Values that are not listed are
        left out. A column without a list needs `delta`, because which groups the data have is private too. Then a random choice
        (`PartitionSelection`) shows groups of many people and leaves out groups of few.
    bins : dict of lists, optional
        Columns of numbers or dates, each with edges such as ``{"age": [0, 18, 65, 120]}``. The column is then one of `by`, and
        its groups are the intervals: [0, 18) holds 0 and not 18. Other values and nulls are left out.
    where : str or None
        A condition on one row, such as ``"age >= 18"``. Subqueries, functions of many rows and comments are refused.
    person : str or None
        The column that says whose row it is. All rows of a person are protected together. Rows with a null in it are left out.
    row_is_person : bool, default False
        Whether each row is a different person. This or `person` is required.
    max_groups : int, default 1
        The largest number of groups in which one person counts; only with `person`. Of a person in more groups, some are
        chosen at random.
    types : dict of str, optional
        For a CSV or Parquet file or a frame: types of columns, each ``"text"``, ``"integer"``, ``"real"``, ``"boolean"``,
        ``"date"``, a date with its format such as ``"date:%d.%m.%Y"``, or ``"timestamp"``. A value that is not of its type is
        null. Other columns of a CSV file are texts. Other columns of a Parquet file keep their types, but numbers are real.
        Dtypes of a frame decide nothing, because they follow its rows: summed columns are real, listed groups have the type of
        the list, a column in `where` has the only type that fits there, and others are texts.
    csv : CSV, optional
        How the lines of a CSV file become values, if the defaults of `CSV` do not fit.
    eps : float
        ε of the whole table.
    delta : float or None
        δ of the whole table: for groups that are not listed, or for a mechanism with a δ.
    mechanism : str or None
        "discrete_laplace" or "discrete_staircase"; or with a `delta` "discrete_gaussian", "truncated_discrete_staircase" or,
        for counts only, "discrete_canonical". None: the recommended one of the first two.
    rng : SecureRng, KeyedRng or None
        None: fresh noise from the process's secure generator. With a `KeyedRng` the same question about the same data has
        the same answer; if the question or the data change, so does the noise.
    confidence : float, default 0.95
        Probability that a private value is within its ``error_bound`` of the true one.
    nonnegative : bool, default False
        Whether negative private values become 0. This costs no privacy; it raises the values of small groups on average.
    all_digits : bool, default False
        Whether values keep all digits of the mechanism's lattice, the multiples of `unit`. Otherwise they are rounded to the
        third digit of their bound, which includes that rounding. Neither costs privacy.
    ledger : Ledger or None
        The cost is written there before the data are read. A release beyond the budget is refused. Repeating a keyed release
        costs nothing.

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
        The ledger's budget would be exceeded: nothing has been read, drawn or spent. Or the name of a keyed release was used for
        other data: the ledger records that, and nothing has been drawn.
    SourceError
        The data cannot be read, and nothing has been drawn. With a ledger the text says that the budget stays spent.
    ModuleNotFoundError
        The package that reads the source is not installed.

    Examples
    --------
    >>> import sqlite3
    >>> from stairnoise import query
    >>> con = sqlite3.connect(":memory:")
    >>> _ = con.execute("create table visits (person integer, city text)")
    >>> _ = con.executemany("insert into visits values (?, ?)",
    ...                     [(n % 80, ["Paris", "Rome"][n % 2]) for n in range(200)])
    >>> table = query.count(con, "visits", by="city",
    ...                     groups=["Paris", "Rome", "Oslo"], person="person", eps=1)
    >>> table.columns, len(table)
    (('city', 'count', 'error_bound'), 3)
    """
    return _private("count", **locals())


def sum(
    source: Any,
    table: str | None = None,
    *,
    column: str,
    bounds: tuple[float, float] | None = None,
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    bins: Bins | None = None,
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
    source, table, by, groups, bins, where, person, row_is_person, max_groups, types, csv, eps, delta, mechanism
        As in `count`.
    rng, confidence, all_digits, ledger
        As in `count`. If groups are not listed, half of `eps` chooses them.
    column : str
        A column of numbers or bools; in a CSV file it needs such a type in `types`. Nulls are left out.
    bounds : (float, float), or None for bools
        One person's minimum and maximum contribution to a group. A person's total is clipped to these bounds, and the noise is
        proportional to the larger magnitude. Choose the bounds without looking at the data. None: 0 and 1 for bools, as in
        `mean`.
    nonnegative : bool, default False
        As in `count`; not with a negative lower bound.

    Returns
    -------
    PrivateTable
        A row for each group: the values of `by`, ``sum``, and ``error_bound``. The bound covers the noise, and the rounding of
        the private sum to float64. The true sum is that of the clipped totals, each rounded to the unit in the table's `about`.

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
    bounds: tuple[float, float] | None = None,
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    bins: Bins | None = None,
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

    Half of `eps` protects the sum of the differences from the middle of the bounds, and half protects the count. Both are
    random, so the mean has an interval, and the interval is not symmetric.

    Parameters
    ----------
    source, table, by, groups, bins, where, person, row_is_person, max_groups, types, csv, eps, delta, mechanism
        As in `count`.
    rng, confidence, all_digits, ledger
        As in `count`.
    column : str
        A column of numbers or bools. People without a value in it are left out.
    bounds : (float, float), or None for bools
        Minimum and maximum of one person's number; a total of several rows is clipped to them. The mean is between them. None: 0
        and 1 for bools, so that the mean is a share. A person with several rows counts as true if any of these rows is true. A
        column of a frame is then read as bools.

    Returns
    -------
    PrivateTable
        A row for each group: the values of `by`, ``mean``, ``error_bound``, and the ends ``low`` and ``high`` of an interval
        that contains the true mean with a probability of at least `confidence`. The true mean is that of people's clipped
        totals. ``may_be_empty`` is True where the private count allows an empty group: it has no mean, so ignore its row.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError, ModuleNotFoundError
        As in `sum`.
    """
    return _private("mean", **locals())


def median(
    source: Any,
    table: str | None = None,
    *,
    column: str,
    bounds: tuple[float, float],
    step: float | None = None,
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    bins: Bins | None = None,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    types: Mapping[str, str] | None = None,
    csv: CSV | None = None,
    eps: float,
    delta: float | None = None,
    rng: Rng | KeyedRng | None = None,
    confidence: float = 0.95,
    ledger: Ledger | None = None,
) -> PrivateTable:
    """Return the median of a column in each group of a table, privately.

    The database only counts people at public candidates. `PermuteAndFlip` selects one of them by its distance from the median,
    which is counted in people. Equal values are no difficulty.

    Parameters
    ----------
    source, table, by, groups, bins, where, person, row_is_person, max_groups, types, csv, eps, delta, rng, ledger
        As in `count`. If groups are not listed, half of `eps` chooses them.
    column : str
        A column of numbers; in a CSV file it needs such a type in `types`. Rows without a number in it are left out. The rows of
        a person in a group share the weight of one person.
    bounds : (float, float)
        The lowest and the highest candidate. A value beyond them counts as the nearer one. Choose them without looking at the
        data.
    step : float or None
        Distance of candidates; each value counts as the nearest candidate, of two as the upper one. None: 1 for a column that is
        declared as integers, otherwise 1, 2 or 5 times a power of ten; the finest with at most 10 001 candidates. A step gives at
        most 10**6 candidates, and the database returns a row for each group and candidate that occur.
    confidence : float, default 0.95
        Of the bound on ranks in the notes.

    Returns
    -------
    PrivateTable
        A row for each group: the values of `by`, and ``median``. The notes say within how many people of the true median it is.
        A group without people has any of the candidates.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError, ModuleNotFoundError
        As in `sum`.

    Examples
    --------
    >>> import sqlite3
    >>> from stairnoise import query
    >>> con = sqlite3.connect(":memory:")
    >>> _ = con.execute("create table people (age integer)")
    >>> _ = con.executemany("insert into people values (?)",
    ...                     [(18 + n % 40,) for n in range(900)] + [(18,)] * 1000)
    >>> table = query.median(con, column="age", bounds=(0, 120), row_is_person=True, eps=1)
    >>> table.columns, table[0]
    (('median',), (18,))
    """
    return _private("median", q=0.5, **locals())


def quantile(
    source: Any,
    table: str | None = None,
    *,
    column: str,
    q: Share | Sequence[Share],
    bounds: tuple[float, float],
    step: float | None = None,
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    bins: Bins | None = None,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    types: Mapping[str, str] | None = None,
    csv: CSV | None = None,
    eps: float,
    delta: float | None = None,
    rng: Rng | KeyedRng | None = None,
    confidence: float = 0.95,
    ledger: Ledger | None = None,
) -> PrivateTable:
    """Return quantiles of a column in each group of a table, privately.

    Parameters
    ----------
    source, table, by, groups, bins, where, person, row_is_person, max_groups, types, csv, eps, delta, rng, ledger
        As in `median`.
    column, bounds, step, confidence
        As in `median`. At q = 1 all candidates above the largest value are equally good, and at q = 0 all below the smallest:
        wide bounds then give numbers far from the data.
    q : float or Fraction, or a sequence of them
        From 0 to 1, as it is written: 0.9 is the number that nine tenths of the people are below. Several quantiles share `eps`.

    Returns
    -------
    PrivateTable
        As `median` returns it, with ``quantile``; or for several quantiles with columns such as ``quantile_salary_0.25``.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError, ModuleNotFoundError
        As in `sum`.
    """
    return _private("quantile", **locals())


def table(
    source: Any,
    table: str | None = None,
    *,
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    bins: Bins | None = None,
    count: bool = False,
    mean: Bounds | None = None,
    sum: Bounds | None = None,
    median: Mapping[str, tuple[float, float]] | None = None,
    quantile: Quantiles | None = None,
    steps: Mapping[str, float] | None = None,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    types: Mapping[str, str] | None = None,
    csv: CSV | None = None,
    eps: float,
    delta: float | None = None,
    shares: Mapping[str, float] | None = None,
    mechanism: str | None = None,
    rng: Rng | KeyedRng | None = None,
    confidence: float = 0.95,
    nonnegative: bool = False,
    all_digits: bool = False,
    ledger: Ledger | None = None,
) -> PrivateTable:
    """Ask for several statistics of each group of a table, privately, with one ε for all of them.

    The people of a group are counted once: the same private count is the column ``count``, divides all means, and chooses the
    groups that are not listed.

    Parameters
    ----------
    source, table, by, groups, bins, where, person, row_is_person, max_groups, types, csv
        As in `count`.
    count : bool, default False
        Whether to count people. If there are means, a row counts only if it has a number in each of their columns.
    mean : dict from str to (float, float) or None, optional
        Columns to average, each with its bounds as in `mean`. All statistics leave out rows without a number in one of them.
    sum : dict from str to (float, float) or None, optional
        Columns to add up, each with its bounds as in `sum`. A null adds nothing.
    median : dict from str to (float, float), optional
        Columns whose median is asked, each with its bounds as in `median`. A row without a number is left out of it alone.
    quantile : dict from (str, float) to (float, float), optional
        Columns with a quantile or several, such as ``{("salary", 0.9): (0, 200_000)}`` or ``("salary", (0.25, 0.75))``. All
        quantiles of a column, its median included, have the same bounds, and are one part of `shares`.
    steps : dict from str to float, optional
        The distance of candidates for columns of medians and quantiles.
    eps, delta
        Of the whole table, as in `count`.
    shares : dict from str to float, optional
        How ε and δ are divided, such as ``{"count": 2, "mean_salary": 1}``. The parts are ``count`` if people are counted, and
        the name of each mean and sum, and ``median_salary`` for a column of which only the median is asked, or else
        ``quantile_salary``. A part without a share has 1. Groups that are not listed take all of δ.
    mechanism, rng, confidence, all_digits, ledger
        As in `count`. The confidence is that of each number alone.
    nonnegative : bool, default False
        As in `count`, for counts and sums.

    Returns
    -------
    PrivateTable
        A row for each group: the values of `by`, then the columns of all statistics. In a table of several, their names begin
        with the statistic: ``mean_salary``, ``mean_salary_error_bound``, ``mean_salary_low``, ``mean_salary_high``,
        ``median_salary``, ``quantile_salary_0.9``. ``may_be_empty`` comes last, once.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError, ModuleNotFoundError
        As in `sum`. Or a share does not belong to a part.

    Examples
    --------
    >>> import sqlite3
    >>> from stairnoise import query
    >>> con = sqlite3.connect(":memory:")
    >>> _ = con.execute("create table staff (team text, salary integer, hours integer)")
    >>> _ = con.executemany("insert into staff values (?, ?, ?)",
    ...                     [("AB"[n % 2], 50_000 + n, n % 40) for n in range(900)])
    >>> asked = {"count": True, "mean": {"salary": (0, 200_000)}, "sum": {"hours": (0, 80)}}
    >>> table = query.table(con, by="team", groups=["A", "B"],
    ...                     **asked, row_is_person=True, eps=1, shares={"mean_salary": 2})
    >>> table.columns[1:6]
    ('count', 'count_error_bound', 'mean_salary', 'mean_salary_error_bound', 'mean_salary_low')
    >>> [(part["of"], part["share"]) for part in table.about["mechanisms"]]
    [('count', '1/4'), ('sum of differences of salary from 100000', '1/2'), ('sum of hours', '1/4')]
    """
    asked = locals()
    return _table(several(asked), **asked)


def top(
    source: Any,
    table: str | None = None,
    *,
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    bins: Bins | None = None,
    k: int = 5,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    types: Mapping[str, str] | None = None,
    csv: CSV | None = None,
    eps: float,
    rng: Rng | KeyedRng | None = None,
    confidence: float = 0.95,
    ledger: Ledger | None = None,
) -> PrivateTable:
    """Find the groups with the most people, privately, without counts.

    `PermuteAndFlip.top` selects them one after the other. ε is the same however many groups a person counts in.

    Parameters
    ----------
    source, table, by, bins, where, person, row_is_person, max_groups, types, csv, eps, rng, ledger
        As in `count`.
    groups : dict of lists, or list
        As in `count`; every column of `by` needs a list, or bins.
    k : int, default 5
        How many groups. Each is selected with eps/k.
    confidence : float, default 0.95
        Of the bound in the notes: of people by which a selected group can be smaller than one that is left out.

    Returns
    -------
    PrivateTable
        A row for each selected group, best first: the values of `by`, and ``rank`` from 1 on.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError, ModuleNotFoundError
        As in `count`. Or there are fewer than `k` groups.

    Examples
    --------
    >>> import sqlite3
    >>> from stairnoise import query
    >>> con = sqlite3.connect(":memory:")
    >>> _ = con.execute("create table visits (city text)")
    >>> _ = con.executemany("insert into visits values (?)",
    ...                     [("Paris",)] * 500 + [("Rome",)] * 300 + [("Oslo",)] * 20)
    >>> list(query.top(con, by="city", groups=["Oslo", "Paris", "Rome"],
    ...                k=2, row_is_person=True, eps=1))
    [('Paris', 1), ('Rome', 2)]
    """
    asked = locals()
    return _table([top_of(asked.pop("k"), "k")], **asked)


def top_of(k: object, name: str = "top") -> Top:
    """Return the statistic of the `k` largest groups; the argument has this name."""
    return Top(k=number(k, name, least=1, most=MOST_GROUPS))


def several(asked: dict[str, Any]) -> list[Asked]:
    """Take the statistics that a caller wants out of the arguments of `table`."""
    statistics: list[Asked] = [("count", None, None)] if flag(asked.pop("count"), "count") else []
    for kind in ("mean", "sum"):
        statistics += [(kind, column, ends) for column, ends in mapping(asked.pop(kind), kind, "columns to bounds").items()]
    steps = dict(mapping(asked.pop("steps"), "steps", "columns to numbers"))
    medians = mapping(asked.pop("median"), "median", "columns to bounds")
    quantiles = mapping(asked.pop("quantile"), "quantile", "pairs of a column and a quantile to bounds")
    for pair in quantiles:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ParameterTypeError(
                f"quantile must have keys of a column and a quantile, as ('salary', 0.9), got {outline(pair)}"
            )
    wanted = [("median", column, ends, 0.5) for column, ends in medians.items()]
    wanted += [("quantile", column, ends, q) for (column, q), ends in quantiles.items()]
    columns = [column for _, column, *_ in wanted]
    for name in steps:
        check(name in columns, f"steps must be of columns of medians and quantiles, got one of {received(name)}")
    return statistics + [(*one, steps.get(one[1])) for one in wanted]


def _private(kind: str, **asked: Any) -> PrivateTable:
    """Ask for one statistic, whose arguments are among those that the caller got."""
    own = [asked.pop(name) for name in ("q", "step") if name in asked]
    return _table([(kind, asked.pop("column", None), asked.pop("bounds", None), *own)], **asked)


def _table(statistics: list[Asked], source: Any, table: str | None, **asked: Any) -> PrivateTable:
    return Release(statistics, table, **asked).run(source).table
