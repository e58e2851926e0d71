"""Packages that only some functions need. These functions import them, and their errors name a missing package."""

from __future__ import annotations

import importlib
from typing import Any


class MissingPackageError(ModuleNotFoundError):
    """An optional package is not installed; the text names the function that needs it and the install command."""


def require(module: str, purpose: str, install: str) -> Any:
    """Import a module of an optional package.

    Raises
    ------
    MissingPackageError
        The package itself is missing. An error inside the package stays as it is.
    """
    package = module.partition(".")[0]
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingPackageError(f"{purpose} {package}: pip install {install}", name=package) from None
    return importlib.import_module(module)
