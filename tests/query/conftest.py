"""Fixtures that make one table in every engine."""

import contextlib
import sqlite3

import pytest

from stairnoise.query.sources import open_source
from tests.query import server

ENGINES = ("SQLite", "DuckDB", "PostgreSQL")
# The column types of these tests, by each engine's own names.
TYPES = {"DuckDB": {"text": "varchar"}, "PostgreSQL": {"double": "double precision"}}


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
    address = request.getfixturevalue("postgresql") if request.param == "PostgreSQL" else None
    found = Engine(request.param, address)
    yield found
    found.con.close()
