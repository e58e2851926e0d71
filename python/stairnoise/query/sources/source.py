"""What all engines have in common."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

from stairnoise._errors import ParameterError, meant, received
from stairnoise.query.answers import Answers
from stairnoise.query.condition import Condition, judged
from stairnoise.query.names import same
from stairnoise.query.question import Question
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.dialect import Dialect
from stairnoise.query.sources.errors import SourceError as SourceError
from stairnoise.query.sources.groups import checked_groups, values_of_texts
from stairnoise.query.sources.statement import answers_of, statement
from stairnoise.query.sources.units import Units, units_of
from stairnoise.query.types import Type

_ORDER_BYTES = 32
# So many tables are named if a question names none.
_SHOWN = 5

_Value = TypeVar("_Value")


class Source(ABC):
    """A database or a file that can be asked; a context manager that closes what was opened.

    It only reads, and from one snapshot: what others write in between is not seen. Of a CSV or Parquet file that is true
    of each answer by itself.
    """

    engine: str
    dialect: Dialect
    # Whether an error may name a similar column: in a CSV file without a header, names are data.
    suggests = True

    def resolved(self, question: Question) -> Question:
        """Return a question with the names of the schema: one question has one address, however its names are written.

        A question without a table is about the only one.

        Raises
        ------
        ParameterError
            There is no such table or column; the text names a similar one.
        SourceError
            The source cannot be read.
        """
        table, _ = self._table(question.table)
        columns = self._described(table)[1]

        def named(argument: str, name: str) -> str:
            return self._found(table, columns, name, argument).name

        return replace(
            question,
            table=table,
            by=tuple(named("by", name) for name in question.by),
            person=None if question.person is None else named("person", question.person),
            column=None if question.column is None else named("column", question.column),
            groups={named("groups", name): values for name, values in question.groups.items()},
            reading=replace(
                question.reading, types={named("types", name): type_ for name, type_ in question.reading.types.items()}
            ),
        )

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns.

        Raises
        ------
        ParameterError
            There is no such table; the text names a similar one.
        SourceError
            The source cannot be read.
        """
        return [column.name for column in self._described(table)[1]]

    def schema(self, question: Question) -> dict[str, Any]:
        """Return what is public about the columns of a question: their declared types, and how a file is read."""
        question = self.resolved(question)
        _, columns = self._described(question.table)
        condition = self._condition(question, columns)
        named = {*question.by, question.person, question.column, *(condition.columns if condition else ())}
        return {"types": {column.name: column.declaration for column in columns if column.name in named}}

    def types(self, question: Question) -> list[Type]:
        """Return the types of the columns of groups."""
        question = self.resolved(question)
        columns = {column.name: column for column in self._described(question.table)[1]}
        return [self.dialect.type(columns[name], question.groups.get(name, ())) for name in question.by]

    def read_groups(self, table: str | None, column: str, texts: Sequence[str | None]) -> tuple[object, ...]:
        """Return the groups that texts mean, as a command line has them.

        Texts for a column of integers, bools or dates are read as such: ``12``, ``true`` or ``false``, ``2026-11-23``. None
        means null.

        Raises
        ------
        ParameterError
            There is no such table or column, or a text is not of the column's type.
        """
        return values_of_texts(self._found(table, self._described(table)[1], column, "groups"), texts)

    def answers(self, question: Question, *, order: bytes | None = None) -> Answers:
        """Return the true answers to a question.

        Parameters
        ----------
        question : Question
            It is checked before its statement runs.
        order : bytes, optional
            Decides which `max_groups` groups of a person count. By default it is new for each call. With the same one the
            answers repeat; `order_of` derives one from a `KeyedRng`.

        Raises
        ------
        ParameterError
            A table, a column, a group, the bounds or the condition is not allowed. No text holds data.
        SourceError
            The source cannot be read.
        """
        question, name, table, codes, units, condition = self._checked(question)
        key = secrets.token_bytes(_ORDER_BYTES) if order is None else order
        text, parameters = statement(self.dialect, question, name, table, codes, units, condition, key)
        return answers_of(question, table, self._rows(text, parameters), units)

    def unit(self, question: Question) -> float:
        """Check a question against the declared schema, and return the unit of its sums; no row is read.

        Raises
        ------
        ParameterError, SourceError
            As in `answers`.
        """
        units = self._checked(question)[4]
        return 1.0 if units is None else units.unit

    def _checked(
        self, question: Question
    ) -> tuple[Question, str, dict[str, Column], dict[str, list[Any]], Units | None, Condition | None]:
        """Return the question as `resolved`, its table's name in SQL and columns, the codes of the groups, units, condition."""
        question = self.resolved(question)
        name, columns = self._described(question.table)
        table = {column.name: column for column in columns}
        codes = checked_groups(question, table, self.dialect.holds, self.remedy)
        units = self._units(question, table)
        condition = self._condition(question, columns)
        if condition is not None:
            self._judge(condition, name, {column: table[column] for column in condition.columns})
        return question, name, table, codes, units, condition

    def remedy(self, column: str, type_: str) -> str:
        """Return what to do about a column that has another type than a question needs."""
        return f"make a view in which it has the type {type_}"

    @abstractmethod
    def close(self) -> None:
        """Close what was opened."""

    def __enter__(self) -> Source:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
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

    def _column_of(self, word: str, quoted: bool, columns: dict[str, Column]) -> str | None:
        """Return the column that a word of a condition means in this engine."""
        return same(word, columns)

    @abstractmethod
    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; no error repeats what the engine says."""

    def _condition(self, question: Question, columns: list[Column]) -> Condition | None:
        """Return the condition of a question, after it passed the first judge."""
        if question.where is None:
            return None
        table = {column.name: column for column in columns}
        return judged(question.where, self._proposed(columns), lambda word, quoted: self._column_of(word, quoted, table))

    def _table(self, name: str | None) -> tuple[str, Any]:
        """Return the name and the entry in `_tables` of a table, or of the only one."""
        tables = self._tables()
        found = _only(tables) if name is None else self._named(name, tables)
        if found is None:
            raise missing_table(str(name), list(tables))
        return found, tables[found]

    def _found(self, table: str | None, columns: list[Column], name: str, argument: str) -> Column:
        by_name = {column.name: column for column in columns}
        found = self._named(name, by_name)
        if found is None:
            hint = meant(name, self._proposed(columns))
            raise ParameterError(f"{argument} must name a column of {table!r}, got {received(name)}{hint}")
        return by_name[found]

    def _proposed(self, columns: list[Column]) -> list[str]:
        return [column.name for column in columns] if self.suggests else []

    def _units(self, question: Question, table: dict[str, Column]) -> Units | None:
        if question.statistic == "count":
            return None
        if question.column is None or question.bounds is None:
            raise ParameterError(f"column and bounds must be given for a {question.statistic}")
        column = table[question.column]
        if not column.summable:
            raise ParameterError(
                f"column must be numeric for a {question.statistic}; {column.name!r} is declared as "
                f"{column.declaration or 'nothing'}: {self.remedy(column.name, 'real')}"
            )
        return units_of(question.bounds, whole=column.kind == "integer")


def _only(tables: Mapping[str, Hashable]) -> str:
    """Return the shortest name of the only table."""
    names = {tables[name]: name for name in sorted(tables, key=len, reverse=True)}
    if len(names) == 1:
        return names.popitem()[1]
    listed = ", ".join(map(repr, sorted(names.values())[:_SHOWN]))
    count = f"has {len(names)}: {listed}{', ...' if len(names) > _SHOWN else ''}" if names else "has none"
    raise ParameterError(f"table must be given unless the source has exactly one, but it {count}")


def decoded(rows: list[tuple[Any, ...]], encoding: str) -> list[tuple[Any, ...]]:
    """Return rows with texts in place of bytes, whatever these are: an error would tell that there is such a row."""
    return [
        tuple(value.decode(encoding, "backslashreplace") if isinstance(value, bytes) else value for value in row) for row in rows
    ]


def types_of_columns(
    types: Mapping[str, _Value], columns: Sequence[str], table: str, *, propose: bool = True
) -> dict[str, _Value]:
    """Return declared types by the columns that they are of."""
    found: dict[str, _Value] = {}
    for name, type_ in types.items():
        column = same(name, columns)
        if column is None:
            hint = meant(name, columns) if propose else ""
            raise ParameterError(f"types must be of columns of {table!r}, got one of {received(name)}{hint}")
        if column in found:
            raise ParameterError(f"types must name every column once, got {received(name)} twice")
        found[column] = type_
    return found


def declare(column: str, type_: str) -> str:
    """Return how the type of a file's column is declared."""
    return f"declare its type, as in --type {column}={type_} or types={{{column!r}: {type_!r}}}"


def missing_table(table: str, tables: list[str]) -> ParameterError:
    """Return the error about a table that is not there."""
    hint = meant(table, tables) or (f"; its only table is {tables[0]!r}" if len(tables) == 1 else "")
    return ParameterError(f"table must be a table or view of the source, got {received(table)}{hint}")
