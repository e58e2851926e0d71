"""A table of a warehouse that is only described: the statement about it is run by another client."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stairnoise._errors import ParameterError, ParameterTypeError, meant, outline, received
from stairnoise.query.condition.tree import Condition
from stairnoise.query.question import Question, folded
from stairnoise.query.sources.column import Column
from stairnoise.query.sources.source import Source
from stairnoise.query.sources.statement import Checked
from stairnoise.query.sources.warehouses import DIALECTS, TryDialect

# A name in quotes, or a part of a name without them.
_NAME = r'"(?:[^"]|"")+"|`[^`]+`|[^."`]+'
_NAMES = re.compile(rf"({_NAME})(?:\.({_NAME}))?(?:\.({_NAME}))?")


class Described(Source):
    """A table with the declared types of its columns."""

    dialect: TryDialect

    def __init__(self, dialect: object, table: object, schema: object) -> None:
        super().__init__(None)
        self.dialect = _dialect(dialect)
        names = _NAMES.fullmatch(table) if isinstance(table, str) else None
        if names is None:
            raise ParameterError(f"table must be a name of one to three parts with dots between them, got {received(table)}")
        self._name = ".".join(self.dialect.quoted(self._own(name)) for name in names.groups() if name is not None)
        if not isinstance(schema, Mapping) or not all(isinstance(text, str) for field in schema.items() for text in field):
            raise ParameterTypeError(f"schema must be a dict of the columns' types, as declared, got {outline(schema)}")
        self._columns = [self.dialect.column(self._own(name), type_) for name, type_ in schema.items()]
        if len({folded(column.name) for column in self._columns}) < len(self._columns):
            raise ParameterError("schema must name every column once, whatever the case of letters")
        self._table_name = str(table)

    def _own(self, name: str) -> str:
        """Return a name as the engine stores it."""
        if name[:1] in ('"', "`") and len(name) > 1:
            return name[1:-1].replace('""', '"')
        return self.dialect.folded(name)

    def _tables(self) -> dict[str, str]:
        return {self._table_name: self._name}

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        return self._name, self._columns

    def checked(self, question: Question) -> Checked:
        """Check a question; some warehouses neither partition by floats nor have a text of every value of other types."""
        found = super().checked(question)
        others = ("real", "timestamp", "other")
        if question.person is not None and (column := found.columns[found.question.person or ""]).kind in others:
            raise ParameterError(
                f"person must be a column of integers, texts, decimals, bools or dates; {column.name!r} is declared as "
                f"{column.declaration}"
            )
        return found

    def schema(self, asked: Checked) -> dict[str, Any]:
        """Return the declared types, and who saw the answers."""
        seen = "the exact answers that the statement's client has seen, and the statement with its salt in the warehouse's log"
        return super().schema(asked) | {"dialect": self.dialect.name, "answers": seen}

    def _judge(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        self.dialect.judge(columns)

    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        raise AssertionError("another client runs the statement")


def _dialect(name: object) -> TryDialect:
    if not isinstance(name, str) or name not in DIALECTS:
        hint = meant(name, DIALECTS) if isinstance(name, str) else ""
        raise ParameterError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, got {received(name)}{hint}")
    return DIALECTS[name]
