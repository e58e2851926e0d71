"""`make bench`: time everything, write the dated record, and update README.md's figures from it.

python -m benches                   # everything, into the record
python -m benches -k laplace        # any options of pytest: some comparisons with other libraries, printed only
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benches import builds, compare, machine, ours, report
from benches.results import Record
from benches.rows import CASES, CHANGED_MECHANISMS
from benches.timing import SECONDS
from benches.worker import ONE_THREAD

PYTEST = [sys.executable, "-m", "pytest", "benches", "-o", "python_files=bench_*.py", "-o", "python_functions=bench_*"]
PYTEST += ["-m", "", "-p", "no:cacheprovider", "-W", "default"]
"""Run only the benchmarks, and do not fail on a peer's warnings."""


def main(options: list[str]) -> int:
    """Run the benchmarks; without options, write the record. Return the exit status."""
    if options:
        return _pytest([], options)
    if builds.exists(compare.FIRST):
        builds.build(compare.FIRST)  # before the machine's load is measured
    load, start = machine.load(), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        timings = Path(scratch, "timings.json")
        if status := _pytest([f"--benchmark-json={timings}"], []):
            return status
        record = report.make_record(timings, compared(), load)
    path = report.write(record)
    report.update_readme(record, path.stem)
    minutes = (time.monotonic() - start) / 60
    print(f"\nwrote {path.relative_to(report.ROOT)}.json, .md and .svg, and the figures in README.md, in {minutes:.1f} minutes")
    return 0


def _pytest(first: list[str], options: list[str]) -> int:
    columns = ["--benchmark-disable-gc", "--benchmark-columns=min,median,rounds", "--benchmark-sort=fullname"]
    command = [*PYTEST, *columns, *first, *options]
    return subprocess.run(command, cwd=report.ROOT, env=os.environ | ONE_THREAD, check=False).returncode


def compared() -> Record:
    """Return the rows that compare this build with the first commit, on every tier of this machine, best first."""
    if not builds.exists(compare.FIRST):
        return {"commit": compare.FIRST, "rows": []}
    share = SECONDS / 2  # for a row with a target; the others take a third
    rows = compare.compare(
        compare.FIRST,
        CASES.values(),
        ours.tiers()[::-1],
        lambda case: share if case.main else share / 3,
        show=lambda row: print(compare.line(row), flush=True),
    )
    return {"commit": compare.FIRST, "changed": CHANGED_MECHANISMS, "rows": rows}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
