"""`make bench`: time everything, write the dated record, bring README.md's figures up to it.

python -m benches                   # everything, into the record
python -m benches -k laplace        # any options of pytest: a part, printed only
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benches import machine, report

ONE_THREAD = dict.fromkeys(("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "STAIRNOISE_NUM_THREADS"), "1")

PYTEST = [sys.executable, "-m", "pytest", "benches", "-o", "python_files=bench_*.py", "-o", "python_functions=bench_*"]
PYTEST += ["-m", "", "-p", "no:cacheprovider", "-W", "default"]
"""Run the benchmarks and nothing else; a peer's warnings are its own affair."""


def main(options: list[str]) -> int:
    """Run the benchmarks and, when nothing was asked for in particular, write the record; return the exit status."""
    load, start = machine.load(), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        timings = Path(scratch, "timings.json")
        columns = ["--benchmark-disable-gc", "--benchmark-columns=min,median,rounds", "--benchmark-sort=fullname"]
        command = [*PYTEST, *columns, f"--benchmark-json={timings}", *options]
        status = subprocess.run(command, cwd=report.ROOT, env=os.environ | ONE_THREAD, check=False)
        if status.returncode or options:
            return status.returncode
        record = report.make_record(timings, load)
    path = report.write(record)
    report.update_readme(record, path.stem)
    minutes = (time.monotonic() - start) / 60
    print(f"\nwrote {path.relative_to(report.ROOT)}.json, .md and .svg, and the figures in README.md, in {minutes:.1f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
