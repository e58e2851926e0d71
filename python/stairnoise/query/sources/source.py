"""What all engines have in common."""

from __future__ import annotations

import contextlib
import secrets
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from stairnoise._errors import ParameterError, ParameterTypeError, StairnoiseError, check, meant, received
from stairnoise.quantiles.lattice import Lattice, lattice
from stairnoise.query.answers import Answers
from stairnoise.query.condition.judge import judged
from stairnoise.query.condition.tree import Condition, Name
from stairnoise.query.groupings import Bins, Grouping, part_of
from stairnoise.query.question import Question, same
from stairnoise.query.sources.dialect import LARGEST, Column, Dialect, Units, units_of
from stairnoise.query.sources.groups import checked_groups, values_of_texts
from stairnoise.query.sources.statement import Checked, answers_of, statements
from stairnoise.query.statistics import Ranks, Statistic
from stairnoise.query.types import Type

_ORDER_BYTES = 32
# Candidates of a default step. An engine returns a row for each group and candidate that occur.
MOST_CANDIDATES = 10_001
# If a question names no table, the error lists at most this many.
_SHOWN = 5

_Value = TypeVar("_Value")


class SourceError(StairnoiseError):
    """A source that cannot be read: missing, locked, not a database, or an error inside the engine.

    What an engine says about a failed statement is not repeated, because it may hold data.
    """

    __module__ = "stairnoise.query"


