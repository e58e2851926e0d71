"""What all engines have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any

from stairnoise._errors import ParameterError, meant, received
from stairnoise.query.answers import Answers
from stairnoise.query.question import Question
from stairnoise.query.sources.statement import answers, statement


class Source(ABC):
    """A database or a file that can be asked; a context manager that closes what was opened."""

    engine: str

    def __init__(self, con: Any, *, owned: bool = False) -> None:
        self._con, self._owned = con, owned

    @abstractmethod
    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns."""

    def answers(self, question: Question, *, order: bytes | None = None) -> Answers:
        """Return the true answers to a question."""
        columns = self.columns(question.table)
        for name in (*question.by, question.person, question.column):
            if name is not None and name not in columns:
                raise ParameterError(f"{question.table!r} has no column {received(name)}{meant(name, columns)}")
        text, parameters = statement(question)
        return answers(question, self._con.execute(text, parameters).fetchall())

    def close(self) -> None:
        """Close what was opened."""
        if self._owned:
            self._con.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
