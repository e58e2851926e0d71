"""The rows of a ledger's file: read and checked, found again, and written."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from stairnoise._digits import as_typed
from stairnoise._errors import LedgerError, ParameterTypeError
from stairnoise.accounting.ledger.costs import Cost, is_cost, total

# Composed totals are sums of float64, whose order and rounding depend on the processor.
_TOLERANCE = 2.0**-20


class Limits(NamedTuple):
    """What all releases together may cost."""

    budget: float
    delta: float
    composed: bool


class Names(NamedTuple):
    """Which release it is."""

    data: str
    release: str | None
    statistic: str | None
    fingerprint: str | None
    """None for a fresh release, and for a keyed one whose true answers have not been read."""
    bind: str | None
    """None for a fresh release."""


class Row(NamedTuple):
    """A row: a release, its cost, and ε of all rows up to it."""

    names: Names
    cost: Cost
    total: float
    time: str
    refused: bool

    def is_of(self, other: Row) -> bool:
        """Return whether both are keyed releases of one name and statistic, whatever the data are called."""
        keyed = self.names.bind is not None and other.names.bind is not None and not self.refused
        return keyed and self.names[1:3] == other.names[1:3]

    def has_noise_of(self, other: Row) -> bool:
        """Return whether both have the same noise if their true answers are the same."""
        return self.is_of(other) and (self.names.bind, self.cost) == (other.names.bind, other.cost)

    def has_other_answers_than(self, other: Row) -> bool:
        """Return whether one name stands for two states of the data."""
        marks = self.names.fingerprint, other.names.fingerprint
        return self.is_of(other) and None not in marks and marks[0] != marks[1]

    def marked(self, fingerprint: str) -> Row:
        """Return it with the fingerprint of its true answers."""
        return self._replace(names=self.names._replace(fingerprint=fingerprint))


_ENDS = len(Names._fields), len(Names._fields) + len(Cost._fields)
_COLUMNS = ", ".join((*Names._fields, *Cost._fields, *Row._fields[2:]))
_PLACES = ", ".join("?" * len(_COLUMNS.split(", ")))


def read(connection: sqlite3.Connection, path: object) -> tuple[Limits, list[Row]]:
    """Return what a file holds; a damaged file raises a LedgerError."""
    found = connection.execute("SELECT budget, delta, composed, rows FROM ledger").fetchall()
    numbered = connection.execute(f"SELECT number, {_COLUMNS} FROM spending ORDER BY number").fetchall()
    rows = [_row(fields) for _, *fields in numbered]
    # A page of the file that was damaged may seem to be empty.
    whole = [number for number, *_ in numbered] == list(range(1, len(rows) + 1))
    if whole and len(found) == 1 and found[0][-1] == len(rows):
        limits = Limits(*found[0][:-1])
        if _are_limits(limits) and all(map(_is_row, rows)) and _has_its_totals(limits, rows):
            return limits, rows
    raise LedgerError(f"{path} is damaged: its rows and its totals do not belong together")


def _row(fields: Sequence[Any]) -> Row:
    first, last = _ENDS
    return Row(Names(*fields[:first]), Cost(*fields[first:last]), *fields[last:])


def write(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Add rows at the end."""
    columns = [(*row.names, *row.cost, *row[2:]) for row in rows]
    connection.executemany(f"INSERT INTO spending ({_COLUMNS}) VALUES ({_PLACES})", columns)
    connection.execute("UPDATE ledger SET rows = rows + ?", (len(rows),))


def mark(connection: sqlite3.Connection, number: int, fingerprint: str) -> None:
    """Record the fingerprint of the true answers of a row."""
    connection.execute("UPDATE spending SET fingerprint = ? WHERE number = ?", (fingerprint, number))


def total_of(rows: Sequence[Row], limits: Limits) -> float:
    """Return ε of all rows together, as `costs.total`."""
    costs = Counter(row.cost for row in rows if not row.refused)
    return total(tuple(sorted(costs.items(), key=repr)), limits.delta, limits.composed)


def last_total(rows: Sequence[Row]) -> float:
    """Return ε of all rows together, as it was written."""
    return rows[-1].total if rows else 0.0


def _are_limits(limits: Limits) -> bool:
    numbers = type(limits.budget) is float and 0 < limits.budget < math.inf and type(limits.delta) is float
    return numbers and 0 <= limits.delta < 1 and limits.composed in (0, 1)


def _is_row(row: Row) -> bool:
    """Return whether every column has its type and range; SQLite takes any value for any column."""
    texts = all(type(one) is str for one in (row.names.data, row.time))
    names = all(one is None or type(one) is str for one in row.names)
    return texts and names and is_cost(row.cost) and type(row.total) is float and row.refused in (0, 1)


def _has_its_totals(limits: Limits, rows: Sequence[Row]) -> bool:
    """Compute the totals again: each of them where they are sums, and the last one where losses are composed."""
    if limits.composed:
        try:
            expected = total_of(rows, limits)
        except (ParameterTypeError, ArithmeticError):
            return False
        return expected < math.inf and abs(last_total(rows) - expected) <= _TOLERANCE * expected
    spent, deltas = Fraction(0), Fraction(0)
    for place, row in enumerate(rows):
        if row.cost.eps is None or row.cost.delta is None:
            return False
        spent += 0 if row.refused else as_typed(row.cost.eps)
        deltas += 0 if row.refused else as_typed(row.cost.delta)
        # Rows that were spent together have one total.
        together = place + 1 < len(rows) and rows[place + 1].total == row.total
        if not together and float(spent) != row.total:
            return False
    return deltas <= as_typed(limits.delta)
