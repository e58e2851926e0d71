"""A protected number of each group, and the released numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise.query.answers import Answers
from stairnoise.rng import SecureRng

_USE = b"noise of a selection"
_INT64 = np.iinfo(np.int64)


@dataclass(frozen=True, slots=True)
class Part:
    """One number of each group, and the mechanism that protects it."""

    # The `Statistic` whose number it is; its file makes parts. A count serves all statistics that divide by it.
    statistic: Any
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
        name: str = self.statistic.name
        return name

    def serves(self, statistic: object) -> bool:
        """Return whether it is the part of a statistic of its own."""
        return bool(self.statistic == statistic)

    @property
    def cost(self) -> tuple[Any, int]:
        """What a ledger counts, and for how many groups."""
        return self.mechanism.guarantee() if self.selects else self.mechanism, self.k

    @property
    def of(self) -> str:
        """What its numbers are."""
        measured: str = self.statistic.measured(scaled(self.centre, self.unit))
        return measured + (", and which groups are shown" if self.selects else "")

    def described(self) -> tuple[str, str, int | float]:
        """Return the mechanism, the one that draws if a person changes several groups, and the largest change of a number."""
        draws = self.mechanism.for_partitions(self.k) if self.k > 1 else self.mechanism
        return repr(self.mechanism), repr(draws), scaled(self.change, self.unit)

    def check(self, plan: Any, confidence: float) -> list[str]:
        """Return lines of Python that compute the bounds again."""
        if (own := self.statistic.check(plan, confidence)) is not None:
            lines: list[str] = own
            return lines
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

    def confirmed(self, answers: Answers) -> tuple[NDArray[np.int64], list[tuple[object, ...]]]:
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


def selecting(rng: Any, of: tuple[object, ...], values: NDArray[np.int64], labels: Sequence[tuple[object, ...]]) -> SecureRng:
    """Return a generator for a selection, which has no keyed form: it depends on the key, the values, and what `of` names.

    The first label keeps its key apart from the fingerprints that a ledger writes, whose labels hold no bytes.
    """
    return SecureRng.from_key(bytes.fromhex(rng.fingerprint(values, [(_USE, *of, *label) for label in labels])))


class Released(NamedTuple):
    """The released numbers of a part."""

    part: Part
    values: NDArray[np.int64]

    def widths(self, confidence: float) -> NDArray[np.int64]:
        """Return a bound of each number's noise, which holds with this probability."""
        mechanism, k = self.part.mechanism, self.part.k
        if self.part.selects:
            widths: NDArray[np.int64] = mechanism._half_widths(self.values, confidence)
        else:
            low, high = mechanism.confidence_interval(self.values, confidence, max_partitions_contributed=k)
            widths = np.maximum(high - self.values, self.values - low)
        return widths


def scaled(steps: int, unit: Fraction) -> int | float:
    """Return a multiple of a unit: an integer if the unit is 1, otherwise the nearest float."""
    return steps if unit == 1 else float(steps * unit)