class Source(contextlib.AbstractContextManager["Source"]):
    """A database or a file that can be asked; a context manager that closes what was opened.

    It only reads, and from one snapshot: what others write in between is not seen. Of DuckDB, and of
    a CSV or Parquet file, each statement has a snapshot of its own.
    """

    dialect: Dialect
    remedies = "make a view in which it has the type {1}"
    # Whether an error may suggest a similar column: in a CSV file without a header, names are data.
    suggests = True

    def __init__(self, con: Any, path: Path | None = None) -> None:
        self._con, self._path = con, path
        self._name = "the database" if path is None else repr(str(path))
        self._open = contextlib.ExitStack()

    def close(self) -> None:
        """End the snapshot, and close what was opened."""
        self._open.close()

    def resolved(self, question: Question) -> Question:
        """Return a question with the names of the schema: one question has one address, however its names are written.

        A question without a table is about the only one.

        Raises
        ------
        ParameterError
            There is no such table or column; the text suggests a similar one.
        SourceError
            The source cannot be read.
        """
        table, _ = self._table(question.table)
        columns = self._described(table)[1]

        def named(argument: str, name: str) -> str:
            return self._found(table, columns, name, argument).name

        def grouped(argument: str, name: str) -> str:
            """Return the name of a column, or of a part of one."""
            part = part_of(name) if self._named(name, known) is None else None
            return named(argument, name) if part is None else replace(part, column=named(argument, part.column)).name

        known = [column.name for column in columns]
        bins = [one for one in question.groupings.values() if isinstance(one, Bins)]
        groupings: dict[str, Grouping] = {(name := named("bins", one.column)): replace(one, column=name) for one in bins}
        by = tuple(grouped("by", name) for name in question.by)
        check(len(set(by)) == len(by), "by must name every column once", by)
        parts = {name: part for name in by if name not in known and (part := part_of(name)) is not None}
        groups = {grouped("groups", name): values for name, values in question.groups.items()}
        reading = replace(question.reading, types={named("types", name): type_ for name, type_ in question.reading.types.items()})
        groups |= {name: part.listed(groups[name]) for name, part in parts.items() if name in groups}
        person = None if question.person is None else named("person", question.person)
        found = [
            one if one.column is None else replace(one, column=named(question.argument(one), one.column))
            for one in question.statistics
        ]
        in_schema: dict[str, Any] = {"table": table, "by": by, "groups": groups, "groupings": groupings | parts, "person": person}
        return replace(question, statistics=tuple(found), reading=reading, **in_schema)

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns.

        Raises
        ------
        ParameterError
            There is no such table; the text suggests a similar one.
        SourceError
            The source cannot be read.
        """
        return [column.name for column in self._described(table)[1]]

    def checked(self, question: Question) -> Checked:
        """Check a question against the declared schema; no row is read.

        Raises
        ------
        ParameterError
            A table, a column, a group, the bounds or the condition is not allowed. No text holds data.
        SourceError
            The source cannot be read.
        """
        question = self.resolved(question)
        name, described = self._described(question.table)
        columns = {column.name: column for column in described}
        statistics = tuple(self._bounded(question, one, columns) for one in question.statistics)
        question = replace(question, statistics=statistics)
        groups = checked_groups(question, columns, self.dialect, self.remedy)
        units, condition = [self._units(question, one, columns) for one in question.summed], None
        lattices = [self._lattice(question, one, columns) for one in question.ranked]
        if question.where is not None:

            def name_of(word: str, quoted: bool) -> Name | None:
                found = self._column_of(word, quoted, columns)
                return None if found is None else Name(self.dialect.kind(columns[found]), found)

            # The remedy does not name the column, because that would show how a file without a header spells it.
            proposed = list(columns) if self.suggests else []
            condition = judged(question.where, proposed, name_of, lambda type_: self.remedy("COLUMN", type_))
            self._judge(condition, name, {column: columns[column] for column in condition.columns})
        return Checked(question, name, columns, groups, units, condition, lattices)

    def schema(self, asked: Checked) -> dict[str, Any]:
        """Return what is public about the columns of a question: their declared types, and how a file is read."""
        used = asked.used
        return {"types": {name: column.declaration for name, column in asked.columns.items() if name in used}}

    def types(self, asked: Checked) -> list[Type]:
        """Return the types of the columns of groups."""
        return [group.type for group in asked.groups.values()]

    def read_groups(self, table: str | None, column: str, texts: Sequence[str | None]) -> tuple[object, ...]:
        """Return the groups that texts of a command line mean.

        For a column of integers, bools or dates they are such as ``12``, ``true`` or ``false``, ``2026-11-23``. None means null.

        Raises
        ------
        ParameterError
            There is no such table or column, or a text is not of the column's type.
        """
        return values_of_texts(self._found(table, self._described(table)[1], column, "groups"), texts)

    def answers(self, asked: Question | Checked, *, order: bytes | None = None) -> Answers:
        """Return the true answers to a question.

        Parameters
        ----------
        asked : Question or Checked
            A question that is not yet checked is checked first.
        order : bytes, optional
            Decides which `max_groups` groups of a person count. By default it is new for each call. The same order gives the
            same answers; `order_of` derives one from a `KeyedRng`.

        Raises
        ------
        ParameterError, SourceError
            As in `checked`.
        """
        found = asked if isinstance(asked, Checked) else self.checked(asked)
        return answers_of(found, [self._answered(found, *one) for one in self.statements(found, order)])

    def statements(self, asked: Checked, order: bytes | None) -> list[tuple[str, list[Any]]]:
        """Return the statements that have the true answers, with their parameters."""
        return statements(self.dialect, asked, secrets.token_bytes(_ORDER_BYTES) if order is None else order)

    def _answered(self, asked: Checked, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of one of the statements."""
        return self._rows(text, parameters)

    def remedy(self, column: str, type_: str) -> str:
        """Return what to do about a column that has another type than a question needs."""
        return self.remedies.format(column, type_)

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _tables(self) -> Mapping[str, Hashable]:
        """Return tables and views by every name that a question may give them."""

    @abstractmethod
    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        """Return a table's full name in SQL, and its columns."""

    @abstractmethod
    def _judge(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        """Let the engine's parser judge a condition on these columns."""

    def _named(self, name: str, known: Iterable[str]) -> str | None:
        """Return the known name that a name stands for in this engine."""
        return same(name, known)

    def _column_of(self, word: str, quoted: bool, columns: Iterable[str]) -> str | None:
        """Return the column that a word of a condition means in this engine."""
        return same(word, columns)

    @abstractmethod
    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; no error repeats what the engine says."""

    def _table(self, name: str | None) -> tuple[str, Any]:
        """Return the name and the entry in `_tables` of a table, or of the only one."""
        tables = self._tables()
        found = _only(tables) if name is None else self._named(name, tables)
        if found is None:
            hint = meant(name, tables) or (f"; its only table is {next(iter(tables))!r}" if len(tables) == 1 else "")
            raise ParameterError(f"table must be a table or view of the source, got {received(name)}{hint}")
        return found, tables[found]

    def _found(self, table: str | None, columns: list[Column], name: str, argument: str) -> Column:
        by_name = {column.name: column for column in columns}
        found = self._named(name, by_name)
        if found is None:
            hint = meant(name, by_name if self.suggests else ())
            raise ParameterError(f"{argument} must name a column of {table!r}, got {received(name)}{hint}")
        return by_name[found]

    def _bounded(self, question: Question, statistic: Statistic, columns: dict[str, Column]) -> Statistic:
        """Return a statistic with its bounds: those of bools are 0 and 1."""
        if not statistic.sums or statistic.bounds is not None:
            return statistic
        column = columns[str(statistic.column)]
        if column.kind == "boolean":
            return replace(statistic, bounds=(0.0, 1.0))
        name = "bounds" if len(question.statistics) == 1 else f"bounds of {column.name!r}"
        raise ParameterTypeError(
            f"{name} must be given for a {statistic.kind}: without limits one person could move it by any amount, got None; "
            f"for a column of bools, {self.remedy(column.name, 'boolean')}"
        )

    def _lattice(self, question: Question, ranks: Ranks, columns: dict[str, Column]) -> Lattice:
        statistic = ranks.quantiles[0]
        column = self._of_numbers(question, statistic, columns, but="boolean")
        assert statistic.bounds is not None
        check(max(map(abs, statistic.bounds)) <= LARGEST, f"bounds must be at most 2**100 in size, got {statistic.bounds}")
        found = lattice(statistic.bounds, statistic.step, None, whole=column.kind == "integer", most=MOST_CANDIDATES)
        if (np.diff(found.points) <= 0).any():
            raise ParameterError(f"bounds must be farther apart than numbers next to each other, got {statistic.bounds}")
        return found

    def _of_numbers(self, question: Question, statistic: Statistic, columns: dict[str, Column], but: str = "") -> Column:
        column = columns[str(statistic.column)]
        if not column.summable or column.kind == but:
            how = self.remedy(column.name, "real")
            raise ParameterError(f"{question.argument(statistic)} must be of numbers; {column.described}: {how}")
        return column

    def _units(self, question: Question, statistic: Statistic, columns: dict[str, Column]) -> Units:
        column = self._of_numbers(question, statistic, columns)
        assert statistic.bounds is not None
        units = units_of(statistic.bounds, whole=column.kind in ("integer", "boolean"))
        # The middle of 0 and 1 is a multiple of 1/2: a person changes the sum of differences from it by 1/2 only.
        halved = column.kind == "boolean" and statistic.counts and units.unit == 1
        return Units(units.unit / 2, 2 * units.low, 2 * units.high) if halved else units


def _only(tables: Mapping[str, Hashable]) -> str:
    """Return the shortest name of the only table."""
    names = {tables[name]: name for name in sorted(tables, key=len, reverse=True)}
    if len(names) == 1:
        return names.popitem()[1]
    listed = ", ".join(map(repr, sorted(names.values())[:_SHOWN]))
    count = f"has {len(names)}: {listed}{', ...' if len(names) > _SHOWN else ''}" if names else "has none"
    raise ParameterError(f"table must be given unless the source has exactly one, but it {count}")


def unanswered(engine: str, error: BaseException) -> str:
    """Return the end of an error about a statement that failed, without the engine's own text."""
    return f"could not answer ({type(error).__name__}; what {engine} says is not shown, because it may hold data)"


def hidden(ask: Callable[[], _Value], errors: Any, source: str, problem: Callable[[Any], str | None]) -> _Value:
    """Return a result, or raise an error that neither repeats nor refers to the engine's, because that may hold data.

    `problem` describes an error of the engine, and returns None for Ctrl-C.
    """
    try:
        return ask()
    except errors as error:
        told = problem(error)
    if told is None:
        raise KeyboardInterrupt
    raise SourceError(f"{source} {told}")


def decoded(rows: list[tuple[Any, ...]], encoding: str) -> list[tuple[Any, ...]]:
    """Return rows with texts instead of bytes, whatever the bytes are: an error would reveal that there is such a row."""
    return [
        tuple(value.decode(encoding, "backslashreplace") if isinstance(value, bytes) else value for value in row) for row in rows
    ]


def types_of_columns(
    types: Mapping[str, _Value], columns: Sequence[str], table: str, *, propose: bool = True
) -> dict[str, _Value]:
    """Return declared types by the schema's names of their columns."""
    found: dict[str, _Value] = {}
    for name, type_ in types.items():
        column = same(name, columns)
        if column is None:
            hint = meant(name, columns) if propose else ""
            raise ParameterError(f"types must be of columns of {table!r}, got one of {received(name)}{hint}")
        check(column not in found, f"types must name every column once, got {received(name)} twice")
        found[column] = type_
    return found
