"""What every statistic states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from stairnoise._digits import is_finer, last_digit, private_value
from stairnoise.query.statistics.part import Part, Released, scaled
from stairnoise.query.types import Holds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stairnoise.query.answers import Answers
    from stairnoise.query.mechanism import Budget


class Shown(NamedTuple):
    """How released numbers become columns."""

    confidence: float
    nonnegative: bool
    all_digits: bool


class Columns(NamedTuple):
    """The columns of a statistic by their role: "value", "error_bound", and others that its class names."""

    columns: dict[str, list[Any]]
    # Whether numbers were rounded to a digit of their bound.
    rounded: bool


@dataclass(frozen=True, slots=True)
class Statistic(ABC):
    """One statistic of each group.

    Attributes
    ----------
    column : str or None
        The column that is summed; None if people are only counted.
    bounds : tuple of float or None
        A person's total in a group is clipped to them.
    """

    column: str | None = None
    bounds: tuple[float, float] | None = None

    kind: ClassVar[str]
    # Whether it is computed from the released number of people, and from a sum of its column.
    counts: ClassVar[bool] = False
    sums: ClassVar[bool] = False
    # Whether a mechanism of its own selects its values, and a caller chooses none.
    selected: ClassVar[bool] = False

    @classmethod
    def asked(cls, column: str, bounds: tuple[float, float] | None, of_column: str) -> Sequence[Statistic]:
        """Return the statistics that a caller asked for; errors name arguments with `of_column` after them."""
        return [cls(column, bounds)]

    @property
    def name(self) -> str:
        """The name of its column in a table of several statistics, and of its share of the budget."""
        return self.kind if self.column is None else f"{self.kind}_{self.column}"

    def problem(self, question: Any) -> str | None:
        """Return the rule that a question with this statistic breaks, or None."""
        return None

    def misfit(self, question: Any) -> str | None:
        """Do the same when ranges of groups have been read."""
        return None

    @abstractmethod
    def columns(self, own: Any, count: Released | None, shown: Shown) -> Columns:
        """Return its columns from what was released for its part, and the counts if they were released."""

    @abstractmethod
    def holds(self, role: str, unit: Fraction) -> Holds:
        """Return what a column holds."""

    @abstractmethod
    def truths(self, plan: Any, answers: Answers) -> list[Any]:
        """Return the true value of each group."""

    @abstractmethod
    def accuracy(self, chance: str, plan: Any, confidence: float) -> str:
        """Return the meaning of its bounds, which hold with this probability, in words and as a number."""

    def notes(self, plan: Any, confidence: float) -> dict[str, Any]:
        """Return what the notes say beside its column and bounds."""
        return {"unit": None if self.column is None else scaled(1, plan.part(self).unit)}

    def post_processing(self, nonnegative: bool) -> list[str]:
        """Return what happened to the released numbers."""
        return []


class Number(Statistic):
    """A statistic that is computed from a number of its own, to which noise is added."""

    __slots__ = ()

    def part(self, budget: Budget, share: Fraction, k: int, place: int | None, unit: Fraction) -> Part:
        """Return what protects its own number, with a share of the budget, if one person changes it in `k` groups.

        The number is a sum of clipped totals, in units, at a place among the answers.
        """
        change, centre = self.change(unit)
        got = f"{budget.eps:g} and {self.bounds}, of which the change counts in steps of {float(unit):g}"
        mechanism = budget.fitting(share, change, k, "eps and bounds", got)
        return Part(self, share, mechanism, k, change, centre, place, unit)

    @abstractmethod
    def change(self, unit: Fraction) -> tuple[int, int]:
        """Return the largest change of its number by one person, and what is subtracted from each person's total, in units."""

    def level(self, confidence: float) -> float:
        """Return the confidence that each number needs from which it is computed."""
        return confidence

    def truths(self, plan: Any, answers: Answers) -> list[Any]:
        """Return the true value of each group."""
        part = plan.part(self)
        totals = answers.counts if part.place is None else answers.sums[part.place]
        return [self.true(*numbers, part.unit) for numbers in zip(answers.counts.tolist(), totals.tolist(), strict=True)]

    @abstractmethod
    def true(self, count: int, total: int, unit: Fraction) -> int | float:
        """Return the true value of a group with this count and this sum in units."""

    @abstractmethod
    def measured(self, centre: int | float) -> str:
        """Name the numbers that its mechanism protects."""

    def check(self, plan: Any, confidence: float) -> list[str] | None:
        """Return lines of Python that compute its bounds again, or None if its mechanism has intervals."""
        return None


class Total(Number):
    """A statistic that is a released number itself."""

    __slots__ = ()

    def columns(self, own: Released, count: Released | None, shown: Shown) -> Columns:
        """Return the numbers and their bounds, rounded to the digits that the bounds justify."""
        unit = own.part.unit
        bounds = [width * unit for width in own.widths(shown.confidence).tolist()]
        digits = [Fraction(0) if shown.all_digits else last_digit(bound) for bound in bounds]
        numbers = [max(number, 0) if shown.nonnegative else number for number in own.values.tolist()]
        rows = [private_value(number * unit, unit, *bound) for number, *bound in zip(numbers, bounds, digits, strict=True)]
        columns = {"value": [value for value, _ in rows], "error_bound": [bound for _, bound in rows]}
        return Columns(columns, any(is_finer(unit, digit) for digit in digits))

    def holds(self, role: str, unit: Fraction) -> Holds:
        """Return what a column holds."""
        return "integer" if unit == 1 else "real"

    def accuracy(self, chance: str, plan: Any, confidence: float) -> str:
        """Return the meaning of its bounds."""
        return f"Each private {self.kind} is within error_bound of the true one {chance}."

    def post_processing(self, nonnegative: bool) -> list[str]:
        """Return what happened to the released numbers."""
        return [f"negative private {self.kind}s were set to 0, which raises the average of small groups"] if nonnegative else []
