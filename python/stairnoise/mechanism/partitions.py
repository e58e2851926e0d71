"""How many values of a release one person changes."""

from __future__ import annotations

from stairnoise._parameters import count

MOST_PARTITIONS = 2**53 - 1
NAME = "max_partitions_contributed"


def partitions(k: object, name: str) -> int:
    """Check `k`; errors call it `name`."""
    return count(k, name, least=1, most=MOST_PARTITIONS)
