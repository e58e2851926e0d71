"""Tables of persons for the tests, in SQLite."""

import sqlite3


def visits(people_of: dict[str, int]) -> sqlite3.Connection:
    """Make a table `visits(who, city, spent)` with the given number of people in each city; each has one row and spent 7."""
    return visits_of([(city, 7) for city, people in people_of.items() for _ in range(people)])


def visits_of(rows: list[tuple[str, float]]) -> sqlite3.Connection:
    con = sqlite3.connect(":memory:")
    con.execute("create table visits (who integer, city text, spent integer)")
    con.executemany("insert into visits values (?, ?, ?)", [(who, *row) for who, row in enumerate(rows)])
    con.commit()
    return con
