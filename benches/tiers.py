"""stairnoise with a CPU tier forced, which can only be done as it is imported: in a process of its own.

The process draws when it is told to, so that its rounds stand between others' rounds like any contender's; a round of 10⁷ values
lasts milliseconds, telling it microseconds.

    STAIRNOISE_CPU=avx2 python -m benches.tiers WORK N      # then one line for each draw
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from benches import ours
from benches.laws import LAWS
from benches.timing import Run

CHECK = "check"


class Forced:
    """A process that draws `work` with `tier`."""

    def __init__(self, tier: str, work: str, n: int) -> None:
        command = [sys.executable, "-m", "benches.tiers", work, str(n)]
        environment = os.environ | {"STAIRNOISE_CPU": tier}
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.n = n

    def run(self) -> Run:
        """Return its draw."""
        return Run(self._tell, self.n)

    def check(self) -> None:
        """Have the process check what it drew last; it says nothing and ends if it is wrong."""
        assert self._tell(CHECK) == CHECK, "the check of a forced tier failed"

    def _tell(self, what: str = "draw") -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(what, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()

    def __enter__(self) -> Forced:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def main(work: str, n: int) -> None:
    """Draw once for each line of standard input, and say so."""
    law = next(law for law in LAWS if law.work == work)
    run = ours.bulk(law, n)
    for line in sys.stdin:
        if line.strip() == CHECK:
            law.check(np.asarray(run.drawn))
        else:
            run()
        print(line.strip(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
