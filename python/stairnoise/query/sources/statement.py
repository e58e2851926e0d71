"""A question as one SQL statement, and its rows as answers.

The statement reads from the inside out. `kept` are the rows that fulfil the condition. In `coded` a listed group is its
place in the list, so no other value of the data leaves the engine. With a person column, `people` has one row for each
person and group, and `ranked` a person's groups in an order that depends on nothing but the key and that person's rows::

    select g0, count(*), sum(v) from (ranked) where rank <= K group by g0
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise.query.answers import Answers
from stairnoise.query.condition import Condition
from stairnoise.query.question import Question
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.dialect import Dialect
from stairnoise.query.sources.units import Units


def statement(
    dialect: Dialect,
    question: Question,
    table: str,
    columns: dict[str, Column],
    listed: dict[str, list[Any]],
    units: Units | None,
    condition: Condition | None,
    key: bytes,
) -> tuple[str, list[Any]]:
    """Return a statement and its parameters; its rows are groups, counts, and sums if there are units."""
    names = [f"g{place}" for place in range(len(question.by))]
    source = dialect.written(table)
    if condition is not None:
        source = f"({dialect.kept(source, columns, condition)}) as kept"
    values, parameters = _coded(dialect, question, columns, listed, units)
    coded = f"select {', '.join(values)} from {source}{_conditions(dialect, question, columns, units)}"
    in_lists = [f"{name} is not null" for name, column in zip(names, question.by, strict=True) if column in listed]
    inside = f" where {' and '.join(in_lists)}" if in_lists else ""
    groups = f" group by {', '.join(names)}" if names else ""
    results = [*names, "count(*)"]
    if question.person is None:
        if units is not None:
            results.append(f"sum({_clipped('v', units)})")
        return f"select {', '.join(results)} from ({coded}) as coded{inside}{groups}", parameters
    total = [] if units is None else [f"{_clipped('sum(v)', units)} as v"]
    # One text for a person, should several spellings be equal to the engine.
    person = f"min({dialect.text('p')}) as name"
    people = (
        f"select {', '.join(['p', person, *names, *total])} from ({coded}) as coded{inside} group by {', '.join(['p', *names])}"
    )
    order = dialect.order(" || '/' || ".join([dialect.mark, *(_named(dialect, name) for name in names), "name"]))
    summed = [] if units is None else ["v"]
    rank = f"row_number() over (partition by p order by {', '.join([order, *names])}) as place"
    ranked = f"select {', '.join([*names, *summed, rank])} from ({people}) as people"
    results += [f"sum({value})" for value in summed]
    text = f"select {', '.join(results)} from ({ranked}) as ranked where place <= {int(question.max_groups)}{groups}"
    # The marks stand in the order of the text: the key comes first.
    return text, [key.hex(), *parameters]


def _coded(
    dialect: Dialect,
    question: Question,
    columns: dict[str, Column],
    listed: dict[str, list[Any]],
    units: Units | None,
) -> tuple[list[str], list[Any]]:
    """Return the results of `coded` and their parameters."""
    results, parameters = [], []
    for place, name in enumerate(question.by):
        value = dialect.written(dialect.found(columns[name]))
        if name in listed:
            value, given = dialect.code(columns[name], listed[name])
            parameters += given
        results.append(f"{value} as g{place}")
    if question.person is not None:
        results.append(f"{dialect.written(dialect.bare(columns[question.person]))} as p")
    if units is not None and question.column is not None:
        results.append(f"{dialect.written(dialect.units(columns[question.column], units))} as v")
    # Without groups, people or sums, rows are all there is.
    return results or ["1 as one"], parameters


def _conditions(dialect: Dialect, question: Question, columns: dict[str, Column], units: Units | None) -> str:
    found = []
    if question.person is not None:
        found.append(f"{dialect.written(dialect.bare(columns[question.person]))} is not null")
    if units is not None and question.column is not None:
        found.append(dialect.written(dialect.is_number(columns[question.column])))
    return f" where {' and '.join(found)}" if found else ""


def _named(dialect: Dialect, group: str) -> str:
    """Return a group as a text for the order; two with one text are told apart by what the order goes on with."""
    return f"coalesce({dialect.text(group)}, '')"


def _clipped(value: str, units: Units) -> str:
    return f"case when {value} < {units.low} then {units.low} when {value} > {units.high} then {units.high} else {value} end"


def answers_of(question: Question, columns: dict[str, Column], rows: list[tuple[Any, ...]], units: Units | None) -> Answers:
    """Return the answers that rows hold."""
    unit = 1.0 if units is None else units.unit
    if any(name not in question.groups for name in question.by):
        return _of_found(question, columns, rows, units)
    lists = [tuple(question.groups[name]) for name in question.by]
    shape = [len(listed) for listed in lists]
    counts, sums = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row in rows:
        group = tuple(row[: len(shape)])
        counts[group] = row[len(shape)]
        if units is not None:
            sums[group] = int(row[len(shape) + 1] or 0)
    return Answers(list(itertools.product(*lists)), counts.ravel(), None if units is None else sums.ravel(), unit)


def _of_found(question: Question, columns: dict[str, Column], rows: list[tuple[Any, ...]], units: Units | None) -> Answers:
    """Return the answers of groups that the data have, in an order of their values and not of the data."""
    width = len(question.by)
    groups = [
        tuple(_value(question, columns[name], value) for name, value in zip(question.by, row[:width], strict=True))
        for row in rows
    ]
    listed = {name: {_key(value): place for place, value in enumerate(question.groups[name])} for name in question.groups}
    order = sorted(
        range(len(rows)),
        key=lambda row: tuple(
            (listed[name][_key(value)],) if name in listed else _key(value)
            for name, value in zip(question.by, groups[row], strict=True)
        ),
    )
    return Answers(
        [groups[row] for row in order],
        _column(rows, order, width),
        None if units is None else _column(rows, order, width + 1),
        1.0 if units is None else units.unit,
    )


def _value(question: Question, column: Column, value: Any) -> Any:
    """Return the group that a row has: of a list its place, else its value; SQLite has 0 and 1 for bools."""
    if column.name in question.groups:
        return question.groups[column.name][value]
    return bool(value) if column.kind == "boolean" and value is not None else value


def _key(value: object) -> tuple[Any, ...]:
    return (value is not None, type(value).__name__, value) if value is not None else (False,)


def _column(rows: list[tuple[Any, ...]], order: list[int], place: int) -> NDArray[np.int64]:
    return np.array([int(rows[row][place]) for row in order], np.int64)
