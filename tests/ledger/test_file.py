"""Files that are no ledger, cannot be used, or were left by a program that died.

Evidence: SQLite itself locks, damages and reads the files; the operating system limits and kills.
"""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing

import pytest

import stairnoise as sn
from stairnoise.accounting.ledger import file

MECHANISM = sn.DiscreteLaplace(eps=0.25)
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs limits and signals of POSIX")


@pytest.fixture
def ledger(tmp_path):
    return sn.Ledger(tmp_path / "people.ledger", 1.0, timeout=0.1)


def other_database(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")


def ledger_of_the_future(path):
    sn.Ledger(path, 1.0)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 7")


FILES = {
    "a text": (lambda path: path.write_text("name,count\n" * 200), "is not a ledger, or is damaged"),
    "a short text": (lambda path: path.write_text("x"), "is not a ledger$"),
    "another database": (other_database, "is not a ledger$"),
    "a ledger of another version": (ledger_of_the_future, "must be a ledger of format 1, got format 7"),
    "a directory": (lambda path: path.mkdir(), "is a directory"),
}


@pytest.mark.parametrize("budget", [None, 1.0])
@pytest.mark.parametrize(("write", "text"), FILES.values(), ids=FILES)
def test_other_files_are_refused_and_stay_as_they_are(tmp_path, write, text, budget):
    path = tmp_path / "file"
    write(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(sn.LedgerError, match=f"^{re.escape(str(path))} {text}"):
        sn.Ledger(path, budget)
    assert before is None or path.read_bytes() == before


def test_a_missing_file_is_made_only_for_a_budget(tmp_path):
    path = tmp_path / "file #1 100%.ledger"
    with pytest.raises(sn.LedgerError, match=r"file #1 100%\.ledger does not exist$"):
        sn.Ledger(path)
    with pytest.raises(sn.LedgerError, match=r"is in a directory that does not exist$"):
        sn.Ledger(tmp_path / "none" / "file", 1.0)
    assert list(tmp_path.iterdir()) == []
    made = sn.Ledger(path, 2, delta=1e-6)
    assert list(tmp_path.iterdir()) == [path]
    opened = sn.Ledger(str(path))
    assert (opened.budget, opened.delta, opened.path) == (made.budget, made.delta, path) == (2.0, 1e-6, path)


@pytest.mark.parametrize("budget", [None, 1.0])
def test_an_empty_file_is_no_new_ledger(tmp_path, budget):
    """The file can be the rest of a lost ledger, whose budget would start anew."""
    path = tmp_path / "file"
    sn.Ledger(path, 1.0).spend(MECHANISM, data="people")
    os.truncate(path, 0)
    with pytest.raises(sn.LedgerError, match=r"is empty, and no ledger: what was in it is lost$"):
        sn.Ledger(path, budget)
    assert path.stat().st_size == 0


def test_no_ledger_is_made_beside_what_is_left_of_another_one(tmp_path):
    """SQLite would replay the old journal into the new file."""
    (tmp_path / "file-journal").write_bytes(b"x")
    with pytest.raises(sn.LedgerError, match=r"does not exist, but file-journal of an earlier ledger does"):
        sn.Ledger(tmp_path / "file", 1.0)
    assert [kept.name for kept in tmp_path.iterdir()] == ["file-journal"]


def test_a_ledger_has_its_name_when_it_is_complete(tmp_path, monkeypatch):
    """A ledger that another process made meanwhile is kept, and no temporary file is left."""
    path = tmp_path / "file"
    made = file.create
    monkeypatch.setattr(file, "create", lambda *arguments: [made(path, (2.0, 0.0, False, 0, "now", "1")), made(*arguments)])
    with pytest.raises(sn.LedgerError, match=r"has budget = 2\.0 at delta = 0\.0, and cannot get others"):
        sn.Ledger(path, 1.0)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("budget", "delta"), [(2.0, None), (1.0, 1e-6), (1.0000000000000002, 0)])
def test_another_budget_is_refused(ledger, budget, delta):
    with pytest.raises(sn.LedgerError, match=r"has budget = 1\.0 at delta = 0\.0, and cannot get others"):
        sn.Ledger(ledger.path, budget, delta=delta)
    assert sn.Ledger(ledger.path, 1, delta=0).budget == 1.0


WRONG = {
    "negative": ((-1.0,), {}, "budget must be finite and greater than 0, got -1.0"),
    "zero": ((0,), {}, "budget must be finite and greater than 0, got 0"),
    "nan": ((float("nan"),), {}, "budget must be finite and greater than 0, got nan"),
    "endless": ((float("inf"),), {}, "budget must be finite and greater than 0, got inf"),
    "a text": (("1",), {}, "budget must be a real number"),
    "negative delta": ((1,), {"delta": -1e-9}, "delta must be from 0 to 1, without 1, got -1e-09"),
    "delta of 1": ((1,), {"delta": 1}, "delta must be from 0 to 1, without 1, got 1"),
    "delta nan": ((1,), {"delta": float("nan")}, "delta must be from 0 to 1, without 1, got nan"),
    "delta alone": ((), {"delta": 1e-6}, "budget must be given with a delta, got None"),
    "composed alone": ((), {"composed": True}, "budget must be given with composed, got None"),
    "composed without a delta": ((1,), {"composed": True}, "delta must be greater than 0 to compose losses, got None"),
    "composed of another type": ((1,), {"delta": 1e-6, "composed": 1}, "composed must be"),
    "timeout": ((1,), {"timeout": -1}, "timeout must be from 0 to"),
    "timeout nan": ((1,), {"timeout": float("nan")}, "timeout must be from 0 to"),
}


@pytest.mark.parametrize(("arguments", "options", "text"), WRONG.values(), ids=WRONG)
def test_impossible_numbers_are_refused_before_a_file_is_made(tmp_path, arguments, options, text):
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=text):
        sn.Ledger(tmp_path / "file", *arguments, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_path_must_be_a_name():
    with pytest.raises(sn.ParameterTypeError, match="path must be the name of a file, got 3"):
        sn.Ledger(3, 1.0)


def test_a_locked_ledger_is_waited_for_and_then_an_error(ledger):
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        start = time.monotonic()
        with pytest.raises(sn.LedgerError, match=r"is locked: another process held it for 0\.1 seconds; nothing has been spent$"):
            ledger.spend(MECHANISM, data="people")
        assert time.monotonic() - start > 0.09
        with pytest.raises(sn.LedgerError, match="is locked"):
            ledger.total()
        other.execute("ROLLBACK")
    assert ledger.spend(MECHANISM, data="people").total == 0.25


@POSIX
def test_a_read_only_ledger_can_be_read_but_not_spent():
    """The process first loads all modules, then gives up root's rights, because root could write any file."""
    with tempfile.TemporaryDirectory() as directory:
        ledger = sn.Ledger(f"{directory}/people.ledger", 1.0)
        ledger.spend(MECHANISM, data="people")
        ledger.path.chmod(0o444)
        ledger.path.parent.chmod(0o555)
        done = run(
            ledger,
            "mechanism = sn.Laplace(0.25)\n"
            "if os.geteuid() == 0:\n"
            "    os.setuid(65534)\n"
            "print(sn.Ledger(ledger.path, 1.0).total(), len(ledger.report()))\n"
            "for attempt in (lambda: ledger.spend(mechanism, data='people'), lambda: sn.Ledger(f'{ledger.path}2', 1)):\n"
            "    try:\n"
            "        attempt()\n"
            "    except sn.LedgerError as error:\n"
            "        print(error)",
        )
        assert done.stdout.splitlines() == [
            "0.25 1",
            f"{ledger.path} cannot be written to; nothing has been spent",
            f"{ledger.path}2 cannot be made in its directory",
        ], done.stderr
        ledger.path.parent.chmod(0o755)


@POSIX
def test_a_full_disk_is_an_error_and_nothing_is_spent(ledger):
    """A limit on file sizes stands for the full disk: no file can grow."""
    before = ledger.path.read_bytes()
    done = run(
        ledger,
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try:\n"
        "    ledger.spend(sn.Laplace(0.25), data='people')\n"
        "except sn.LedgerError as error:\n"
        "    print(error)",
    )
    assert re.fullmatch(f"{re.escape(str(ledger.path))} cannot be used: .*; nothing has been spent\n", done.stdout), done.stderr
    assert sn.Ledger(ledger.path).report() == []
    assert ledger.path.read_bytes() == before


@POSIX
def test_what_was_spent_before_a_crash_stays_spent(ledger):
    done = run(ledger, "ledger.spend(sn.Laplace(0.25), data='people')\nos.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -signal.SIGKILL
    assert ledger.total() == 0.25


@POSIX
def test_a_crash_while_spending_spends_nothing_and_leaves_a_ledger(ledger):
    """The process is killed between the row and its commit."""
    done = run(
        ledger,
        "from stairnoise.accounting.ledger import rows\n"
        "write = rows.write\n"
        "def killed(*arguments):\n"
        "    write(*arguments)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "rows.write = killed\n"
        "ledger.spend(sn.Laplace(0.25), data='people')",
    )
    assert done.returncode == -signal.SIGKILL
    assert ledger.report() == []
    assert ledger.spend(MECHANISM, data="people").total == 0.25


@pytest.mark.parametrize("budget", [None, 4.0])
def test_rows_half_written_by_a_killed_program_are_undone(tmp_path, budget):
    """The test copies file and journal from the disk in the middle of a transaction that memory could not hold."""
    ledger = sn.Ledger(tmp_path / "first", 4.0)
    ledger.spend(MECHANISM, data="people" * 1000)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as writer:
        for command in ("PRAGMA cache_size = 1", "PRAGMA cache_spill = 1", "BEGIN IMMEDIATE", "UPDATE spending SET total = 4"):
            writer.execute(command)
        for _ in range(50):
            columns = "data, mechanism, partitions, eps, delta, total, time, refused"
            writer.execute(f"INSERT INTO spending ({columns}) VALUES (?, '', 1, 0, 0, 4, '', 0)", ["x" * 3000])
        for name in ("", "-journal"):
            shutil.copy(f"{ledger.path}{name}", tmp_path / f"second{name}")
    assert (tmp_path / "second").stat().st_size > 100_000
    copy = sn.Ledger(tmp_path / "second", budget)
    assert len(copy.report()) == 1
    assert copy.total() == 0.25
    assert copy.spend(MECHANISM, data="people").total == 0.5


def test_an_interrupt_while_spending_spends_nothing(ledger, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("stairnoise.accounting.ledger.rows.total", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.spend(MECHANISM, data="people")
    assert ledger.spend(MECHANISM, data="people").total == 0.25


def test_a_ledger_that_was_replaced_is_noticed(ledger):
    ledger.path.unlink()
    with pytest.raises(sn.LedgerError, match=r"does not exist$"):
        ledger.spend(MECHANISM, data="people")
    sn.Ledger(ledger.path, 100.0)
    with pytest.raises(sn.LedgerError, match=r"has been replaced by a ledger of other limits$"):
        ledger.spend(MECHANISM, data="people")


@pytest.mark.parametrize(
    "written",
    ["nonsense", "{}", '{"mechanism": "Laplace", "by": "", "arguments": [0.5, 1.0], "exact": {"eps": 0.25, "sensitivity": 1.0}}'],
)
def test_a_row_that_cannot_be_read_is_an_error(tmp_path, written):
    ledger = sn.Ledger(tmp_path / "file", 1.0, delta=1e-6, composed=True)
    ledger.spend(MECHANISM, data="people")
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("UPDATE spending SET exact = ?", (written,))
    for attempt in (lambda: sn.Ledger(ledger.path), lambda: ledger.spend(MECHANISM, data="people")):
        with pytest.raises(sn.LedgerError, match="holds a mechanism that this version of stairnoise cannot read"):
            attempt()


def test_nothing_is_stored_of_the_data_but_a_keyed_fingerprint(ledger):
    rng = sn.KeyedRng(bytes(range(32)), "2026-Q3")
    mark = rng.fingerprint([987654321], ["secret label"])
    ledger.spend(MECHANISM, data="people", statistic="count", fingerprint=mark, rng=rng)
    ledger.spend(MECHANISM, data="people", statistic="count")
    content = ledger.path.read_bytes()
    assert mark.encode() in content
    assert b"secret label" not in content
    assert b"987654321" not in content
    assert ledger.report()[1].fingerprint is None


def run(ledger, code):
    program = (
        f"import os, signal, sys, stairnoise as sn, stairnoise.accounting.ledger.file\nledger = sn.Ledger(sys.argv[1])\n{code}"
    )
    return subprocess.run([sys.executable, "-c", program, str(ledger.path)], capture_output=True, text=True, check=False)
