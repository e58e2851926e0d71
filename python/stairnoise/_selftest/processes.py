"""Python in another process, with this package and nothing of this process's state."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import stairnoise

_SECONDS = 120


def run_python(module: str, **environment: str) -> str:
    """Run a module of the package with this interpreter, and return what it prints.

    Raises
    ------
    RuntimeError
        It failed; the text has the last line of its errors.
    """
    # The package that is tested is the one that runs, however this process found it.
    source = Path(stairnoise.__file__).resolve().parents[1]
    path = os.pathsep.join([str(source), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", module],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise RuntimeError(f"python -m {module}: {last}")
    return done.stdout
