"""The gate for the arguments of a query: they become a `Question`, or an error."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Literal

from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._numpy_scalars import python_value
from stairnoise._parameters import count, flag, single
from stairnoise.query.names import same
from stairnoise.query.question import Question
from stairnoise.query.reading import reading

Statistic = Literal["count", "sum", "mean"]

_MOST_GROUPS = 2**31 - 1
_GROUPS = (str, int, float, Decimal, datetime.date, type(None))
_KINDS = "strings, integers, bools, dates, floats, decimals or None"


def question(
    statistic: Statistic,
    table: object,
    by: object,
    groups: object,
    *,
    column: object = None,
    bounds: object = None,
    where: object = None,
    person: object = None,
    row_is_person: object = False,
    max_groups: object = 1,
    types: object = None,
    csv: object = None,
) -> Question:
    """Check what is asked, as far as that is possible without the data."""
    names = _columns(by)
    _require_person(person, row_is_person, max_groups)
    summed = statistic != "count"
    return Question(
        table=None if table is None else _text(table, "table"),
        by=names,
        groups=_groups(groups, names),
        statistic=statistic,
        column=_text(column, "column") if summed else None,
        bounds=_bounds(bounds, statistic) if summed else None,
        where=None if where is None else _text(where, "where"),
        person=None if person is None else _text(person, "person"),
        max_groups=count(max_groups, "max_groups", least=1, most=_MOST_GROUPS),
        reading=reading(types, csv),
    )


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ParameterTypeError(f"{name} must be a string, got {received(value)}")
    if not value.strip():
        raise ParameterError(f"{name} must not be empty, got {received(value)}")
    if not _is_utf8(value):
        raise ParameterError(f"{name} must be text that UTF-8 can hold, got a string with a lone surrogate")
    return value


def _is_utf8(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _columns(by: object) -> tuple[str, ...]:
    if isinstance(by, str):
        by = (by,)
    if not isinstance(by, Iterable) or isinstance(by, (bytes, Mapping)):
        raise ParameterTypeError(f"by must be the name of a column or a list of names, got {received(by)}")
    names = tuple(_text(name, f"by[{place}]") for place, name in enumerate(by))
    # Engines compare names without regard to case.
    if len({name.casefold() for name in names}) < len(names):
        raise ParameterError(f"by must name every column once, got {received(names)}")
    return names


def _groups(groups: object, by: tuple[str, ...]) -> dict[str, tuple[object, ...]]:
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        if len(by) != 1:
            raise ParameterTypeError(f"groups must be a dict of lists, one for each column of by, got {outline(groups)}")
        groups = {by[0]: groups}
    listed: dict[str, tuple[object, ...]] = {}
    for name, values in groups.items():
        # Whether two names that differ in case are one column is the engine's to say.
        column = same(name, by) if isinstance(name, str) else None
        if column is None:
            names = ", ".join(map(repr, by)) or "none"
            raise ParameterError(f"groups must be of the columns of by, which are {names}; got groups of {received(name)}")
        if column in listed:
            raise ParameterError(f"groups must name every column once, got {received(name)} twice")
        listed[column] = _listed(values, column)
    return {name: listed[name] for name in by if name in listed}


def _listed(values: object, name: str) -> tuple[object, ...]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ParameterTypeError(f"groups of {name!r} must be a list of values, got {outline(values)}")
    listed = tuple(map(python_value, values))
    if not listed:
        raise ParameterError(f"groups of {name!r} must be one or more, got none")
    for place, value in enumerate(listed):
        if not isinstance(value, _GROUPS):
            raise ParameterTypeError(f"groups of {name!r} must be {_KINDS}, got {outline(value)} at index {place}")
        if isinstance(value, Decimal) and not value.is_finite():
            raise ParameterTypeError(f"groups of {name!r} must be finite numbers, got a decimal that is not at index {place}")
        if isinstance(value, str) and not _is_utf8(value):
            raise ParameterError(
                f"groups of {name!r} must be texts that UTF-8 can hold, got a string with a lone surrogate at index {place}"
            )
    # 1, True and "1" are three groups.
    if len({(type(value), value) for value in listed}) < len(listed):
        raise ParameterError(f"groups of {name!r} must be listed once each, got one of them twice")
    return listed


def _bounds(bounds: object, statistic: Statistic) -> tuple[float, float]:
    """Check the ends of what one person adds to a sum; a person who adds nothing needs no noise, and no release."""
    if bounds is None:
        raise ParameterTypeError(
            f"bounds must be given for a {statistic}: without limits one person could move it by any amount, got None"
        )
    if not isinstance(bounds, Iterable) or isinstance(bounds, (str, bytes)) or len(pair := tuple(bounds)) != 2:
        raise ParameterTypeError(f"bounds must be two numbers, a lower and an upper one, got {received(bounds)}")
    low, high = (single(end, f"bounds[{place}]") for place, end in enumerate(pair))
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError(f"bounds must be finite, and the lower one must come first, got {low:g} and {high:g}")
    return low, high


def _require_person(person: object, row_is_person: object, max_groups: object) -> None:
    """Require exactly one answer to the question on which the whole guarantee rests."""
    rows = flag(row_is_person, "row_is_person")
    if rows and person is not None:
        raise ParameterError(
            "person must be left out with row_is_person: either every row is another person, or a column says who"
        )
    if not rows and person is None:
        raise ParameterError(
            "row_is_person or person must be given: either every row is another person, or the column that says who; got neither"
        )
    if rows and not (type(max_groups) is int and max_groups == 1):
        raise ParameterError(
            f"max_groups must be 1 with row_is_person, because a row is in one group, got {received(max_groups)}"
        )
