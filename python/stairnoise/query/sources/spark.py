"""Spark: a frame of PySpark, or a table of a session. The session runs the statement; only groups leave it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from stairnoise._errors import ParameterError, outline
from stairnoise._optional import require
from stairnoise.query.condition.tree import FUNCTIONS, Condition, refused
from stairnoise.query.question import folded
from stairnoise.query.sources.dialect import Column
from stairnoise.query.sources.source import Source, SourceError, hidden, unanswered
from stairnoise.query.sources.statement import Checked
from stairnoise.query.sources.warehouses import DIALECTS

# The name of a frame to which the caller gives none.
_FRAME = "frame"
# PySpark writes errors, which can hold data, to standard error by this logger.
_LOGGER = "SQLQueryContextLogger"
_T = TypeVar("_T")
_BUILT_IN = "org.apache.spark.sql.catalyst.expressions."
_CALLED = (
    FUNCTIONS
    | {"collate", "count", "dayofweek", "dense_rank", "greatest", "hex", "isnan", "least", "min", "row_number", "sha2", "sum"}
    | {"try_add", "try_multiply", "try_subtract", "try_sum"}
)


def session() -> Any:
    """Return the active session, or start one by the settings of this machine. Its log is silent, because it can hold values."""
    sessions = require("pyspark.sql", "a table of Spark needs", "'stairnoise[spark]'").SparkSession
    quiet = {"spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}

    def problem(error: Exception) -> str:
        return f"could not be started ({type(error).__name__}); it needs a Java runtime"

    return hidden(
        lambda: sessions.getActiveSession() or sessions.builder.config(map=quiet).getOrCreate(), Exception, "Spark", problem
    )


class Spark(Source):
    """A frame of PySpark, classic or Connect, or the tables of a session.

    Spark's types are declared, although those of a frame can come from its rows, as with ``inferSchema``.
    """

    dialect = DIALECTS["spark"]

    def __init__(self, source: Any) -> None:
        self._frame = source if hasattr(source, "sparkSession") else None
        session = getattr(source, "sparkSession", source)
        if not hasattr(session, "catalog") or getattr(source, "isStreaming", False):
            raise ParameterError(f"source must be a session or a frame of PySpark that is no stream, got {outline(source)}")
        super().__init__(session)
        self._frames: dict[str, Any] = {}
        self._views: dict[str, str] = {}
        # In Spark 4.0, a temporary function takes the place of a built-in one.
        if any(not self._is_built_in(name) for name in _CALLED):
            raise SourceError("the Spark session has a function with the name of a built-in function")

    def _is_built_in(self, name: str) -> bool:
        found = self._hidden(lambda: self._con.catalog.getFunction(name).className)
        return str(found).startswith(_BUILT_IN)

    def schema(self, asked: Checked) -> dict[str, Any]:
        """Return the types of the columns, and why reading can fail."""
        return super().schema(asked) | {"lazy": "whether the frame or view can be computed"}

    def _tables(self) -> dict[str, str]:
        return {table.name: table.name for table in self._hidden(self._con.catalog.listTables)}

    def _table(self, name: str | None) -> tuple[str, Any]:
        """Return a table's name and its frame; a frame has the name that the question gives it."""
        if self._frame is not None:
            return name or _FRAME, self._frame
        if name is None:
            name, _ = super()._table(name)
        elif self._con.conf.get("spark.sql.caseSensitive") != "true":
            name = name.lower()
        if name not in self._frames:
            try:
                frame = self._hidden(lambda: self._con.table(name))
                # In Connect this looks the table up.
                self._hidden(lambda: frame.schema)
                self._frames[name] = frame
            except SourceError:
                super()._table(name)
                raise
        return name, self._frames[name]

    def _described(self, table: str | None) -> tuple[str, list[Column]]:
        name, frame = self._table(table)
        described = [(field.name, field.dataType.simpleString()) for field in self._hidden(lambda: frame.schema.fields)]
        if name not in self._views:
            view = f"stairnoise_{secrets.token_hex(16)}"
            self._hidden(lambda: frame.createOrReplaceTempView(view))
            self._open.callback(self._hidden, lambda: self._con.catalog.dropTempView(view))
            self._views[name] = self.dialect.quoted(view)
        names = [folded(name) for name, _ in described]
        if len(set(names)) < len(names):
            raise ParameterError("source must name every column once, whatever the case of letters; rename columns")
        return self._views[name], [self.dialect.column(*field) for field in described]

    def _judge(self, condition: Condition, table: str, columns: dict[str, Column]) -> None:
        """Let Spark analyse the condition: it reads names, types and constants, but no row."""
        self.dialect.judge(columns)
        try:
            self._hidden(lambda: self._con.sql(self.dialect.kept(table, columns, condition)).schema)
        except SourceError:
            raise refused("is not understood by Spark") from None

    def _rows(self, text: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return list(map(tuple, self._hidden(lambda: self._con.sql(text).collect())))

    def _hidden(self, ask: Callable[[], _T]) -> _T:
        """Replace Spark's errors, and keep PySpark from writing them."""
        logger = logging.getLogger(_LOGGER)
        before, logger.disabled = logger.disabled, True
        try:
            # PySpark raises errors of its own, of Py4J and of gRPC.
            return hidden(ask, Exception, "the Spark session", partial(unanswered, "Spark"))
        finally:
            logger.disabled = before
