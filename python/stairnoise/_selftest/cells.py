"""The events by which the values of a law are judged: intervals, half-lines, and pairs of values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._selftest.events import Events, Floats

# Quantiles at which the line is cut: every 32nd part, and tails down to 2**-16.
_TAIL = 2.0 ** -np.array([16, 14, 12, 10, 9, 8, 7, 6])
LEVELS = np.concatenate([_TAIL, np.arange(1, 32) / 32, 1 - _TAIL[::-1]])
_PARTS = 4


class Cells(NamedTuple):
    """Intervals between `edges`, each with its upper end, and their probabilities; values are of law `name`."""

    name: str
    edges: Floats
    probabilities: Floats

    def describe(self, first: int, last: int) -> str:
        """Name the event that a value lies in the cells from `first` to `last`."""
        low = f"{self.edges[first - 1]:.6g} < " if first else ""
        high = f" <= {self.edges[last]:.6g}" if last < self.edges.size else ""
        return f"{low}{self.name}{high}"


def cells_of(law: Any, name: str = "X") -> Cells:
    """Cut the line at quantiles of a law with ppf, cdf, sf and a granularity."""
    step = float(law.granularity)
    # Between two multiples of the granularity, so that no value lies on an edge, where float64 has such numbers.
    edges = np.unique((np.rint(np.asarray(law.ppf(LEVELS)) / step) + 0.5) * step)
    return Cells(name, edges, between(law.cdf(edges), law.sf(edges)))


def between(cdf: Any, sf: Any) -> Floats:
    """Return the probabilities of the cells between edges, from the tail in which each is small."""
    below, above = np.concatenate([[0.0], cdf, [1.0]]), np.concatenate([[1.0], sf, [0.0]])
    return np.asarray(np.where(below[1:] < 0.5, np.diff(below), -np.diff(above)))


def add_cells(events: Events, cells: Cells, places: NDArray[np.int64]) -> None:
    """Add every cell, every half-line and every central interval; `places` are the values' cells."""
    counts = np.bincount(places, minlength=cells.probabilities.size).astype(np.float64)
    total, last = places.size, counts.size - 1
    events.add(lambda i: cells.describe(i, i), counts, total, cells.probabilities)
    sums, probabilities = np.cumsum(counts), np.cumsum(cells.probabilities)
    if last > 0:
        events.add(lambda i: cells.describe(0, i), sums[:-1], total, probabilities[:-1])
    half = (last - 1) // 2
    if half > 0:
        # The middle without i + 1 cells at either end.
        first = np.arange(half)
        centre = sums[last - 1 - first] - sums[first], probabilities[last - 1 - first] - probabilities[first]
        events.add(lambda i: cells.describe(i + 1, last - 1 - i), centre[0], total, centre[1])


def add_pairs(events: Events, cells: Cells, places: NDArray[np.int64]) -> None:
    """Add that neighbours, and values half a sample apart, are independent: each of them in one of four parts of the line."""
    middles = np.cumsum(cells.probabilities) - cells.probabilities / 2
    part = np.minimum((middles * _PARTS).astype(np.int64), _PARTS - 1)
    shares = np.bincount(part, cells.probabilities, minlength=_PARTS)
    joint = np.outer(shares, shares)
    parts = part[places]
    half = parts.size // 2
    for name, first, second in (
        ("2i and 2i + 1", parts[0 : 2 * half : 2], parts[1 : 2 * half : 2]),
        ("2i + 1 and 2i + 2", parts[1 : 2 * half - 2 : 2], parts[2 : 2 * half - 1 : 2]),
        ("i and i + n/2", parts[:half], parts[half : 2 * half]),
    ):
        counts = np.bincount(_PARTS * first + second, minlength=_PARTS**2)
        events.add(_pair_namer(cells.name, name), counts, first.size, joint)


def _pair_namer(variable: str, name: str) -> Any:
    return lambda i: f"{variable} of the values {name} in parts {i // _PARTS + 1} and {i % _PARTS + 1} of {_PARTS}"


def places(cells: Cells, values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the cell of every value."""
    return np.asarray(np.searchsorted(cells.edges, values), np.int64)
