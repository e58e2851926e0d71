"""A question as SQL statements, and their rows as answers.

The statement of counts and sums reads from the inside out. `kept` are the rows that fulfil the condition. In `coded` a listed
group is its index in the list, so no other value of the data leaves the engine. With a person column, `people` has one row for
each person and group, and `ranked` orders a person's groups by nothing but the key and that person's rows::

    select g0, count(*), sum(v) from (ranked) where rank <= K group by g0

Each column of quantiles has a statement of its own, whose rows are groups, candidates and weights. So no engine computes a true
quantile. A person has the same weight in each group, whatever their number of rows: of k rows, ordered by candidate, row j weighs
⌊W(j + 1)/k⌋ - ⌊Wj/k⌋.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from stairnoise.quantiles.lattice import Lattice
from stairnoise.query.answers import Answers, Histogram
from stairnoise.query.condition.tree import Condition
from stairnoise.query.question import Question
from stairnoise.query.sources.dialect import Column, Dialect, Units
from stairnoise.query.sources.groups import Grouped

# The last columns of a statement about quantiles.
CANDIDATE, WEIGHT = "c", "weight"


class Checked(NamedTuple):
    """A question that fits the schema."""

    question: Question
    # In SQL, with its full name.
    table: str
    columns: dict[str, Column]
    # By the names of `question.by`.
    groups: dict[str, Grouped]
    # Of each sum.
    units: list[Units]
    condition: Condition | None
    # The candidates of each column of quantiles.
    lattices: Sequence[Lattice] = ()

    @property
    def used(self) -> list[str]:
        """The names of the columns that the question needs."""
        question, conditioned = self.question, self.condition.columns if self.condition else ()
        grouped = [question.groupings[name].column if name in question.groupings else name for name in question.by]
        named = (*grouped, question.person, *question.columns, *conditioned)
        return list(dict.fromkeys(name for name in named if name is not None))


def statement(dialect: Dialect, asked: Checked, key: bytes) -> tuple[str, list[Any]]:
    """Return a statement and its parameters; its rows are groups, counts, and a sum for each of the units."""
    question, sums = asked.question, [(f"v{place}", units) for place, units in enumerate(asked.units)]
    names = _names(asked)
    kept, parameters = _coded(dialect, asked, *_summed(dialect, asked))
    groups = f" group by {', '.join(names)}" if names else ""
    results = [*names, "count(*) as people"]
    if question.person is None:
        results += [f"sum({_clipped(name, units)}) as sum{place}" for place, (name, units) in enumerate(sums)]
        return f"select {', '.join(results)} from {kept}{groups}", parameters
    totals = [f"{dialect.total.format(name)} as {name}" for name, _ in sums]
    spelling, order, given = _order(dialect, asked, key)
    people = f"select {', '.join(['p', *spelling, *names, *totals])} from {kept} group by {', '.join(['p', *names])}"
    clipped = [f"{_clipped(name, units)} as {name}" for name, units in sums]
    ranked = ", ".join([*names, *clipped, f"row_number() over (partition by p order by {order}) as place"])
    results += [f"sum({name}) as sum{place}" for place, (name, _) in enumerate(sums)]
    text = (
        f"select {', '.join(results)} from (select {ranked} from ({people}) as people) as ranked "
        f"where place <= {int(question.max_groups)}{groups}"
    )
    # Parameters are in the order of their marks in the text, and the key's mark is the first.
    return text, [*given, *parameters]


def histogram(dialect: Dialect, asked: Checked, place: int, key: bytes) -> tuple[str, list[Any]]:
    """Return a statement and its parameters for a column of quantiles; its rows are groups, candidates and weights."""
    question, names = asked.question, _names(asked)
    ranks = question.ranked[place]
    column = asked.columns[ranks.column]
    candidate = dialect.written(dialect.candidate(column, asked.lattices[place]))
    kept, parameters = _coded(dialect, asked, [f"{candidate} as c"], [dialect.written(dialect.is_number(column))])
    at = ", ".join([*names, "c"])
    if question.person is None:
        return f"select {at}, count(*) as weight from {kept} group by {at}", parameters
    spelling, order, given = _order(dialect, asked, key)
    people = f"select {', '.join(['p', *spelling, at])}, count(*) as n from {kept} group by p, {at}"
    of_person = f"partition by {', '.join(['p', *names])}"
    spelling = [f"min(name) over ({of_person}) as name"] * len(spelling)
    upto = f"sum(n) over ({of_person} order by c rows between unbounded preceding and current row) as upto"
    placed = f"select {', '.join(['p', *spelling, at])}, n, {upto}, sum(n) over ({of_person}) as k from ({people}) as people"
    whole = ranks.person
    weight = f"{' - '.join(dialect.quotient.format(f'({whole} * {rows})', 'k') for rows in ('upto', '(upto - n)'))}"
    ranked = f"select {at}, {weight} as weight, dense_rank() over (partition by p order by {order}) as place"
    text = (
        f"select {at}, sum(weight) as weight from ({ranked} from ({placed}) as placed) as ranked "
        f"where place <= {int(question.max_groups)} group by {at}"
    )
    return text, [*given, *parameters]


def _order(dialect: Dialect, asked: Checked, key: bytes) -> tuple[list[str], str, list[Any]]:
    """Return the order of a person's groups: the column that it needs, its expressions, and its parameters."""
    names = _names(asked)
    # A person whom the engine knows by several equal texts has one of them here; `min` costs a quarter of a query in DuckDB.
    one = asked.columns[str(asked.question.person)].kind in dialect.one_text
    name, spelling = (dialect.text.format("p"), []) if one else ("name", [f"min({dialect.text.format('p')}) as name"])
    # Two groups with one text have the same hash; the names that follow it then decide the order.
    texts = [f"coalesce({dialect.text.format(name)}, '')" for name in names]
    mark, *given = dialect.key(key)
    return spelling, ", ".join([dialect.order.format(" || '/' || ".join([mark, *texts, name])), *names]), given


