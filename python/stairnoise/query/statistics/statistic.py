"""What every statistic states, and the part of the budget that protects its number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise.query.answers import Answers, Label
from stairnoise.query.mechanism import Budget
from stairnoise.query.types import Holds
from stairnoise.rng import SecureRng

_USE = b"noise of a selection"
_INT64 = np.iinfo(np.int64)


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

    def holds(self, role: str, unit: Fraction) -> Holds:
        """Return what a column holds."""
        return "integer" if unit == 1 else "real"

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

    def change(self, unit: Fraction) -> tuple[int, int]:
        """Return the largest change of its number by one person, and what is subtracted from each person's total, in units.

        A person counts once in a group.
        """
        return 1, 0

    def level(self, confidence: float) -> float:
        """Return the confidence that each number needs from which it is computed."""
        return confidence

    def truths(self, plan: Any, answers: Answers) -> list[Any]:
        """Return the true value of each group."""
        part = plan.part(self)
        totals = answers.counts if part.place is None else answers.sums[part.place]
        return [self.true(*numbers, part.unit) for numbers in zip(answers.counts.tolist(), totals.tolist(), strict=True)]

    def true(self, count: int, total: int, unit: Fraction) -> int | float:
        """Return the true value of a group with this count and this sum in units: the number of people."""
        return count

    @abstractmethod
    def measured(self, centre: int | float) -> str:
        """Name the numbers that its mechanism protects."""


@dataclass(frozen=True, slots=True)
class Part:
    """One number of each group, and the mechanism that protects it."""

    # Its file makes parts. A count serves all statistics that divide by it.
    statistic: Number
    # Part of the budget.
    share: Fraction
    # A mechanism for numbers, or the `PartitionSelection` that counts the groups and chooses which are shown.
    mechanism: Any
    # How many groups one person changes; 1 for a selection, whose mechanism includes that number.
    k: int
    # Largest change of one number, in units.
    change: int
    # What is subtracted from each person's total before summing, in units.
    centre: int = 0
    # The place of its sums among the answers; None for a count.
    place: int | None = None
    unit: Fraction = Fraction(1)
    # Whether it also chooses which groups are shown.
    selects: bool = False

    @property
    def name(self) -> str:
        """The name of its share of the budget."""
        return self.statistic.name

    def serves(self, statistic: object) -> bool:
        """Return whether it is the part of a statistic of its own."""
        return self.statistic == statistic

    @property
    def cost(self) -> tuple[Any, int]:
        """What a ledger counts, and for how many groups."""
        return self.mechanism.guarantee() if self.selects else self.mechanism, self.k

    @property
    def of(self) -> str:
        """What its numbers are."""
        return self.statistic.measured(scaled(self.centre, self.unit)) + (", and which groups are shown" if self.selects else "")

    def described(self) -> tuple[str, str, int | float]:
        """Return the mechanism, the one that draws if a person changes several groups, and the largest change of a number."""
        draws = self.mechanism.for_partitions(self.k) if self.k > 1 else self.mechanism
        return repr(self.mechanism), repr(draws), scaled(self.change, self.unit)

    def check(self, plan: Any, confidence: float) -> list[str]:
        """Return lines of Python that compute the bounds again."""
        if self.selects:
            facts = ", ".join(f"selection.{name}" for name in ("threshold", "always_shown", "sigma2", "noise_std()"))
            return [f"selection = sn.{self.mechanism!r}; {facts}  # {self.of}"]
        units = "" if self.unit == 1 else f", in units of {scaled(1, self.unit)!r}"
        statistics = plan.question.statistics
        used = [one for one in statistics if one == self.statistic or (self.place is None and one.counts)]
        return [
            f"sn.{self.mechanism!r}.confidence_interval(0, {level!r}, max_partitions_contributed={self.k})  # {self.of}{units}"
            for level in dict.fromkeys(one.level(confidence) for one in used)
        ]

    def confirmed(self, answers: Answers) -> tuple[NDArray[np.int64], list[Label]]:
        """Return the true answers of a keyed release, with their labels."""
        return self.true(answers), answers.labels

    def true(self, answers: Answers) -> NDArray[np.int64]:
        """Return the numbers that need protection."""
        if self.place is None:
            return answers.counts
        sums: NDArray[np.int64] = answers.sums[self.place]
        if not self.centre:
            return sums
        # Saturation never moves two answers apart, so it keeps the sensitivity.
        exact = sums.astype(object) - self.centre * answers.counts.astype(object)
        return np.array([min(max(total, _INT64.min), _INT64.max) for total in exact], np.int64)

    def released(self, answers: Answers, rng: Any, address: str | None) -> tuple[Answers, Released]:
        """Draw the noise; return the answers of the groups that are shown, and the released numbers.

        The address is the public name of a keyed release, None for fresh noise.
        """
        if self.selects:
            chosen, noisy = self.mechanism.release(self.true(answers), rng=rng)
            return answers.only(np.flatnonzero(chosen)), Released(self, noisy[chosen])
        keyed = {} if address is None else {"labels": answers.labels, "statistic": address}
        options = {"rng": rng, "max_partitions_contributed": self.k} | keyed
        return answers, Released(self, self.mechanism.release(self.true(answers), **options))


def selecting(rng: Any, of: tuple[object, ...], values: NDArray[np.int64], labels: Sequence[Label]) -> SecureRng:
    """Return a generator for a selection, which has no keyed form: it depends on the key, the values, and what `of` names.

    The first label keeps its key apart from the fingerprints that a ledger writes, whose labels hold no bytes.
    """
    return SecureRng.from_key(bytes.fromhex(rng.fingerprint(values, [(_USE, *of, *label) for label in labels])))


class Released(NamedTuple):
    """The released numbers of a part; of a `RanksPart`, the selected candidates of each group in the order of its quantiles."""

    part: Any
    values: NDArray[np.int64]

    def widths(self, confidence: float) -> NDArray[np.int64]:
        """Return a bound of each number's noise, which holds with this probability."""
        mechanism, k = self.part.mechanism, self.part.k
        if self.part.selects:
            return np.asarray(mechanism._half_widths(self.values, confidence))
        low, high = mechanism.confidence_interval(self.values, confidence, max_partitions_contributed=k)
        return np.asarray(np.maximum(high - self.values, self.values - low))


def scaled(steps: int, unit: Fraction) -> int | float:
    """Return a multiple of a unit: an integer if the unit is 1, otherwise the nearest float."""
    return steps if unit == 1 else float(steps * unit)
