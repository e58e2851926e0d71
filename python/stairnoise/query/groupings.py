"""Groups that are computed from a column: intervals of its values.

Each group has a key, an integer that the engine computes, and a label, which is what a table shows.
"""

from __future__ import annotations

import datetime
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any

from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._numpy_scalars import python_value
from stairnoise.query.types import Type, exact

Edge = int | Decimal | datetime.date

_MOST_BINS = 10_000
# A longer number is written with an exponent.
_LONGEST = 20


@dataclass(frozen=True, slots=True)
class Grouping(ABC):
    """Groups that are computed from a column."""

    column: str

    @property
    @abstractmethod
    def groups(self) -> tuple[object, ...] | None:
        """The labels of all groups, or None if a caller has to list them."""

    @property
    @abstractmethod
    def type(self) -> Type:
        """The type of the labels."""

    @abstractmethod
    def key(self, label: object) -> int | None:
        """Return the key of a label, or None if no group has this label."""

    @abstractmethod
    def label(self, key: int) -> object:
        """Return the label of a key."""


@dataclass(frozen=True, slots=True)
class Bins(Grouping):
    """Intervals between edges; the lower edge belongs to an interval, and the upper one does not."""

    edges: tuple[Edge, ...]
    groups: tuple[str, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(f"[{low}, {high})" for low, high in pairwise(map(_written, self.edges))))

    @property
    def type(self) -> Type:
        """The type of texts."""
        return Type("text")

    def key(self, label: object) -> int | None:
        """Return the place of an interval."""
        return self.groups.index(str(label)) if label in self.groups else None

    def label(self, key: int) -> str:
        """Return an interval as a text."""
        return self.groups[key]

    @property
    def are_dates(self) -> bool:
        """Whether the edges are dates."""
        return isinstance(self.edges[0], datetime.date)

    @property
    def range(self) -> str:
        """The interval from the first edge to the last."""
        return f"[{_written(self.edges[0])}, {_written(self.edges[-1])})"


def bins_of(bins: object) -> dict[str, Bins]:
    """Check a caller's edges of bins, by column."""
    if bins is None:
        return {}
    if not isinstance(bins, Mapping):
        raise ParameterTypeError(f"bins must be a dict from columns to lists of edges, got {outline(bins)}")
    for name in bins:
        if not isinstance(name, str):
            raise ParameterTypeError(f"bins must have names of columns as keys, got {received(name)}")
    return {name: Bins(name, _edges(edges, f"bins of {name!r}")) for name, edges in bins.items()}


def _edges(edges: object, name: str) -> tuple[Edge, ...]:
    if isinstance(edges, (str, bytes, Mapping)) or not isinstance(edges, Iterable):
        raise ParameterTypeError(f"{name} must be a list of edges, got {received(edges)}")
    found = tuple(_edge(python_value(edge), name) for edge in edges)
    if not 2 <= len(found) <= _MOST_BINS + 1:
        raise ParameterError(f"{name} must have from 2 to {_MOST_BINS + 1} edges, got {len(found)}")
    if len({isinstance(edge, datetime.date) for edge in found}) > 1:
        raise ParameterTypeError(f"{name} must have edges that are all numbers or all dates, got both")
    compared: list[Any] = list(found)
    for low, high in pairwise(compared):
        if not low < high:
            raise ParameterError(f"{name} must have edges in increasing order, got {_written(low)} before {_written(high)}")
    return found


def _edge(edge: Any, name: str) -> Edge:
    """Return an edge in its only form: 18 for 18.0, and 0.1 for 0.10."""
    if type(edge) is datetime.date:
        return edge
    if isinstance(edge, bool) or not isinstance(edge, (int, float, Decimal)):
        raise ParameterTypeError(f"{name} must have edges that are numbers or dates, got {received(edge)}")
    if not _is_double(edge):
        raise ParameterError(f"{name} must have finite edges within the range of float64, got {received(edge)}")
    number = exact(edge)
    whole = number == number.to_integral_value()
    return int(number) if whole else number.normalize(Context(prec=len(number.as_tuple().digits)))


def _is_double(number: float | Decimal) -> bool:
    try:
        return math.isfinite(number) and (float(number) != 0 or number == 0)
    except (OverflowError, ValueError):
        return False


def _written(edge: Edge) -> str:
    if isinstance(edge, datetime.date):
        return edge.isoformat()
    number = format(Decimal(edge), "f")
    return number if len(number) <= _LONGEST else format(Decimal(edge), "E")
