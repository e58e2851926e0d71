"""A question about one table, all of which is public, and the checks of its arguments."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from stairnoise._errors import ParameterError, ParameterTypeError, check, outline, received
from stairnoise._numpy_scalars import python_value
from stairnoise._parameters import count, flag, single
from stairnoise.keyed.encoding import is_utf8
from stairnoise.query.groupings import Bins, Grouping, bins_of, own_groups, part_of, range_of, wrong_group
from stairnoise.query.reading import Reading, reading
from stairnoise.query.statistics import STATISTICS, Count, Number, Ranks, Statistic, ranked

MOST_GROUPS = 2**31 - 1
_GROUPS = (str, int, float, Decimal, datetime.date, type(None))
_KINDS = "strings, integers, bools, dates, floats, decimals or None"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one table.

    Attributes
    ----------
    table : str or None
        A table or a view; ``schema.table`` if its name alone is not enough. None for the only one.
    by : tuple of str
        Columns whose values make the groups. Without any, there is one number for the whole table.
    groups : mapping
        The public values of a column of `by`: integers, texts, bools, dates, floats, decimals or None for null. If a column is
        missing here, its groups come from the data, and partition selection chooses among them.
    statistics : tuple of Statistic
        What is asked about each group, in the order of the columns.
    where : str or None
        A condition on one row.
    person : str or None
        The column that says whose row it is; None if every row is another person.
    max_groups : int
        How many groups a person can count in.
    reading : Reading
        How a file is read.
    groupings : mapping
        The names of `by` whose groups are computed; parts of dates are known when the columns are.
    """

    table: str | None
    by: tuple[str, ...]
    groups: Mapping[str, tuple[object, ...]]
    statistics: tuple[Statistic, ...] = (Count(),)
    where: str | None = None
    person: str | None = None
    max_groups: int = 1
    reading: Reading = field(default_factory=Reading)
    groupings: Mapping[str, Grouping] = field(default_factory=dict)

    @property
    def unlisted(self) -> list[str]:
        """The columns of `by` whose groups are not listed."""
        return [name for name in self.by if name not in self.groups]

    @property
    def summed(self) -> tuple[Number, ...]:
        """The statistics that need the sum of a column."""
        return tuple(one for one in self.statistics if isinstance(one, Number) and one.sums)

    @property
    def ranked(self) -> tuple[Ranks, ...]:
        """The quantiles, by column."""
        return ranked(self.statistics, of_persons=self.person is not None)

    @property
    def columns(self) -> list[str]:
        """The columns of numbers."""
        return list(dict.fromkeys(one.column for one in self.statistics if one.column is not None))

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers to which noise is added: a count, which is measured once, and the sums.

        The count is needed by statistics that are computed from it, and to choose groups that are not listed.
        """
        counts = bool(self.unlisted) or any(statistic.counts for statistic in self.statistics)
        return (*[Count()] * counts, *(one for one in self.statistics if isinstance(one, Number) and not isinstance(one, Count)))

    @property
    def size(self) -> int:
        """How many groups there are, if all are listed."""
        return math.prod(len(self.groups[name]) for name in self.by)

    @property
    def measured(self) -> tuple[Number | Ranks, ...]:
        """What is measured, each with its share of the budget: the numbers, and the quantiles of each column."""
        return (*self.numbers, *self.ranked)

    @property
    def complete(self) -> list[str]:
        """Columns of means: a row without a number in one of them is left out, so that one count serves all means."""
        return list(dict.fromkeys(str(one.column) for one in self.summed if one.counts))

    @property
    def present(self) -> list[str]:
        """All columns, where nothing is counted: a row without a number in all of them adds nothing, and is left out."""
        return [] if any(statistic.counts for statistic in self.statistics) else self.columns

    def argument(self, statistic: Statistic) -> str:
        """Return the argument that names the column of a statistic."""
        return "column" if len(self.statistics) == 1 else statistic.kind


# A kind of statistic, its column and its bounds, as a caller gave them, and what else its class takes; or a checked statistic.
Asked = tuple[Any, ...] | Statistic


def question(
    statistics: Sequence[Asked],
    table: object,
    by: object = (),
    groups: object = None,
    *,
    bins: object = None,
    where: object = None,
    person: object = None,
    row_is_person: object = False,
    max_groups: object = 1,
    types: object = None,
    csv: object = None,
) -> Question:
    """Check the arguments of a question, as far as that is possible without the data."""
    names, groupings = _with_bins(_columns(by), bins_of(bins))
    _require_person(person, row_is_person, max_groups)
    wanted = ((table, "table"), (where, "where"), (person, "person"))
    texts = [None if value is None else _text(value, name) for value, name in wanted]
    named, listed, asked = texts[0], _groups(groups, names, groupings), _statistics(statistics)
    k = count(max_groups, "max_groups", least=1, most=MOST_GROUPS)
    found = Question(named, names, listed, asked, texts[1], texts[2], k, reading(types, csv), groupings)
    for statistic in found.statistics:
        if (problem := statistic.problem(found)) is not None:
            raise ParameterError(problem)
    return found


def _statistics(asked: Sequence[Asked]) -> tuple[Statistic, ...]:
    check(asked, f"{', '.join(list(STATISTICS)[:-1])} or {list(STATISTICS)[-1]} must be given, got none of them")
    found: list[Statistic] = []
    for one in asked:
        if isinstance(one, Statistic):
            found.append(one)
            continue
        kind, column, bounds, *more = one
        if STATISTICS[kind] is Count:
            found.append(Count())
            continue
        name = _text(column, "column" if len(asked) == 1 else kind)
        of_column = "" if len(asked) == 1 else f" of {name!r}"
        found += STATISTICS[kind].asked(name, _bounds(bounds, f"bounds{of_column}"), of_column, *more)
    names = [statistic.name.casefold() for statistic in found]
    for name, statistic in zip(names, found, strict=True):
        check(names.count(name) == 1, f"{statistic.kind} must name every column once, got {received(statistic.column)} twice")
    return tuple(found)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ParameterTypeError(f"{name} must be a string, got {received(value)}")
    check(value.strip(), f"{name} must not be empty", value)
    check(is_utf8(value), f"{name} must be text that UTF-8 can hold, got a string with a lone surrogate")
    return value


def _columns(by: object) -> tuple[str, ...]:
    if isinstance(by, str):
        by = (by,)
    if not isinstance(by, Iterable) or isinstance(by, (bytes, Mapping)):
        raise ParameterTypeError(f"by must be the name of a column or a list of names, got {received(by)}")
    names = tuple(_text(name, f"by[{place}]") for place, name in enumerate(by))
    # Engines compare names without regard to case.
    check(len({name.casefold() for name in names}) == len(names), "by must name every column once", names)
    return names


def _with_bins(by: tuple[str, ...], bins: Mapping[str, Bins]) -> tuple[tuple[str, ...], dict[str, Bins]]:
    """Return the columns of `by` and of bins, and the bins by the names that `by` gives their columns."""
    found: dict[str, Bins] = {}
    for name, edges in bins.items():
        column = same(_text(name, "bins"), (*by, *found)) or name
        if column in found:
            raise ParameterError(f"bins must name every column once, got {received(name)} twice")
        found[column] = edges
    return tuple(dict.fromkeys((*by, *found))), found


def _groups(groups: object, by: tuple[str, ...], bins: Mapping[str, Bins]) -> dict[str, tuple[object, ...]]:
    own = {name: bins[name].groups if name in bins else own_groups(name) for name in by}
    found: dict[str, tuple[object, ...]] = {}
    if groups is None:
        groups = {}
    if not isinstance(groups, Mapping):
        if len(by) != 1:
            raise ParameterTypeError(f"groups must be a dict of lists, one for each column of by, got {outline(groups)}")
        groups = {by[0]: groups}
    for name, values in groups.items():
        # The engine decides later whether two names that differ in case are one column.
        column = same(name, by) if isinstance(name, str) else None
        if column is None:
            names = ", ".join(map(repr, by)) or "none"
            raise ParameterError(f"groups must be of the columns of by, which are {names}; got groups of {received(name)}")
        check(column not in bins, f"groups of {column!r} must be left out, because its bins are the groups")
        if column in found:
            raise ParameterError(f"groups must name every column once, got {received(name)} twice")
        found[column] = _listed(values, column)
    return {name: groups for name in by if (groups := found.get(name) or own[name])}


def _listed(values: object, name: str) -> tuple[object, ...]:
    if isinstance(values, str):
        values = [values] if part_of(name) else range_of(values, name)
    if isinstance(values, (bytes, Mapping)) or not isinstance(values, Iterable):
        raise ParameterTypeError(f"groups of {name!r} must be a list of values, got {outline(values)}")
    listed = tuple(map(python_value, values))
    check(listed, f"groups of {name!r} must be one or more, got none")
    for place, value in enumerate(listed):
        if not isinstance(value, _GROUPS):
            raise wrong_group(name, _KINDS, outline(value), place, ParameterTypeError)
        if isinstance(value, Decimal) and not value.is_finite():
            raise wrong_group(name, "finite", "an infinite or NaN decimal", place, ParameterTypeError)
        if isinstance(value, str) and not is_utf8(value):
            raise wrong_group(name, "texts that UTF-8 can hold", "a string with a lone surrogate", place)
    # 1, True and "1" are three groups.
    if len({(type(value), value) for value in listed}) < len(listed):
        raise ParameterError(f"groups of {name!r} must be listed once each, got one of them twice")
    return listed


def _bounds(bounds: object, name: str) -> tuple[float, float] | None:
    """Check the limits of one person's contribution to a sum; a source decides whether a column needs them."""
    if bounds is None:
        return None
    if not isinstance(bounds, Iterable) or isinstance(bounds, (str, bytes)) or len(pair := tuple(bounds)) != 2:
        raise ParameterTypeError(f"{name} must be two numbers, a lower and an upper one, got {received(bounds)}")
    low, high = (single(end, f"{name}[{place}]") for place, end in enumerate(pair))
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError(f"{name} must be finite, and the lower one must come first, got {low:g} and {high:g}")
    return low, high


def _require_person(person: object, row_is_person: object, max_groups: object) -> None:
    """Require the caller to say, in one way, whose rows these are: the whole guarantee rests on that."""
    rows, one = flag(row_is_person, "row_is_person"), type(max_groups) is int and max_groups == 1
    either = "each row is a different person, or a column says whose row it is"
    check(not rows or person is None, f"person must be left out with row_is_person: either {either}")
    check(rows or person is not None, f"row_is_person or person must be given: {either}; got neither")
    check(not rows or one, "max_groups must be 1 with row_is_person, because a row is in one group", max_groups)


def folded(name: str) -> bytes:
    """Return a key that ignores the case of ASCII letters, the only ones that SQLite and DuckDB fold."""
    return name.encode("utf-8", "surrogatepass").lower()


def same(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is equal, or else one that differs only in the case of ASCII letters."""
    names = list(known)
    return name if name in names else next((other for other in names if folded(other) == folded(name)), None)
