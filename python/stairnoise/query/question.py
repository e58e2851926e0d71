"""What is asked of one table: everything that is public, and nothing that is in the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from stairnoise.query.reading import Reading


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of one table.

    Attributes
    ----------
    table : str or None
        A table or a view; ``schema.table`` where its name alone is not enough. None for the only one.
    by : tuple of str
        Columns whose values make the groups; none for one number about the whole table.
    groups : mapping
        The public values of a column of `by`: integers, texts, bools, dates, floats, decimals or None for null. The groups of a
        column that is missing here are those that the data have, so partition selection must choose among them.
    statistic : {"count", "sum", "mean"}
        The answers to a mean are a sum and a count of the same rows.
    column : str or None
        What is summed.
    bounds : tuple of float or None
        A person's total in a group is clipped to them.
    where : str or None
        A condition on one row.
    person : str or None
        The column that says whose row it is; None if every row is another person.
    max_groups : int
        How many groups a person may count in.
    reading : Reading
        How a file is read.
    """

    table: str | None
    by: tuple[str, ...]
    groups: Mapping[str, tuple[object, ...]]
    statistic: Literal["count", "sum", "mean"]
    column: str | None = None
    bounds: tuple[float, float] | None = None
    where: str | None = None
    person: str | None = None
    max_groups: int = 1
    reading: Reading = field(default_factory=Reading)
