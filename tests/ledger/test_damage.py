"""Files that were damaged or edited: each opens as a ledger with the old content, or raises LedgerError.

Evidence: a generator with a fixed seed changes bytes; SQLite itself changes columns.
"""

import random
import sqlite3
from contextlib import closing
from itertools import cycle

import pytest

import stairnoise as sn

MECHANISM = sn.DiscreteLaplace(eps=0.25)
KINDS = {"pure": {}, "sums": {"delta": 1e-6}, "composed": {"delta": 1e-6, "composed": True}}


def made(path, kind):
    """A ledger of three rows; one is keyed, and one is from a list of mechanisms."""
    ledger, rng = sn.Ledger(path, 1.0, **KINDS[kind]), sn.KeyedRng(bytes(32), "2026-Q3")
    ledger.spend(MECHANISM, data="people", statistic="count", fingerprint=rng.fingerprint([3], ["a"]), rng=rng)
    ledger.spend([sn.Laplace(0.25), sn.DiscreteStaircase(0.125)], data="people")
    return ledger


def outcome(path):
    """Open and use a file; return its total, or None if the file is refused. Any other error fails the test."""
    try:
        ledger = sn.Ledger(path)
        ledger.report()
        total = ledger.total()
        ledger.spend(sn.DiscreteLaplace(2.0**-10), data="more")
    except sn.LedgerError:
        return None
    return total


def changes(content, seed, n):
    """Yield damaged copies with single bytes changed, runs of bytes changed, ends cut off, or pieces zeroed."""
    rng = random.Random(seed)
    for _ in range(n):
        damaged = bytearray(content)
        place = rng.choice([rng.randrange(100), rng.randrange(len(content))])
        kind = rng.randrange(4)
        if kind == 0:
            damaged[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            damaged[place : place + 8] = rng.randbytes(8)
        elif kind == 2:
            del damaged[place:]
        else:
            damaged[place : place + 512] = bytes(len(damaged[place : place + 512]))
        yield bytes(damaged)


def edges(content):
    """Yield copies in which one byte of a row changes, for every text, number and length on the last page."""
    used = [place for place in range(len(content) - 4096, len(content)) if content[place]]
    for place in used:
        for byte in (0, 0xFF, content[place] ^ 1):
            yield content[:place] + bytes([byte]) + content[place + 1 :]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [40, pytest.param(20_000, marks=pytest.mark.long)])
def test_a_damaged_file_ends_in_a_ledger_error_or_holds_what_it_held(tmp_path, kind, n):
    ledger = made(tmp_path / "whole", kind)
    content, total = ledger.path.read_bytes(), ledger.total()
    damaged = [b"", *changes(content, 20261126, n), *(list(edges(content))[:: 1 if n > 1000 else 29])]
    refused = 0
    for number, copy in enumerate(damaged):
        path = tmp_path / f"{number}"
        path.write_bytes(copy)
        found = outcome(path)
        path.unlink()
        refused += found is None
        assert found is None or found == pytest.approx(total, rel=2e-6), number
    assert refused > len(damaged) / 4


def test_names_that_are_no_text_end_in_a_ledger_error(tmp_path):
    """SQLite's own message about them cannot be decoded."""
    content, refused = made(tmp_path / "whole", "pure").path.read_bytes(), 0
    for word in (b"spending", b"ledger", b"CREATE", b"statistic", b"TEXT"):
        for place in range(len(content)):
            if content.startswith(word, place):
                path = tmp_path / f"{word.decode()} {place}"
                path.write_bytes(content[:place] + b"\xbc" * 3 + content[place + 3 :])
                refused += outcome(path) is None
    assert refused >= 8


COLUMNS = (
    "data",
    "release",
    "statistic",
    "fingerprint",
    "bind",
    "mechanism",
    "exact",
    "sensitivity",
    "l2_sensitivity",
    "partitions",
)
NUMBERS = ("eps", "delta", "total", "time", "refused")
VALUES = {
    "a text": "'x'",
    "bytes": "x'ff'",
    "no UTF-8": "CAST(x'ff' AS TEXT)",
    "null": "NULL",
    "a large integer": "9223372036854775807",
    "negative": "-1",
    "zero": "0",
    "one": "1",
    "endless": "9e999",
    "a real": "0.5",
}


@pytest.mark.parametrize("column", COLUMNS + NUMBERS)
def test_a_wrong_value_in_any_column_ends_in_a_ledger_error_or_changes_no_total(tmp_path, column):
    """Every column is tried with every value, and with every kind of ledger."""
    kinds = cycle(KINDS)
    for number, (name, value) in enumerate(VALUES.items()):
        kind = next(kinds)
        ledger = made(tmp_path / f"{number}", kind)
        total = ledger.total()
        with closing(sqlite3.connect(ledger.path)) as connection, connection:
            try:
                connection.execute(f"UPDATE spending SET {column} = {value} WHERE number = 1")
            except sqlite3.IntegrityError:
                continue
        found = outcome(ledger.path)
        if kind != "composed" or column != "total":
            assert found is None or found == total, name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE spending SET total = 0 WHERE number = 3",
        "UPDATE spending SET total = 0",
        "UPDATE spending SET refused = 1 WHERE number = 1",
        "DELETE FROM spending WHERE number = 1",
        "DELETE FROM spending WHERE number = 3",
        "DELETE FROM spending",
        "UPDATE ledger SET budget = -1",
        "UPDATE ledger SET budget = 'x'",
        "UPDATE ledger SET delta = 1",
        "UPDATE ledger SET composed = 2",
        "INSERT INTO ledger SELECT * FROM ledger",
        "DELETE FROM ledger",
        "DROP TABLE spending",
        "ALTER TABLE spending DROP COLUMN refused",
    ],
)
def test_an_edited_file_is_refused(tmp_path, edit, kind):
    """An edited total could otherwise let 2.0 through a budget of 1."""
    ledger = made(tmp_path / "file", kind)
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute(edit)
    for attempt in (lambda: sn.Ledger(ledger.path), lambda: ledger.spend(MECHANISM, data="people"), ledger.total, ledger.report):
        with pytest.raises(sn.LedgerError, match="damaged"):
            attempt()


PART = '["x", null, null, null, 1, 0.5, 0.0]'
PARTS = [
    "[",
    "[]",
    "[[]]",
    "[1]",
    "[" * 10**5,
    f"[{PART}, 3]",
    f"[{PART}]".replace("0.5", '"x"'),
    f"[{PART}]".replace("1,", "0,"),
]


@pytest.mark.parametrize("written", PARTS, ids=range(len(PARTS)))
def test_a_release_with_wrong_parts_is_refused(tmp_path, written):
    """One release that draws with several mechanisms has one row."""
    ledger = sn.Ledger(tmp_path / "file", 1.0, delta=1e-6, composed=True)
    ledger._charge([(MECHANISM, 1), (MECHANISM, 2)], 0.5, 0.0, "people", "count and sum", None)
    assert [row.max_partitions_contributed for row in ledger.report()] == [3]
    assert 0.499 < outcome(ledger.path) < 0.5
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("UPDATE spending SET exact = ? WHERE number = 1", (written,))
    assert outcome(ledger.path) is None
