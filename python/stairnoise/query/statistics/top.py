"""The groups with the most people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from stairnoise.mechanisms.permute_and_flip.mechanism import PermuteAndFlip
from stairnoise.quantiles.ranks import bound
from stairnoise.query.answers import Answers
from stairnoise.query.mechanism import Budget
from stairnoise.query.statistics.statistic import Columns, Number, Part, Released, Shown, selecting


@dataclass(frozen=True, slots=True)
class Top(Number):
    """The k groups with the most people, best first, without their numbers."""

    k: int = 5

    kind = "top"
    counts = False
    selected = True

    def problem(self, question: Any) -> str | None:
        """Require a list of enough groups, and no other statistic."""
        if len(question.statistics) > 1:
            return "top must be the only statistic of a question: it shows groups without their numbers"
        if not question.by:
            return "by must be given for a top"
        if question.unlisted:
            return f"groups of {', '.join(map(repr, question.unlisted))} must be listed for a top"
        return None

    def misfit(self, question: Any) -> str | None:
        """Require enough groups."""
        return None if self.k <= question.size else f"top must be at most the number of groups, {question.size}, got {self.k}"

    def part(self, budget: Budget, share: Fraction, k: int, place: int | None, unit: Fraction) -> Part:
        """Return what selects the groups.

        Adding a person adds at most 1 to each count and lowers none, in however many groups they count: no score changes by more
        than 1, and all that change do so in one direction. That is all that the guarantee of a monotonic selection needs, so
        `max_groups` does not enter.

        Permute-and-flip never has a larger expected cost than the exponential mechanism of the same pure ε.
        """
        return _TopPart(self, share, PermuteAndFlip(budget.eps, 1.0, True), 1, 1)

    def columns(self, own: Released, count: Released | None, shown: Shown) -> Columns:
        """Return the ranks."""
        return Columns({"rank": own.values.tolist()}, False)

    def measured(self, centre: int | float) -> str:
        """Name what its mechanism selects."""
        return f"the {self.k} groups with the most people, each selected with 1/{self.k} of eps"

    def accuracy(self, chance: str, plan: Any, confidence: float) -> str:
        """Return how far a selected group can be from the best."""
        return f"No group below has over {self.shortfall(plan, confidence)} people more, {chance}."

    def shortfall(self, plan: Any, confidence: float) -> int:
        """Return the least bound that holds in all selections with this probability.

        If every group selected is within the bound of the best one then left, it is so of all that are left in the end.
        """
        rate = plan.part(self).mechanism.eps / self.k
        # Counts are whole numbers: they are less than the bound below.
        return max(math.ceil(bound(rate, plan.question.size, (1 - confidence) / self.k, flips=True)) - 1, 0)


class _TopPart(Part):
    """The counts of which the largest are selected."""

    __slots__ = ()

    statistic: Top

    def check(self, plan: Any, confidence: float) -> list[str]:
        """Return lines of Python that compute the bound again."""
        k, n = self.statistic.k, plan.question.size
        a = f"math.exp(-{self.mechanism.eps!r} / {k} * ({self.statistic.shortfall(plan, confidence)} + 1))"
        return ["import math", f"a = {a}; {k} * (1 - (1 - (1 - a) ** {n}) / ({n} * a)) <= 1 - {confidence!r}"]

    def released(self, answers: Answers, rng: Any, address: str | None) -> tuple[Answers, Released]:
        """Select groups; return the answers of these, best first, and their ranks."""
        k = self.statistic.k
        if address is not None:
            rng = selecting(rng, (address, repr(self.mechanism)), answers.counts, answers.labels)
        chosen = self.mechanism.top(scores=answers.counts, k=k, rng=rng)
        return answers.only(chosen), Released(self, np.arange(1, k + 1))
