"""One build of stairnoise in its own process, which makes and times cases on commands from a pipe.

One process cannot import two builds, and a CPU tier is forced when stairnoise is imported. The processes stay alive, so their
rounds can alternate. A round lasts milliseconds; a command takes microseconds.

The clock measures the processor time of all threads of the process. On a busy machine an interruption would double a round's wall
time.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benches.builds import ROOT

ONE_THREAD = dict.fromkeys(("MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "STAIRNOISE_NUM_THREADS"), "1")


class Worker:
    """The parent's handle of the process."""

    def __init__(self, package: Path, tier: str) -> None:
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(package), "STAIRNOISE_CPU": tier}
        command = [sys.executable, "-W", "ignore", "-m", "benches.worker", str(package)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def tell(self, **what: Any) -> dict[str, Any]:
        """Send a command and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(what), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"a worker ended during the command {what}")
        return dict(json.loads(answer))

    def make(self, work: str, kind: str, aim: float) -> dict[str, Any]:
        """Prepare a case, or its unit or MKL's noise; return the seconds of a round, or why it cannot be timed."""
        return self.tell(do="make", work=work, kind=kind, aim=aim)

    def ns(self, kind: str) -> float:
        """Time one round of a prepared case; return ns per value."""
        return float(self.tell(do="time", kind=kind)["ns"])

    def forget(self) -> None:
        """Free all prepared cases."""
        self.tell(do="forget")

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def main(package: str) -> None:
    """Execute the command in each line of standard input."""
    import stairnoise
    from benches import cases, rows
    from benches.timing import Run

    assert Path(stairnoise.__file__).is_relative_to(package), "another build was imported"
    gc.disable()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core for all workers: other load affects all alike
    fine = time.get_clock_info("process_time").resolution <= 1e-6
    clock = time.process_time if fine else time.perf_counter
    runs: dict[str, Run] = {}

    def make(work: str, kind: str, aim: float) -> dict[str, Any]:
        case, said = rows.CASES[work], {}
        if kind == "mkl":
            draw, said["generator"] = cases.mkl(case)
        else:
            draw = cases.fill(case) if kind == "fill" else case.make()
        if kind == "case":
            said["digest"] = cases.digest(case)
        runs[kind] = Run(draw, case.n, clock)
        return said | {"seconds": runs[kind].calibrate(aim)}

    for line in sys.stdin:
        told = json.loads(line)
        answer: dict[str, Any] = {}
        if told["do"] == "make":
            try:
                answer = make(told["work"], told["kind"], told["aim"])
            except Exception as error:  # a build may lack the name or the argument
                answer = {"absent": f"{type(error).__name__}: {error}"}
        elif told["do"] == "time":
            run = runs[told["kind"]]
            answer = {"ns": run.seconds() / run.values * 1e9}
        else:
            runs.clear()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
