"""The command line, ``stairnoise``: an optional extra that no other part of the package loads."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; bad input gives 2 and one line on stderr."""
    try:
        from stairnoise.cli.commands import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print("the command line needs typer and rich: pip install typer rich", file=sys.stderr)
        return _USAGE_ERROR
    return run(arguments)
