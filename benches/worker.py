"""One build of stairnoise in a process of its own, which makes and times what a pipe tells it to.

Two builds cannot be imported by one process, and a CPU tier is forced as stairnoise is imported. The processes stay alive, so
their rounds can alternate. A round lasts milliseconds; telling a process takes microseconds.

The clock is the processor's time of the process, of all its threads. On a busy machine a round is either interrupted or not, and
its time by the wall doubles or does not.
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
    """The process, as the one that tells it what to do sees it."""

    def __init__(self, package: Path, tier: str) -> None:
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(package), "STAIRNOISE_CPU": tier}
        command = [sys.executable, "-W", "ignore", "-m", "benches.worker", str(package)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def tell(self, **what: Any) -> dict[str, Any]:
        """Tell it something and return what it answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(what), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"a worker ended at {what}")
        return dict(json.loads(answer))

    def make(self, work: str, kind: str, aim: float) -> dict[str, Any]:
        """Prepare a case, or the unit or MKL's noise beside it: seconds of a round, or why it cannot be timed."""
        return self.tell(do="make", work=work, kind=kind, aim=aim)

    def ns(self, kind: str) -> float:
        """Time one round of what was prepared: ns per value."""
        return float(self.tell(do="time", kind=kind)["ns"])

    def forget(self) -> None:
        """Free what was prepared."""
        self.tell(do="forget")

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def main(package: str) -> None:
    """Do what each line of standard input says."""
    import stairnoise
    from benches import cases, rows
    from benches.timing import Run

    assert Path(stairnoise.__file__).is_relative_to(package), "another build was imported"
    gc.disable()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core for all workers: they share what else it does
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
            except Exception as error:  # another build has not that name, or not that argument
                answer = {"absent": f"{type(error).__name__}: {error}"}
        elif told["do"] == "time":
            run = runs[told["kind"]]
            answer = {"ns": run.seconds() / run.values * 1e9}
        else:
            runs.clear()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
