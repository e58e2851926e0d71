"""What all engines have in common."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from stairnoise._errors import ParameterError, meant, received
from stairnoise.query.answers import Answers
from stairnoise.query.condition import Condition, judged
from stairnoise.query.question import Question
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.dialect import Dialect
from stairnoise.query.sources.errors import SourceError as SourceError
from stairnoise.query.sources.groups import checked_groups, values_of_texts
from stairnoise.query.sources.statement import answers_of, statement
from stairnoise.query.sources.units import Units, units_of

_ORDER_BYTES = 32


class Source(ABC):
    """A database or a file that can be asked; a context manager that closes what was opened.

    It only reads, and from one snapshot: what others write in between is not seen. Of a CSV or Parquet file that is true
    of each answer by itself.
    """

    engine: str
    dialect: Dialect
    # Whether an error may name a similar column: in a CSV file without a header, names are data.
    suggests = True

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
        _, columns = self._described(question.table)
        condition = self._condition(question, columns)
        named = {*question.by, question.person, question.column, *(condition.columns if condition else ())}
        return {"types": {column.name: column.declaration for column in columns if column.name in named}}

    def read_groups(self, table: str, column: str, texts: Sequence[str | None]) -> tuple[object, ...]:
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
        name, table, codes, units, condition = self._checked(question)
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
        units = self._checked(question)[3]
        return 1.0 if units is None else units.unit

    def _checked(self, question: Question) -> tuple[str, dict[str, Column], dict[str, list[Any]], Units | None, Condition | None]:
        """Return a table's name in SQL, its columns, the codes of the groups, the units, and the condition."""
        name, columns = self._described(question.table)
        named = [*(("by", each) for each in question.by), ("person", question.person), ("column", question.column)]
        for argument, column in named:
            if column is not None:
                self._found(question.table, columns, column, argument)
        table = {column.name: column for column in columns}
        codes = checked_groups(question, table, self.dialect.holds, self.remedy)
        units = self._units(question, table)
        condition = self._condition(question, columns)
        if condition is not None:
            self._judge(condition, name, {column: table[column] for column in condition.columns})
        return name, table, codes, units, condition

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
    def _described(self, table: str) -> tuple[str, list[Column]]:
        """Return a table's full name in SQL, and its columns."""

    @abstractmethod
    def _judge(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        """Let the engine's parser judge a condition on these columns."""

    @abstractmethod
    def _column_of(self, word: str, quoted: bool, columns: dict[str, Column]) -> str | None:
        """Return the column that a word means in this engine."""

    @abstractmethod
    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; no error repeats what the engine says."""

    def _condition(self, question: Question, columns: list[Column]) -> Condition | None:
        """Return the condition of a question, after it passed the first judge."""
        if question.where is None:
            return None
        table = {column.name: column for column in columns}
        return judged(question.where, self._proposed(columns), lambda word, quoted: self._column_of(word, quoted, table))

    def _found(self, table: str, columns: list[Column], name: str, argument: str) -> Column:
        found = next((column for column in columns if column.name == name), None)
        if found is None:
            hint = meant(name, self._proposed(columns))
            raise ParameterError(f"{argument} must name a column of {table!r}, got {received(name)}{hint}")
        return found

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


def folded(name: str) -> bytes:
    """Return what is equal for names that differ in the case of ASCII letters; SQLite and DuckDB fold no others."""
    return name.encode("utf-8", "surrogatepass").lower()


def decoded(rows: list[tuple[Any, ...]], encoding: str) -> list[tuple[Any, ...]]:
    """Return rows with texts in place of bytes, whatever these are: an error would tell that there is such a row."""
    return [tuple(each.decode(encoding, "backslashreplace") if isinstance(each, bytes) else each for each in row) for row in rows]


def require_columns(types: Mapping[str, object], columns: Sequence[str], table: str, *, propose: bool = True) -> None:
    """Require that every declared type is that of a column."""
    for name in types:
        if name not in columns:
            hint = meant(name, columns) if propose else ""
            raise ParameterError(f"types must be of columns of {table!r}, got one of {received(name)}{hint}")


def declare(column: str, type_: str) -> str:
    """Return how the type of a file's column is declared."""
    return f"declare its type, as in --type {column}={type_} or types={{{column!r}: {type_!r}}}"


def missing_table(table: str, tables: list[str]) -> ParameterError:
    """Return the error about a table that is not there."""
    hint = meant(table, tables) or (f"; its only table is {tables[0]!r}" if len(tables) == 1 else "")
    return ParameterError(f"table must be a table or view of the source, got {received(table)}{hint}")