def statements(dialect: Dialect, asked: Checked, key: bytes) -> list[tuple[str, list[Any]]]:
    """Return the statements of a question, with one key for all: that of counts and sums first, if there is one."""
    first = [statement(dialect, asked, key)] if asked.question.numbers else []
    return first + [histogram(dialect, asked, place, key) for place in range(len(asked.lattices))]


def columns_of(asked: Checked) -> list[list[str]]:
    """Return the names of the columns that each statement has."""
    names = _names(asked)
    first = [[*names, "people", *(f"sum{place}" for place in range(len(asked.units)))]] if asked.question.numbers else []
    return first + [[*names, CANDIDATE, WEIGHT]] * len(asked.lattices)


def _names(asked: Checked) -> list[str]:
    return [f"g{place}" for place in range(len(asked.question.by))]


def _coded(dialect: Dialect, asked: Checked, values: list[str], numbers: list[str]) -> tuple[str, list[Any]]:
    """Return the innermost statement, with values of rows that have numbers, and its parameters."""
    question, columns = asked.question, asked.columns
    results, parameters, conditions = [], [], []
    for place, group in enumerate(asked.groups.values()):
        value, given = group.code()
        parameters += given
        results.append(f"{value} as g{place}")
    if question.person is not None:
        person = dialect.written(dialect.bare(columns[question.person]))
        results.append(f"{person} as p")
        conditions.append(f"{person} is not null")
    results += values
    conditions += numbers
    source = dialect.written(asked.table)
    if asked.condition is not None:
        source = f"({dialect.kept(source, columns, asked.condition)}) as kept"
    where = f" where {' and '.join(conditions)}" if conditions else ""
    # A plain count of rows needs no column.
    coded = f"(select {', '.join(results or ['1 as one'])} from {source}{where}) as coded"
    in_lists = [f"{name} is not null" for name, group in zip(_names(asked), asked.groups.values(), strict=True) if group.labels]
    return coded + (f" where {' and '.join(in_lists)}" if in_lists else ""), parameters


