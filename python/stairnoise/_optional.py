"""Packages that only some functions need: imported there, and asked for by name where they are absent."""

from __future__ import annotations

import importlib
from typing import Any


class MissingPackageError(ModuleNotFoundError):
    """An optional package is not installed; the text says what needs it and how to get it."""


def require(module: str, purpose: str, install: str) -> Any:
    """Import a module of an optional package.

    Raises
    ------
    MissingPackageError
        The package itself is absent. What is broken inside it keeps its own error.
    """
    package = module.partition(".")[0]
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingPackageError(f"{purpose} {package}: pip install {install}", name=package) from None
    return importlib.import_module(module)
