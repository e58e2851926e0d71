"""Bounds found privately: powers of two between which a column's numbers lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stairnoise._errors import ParameterError
from stairnoise.accounting.ledger.ledger import Ledger
from stairnoise.keyed.rng import KeyedRng
from stairnoise.query.compiled import CompiledQuery
from stairnoise.query.private_table import PrivateTable
from stairnoise.query.reading import CSV
from stairnoise.query.release import Outcome, Release
from stairnoise.query.sources.warehouses import Described
from stairnoise.rng import Rng

# Bounds of sums may be as large and as small as these.
_POWERS = [2**power if power >= 0 else 2.0**power for power in range(-100, 101)]
# One empty bin can make the bounds useless, so that is rarer than in other questions.
CONFIDENCE = 0.999
EDGES = (*(-power for power in reversed(_POWERS)), *_POWERS)


@dataclass(frozen=True, slots=True)
class PrivateBounds:
    """Bounds of a column that `bounds` found.

    Attributes
    ----------
    low, high : float or None
        Powers of two, their negatives, or 0; None if no bin has enough people.
    eps : float
        What finding them cost.
    threshold : int
        A bin with a private count above this has people: with the probability `confidence`, all bins without people are below.
    histogram : PrivateTable
        The private count of every bin, which is part of the release.
    """

    __module__ = "stairnoise.query"

    low: float | None
    high: float | None
    eps: float
    threshold: int
    histogram: PrivateTable = field(repr=False)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Both of them, as `sum` and `mean` take them."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def about(self) -> dict[str, Any]:
        """The notes of the histogram, and how the bounds follow from it, as values that JSON can hold."""
        found = {"low": self.low, "high": self.high, "threshold": self.threshold, "meaning": self._meaning()}
        return {**self.histogram.about, "bounds": found}

    def _meaning(self) -> str:
        if self.bounds is None:
            return f"No bin has a private count above {self.threshold}, so no bounds were found. The cost stays spent."
        chance = f"{100 * self.histogram.about['confidence']:.15g} %"
        return (
            f"The bounds are the outer ends of the outermost bins with a private count above {self.threshold}. Few people are "
            f"beyond. No bin without people is above with a probability of {chance} or more."
        )


def bounds(
    source: Any,
    table: str | None = None,
    *,
    column: str,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    types: Mapping[str, str] | None = None,
    csv: CSV | None = None,
    eps: float,
    rng: Rng | KeyedRng | None = None,
    confidence: float = CONFIDENCE,
    ledger: Ledger | None = None,
) -> PrivateBounds:
    """Find bounds of a column privately, for a sum, a mean or a quantile.

    People are counted in the bins from 2**i to 2**(i + 1), in those of the negative numbers, and in one for 0. The bounds are the
    outer ends of the outermost bins that surely have people. Give this a small part of your budget, such as a tenth.

    Parameters
    ----------
    source, table, where, person, row_is_person, types, csv, eps, rng, ledger
        As in `count`.
    column : str
        A column of numbers. Numbers beyond 2**100 in size are left out, and below 2**-100 they count as 0.
    max_groups : int, default 1
        The largest number of bins in which one person counts; only with `person`. Of a person in more bins, some are chosen at
        random.
    confidence : float, default 0.999
        Probability that no bin without people makes the bounds wider. At 0.95 the threshold is a third lower.

    Returns
    -------
    PrivateBounds
        ``low`` and ``high``, or ``bounds`` for both. They are None if no bin has enough people: the cost stays spent.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError, ModuleNotFoundError
        As in `count`. Or the column does not hold numbers.

    Notes
    -----
    The bins are public, so the cost is that of a count. The threshold follows from the exact distribution of the noise of all
    bins together, as in Google's ``ApproxBounds``. A few people beyond the bounds can stay unseen, and their numbers are clipped.

    Examples
    --------
    >>> import sqlite3
    >>> from stairnoise import query
    >>> con = sqlite3.connect(":memory:")
    >>> _ = con.execute("create table visits (spent real)")
    >>> _ = con.executemany("insert into visits values (?)", [(n % 90,) for n in range(3000)])
    >>> query.bounds(con, column="spent", row_is_person=True, eps=1).bounds
    (0.0, 128.0)
    """
    asked = locals()
    del asked["source"]
    with _about_the_column():
        return found(release_of(**asked).run(source))


def compile_bounds(
    table: str,
    *,
    dialect: str,
    schema: Mapping[str, str],
    column: str,
    where: str | None = None,
    person: str | None = None,
    row_is_person: bool = False,
    max_groups: int = 1,
    eps: float,
    rng: Rng | KeyedRng | None = None,
    confidence: float = CONFIDENCE,
    ledger: Ledger | None = None,
) -> CompiledQuery[PrivateBounds]:
    """Write the statement of `bounds` in the SQL of a warehouse; `finish` makes the bounds of its rows.

    Parameters
    ----------
    table, dialect, schema
        As in `compile`.
    column, where, person, row_is_person, max_groups, eps, rng, confidence, ledger
        As in `bounds`.

    Returns
    -------
    CompiledQuery
        As `compile` returns it.

    Raises
    ------
    ParameterError, ParameterTypeError, BudgetError, LedgerError
        As in `compile`. Or the column does not hold numbers.

    Warns
    -----
    UserWarning
        The client that runs the statement gets exact answers.
    """
    asked = locals()
    described = Described(asked.pop("dialect"), table, asked.pop("schema"))
    with _about_the_column():
        return CompiledQuery(release_of(**asked), described, found)


def release_of(column: str, **asked: Any) -> Release:
    """Return the release of the histogram."""
    return Release([("count", None, None)], bins={column: EDGES}, **asked, all_digits=True)


def found(outcome: Outcome) -> PrivateBounds:
    """Return the bounds that follow from a histogram."""
    table, (part,) = outcome.table, outcome.plan.parts
    threshold = threshold_of(part.mechanism.for_partitions(part.k), len(table), table.about["confidence"])
    low, high = outermost([count for _, count, _ in table], threshold)
    return PrivateBounds(low, high, table.eps, threshold, table)


def outermost(counts: Sequence[int], threshold: int) -> tuple[float, float] | tuple[None, None]:
    """Return the outer ends of the outermost bins with a count above the threshold."""
    above = [place for place, count in enumerate(counts) if count > threshold]
    return (_end(above[0]), _end(above[-1] + 1)) if above else (None, None)


def threshold_of(mechanism: Any, bins: int, confidence: float) -> int:
    """Return the least number that the noise of all bins keeps to with this probability."""
    chance = -float(np.expm1(np.log(confidence) / bins))
    threshold = int(mechanism.isf(chance))
    # The inverse is rounded.
    while mechanism.sf(threshold) > chance:
        threshold += 1
    return threshold


@contextmanager
def _about_the_column() -> Iterator[None]:
    try:
        yield
    except ParameterError as error:
        raise type(error)(_of_column(str(error))) from None


def _of_column(text: str) -> str:
    """Return the text of an error: the bins are ours, so an error about them is one about the column."""
    if not text.startswith("bins "):
        return text
    _, declared, type_ = text.rpartition(" declared as ")
    return f"column must be of numbers; it is{declared}{type_}" if declared else f"column{text.removeprefix('bins')}"


def _end(place: int) -> float:
    """Return an edge; those of the bin of 0 are 0."""
    edge = float(EDGES[place])
    return edge if abs(edge) > _POWERS[0] else 0.0
