"""A question as one SQL statement, and its rows as answers.

The statement reads from the inside out. `kept` are the rows that fulfil the condition. In `coded` a listed group is its index
in the list, so no other value of the data leaves the engine. With a person column, `people` has one row for each person and
group, and `ranked` orders a person's groups by nothing but the key and that person's rows::

    select g0, count(*), sum(v) from (ranked) where rank <= K group by g0
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from stairnoise.query.answers import Answers
from stairnoise.query.condition import Condition
from stairnoise.query.question import Question
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.dialect import Dialect
from stairnoise.query.sources.grouped import Grouped
from stairnoise.query.sources.units import Units


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


def statement(dialect: Dialect, asked: Checked, key: bytes) -> tuple[str, list[Any]]:
    """Return a statement and its parameters; its rows are groups, counts, and a sum for each of the units."""
    question, sums = asked.question, [(f"v{place}", units) for place, units in enumerate(asked.units)]
    names = [f"g{place}" for place in range(len(question.by))]
    coded, parameters = _coded(dialect, asked)
    in_lists = [f"{name} is not null" for name, group in zip(names, asked.groups.values(), strict=True) if group.labels]
    kept = f"({coded}) as coded" + (f" where {' and '.join(in_lists)}" if in_lists else "")
    groups = f" group by {', '.join(names)}" if names else ""
    results = [*names, "count(*) as people"]
    if question.person is None:
        results += [f"sum({_clipped(name, units)}) as sum{place}" for place, (name, units) in enumerate(sums)]
        return f"select {', '.join(results)} from {kept}{groups}", parameters
    totals = [f"{dialect.total(name)} as {name}" for name, _ in sums]
    # A person whom the engine knows by several equal texts has one of them here; `min` costs a quarter of a query in DuckDB.
    one = dialect.has_one_text(asked.columns[question.person])
    name, spelling = (dialect.text("p"), []) if one else ("name", [f"min({dialect.text('p')}) as name"])
    people = f"select {', '.join(['p', *spelling, *names, *totals])} from {kept} group by {', '.join(['p', *names])}"
    # Two groups with one text have the same hash; the names that follow it then decide the order.
    texts = [f"coalesce({dialect.text(name)}, '')" for name in names]
    mark, *given = dialect.key(key)
    order = ", ".join([dialect.order(" || '/' || ".join([mark, *texts, name])), *names])
    clipped = [f"{_clipped(name, units)} as {name}" for name, units in sums]
    ranked = ", ".join([*names, *clipped, f"row_number() over (partition by p order by {order}) as place"])
    results += [f"sum({name}) as sum{place}" for place, (name, _) in enumerate(sums)]
    text = (
        f"select {', '.join(results)} from (select {ranked} from ({people}) as people) as ranked "
        f"where place <= {int(question.max_groups)}{groups}"
    )
    # Parameters are in the order of their marks in the text, and the key's mark is the first.
    return text, [*given, *parameters]


def columns_of(asked: Checked) -> list[str]:
    """Return the names of the columns that a statement has."""
    return (
        [f"g{place}" for place in range(len(asked.question.by))]
        + ["people"]
        + [f"sum{place}" for place in range(len(asked.units))]
    )


def _coded(dialect: Dialect, asked: Checked) -> tuple[str, list[Any]]:
    """Return the innermost statement and its parameters."""
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
    number = {one.column: dialect.written(dialect.is_number(columns[str(one.column)])) for one in question.summed}
    for place, (statistic, units) in enumerate(zip(question.summed, asked.units, strict=True)):
        column = columns[str(statistic.column)]
        value = dialect.written(dialect.truth(column, units) if column.kind == "boolean" else dialect.units(column, units))
        # A null stays null, so that it adds nothing even where the lower bound is above 0.
        results.append(f"case when {number[statistic.column]} then {value} end as v{place}")
    conditions += [number[name] for name in question.complete]
    if question.present:
        conditions.append(f"({' or '.join(number[name] for name in question.present)})")
    source = dialect.written(asked.table)
    if asked.condition is not None:
        source = f"({dialect.kept(source, columns, asked.condition)}) as kept"
    where = f" where {' and '.join(conditions)}" if conditions else ""
    # A plain count of rows needs no column.
    return f"select {', '.join(results or ['1 as one'])} from {source}{where}", parameters


def _clipped(value: str, units: Units) -> str:
    return f"case when {value} < {units.low} then {units.low} when {value} > {units.high} then {units.high} else {value} end"


def answers_of(asked: Checked, rows: list[tuple[Any, ...]]) -> Answers:
    """Return the answers that rows hold."""
    question, width = asked.question, len(asked.question.by)
    if question.unlisted:
        return _of_found(asked, rows)
    lists = [question.groups[name] for name in question.by]
    shape = tuple(map(len, lists))
    counts, sums = np.zeros(shape, np.int64), np.zeros((len(asked.units), *shape), np.int64)
    for row in rows:
        counts[row[:width]] = row[width]
        of_group = (slice(None), *row[:width])
        sums[of_group] = [int(total or 0) for total in row[width + 1 :]]
    groups = list(itertools.product(*lists))
    return Answers(groups, counts.ravel(), sums.reshape(-1, len(groups)), tuple(units.unit for units in asked.units))


def _of_found(asked: Checked, rows: list[tuple[Any, ...]]) -> Answers:
    """Return the answers of groups that the data have, sorted by their values and not as the engine returns them."""
    of = asked.groups.values()
    rows = sorted(rows, key=lambda row: list(map(_key, row[: len(of)])))
    groups = [tuple(one.label(value) for one, value in zip(of, row, strict=False)) for row in rows]
    numbers = [[int(number or 0) for number in row[len(of) :]] for row in rows]
    columns = np.array(numbers, np.int64).reshape(-1, 1 + len(asked.units)).T.copy()
    return Answers(groups, columns[0], columns[1:], tuple(units.unit for units in asked.units))


def _key(value: object) -> tuple[Any, ...]:
    """Return a key that sorts values of several types, nulls first."""
    return (False,) if value is None else (True, type(value).__name__, value)
