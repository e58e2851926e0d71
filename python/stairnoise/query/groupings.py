"""Groups that are computed from a column: intervals of its values, and parts of dates and timestamps.

Each group has a key, an integer that the engine computes, and a label, which is what a table shows.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from stairnoise._errors import ParameterError, ParameterTypeError, StairnoiseError, check, outline, received
from stairnoise._numpy_scalars import python_value
from stairnoise._parameters import mapping
from stairnoise.query.types import Type, exact

Edge = int | Decimal | datetime.date

# A CASE of more is slow, and SQLite takes no more than 32 766 parameters.
MOST_GROUPS = 10_000
_INTEGER, _DAY = "[+-]?[0-9]{1,40}", "[0-9]{4}-[0-9]{2}-[0-9]{2}"
# A longer number is written with an exponent.
_LONGEST = 20


@dataclass(frozen=True, slots=True)
class Bins:
    """Intervals of a column's values between edges; the lower edge belongs to an interval, and the upper one does not."""

    column: str
    edges: tuple[Edge, ...]
    groups: tuple[str, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(f"[{low}, {high})" for low, high in pairwise(map(_written, self.edges))))

    @property
    def type(self) -> Type:
        """The type of texts."""
        return Type("text")

    @property
    def are_dates(self) -> bool:
        """Whether the edges are dates."""
        return isinstance(self.edges[0], datetime.date)

    @property
    def range(self) -> str:
        """The interval from the first edge to the last."""
        return f"[{_written(self.edges[0])}, {_written(self.edges[-1])})"


class _Kind(NamedTuple):
    """A part of a date: a range of its labels, the pattern of a label, and how a key becomes a label.

    A label has one or two numbers. Its key is the first one times `step`, plus the second one less 1.
    """

    example: str
    pattern: str
    step: int = 1
    written: str = ""
    groups: range | None = None


