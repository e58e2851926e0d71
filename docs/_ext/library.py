"""The library's sources, on which numbers and figures of the pages depend."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import stairnoise as sn

_PACKAGE = Path(sn.__file__).parent
FILES = sorted((*_PACKAGE.rglob("*.py"), *_PACKAGE.glob("_native*.so")))


def digest(*more: str) -> str:
    """Return a name for a product of the library and these texts."""
    return hashlib.sha256("\n".join((_library(), *more)).encode()).hexdigest()[:16]


@cache
def _library() -> str:
    found = hashlib.sha256()
    for path in FILES:
        found.update(path.read_bytes())
    return found.hexdigest()


def note(env: Any, *more: str) -> None:
    """Let Sphinx read the current page again when a source or one of these files has changed."""
    for path in (*map(str, FILES), *more):
        env.note_dependency(path)
