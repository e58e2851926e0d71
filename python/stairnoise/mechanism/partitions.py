"""Releases in which one person changes several values, and the mechanism for each of these values."""

from __future__ import annotations

from stairnoise._parameters import count

MOST_PARTITIONS = 2**53 - 1
NAME = "max_partitions_contributed"


def partitions(k: object, name: str) -> int:
    """Check how many values one person changes; `name` is what errors call it."""
    return count(k, name, least=1, most=MOST_PARTITIONS)
