"""A question as a statement that another client runs, and the private table of what came back."""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Generic, TypeVar

from stairnoise._errors import ParameterError, ParameterTypeError, check, outline
from stairnoise._numpy_scalars import python_value
from stairnoise.accounting.ledger.ledger import Ledger
from stairnoise.keyed.rng import KeyedRng
from stairnoise.query.ask import Bins, Bounds, Groups, Quantiles, several, top_of
from stairnoise.query.private_table import PrivateTable
from stairnoise.query.question import folded
from stairnoise.query.release import Outcome, Release
from stairnoise.query.sources.statement import CANDIDATE, WEIGHT, Checked, answers_of, columns_of
from stairnoise.query.sources.warehouses import Described
from stairnoise.rng import Rng

_HEXADECIMAL = re.compile("(?:[0-9A-Fa-f]{2})*")
_LARGEST = 2**63 - 1
# Beyond this, a float is not the only one near a whole number.
_LARGEST_FLOAT = 2**53
_SEEN = (
    "the client that runs the statement gets exact answers, which are not private: keep them only until `finish` has taken them, "
    "and let nobody else see them"
)


Made = TypeVar("Made")


class CompiledQuery(Generic[Made]):
    """A question as SQL statements, with its budget. `finish` makes the private table or bounds of their rows, once.

    Attributes
    ----------
    statements : list of (str, list of str)
        Each statement, and the columns of its rows: one for counts, means and sums, and one for each column of quantiles. Every
        value is a literal, so there are no parameters.
    sql : str
        The first statement; the only one if there are no quantiles.
    columns : list of str
        Its columns.
    """

    __module__ = "stairnoise.query"

    def __init__(self, release: Release, source: Described, made: Callable[[Outcome], Made]) -> None:
        self._release, self._dialect, self._made = release, source.dialect, made
        self._asked = release.prepare(source, source.dialect.name)
        texts = [text for text, _ in source.statements(self._asked, release.order)]
        self.statements = list(zip(texts, columns_of(self._asked), strict=True))
        self.sql, self.columns = self.statements[0]
        self._finished = False
        warnings.warn(_SEEN, UserWarning, stacklevel=3)

    def __repr__(self) -> str:
        return f"CompiledQuery({self._dialect.name}, columns={', '.join(str(columns) for _, columns in self.statements)})"

    def _finish(self, answers: object) -> Made:
        check(not self._finished, "plan must not be finished before: a second table of the same answers would cost its own eps")
        several = len(self.statements)
        if several > 1 and not (isinstance(answers, (list, tuple)) and len(answers) == several):
            raise ParameterTypeError(
                f"answers must be a list of {several} results, one for each statement, got {outline(answers)}"
            )
        found: Any = answers if several > 1 else [answers]
        places = range(len(self._asked.lattices) - several, len(self._asked.lattices))
        statements = zip(self.statements, found, places, strict=True)
        rows = [_checked(self._asked, columns, one, place) for (_, columns), one, place in statements]
        self._finished = True
        return self._made(self._release.finish(lambda: answers_of(self._asked, rows)))


