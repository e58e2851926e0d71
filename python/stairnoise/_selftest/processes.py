"""Python in another process, with this package and nothing of this process's state."""

from __future__ import annotations

import json
import os
import subprocess
import sys

_SECONDS = 120
# The package that is tested is the one that runs, however this process found it.
_CODE = """
import sys, json
sys.path[:] = json.loads(sys.argv[2])
from importlib import import_module
import_module(sys.argv[1]).main()
"""


def run_main(module: str, **environment: str) -> str:
    """Run ``main`` of a module with this interpreter, and return what it prints.

    Raises
    ------
    RuntimeError
        It failed; the text has the last line of its errors.
    """
    done = subprocess.run(
        [sys.executable, "-c", _CODE, module, json.dumps(sys.path)],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise RuntimeError(f"{module} in another process: {last}")
    return done.stdout
