"""A private directory for what an engine cannot hold in memory; it is removed even if the process is killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Windows cannot lock a directory for the life of a process, so there the directory of a killed process stays.
if sys.platform != "win32":
    import fcntl

_PREFIX = "stairnoise-spill-"


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Yield a new directory, after removing those of processes that have ended."""
    if sys.platform != "win32":
        _remove_abandoned()
    directory, lock = _locked()
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked() -> tuple[Path, int | None]:
    """Return a new directory and the descriptor that locks it until the process ends; None on a file system without locks.

    Another process can take the directory for an abandoned one and remove it before the lock. Then there is a new attempt.
    """
    while True:
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX))
        if sys.platform == "win32":
            return directory, None
        try:
            lock = _lock(directory)
        except (BlockingIOError, FileNotFoundError):
            continue
        except OSError:
            return directory, None
        if _is(directory, lock):
            return directory, lock
        os.close(lock)


def _remove_abandoned() -> None:
    """Remove directories of this user that no process has locked."""
    for directory in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = _lock(directory)
            try:
                found = os.fstat(lock)
                if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == stat.S_IRWXU and _is(directory, lock):
                    shutil.rmtree(directory, ignore_errors=True)
            finally:
                os.close(lock)


def _lock(directory: Path) -> int:
    """Return a descriptor that locks a directory until it is closed; links are not followed."""
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _is(directory: Path, lock: int) -> bool:
    """Return whether a path still is the directory that a descriptor has open."""
    try:
        return os.path.samestat(directory.lstat(), os.fstat(lock))
    except FileNotFoundError:
        return False