def compile(
    table: str,
    *,
    dialect: str,
    schema: Mapping[str, str],
    by: str | Sequence[str] = (),
    groups: Groups | None = None,
    bins: Bins | None = None,
    count: bool = False,
    mean: Bounds | None = None,
    sum: Bounds | None = None,
    median: Mapping[str, tuple[float, float]] | None = None,
    quantile: Quantiles | None = None,
    steps: Mapping[str, float] | None = None,
    top: int | None = None,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    eps: float,
    delta: float | None = None,
    shares: Mapping[str, float] | None = None,
    mechanism: str | None = None,
    rng: Rng | KeyedRng | None = None,
    confidence: float = 0.95,
    nonnegative: bool = False,
    all_digits: bool = False,
    ledger: Ledger | None = None,
) -> CompiledQuery[PrivateTable]:
    """Write a question in the SQL of a warehouse, for a client of your own.

    Run ``.sql``, and give its rows to `finish`; with quantiles run all of ``.statements``. Statements for Spark are tested on
    Spark. The others are not run here: their tests run a translation in DuckDB.

    Parameters
    ----------
    table : str
        The table, as in ``"shop.visits"``. A part in the engine's quotes keeps its case; Snowflake has others in capitals.
    dialect : {"bigquery", "databricks", "snowflake", "spark", "trino"}
        The language of the statement.
    schema : dict from str to str
        The columns that the question uses, with their declared types, such as ``{"city": "STRING"}``. If a type is not the
        column's, the warehouse can fail for some rows, which reveals them.
    by, groups, bins, count, mean, sum, median, quantile, steps, where, person, row_is_person, max_groups, eps, delta, shares
        As in `table`.
    top : int, optional
        How many of the largest groups to select, as in `top`.
    rng, confidence, nonnegative, all_digits
        As in `table`.
    ledger : Ledger or None
        The cost is written there now, before the statement is known.

    Returns
    -------
    CompiledQuery
        The statement has a fresh salt, which decides the groups of people who are in more than `max_groups`. The warehouse's log
        then has the salt too. Privacy does not rest on it.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError
        As in `table`. Or the engine has no safe form of something.

    Warns
    -----
    UserWarning
        The client that runs the statement gets exact answers.

    Examples
    --------
    >>> import warnings
    >>> from stairnoise import query
    >>> warnings.simplefilter("ignore")
    >>> asked = {"by": "city", "groups": ["Paris", "Rome"],
    ...          "count": True, "person": "who", "eps": 1}
    >>> plan = query.compile("shop.visits", dialect="bigquery",
    ...                      schema={"who": "INT64", "city": "STRING"}, **asked)
    >>> plan.columns
    ['g0', 'people']
    >>> rows = [(0, 812), (1, 417)]  # of client.query(plan.sql).result()
    >>> query.finish(plan, rows).columns
    ('city', 'count', 'error_bound')
    """
    asked = locals()
    described = Described(asked.pop("dialect"), asked.pop("table"), asked.pop("schema"))
    k = asked.pop("top")
    statistics = [*several(asked), *([] if k is None else [top_of(k)])]
    return CompiledQuery(Release(statistics, table, **asked), described, lambda outcome: outcome.table)


def finish(plan: CompiledQuery[Made], answers: Any) -> Made:
    """Make the private table or bounds of the rows that a compiled statement returned.

    Parameters
    ----------
    plan : CompiledQuery
        What `compile` or `compile_bounds` returned. It holds the question and its cost.
    answers : list of tuples, or a frame
        All rows: a list of tuples or of a database driver's rows, or a frame of pandas, Polars or PyArrow. For several
        statements a list of these, in the order of the statements.

    Returns
    -------
    PrivateTable or PrivateBounds
        As `table` or `bounds` returns it.

    Raises
    ------
    ParameterError, ParameterTypeError
        The plan is finished already, or the answers cannot be those of the statement. Errors name types and places, no value.
        Nothing has been drawn, and the plan can be finished with other answers.
    """
    if not isinstance(plan, CompiledQuery):
        raise ParameterTypeError(f"plan must be what query.compile returned, got {outline(plan)}")
    return plan._finish(answers)


def _checked(asked: Checked, columns: list[str], answers: Any, place: int) -> list[tuple[Any, ...]]:
    """Return rows in Python's types, or refuse what a statement cannot have returned; no error has a value.

    The statement is that of the column of quantiles at this place, or of counts and sums if it is negative.
    """
    rows = []
    for number, row in enumerate(_rows_of(answers, columns)):
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Iterable) or len(values := tuple(row)) != len(columns):
            raise ParameterTypeError(f"answers must be rows of {len(columns)} values, {', '.join(columns)}; row {number} is none")
        rows.append(tuple(_value(asked, at, value, number, columns) for at, value in enumerate(values)))
    if place < 0:
        _require_sums(asked, rows)
    else:
        _require_weights(asked, rows, place)
    return rows