def _summed(dialect: Dialect, asked: Checked) -> tuple[list[str], list[str]]:
    """Return the values that are summed, and the conditions of rows that count."""
    question, columns, values = asked.question, asked.columns, []
    number = {name: dialect.written(dialect.is_number(columns[name])) for name in question.columns}
    for place, (statistic, units) in enumerate(zip(question.summed, asked.units, strict=True)):
        column = columns[str(statistic.column)]
        value = dialect.written(dialect.truth(column, units) if column.kind == "boolean" else dialect.units(column, units))
        # A null stays null, so that it adds nothing even where the lower bound is above 0.
        values.append(f"case when {number[column.name]} then {value} end as v{place}")
    conditions = [number[name] for name in question.complete]
    if question.present:
        conditions.append(f"({' or '.join(number[name] for name in question.present)})")
    return values, conditions


def _clipped(value: str, units: Units) -> str:
    return f"case when {value} < {units.low} then {units.low} when {value} > {units.high} then {units.high} else {value} end"


def answers_of(asked: Checked, results: Sequence[list[tuple[Any, ...]]]) -> Answers:
    """Return the answers that the rows of the statements hold."""
    first = len(results) - len(asked.lattices)
    rows, weights = (results[0] if first else []), results[first:]
    if asked.question.unlisted:
        return _of_found(asked, rows, weights)
    question, width = asked.question, len(asked.question.by)
    lists = [question.groups[name] for name in question.by]
    shape = tuple(map(len, lists))
    counts, sums = np.zeros(shape, np.int64), np.zeros((len(asked.units), *shape), np.int64)
    for row in rows:
        counts[row[:width]] = row[width]
        of_group = (slice(None), *row[:width])
        sums[of_group] = [int(total or 0) for total in row[width + 1 :]]
    groups = list(itertools.product(*lists))
    codes = dict(zip(itertools.product(*(range(len(one)) for one in lists)), range(len(groups)), strict=True)) if weights else {}
    units, histograms = tuple(units.unit for units in asked.units), tuple(_histograms(codes, one) for one in weights)
    return Answers(groups, counts.ravel(), sums.reshape(-1, len(groups)), units, histograms)


def _histograms(groups: dict[tuple[Any, ...], int], rows: list[tuple[Any, ...]]) -> list[Histogram]:
    """Return the candidates and the weights of each group, in increasing order of candidates."""
    # A group that came while the data were read has no place, and is not shown.
    places = np.fromiter((groups.get(tuple(row[:-2]), -1) for row in rows), np.int64, len(rows))
    candidates, weights = np.array([row[-2:] for row in rows], np.int64).reshape(-1, 2).T
    kept = (places >= 0) & (weights > 0)
    order = np.flatnonzero(kept)[np.lexsort((candidates[kept], places[kept]))]
    starts = np.searchsorted(places[order], np.arange(1, len(groups)))
    return list(zip(np.split(candidates[order], starts), np.split(weights[order], starts), strict=True))[: len(groups)]


def _of_found(asked: Checked, rows: list[tuple[Any, ...]], weights: Sequence[list[tuple[Any, ...]]]) -> Answers:
    """Return the answers of groups that the data have, sorted by their values and not as the engine returns them."""
    of = asked.groups.values()
    rows = sorted(rows, key=lambda row: list(map(_key, row[: len(of)])))
    groups = [tuple(one.label(value) for one, value in zip(of, row, strict=False)) for row in rows]
    numbers = [[int(number or 0) for number in row[len(of) :]] for row in rows]
    columns = np.array(numbers, np.int64).reshape(-1, 1 + len(asked.units)).T.copy()
    places = {tuple(row[: len(of)]): place for place, row in enumerate(rows)}
    histograms = tuple(_histograms(places, one) for one in weights)
    return Answers(groups, columns[0], columns[1:], tuple(units.unit for units in asked.units), histograms)


def _key(value: object) -> tuple[Any, ...]:
    """Return a key that sorts values of several types, nulls first."""
    return (False,) if value is None else (True, type(value).__name__, value)
