"""One program or one file of tests, run with counters, and kept for as long as nothing changes that it ran.

So a measurement that was stopped goes on where it was, and a new test costs the run of its own file.
"""

import hashlib
import platform
import shutil
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from .build import ROOT, WORK, instrumented

RUNS = WORK / "runs"
PROCESSES = 4

# Written from the counts, or, as the files of tests, run for themselves.
APART = ["docs/coverage.md", "tests/**/test_*.py"]


@dataclass(frozen=True)
class Run:
    """A command whose processes leave their counters in a folder of its own."""

    name: str
    command: tuple[str, ...]
    directory: Path
    # What can change what it runs.
    reads: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def folder(self) -> Path:
        """Of the counters, the output and the mark that it is done."""
        return RUNS / self.name


@cache
def digest(reads: tuple[str, ...]) -> str:
    """Of these files, of those in these folders, and of the tools."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *reads]
    listed += [f":(exclude,glob){pattern}" for pattern in APART]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout
    found = hashlib.sha256(f"{compiler} {platform.python_version()} {version('coverage')}".encode())
    for name in sorted({*names, *reads}):
        if (ROOT / name).is_file():
            found.update(name.encode() + hashlib.sha256((ROOT / name).read_bytes()).digest())
    return found.hexdigest()


def perform(runs: Iterable[Run]) -> None:
    """Does what is not done yet, several at a time; ends with an error if one fails, when all have been tried."""
    runs = list(runs)
    with ThreadPoolExecutor(PROCESSES) as pool:
        failed = [run.name for run, good in zip(runs, pool.map(perform_one, runs), strict=True) if not good]
    if failed:
        raise SystemExit(f"coverage: tests failed: {', '.join(failed)}; their output is {RUNS}/*/log")


def perform_one(run: Run) -> bool:
    """Whether its tests pass; their counters stay."""
    state = "\n".join([digest(run.reads), *run.command])
    mark = run.folder / "done"
    if mark.exists() and mark.read_text() == state:
        return True
    shutil.rmtree(run.folder, ignore_errors=True)
    run.folder.mkdir(parents=True)
    # One file for a process: forked children write their own.
    environment = {**instrumented(), **dict(run.environment), "LLVM_PROFILE_FILE": str(run.folder / "%p-%m.profraw")}
    start = time.monotonic()
    with (run.folder / "log").open("w") as log:
        done = subprocess.run(run.command, cwd=run.directory, env=environment, stdout=log, stderr=subprocess.STDOUT)
    *_, last = ["", *(run.folder / "log").read_text(errors="replace").split("\n\n")[-1].splitlines()]
    print(f"{run.name}: {time.monotonic() - start:.0f} s, {last.strip()}", flush=True)
    if done.returncode == 0:
        mark.write_text(state)
    return done.returncode == 0