def _require_sums(asked: Checked, rows: list[tuple[Any, ...]]) -> None:
    """Require every group once, and sums that its people can have."""
    width = len(asked.question.by)
    for number, row in enumerate(rows):
        for total, units in zip(row[width + 1 :], asked.units, strict=True):
            people = row[width]
            if not min(units.low, 0) * people <= (total or 0) <= max(units.high, 0) * people:
                raise ParameterError(f"answers must have sums within the bounds of their people; row {number} has another one")
    check(len({row[:width] for row in rows}) == len(rows), "answers must have every group once, got one of them twice")
    check(bool(width) or len(rows) == 1, f"answers must be one row, got {len(rows)}")


def _require_weights(asked: Checked, rows: list[tuple[Any, ...]], place: int) -> None:
    """Require every candidate of a group once, and whole people."""
    totals: dict[Any, int] = {}
    for number, (*group, candidate, weight) in enumerate(rows):
        if candidate >= len(asked.lattices[place].points):
            raise ParameterError(f"answers must be candidates of the plan, got another index in row {number}")
        totals[tuple(group)] = totals.get(tuple(group), 0) + weight
    if len({row[:-1] for row in rows}) < len(rows):
        raise ParameterError("answers must have every candidate of a group once, got one of them twice")
    if any(total % asked.question.ranked[place].person or total > _LARGEST for total in totals.values()):
        raise ParameterError("answers must have weights of whole people in each group, got others")


def _rows_of(answers: Any, columns: list[str]) -> Iterator[Any]:
    """Return the rows of a frame or a list; the columns of a frame have names."""
    names = getattr(answers, "column_names", getattr(answers, "columns", None))
    if names is not None:
        if [folded(str(name)) for name in names] != [folded(name) for name in columns]:
            raise ParameterError(f"answers must have the columns {', '.join(columns)}, in this order; got other columns")
        if hasattr(answers, "itertuples"):
            return iter(answers.itertuples(index=False, name=None))
        return iter(answers.rows()) if hasattr(answers, "rows") else zip(*answers.to_pydict().values(), strict=True)
    if isinstance(answers, (str, bytes, Mapping)) or not isinstance(answers, Iterable):
        raise ParameterTypeError(f"answers must be a list of rows or a frame, got {outline(answers)}")
    return iter(answers)


def _value(asked: Checked, at: int, value: Any, place: int, columns: list[str]) -> Any:
    """Return a value as `answers_of` takes it."""
    by, value = list(asked.groups.values()), _plain(value)
    group = by[at] if at < len(by) else None
    if columns[at] in (CANDIDATE, WEIGHT):
        wanted, fits = "a whole number", _is_whole(value, int(columns[at] == WEIGHT), _LARGEST)
    elif group is None:
        # Without groups there is a row even for an empty table, whose sums are null; so is the sum of a group without numbers.
        least = -_LARGEST if at > len(by) else min(len(by), 1)
        wanted, fits = "a whole number", _is_whole(value, least, _LARGEST) or (value is None and at > len(by))
    elif group.labels is not None:
        wanted, fits = "the index of a listed group", _is_whole(value, 0, len(group.labels) - 1)
    else:
        kind = group.kind
        wanted, fits = f"a {kind} or null", value is None or _FITS[kind](value)
        if kind == "text":
            wanted = "hexadecimal digits or null"
    if not fits:
        raise ParameterTypeError(f"answers must have {wanted} as {columns[at]}, got {outline(value)} in row {place}")
    return value


def _plain(value: Any) -> Any:
    """Return a value in a type of Python; drivers and frames have decimals, floats and NaN for whole numbers and null."""
    value = python_value(value)
    if isinstance(value, (float, Decimal)):
        if value != value:
            return None
        if isinstance(value, float):
            return int(value) if value.is_integer() and abs(value) <= _LARGEST_FLOAT else value
        return int(value) if value.is_finite() and value == value.to_integral_value() else value
    if isinstance(value, datetime.datetime):
        return value.date() if value.time() == datetime.time() else value
    return value


def _is_whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


_FITS: dict[str, Callable[[Any], bool]] = {
    "integer": lambda value: type(value) is int,
    "boolean": lambda value: type(value) is bool,
    "date": lambda value: type(value) is datetime.date,
    "text": lambda value: type(value) is str and _HEXADECIMAL.fullmatch(value) is not None,
}
