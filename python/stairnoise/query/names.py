"""Names of tables and columns, as engines compare them."""

from __future__ import annotations

from collections.abc import Iterable


def folded(name: str) -> bytes:
    """Return what is equal for names that differ in the case of ASCII letters; SQLite and DuckDB fold no others."""
    return name.encode("utf-8", "surrogatepass").lower()


def same(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is equal, or is equal but for the case of ASCII letters."""
    names = list(known)
    return name if name in names else next((other for other in names if folded(other) == folded(name)), None)
