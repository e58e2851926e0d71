"""How far counts are from the probabilities of a distribution, and the events that are counted: cells of the line, and pairs.

Let K be how many of n independent draws hit an event of probability p. By Chernoff's bound in Hoeffding's form (1963, theorem 1),
P(n·KL(K/n, p) ≥ T) ≤ 2 e^(-T), where KL(a, p) = a ln(a/p) + (1-a) ln((1-a)/(1-p)). By the union bound, the largest n·KL of M
events exceeds T = ln(2M/α) with probability at most α. This needs neither a large sample nor independent events.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stairnoise._selftest.report import Outcome

Floats = NDArray[np.float64]

# Of one check. A thousand checks keep the whole below 1e-7.
FALSE_ALARM = 1e-10
# The formulas of a continuous mechanism leave its lattice out. That changes no probability by more than this.
SLACK = 1e-8
# The line is cut at these quantiles: multiples of 1/32, and tails down to 2**-16.
_TAIL = 2.0 ** -np.array([16, 14, 12, 10, 9, 8, 7, 6])
LEVELS = np.concatenate([_TAIL, np.arange(1, 32) / 32, 1 - _TAIL[::-1]])
_PARTS = 4


class _Group(NamedTuple):
    names: Callable[[int], str]
    counts: Floats
    total: int
    probabilities: Floats
    nats: Floats


class Events:
    """Counts of events and their probabilities, which may be wrong by at most `slack`."""

    def __init__(self, slack: float = SLACK) -> None:
        self._slack = slack
        self._groups: list[_Group] = []
        self._impossible: list[str] = []

    def add(self, names: Callable[[int], str], counts: ArrayLike, total: int, probabilities: ArrayLike) -> None:
        """Add events that `total` independent draws hit `counts` times. ``names(i)`` is the name of event i."""
        hits, expected = np.asarray(counts, np.float64).ravel(), np.asarray(probabilities, np.float64).ravel()
        self._groups.append(_Group(names, hits, total, expected, evidence(hits, total, expected, self._slack)))

    def never(self, name: str, hits: int) -> None:
        """Add an event that cannot happen."""
        if hits:
            self._impossible.append(f"{name}: {hits} times")

    def outcome(self, values: int, false_alarm: float = FALSE_ALARM) -> Outcome:
        """Return the largest evidence, and the limit that it exceeds with probability at most `false_alarm` under the
        mechanism.
        """
        limit = math.log(2 * sum(group.counts.size for group in self._groups) / false_alarm)
        if self._impossible:
            return Outcome(values, "nats", math.inf, limit, false_alarm, "; ".join(self._impossible))
        # NaN counts as the largest, so that it is the statistic and the check fails.
        worst = max(self._groups, key=lambda group: _nan_last(float(group.nats.max())))
        index = int(np.argmax(worst.nats))
        statistic = float(worst.nats[index])
        detail = "" if statistic <= limit else _describe(worst, index)
        return Outcome(values, "nats", statistic, limit, false_alarm, detail)


def evidence(counts: Floats, total: int, probabilities: Floats, slack: float = 0.0) -> Floats:
    """Return n·KL of the shares from the nearest probabilities within `slack`. NaN stays NaN."""
    share = counts / total
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = np.clip(share, np.maximum(probabilities - slack, 0.0), np.minimum(probabilities + slack, 1.0))
        return np.asarray(total * (_term(share, nearest) + _term(1 - share, 1 - nearest)))


def _term(a: Floats, p: Floats) -> Floats:
    """Return a ln(a/p), which is 0 at a = 0."""
    return np.asarray(np.where(a > 0, a * np.log(np.where(a > 0, a, 1) / p), 0.0 * p))


def _nan_last(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _describe(group: _Group, index: int) -> str:
    expected = group.total * group.probabilities[index]
    return f"{group.names(index)}: {group.counts[index]:.0f} of {group.total}, expected {expected:.1f}"


# Cells


class Cells(NamedTuple):
    """Intervals between `edges`, which contain their upper ends, and their probabilities; `name` is the variable's."""

    name: str
    edges: Floats
    probabilities: Floats

    def describe(self, first: int, last: int) -> str:
        """Return a name of the event that a value lies in the cells from `first` to `last`."""
        low = f"{self.edges[first - 1]:.6g} < " if first else ""
        high = f" <= {self.edges[last]:.6g}" if last < self.edges.size else ""
        return f"{low}{self.name}{high}"


def cells_of(mechanism: Any, name: str = "X") -> Cells:
    """Cut the line at quantiles of a mechanism with ppf, cdf, sf and a granularity."""
    step = float(mechanism.granularity)
    # An edge lies between two multiples of the granularity, so that no value is on it, up to 2**52 steps.
    edges = np.unique((np.rint(np.asarray(mechanism.ppf(LEVELS)) / step) + 0.5) * step)
    return Cells(name, edges, between(mechanism.cdf(edges), mechanism.sf(edges)))


def between(cdf: Any, sf: Any) -> Floats:
    """Return the probabilities of the cells. Those of the upper half come from `sf`, which is precise there."""
    below, above = np.concatenate([[0.0], cdf, [1.0]]), np.concatenate([[1.0], sf, [0.0]])
    return np.asarray(np.where(below[1:] < 0.5, np.diff(below), -np.diff(above)))


def add_cells(events: Events, cells: Cells, places: NDArray[np.int64]) -> None:
    """Add every cell, every half-line and every central interval. `places` holds the cell of each value."""
    counts = np.bincount(places, minlength=cells.probabilities.size).astype(np.float64)
    total, last = places.size, counts.size - 1
    events.add(lambda i: cells.describe(i, i), counts, total, cells.probabilities)
    sums, probabilities = np.cumsum(counts), np.cumsum(cells.probabilities)
    if last > 0:
        events.add(lambda i: cells.describe(0, i), sums[:-1], total, probabilities[:-1])
    half = (last - 1) // 2
    if half > 0:
        # Central interval i leaves out i + 1 cells at each end.
        first = np.arange(half)
        centre = sums[last - 1 - first] - sums[first], probabilities[last - 1 - first] - probabilities[first]
        events.add(lambda i: cells.describe(i + 1, last - 1 - i), centre[0], total, centre[1])


def add_pairs(events: Events, cells: Cells, places: NDArray[np.int64]) -> None:
    """Add that neighbours, and values half a sample apart, are independent. Each value is in one of four parts of the line."""
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
