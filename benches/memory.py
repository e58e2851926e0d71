"""Measure the memory that a call needs beyond its output, in a fresh process for each.

python -m benches.memory "fresh array" 10000000
python -m benches.memory "np.memmap" 8000000000 /a/directory/with/room      # a file larger than memory
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import stairnoise as sn
from benches import ours
from benches.mechanisms import staircase

MIB = 2**20
PRIVATE = 32 * MIB
"""The memory that a process can allocate while it fills a file: far less than the file."""

Prepared = tuple[Callable[[], Any], int]
"""A call, and the bytes of output that it allocates itself."""


def _fresh(n: int, _: Path) -> Prepared:
    return lambda: sn.sample(n=n, eps=4), 8 * n


def _fresh_float32(n: int, _: Path) -> Prepared:
    return lambda: sn.sample(n=n, eps=4, dtype="float32"), 4 * n


def _strided(n: int, _: Path) -> Prepared:
    out = np.ones(2 * n)[::2]
    return lambda: sn.sample(n=n, eps=4, out=out), 0


def _own_eps(n: int, _: Path) -> Prepared:
    eps, out = np.linspace(0.1, 4, n), np.ones(n)
    return lambda: sn.sample(n=n, eps=eps, out=out), 0


def _release(n: int, _: Path) -> Prepared:
    values = np.ones(n)
    mechanism = sn.Staircase(4, sensitivity=1)
    return lambda: mechanism.release(values) - values, 16 * n


def _memmap(n: int, directory: Path) -> Prepared:
    out = np.memmap(directory / "noise", np.float64, "w+", shape=(n,))
    mechanism = sn.Staircase(4, sensitivity=1)

    def draw() -> Any:
        used = _status("VmData") or 0
        resource.setrlimit(resource.RLIMIT_DATA, (used + PRIVATE, resource.RLIM_INFINITY))
        mechanism.sample(out=out, **ours.threads(2))  # a thread's stack counts as allocation, used or not
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return out

    return draw, 8 * n


CASES: dict[str, Callable[[int, Path], Prepared]] = {
    "fresh array": _fresh,
    "fresh float32 array": _fresh_float32,
    "strided out": _strided,
    "own eps": _own_eps,
    "release of float64 values": _release,
    "np.memmap": _memmap,
}

MEASURED = (
    ("fresh array", 10**7),
    ("fresh array", 10**8),
    ("fresh float32 array", 10**7),
    ("strided out", 10**7),
    ("own eps", 10**6),
    ("release of float64 values", 10**7),
    ("np.memmap", 10**7),
)


def measure(case: str, n: int, directory: Path) -> dict[str, Any]:
    """Return the memory that `case` took in this process, which should be fresh."""
    sn.Staircase(4, sensitivity=1).release(sn.sample(n=1000, eps=4))  # one-time costs do not count
    draw, output = CASES[case](n, directory)
    before = _status("VmRSS") or _peak()
    drawn = draw()
    beyond = _peak() - before - output
    if case != "own eps":
        staircase(4).check(drawn[: 10**6])
    return {"case": case, "n": n, "output_bytes": drawn.size * drawn.itemsize, "beyond_bytes": max(0, beyond)}


def _peak() -> int:
    """Return the maximum memory that this process has had.

    Linux's `ru_maxrss` does not serve: a new process inherits its parent's value, and this parent is large.
    """
    if (peak := _status("VmHWM")) is not None:
        return peak
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(field: str) -> int | None:
    """Return a field of /proc/self/status in bytes, if there is one."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    fields = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
    return int(fields[field].split()[0]) * 1024 if field in fields else None


def in_fresh_process(case: str, n: int) -> dict[str, Any]:
    """Return `measure` of a new process."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "benches.memory", case, str(n), directory]
        root = Path(__file__).resolve().parent.parent
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root, env=os.environ)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return {"case": case, "n": n, "failed": last[0].split(":")[0]}
    return dict(json.loads(done.stdout))


def measured() -> list[dict[str, Any]]:
    """Return all cases of the record."""
    return [in_fresh_process(case, n) for case, n in MEASURED]


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(float(sys.argv[2])), Path(*sys.argv[3:4]))))