_YEAR = "(?!0000)[0-9]{4}"
_KINDS = {
    "year": _Kind("2024..2026", "0*[1-9][0-9]{0,3}"),
    "quarter": _Kind("2026-Q1..2026-Q4", f"{_YEAR}-Q[1-4]", 4, "{:04}-Q{}"),
    "month": _Kind("2026-01..2026-12", f"{_YEAR}-(0[1-9]|1[0-2])", 12, "{:04}-{:02}"),
    "week": _Kind("2026-W01..2026-W52", f"{_YEAR}-W(0[1-9]|[1-4][0-9]|5[0-3])", 53, "{:04}-W{:02}"),
    "weekday": _Kind("1..5", "[1-7]", groups=range(1, 8)),
    "hour": _Kind("8..17", "[01]?[0-9]|2[0-3]", groups=range(24)),
}
_PART = re.compile(rf"({'|'.join(_KINDS)})\((.+)\)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the dates or timestamps of a column. Weeks and weekdays are those of ISO 8601, where 1 is Monday."""

    column: str
    part: str

    @property
    def name(self) -> str:
        """The name of the groups in `by` and in a table."""
        return f"{self.part}({self.column})"

    @property
    def groups(self) -> tuple[int, ...]:
        """The labels of weekdays and hours, which need not be listed."""
        return tuple(_KINDS[self.part].groups or ())

    @property
    def type(self) -> Type:
        """The type of the labels: texts if they have two numbers."""
        return Type("text" if _KINDS[self.part].written else "integer")

    def key(self, label: object) -> int:
        """Return the number that an engine computes for a label; it grows with time."""
        first, *second = map(int, re.findall("[0-9]+", str(label)))
        return first * _KINDS[self.part].step + (second[0] - 1 if second else 0)

    def label(self, key: int) -> int | str:
        """Return the label of a key."""
        kind, key = _KINDS[self.part], int(key)
        return kind.written.format(key // kind.step, key % kind.step + 1) if kind.written else key

    def listed(self, values: Iterable[object]) -> tuple[object, ...]:
        """Return the labels that a caller lists, alone or as ranges; None stands for null."""
        found: list[object] = []
        for place, value in enumerate(values):
            ends = value.split("..") if isinstance(value, str) else [] if value is None else [value]
            if len(ends) > 2 or not all(map(self._has, ends)):
                example = _KINDS[self.part].example
                rule = f"such as {example.partition('.')[0]}, or a range such as {example}"
                raise wrong_group(self.name, rule, "another text" if isinstance(value, str) else outline(value), place)
            labels = map(self.label, spread(self.name, self.key(ends[0]), self.key(ends[-1]))) if ends else [None]
            found += [label for label in labels if label is None or self._has(label)]
        check(len(set(found)) == len(found), f"groups of {self.name!r} must be listed once each, got one of them twice")
        return tuple(found)

    def _has(self, label: object) -> bool:
        """Return whether a label is one; not every year has a week 53."""
        if type(label) not in (int, str) or (isinstance(label, int) and not 0 <= label <= datetime.MAXYEAR):
            return False
        text = str(label)
        if not re.fullmatch(_KINDS[self.part].pattern, text):
            return False
        return not text.endswith("W53") or datetime.date(int(text[:4]), 12, 28).isocalendar().week == 53


Grouping: TypeAlias = "Bins | Part"


def wrong_group(name: str, rule: str, got: str, place: int, kind: type[StairnoiseError] = ParameterError) -> StairnoiseError:
    """Return the error for a listed group of a column. Groups are labels of data, so it names the place."""
    return kind(f"groups of {name!r} must be {rule}, got {got} at index {place}")


def part_of(name: str) -> Part | None:
    """Return the part that a name such as "month(day)" means, unless a column has this name."""
    found = _PART.fullmatch(name)
    return None if found is None else Part(found[2].strip(), found[1].lower())


def own_groups(name: str) -> tuple[int, ...]:
    """Return the groups of a part that need not be listed, or nothing."""
    part = part_of(name)
    return () if part is None else part.groups


def spread(name: str, first: Any, last: Any) -> list[Any]:
    """Return the integers or the dates from one to another, which are groups of a column."""
    if isinstance(first, datetime.date):
        return list(map(datetime.date.fromordinal, spread(name, first.toordinal(), last.toordinal())))
    if not first <= last < first + MOST_GROUPS:
        raise ParameterError(f"groups of {name!r} must be ranges of at most {MOST_GROUPS} values, whose lower end comes first")
    return list(range(first, last + 1))


def range_of(text: str, name: str) -> list[Any]:
    """Return the integers or dates of a range as it is written."""
    ends: list[Any] = []
    for form, read in ((_INTEGER, int), (_DAY, datetime.date.fromisoformat)):
        found = re.fullmatch(rf"\s*({form})\.\.({form})\s*", text)
        with contextlib.suppress(ValueError):
            ends = ends if found is None else [read(found[1]), read(found[2])]
    check(
        bool(ends),
        f"groups of {name!r} must be a list of values, or a range such as 0..120 or 2026-01-01..2026-01-31, got a text",
    )
    return spread(name, *ends)


def bins_of(bins: object) -> dict[str, Bins]:
    """Check a caller's edges of bins, by column."""
    found = mapping(bins, "bins", "columns to lists of edges", of_columns=True)
    return {name: Bins(name, _edges(edges, f"bins of {name!r}")) for name, edges in found.items()}


def _edges(edges: object, name: str) -> tuple[Edge, ...]:
    if isinstance(edges, (str, bytes, Mapping)) or not isinstance(edges, Iterable):
        raise ParameterTypeError(f"{name} must be a list of edges, got {received(edges)}")
    found = tuple(_edge(python_value(edge), name) for edge in edges)
    check(2 <= len(found) <= MOST_GROUPS + 1, f"{name} must have from 2 to {MOST_GROUPS + 1} edges, got {len(found)}")
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
    check(_is_double(edge), f"{name} must have finite edges within the range of float64", edge)
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
