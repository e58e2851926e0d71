"""A protected number of each group, and the released numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise.query.answers import Answers
from stairnoise.rng import SecureRng

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
    def cost(self) -> Any:
        """What a ledger counts."""
        return self.mechanism.guarantee() if self.selects else self.mechanism

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


def selecting(part: Part, answers: Answers, rng: Any, address: str | None) -> Any:
    """Return the generator of a selection, which has no keyed form.

    Of a KeyedRng it is one that depends on the question, the mechanism and the data. The first label keeps its key apart from the
    fingerprints that a ledger writes.
    """
    if address is None:
        return rng
    use = f"noise of {part.statistic.kind}", address, repr(part.mechanism)
    labels = [(*use, *group) for group in answers.labels]
    return SecureRng.from_key(bytes.fromhex(rng.fingerprint(part.true(answers), labels)))


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
