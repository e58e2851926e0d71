"""True answers, group by group."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from stairnoise.query.types import exact

Label = tuple[object, ...]
Histogram = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, repr=False)
class Answers:
    """True answers, group by group: never printed, never in an error.

    Attributes
    ----------
    groups : list of tuple
        Values of the columns of `by`. If all groups are listed, every combination in the order of the lists. Otherwise the
        groups that the data have, sorted by value.
    counts : ndarray of int64
        People in each group.
    sums : ndarray of int64
        A row for each statistic with a column: sums of people's totals, each clipped to the bounds, as multiples of a unit.
    units : tuple of float
        The unit of each row: a power of two, which depends only on the question and the types of its columns.
    histograms : tuple of list of (ndarray, ndarray)
        For each column of quantiles and each group the candidates that values are nearest to, in increasing order, and the weight
        of the people at each.
    """

    groups: list[Label]
    counts: NDArray[np.int64]
    sums: NDArray[np.int64]
    units: tuple[float, ...] = ()
    histograms: tuple[list[Histogram], ...] = ()

    def only(self, places: NDArray[np.int64]) -> Answers:
        """Return the answers of the groups at these places."""
        groups = [self.groups[place] for place in places]
        histograms = tuple([found[place] for place in places] for found in self.histograms)
        return Answers(groups, self.counts[places], self.sums[:, places], self.units, histograms)

    @property
    def labels(self) -> list[Label]:
        """Return the groups as labels of a keyed release."""
        return [tuple(map(_label, group)) for group in self.groups]


def _label(value: object) -> object:
    """Return a group as a label. A float cannot be one; 0.10 and 0.1 are one group of a column, so they must have one noise."""
    if not isinstance(value, (float, Decimal)):
        return value
    number = exact(value)
    return int(number) if number == int(number) else format(number, "f").rstrip("0")
