"""Combinations of several lists for `parametrize`, for tests in which the full product would repeat itself."""

from collections.abc import Iterable, Sequence
from itertools import combinations, cycle, islice, product
from typing import Any

import pytest


def pairs(*lists: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return combinations in which any two values from different lists occur together at least once."""
    values = [list(one) for one in lists]
    places = [range(len(one)) for one in values]
    wanted = {(i, a, j, b) for i, j in combinations(range(len(values)), 2) for a in places[i] for b in places[j]}

    def new(row: Sequence[int]) -> set[tuple[int, int, int, int]]:
        return {(i, row[i], j, row[j]) for i, j in combinations(range(len(row)), 2)} & wanted

    found = []
    while wanted:
        i, a, j, b = min(wanted)
        others = product(*([a] if n == i else [b] if n == j else places[n] for n in range(len(values))))
        row = max(others, key=lambda row: len(new(row)))
        wanted -= new(row)
        found.append(tuple(one[place] for one, place in zip(values, row, strict=True)))
    return found


def in_turn(*lists: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return as many combinations as the longest list has values; every value of every list occurs at least once."""
    values = [list(one) for one in lists]
    return list(islice(zip(*map(cycle, values), strict=False), max(map(len, values))))


def rest_long(some: Iterable[Any], every: Iterable[Any]) -> list[Any]:
    """Return the cases of `some`, then the other ones of `every`, which only `make test-long` runs."""
    ordinary = list(some)
    rest = [case if isinstance(case, tuple) else (case,) for case in every if case not in ordinary]
    return [*ordinary, *(pytest.param(*case, marks=pytest.mark.long) for case in rest)]
