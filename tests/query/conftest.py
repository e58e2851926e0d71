"""Fixtures that make one table in every engine."""

import contextlib
import importlib.util
import os
import shutil
import sqlite3

import pytest

from stairnoise.query.sources import open_source
from tests.query import server
from tests.query.engines import ENGINES

# The column types of these tests, by each engine's own names.
TYPES = {"DuckDB": {"text": "varchar"}, "PostgreSQL": {"double": "double precision"}}
TYPES["Spark"] = {"text": "string", "varchar collate nocase": "string collate UTF8_LCASE"}


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session of Spark with one thread."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs a Java runtime")
    from pyspark.sql import SparkSession

    options = {
        "spark.master": "local[1]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.sql.shuffle.partitions": "1",
        # Statements about few rows take less time without compiled code.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    session = SparkSession.builder.config(map=options).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgresql():
    """The address of a PostgreSQL database for the tests."""
    pytest.importorskip("psycopg")
    why = server.missing()
    if why is not None:
        pytest.skip(why)
    running = server.Server()
    yield running.url
    running.stop()


class Engine:
    """An engine in which tests make tables; `source` opens them for queries."""

    def __init__(self, name, address):
        self.name, self._address = name, address
        self.con = _connection(name, address)

    def table(self, name, columns, rows):
        """Make a table with typed columns; an old table of that name is dropped."""
        if self.name == "PostgreSQL":
            self.con.rollback()
        types = TYPES.get(self.name, {})
        if self.name == "Spark":
            self._view(name, {column: types.get(kind, kind) for column, kind in columns.items()}, rows)
            return
        described = ", ".join(f"{_quoted(column)} {types.get(kind, kind)}" for column, kind in columns.items())
        mark = "%s" if self.name == "PostgreSQL" else "?"
        self.con.execute(
            f"drop table if exists {_quoted(name)} cascade"
            if self.name == "PostgreSQL"
            else f"drop table if exists {_quoted(name)}"
        )
        self.con.execute(f"create table {_quoted(name)} ({described})")
        if rows:
            # One statement inserts all rows; DuckDB takes milliseconds for each statement.
            values = ", ".join([f"({', '.join([mark] * len(columns))})"] * len(rows))
            self.con.execute(
                f"insert into {_quoted(name).replace('%', '%%') if self.name == 'PostgreSQL' else _quoted(name)} values {values}",
                [value for row in rows for value in row],
            )
        self.con.commit()

    def _view(self, name, types, rows):
        """Make a view; texts in columns of other types are cast."""
        whole = {column for column, type_ in types.items() if type_.startswith(("float", "double", "decimal"))}
        texts = {
            column
            for place, column in enumerate(types)
            if any(isinstance(row[place], str) or (column in whole and isinstance(row[place], int)) for row in rows)
        }
        places = {place for place, column in enumerate(types) if column in texts}
        rows = [
            tuple(str(value) if place in places and value is not None else value for place, value in enumerate(row))
            for row in rows
        ]
        first = ", ".join(f"`{column}` {'string' if column in texts else type_}" for column, type_ in types.items())
        values = [f"cast(`{column}` as {type_}) as `{column}`" for column, type_ in types.items()]
        self.con.createDataFrame(rows, first).selectExpr(*values).createOrReplaceTempView(name)

    def few(self, examples):
        """How many examples a test tries; each takes Spark a second."""
        return min(examples, 8) if self.name == "Spark" else examples

    @property
    def data(self):
        """The data argument of a query: an address, or the connection itself."""
        return self._address if self.name == "PostgreSQL" else self.con

    @contextlib.contextmanager
    def source(self):
        """The same data, opened read-only as a query opens them."""
        with open_source(self.data) as found:
            yield found

    def answers(self, question, order=bytes(32)):
        """The answers to a question."""
        with self.source() as found:
            return found.answers(question, order=order)


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _connection(name, address):
    if name == "Spark":
        return address
    if name == "SQLite":
        return sqlite3.connect(":memory:")
    if name == "DuckDB":
        con = pytest.importorskip("duckdb").connect(config={"threads": "1"})
        con.execute("begin")
        return con
    # A source that a test left open would lock its table forever.
    return pytest.importorskip("psycopg").connect(address, options="-c lock_timeout=5s")


@pytest.fixture(scope="session", params=ENGINES)
def engine(request):
    """Every engine, one after the other."""
    made = {"PostgreSQL": "postgresql", "Spark": "spark"}.get(request.param)
    found = Engine(request.param, None if made is None else request.getfixturevalue(made))
    yield found
    if found.name != "Spark":
        found.con.close()
