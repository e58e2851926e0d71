"""Files that DuckDB spills are removed even if its process is killed, and no other file is.

Evidence: a process that is killed by SIGKILL while it has a source open; directories that another process may not touch; and a
removal in every moment between the making of a directory and its lock.
"""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from stairnoise.query.sources import scratch
from stairnoise.query.sources.scratch import scratch as made

pytest.importorskip("duckdb")
fcntl = pytest.importorskip("fcntl")

OPEN = """
import sys
from stairnoise.query.sources import open_source
with open_source(sys.argv[1]) as source:
    print(source._ask("select current_setting('temp_directory')")[0][0], flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A directory for temporary files, for this process and its children."""
    found = tmp_path / "temporary"
    found.mkdir()
    monkeypatch.setenv("TMPDIR", str(found))
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    return found


def opened(path):
    """Start a process that keeps a source open; yield it with its directory."""
    path.write_text("a\n1\n")
    process = subprocess.Popen(
        [sys.executable, "-c", OPEN, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    return process, process.stdout.readline().strip()


def test_the_directory_of_a_killed_process(temporary, tmp_path):
    (alive, of_alive), (killed, of_killed) = opened(tmp_path / "a.csv"), opened(tmp_path / "b.csv")
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert {of_alive, of_killed} == {str(one) for one in temporary.iterdir()}
    with made() as own:
        assert {of_alive, str(own)} == {str(one) for one in temporary.iterdir()}
    assert alive.communicate()[0] == ""
    assert alive.returncode == 0
    assert not [*temporary.iterdir()]
    for one in (killed, alive):
        one.stdout.close()
        one.stdin.close()


def test_what_is_not_ours_stays(temporary, tmp_path):
    """These stay: a link, a file, a directory that others can enter, and a directory with another name."""
    (tmp_path / "data").mkdir(0o700)
    (temporary / "stairnoise-spill-link").symlink_to(tmp_path / "data")
    (temporary / "stairnoise-spill-file").touch(0o700)
    (temporary / "stairnoise-spill-open").mkdir()
    (temporary / "stairnoise-spill-open").chmod(0o755)
    (temporary / "stairnoise-data").mkdir(0o700)
    before = {*temporary.iterdir()}
    with made():
        pass
    assert {*temporary.iterdir()} == before
    assert (tmp_path / "data").is_dir()


@pytest.mark.parametrize("moment", ["open", "flock", "samestat"])
def test_a_directory_that_is_removed_before_it_is_locked(temporary, monkeypatch, moment):
    """Another process can take the new directory for an abandoned one and remove it, or hold its lock at that moment."""
    module = {"open": os, "flock": fcntl, "samestat": os.path}[moment]
    real, found = getattr(module, moment), []

    def after_removal(*arguments):
        monkeypatch.setattr(module, moment, real)
        found.extend(temporary.iterdir())
        scratch._remove_abandoned()
        return real(*arguments)

    monkeypatch.setattr(module, moment, after_removal)
    with made() as own:
        assert len(found) == 1
        assert own not in found or moment == "samestat"
        assert [*temporary.iterdir()] == [own]


def test_a_directory_that_is_locked_while_another_process_removes_it(temporary, monkeypatch):
    real, held = tempfile.mkdtemp, []

    def taken(**options):
        path = real(**options)
        if not held:
            held.append(scratch._lock(path))
        return path

    monkeypatch.setattr(tempfile, "mkdtemp", taken)
    with made() as own:
        assert len([*temporary.iterdir()]) == 2
    assert own not in temporary.iterdir()
    os.close(held[0])
    scratch._remove_abandoned()
    assert not [*temporary.iterdir()]


def test_a_file_system_without_locks(temporary, monkeypatch):
    """The directory is made nevertheless, and removed at the end."""

    def refused(*_):
        raise OSError(95, "not supported")

    monkeypatch.setattr(fcntl, "flock", refused)
    with made() as own:
        assert own.stat().st_mode & 0o777 == 0o700
    assert not [*temporary.iterdir()]
