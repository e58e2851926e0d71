"""A directory for what an engine cannot hold in memory: its user's alone, and removed even if its process is killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Windows has no lock of a directory that ends with its process, so there a directory whose process was killed stays.
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
    """Return a new directory, and what locks it until the process ends; None where a file system has no locks.

    Another process may remove it as an abandoned one before it is locked here, and then there is another new one.
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
    """Return a descriptor of a directory, which is locked until it is closed; no link is followed."""
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _is(directory: Path, lock: int) -> bool:
    """Tell whether a name is still that of the directory that a descriptor has open."""
    try:
        return os.path.samestat(directory.lstat(), os.fstat(lock))
    except FileNotFoundError:
        return False
