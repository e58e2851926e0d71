"""`make bench`: time everything, write the dated record, bring README.md's figures up to it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benches import report

ONE_THREAD = dict.fromkeys(("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "STAIRNOISE_NUM_THREADS"), "1")


PYTEST = [sys.executable, "-m", "pytest", "benches", "-o", "python_files=bench_*.py", "-o", "python_functions=bench_*"]
PYTEST += ["-m", "", "-p", "no:cacheprovider", "-W", "default"]
"""Run the benchmarks and nothing else; a peer's warnings are its own affair."""


def main() -> int:
    """Run the benchmarks and write the record; return the exit status."""
    with tempfile.TemporaryDirectory() as scratch:
        timings = Path(scratch, "timings.json")
        options = ["--benchmark-disable-gc", "--benchmark-columns=min,median,rounds", "--benchmark-sort=fullname"]
        command = [*PYTEST, *options, f"--benchmark-json={timings}", *sys.argv[1:]]
        status = subprocess.run(command, cwd=report.ROOT, env=os.environ | ONE_THREAD, check=False)
        if status.returncode:
            return status.returncode
        record = report.make_record(timings)
    path = report.write(record)
    report.update_readme(record, path.stem)
    print(f"\nwrote {path.relative_to(report.ROOT)}.json and .md, and the figures in README.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
