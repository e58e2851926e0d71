"""Combinations of several lists for `parametrize`, where a test of all of them would say one thing many times."""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, cycle, islice, product
from typing import Any

import pytest


def in_full(some: int, many: int) -> int:
    """Return how many examples or draws a test takes: `many` where `make test-long` sets STAIRNOISE_LONG, `some` otherwise."""
    return many if os.environ.get("STAIRNOISE_LONG") else some


def pairs(*lists: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return combinations of values in which any two values of two lists stand together at least once."""
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
    """Return combinations in which every value of every list stands at least once: as many as the longest list has."""
    values = [list(one) for one in lists]
    return list(islice(zip(*map(cycle, values), strict=False), max(map(len, values))))


def rest_long(some: Iterable[Any], every: Iterable[Any]) -> list[Any]:
    """Return the cases of `some`, then the other ones of `every`, which only `make test-long` runs."""
    ordinary = list(some)
    rest = [case if isinstance(case, tuple) else (case,) for case in every if case not in ordinary]
    return [*ordinary, *(pytest.param(*case, marks=pytest.mark.long) for case in rest)]


def looped(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrise a test as `parametrize` does, but run its cases in one item: an item takes 4 ms, longer than many a case."""
    own = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    listed = [case if len(own) > 1 else (case,) for case in cases]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            for case in listed:
                try:
                    test(**dict(zip(own, case, strict=True)), **fixtures)
                except BaseException:
                    print(f"the case that failed: {dict(zip(own, case, strict=True))}")
                    raise

        others = [one for one in inspect.signature(test).parameters.values() if one.name not in own]
        run.__signature__ = inspect.Signature(others)  # type: ignore[attr-defined]
        return run

    return decorate
