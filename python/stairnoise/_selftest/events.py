"""How far counts are from the probabilities of a law, with a false-alarm rate that is proven and needs no large sample.

A count K of n independent draws that hit an event of probability p is binomial, and by Chernoff's bound in Hoeffding's form
(1963, theorem 1) P(n·KL(K/n, p) ≥ T) ≤ 2 e^(-T), where KL(a, p) = a ln(a/p) + (1-a) ln((1-a)/(1-p)). So the largest n·KL of M
events exceeds T = ln(2M/α) with probability at most α, however the events hang together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stairnoise._selftest.report import Outcome

Floats = NDArray[np.float64]

FALSE_ALARM = 1e-9
# The formulas of a continuous law are those of the law without a lattice: probabilities differ by less.
SLACK = 1e-8


class _Group(NamedTuple):
    names: Callable[[int], str]
    counts: Floats
    total: int
    probabilities: Floats
    nats: Floats


class Events:
    """Counts of events and their probabilities; `slack` is what a probability given may be wrong by."""

    def __init__(self, slack: float = SLACK) -> None:
        self._slack = slack
        self._groups: list[_Group] = []
        self._impossible: list[str] = []

    def add(self, names: Callable[[int], str], counts: ArrayLike, total: int, probabilities: ArrayLike) -> None:
        """Add events that `total` independent draws hit `counts` times; names(i) says which the i-th is."""
        hits, expected = np.asarray(counts, np.float64).ravel(), np.asarray(probabilities, np.float64).ravel()
        self._groups.append(_Group(names, hits, total, expected, evidence(hits, total, expected, self._slack)))

    def never(self, name: str, hits: int) -> None:
        """Add an event that cannot happen."""
        if hits:
            self._impossible.append(f"{name}: {hits} times")

    def outcome(self, values: int, false_alarm: float = FALSE_ALARM) -> Outcome:
        """Return the largest evidence, and the limit that it exceeds with probability at most `false_alarm` under the law."""
        limit = math.log(2 * sum(group.counts.size for group in self._groups) / false_alarm)
        if self._impossible:
            return Outcome(values, "nats", math.inf, limit, false_alarm, "; ".join(self._impossible))
        # NaN is larger than all, so that it comes out and fails.
        worst = max(self._groups, key=lambda group: _nan_last(float(group.nats.max())))
        index = int(np.argmax(worst.nats))
        statistic = float(worst.nats[index])
        detail = "" if statistic <= limit else _describe(worst, index)
        return Outcome(values, "nats", statistic, limit, false_alarm, detail)


def evidence(counts: Floats, total: int, probabilities: Floats, slack: float = 0.0) -> Floats:
    """n·KL of the shares from the nearest probabilities within `slack`; NaN where a probability is."""
    share = counts / total
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = np.clip(share, np.maximum(probabilities - slack, 0.0), np.minimum(probabilities + slack, 1.0))
        return np.asarray(total * (_term(share, nearest) + _term(1 - share, 1 - nearest)))


def _term(a: Floats, p: Floats) -> Floats:
    """Return a ln(a/p), zero at a = 0."""
    return np.asarray(np.where(a > 0, a * np.log(np.where(a > 0, a, 1) / p), 0.0 * p))


def _nan_last(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _describe(group: _Group, index: int) -> str:
    expected = group.total * group.probabilities[index]
    return f"{group.names(index)}: {group.counts[index]:.0f} of {group.total}, expected {expected:.1f}"
