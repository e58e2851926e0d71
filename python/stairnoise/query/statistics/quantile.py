"""Medians and other quantiles of a column: of each, one of the public candidates.

The database counts how many people are near each candidate, and no more. Permute-and-flip selects a single quantile of a column
by its costs (`stairnoise.quantiles.ranks`). Several quantiles of a column are selected one after the other, from the same counts,
or many of few candidates are read from a tree (`stairnoise.quantiles.tree`).

A person has one vote in each group, which their rows share. So one person changes a cost by at most max(q, 1 - q) votes, however
many rows they have. For k groups each selection has a k-th part of ε.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._digits import as_typed, at_most, decimals, fixed
from stairnoise._errors import ParameterError, check, received
from stairnoise._parameters import positive
from stairnoise.mechanism.guarantee import Guarantee
from stairnoise.mechanisms.permute_and_flip.mechanism import PermuteAndFlip
from stairnoise.numerics.rounding import rounded_down
from stairnoise.quantiles.lattice import Lattice
from stairnoise.quantiles.plan import Plan, shares_of
from stairnoise.quantiles.plan import ranked as distinct
from stairnoise.quantiles.ranks import Accuracy, Target
from stairnoise.query.answers import Answers, Histogram, Label
from stairnoise.query.mechanism import Budget
from stairnoise.query.statistics.statistic import Columns, Released, Shown, Statistic, selecting
from stairnoise.rng import SecureRng

# A person's weight, which up to 16 rows share exactly: the least common multiple of 1 to 16. Other rows differ by at most 1.
_PERSON = 720_720
_MILLIONTHS = 10**6
_LARGEST = 2**53


@dataclass(frozen=True, slots=True)
class Quantile(Statistic):
    """One quantile of a column.

    Attributes
    ----------
    q : Fraction
        The part of the people whose values are below.
    step : float or None
        The distance of candidates, which begin at the lower bound. None: chosen by the bounds and the column's type.
    """

    q: Fraction = Fraction(1, 2)
    step: float | None = None

    kind: ClassVar[str] = "quantile"

    @classmethod
    def asked(
        cls, column: str, bounds: tuple[float, float] | None, of_column: str, q: object = 0.5, step: Any = None
    ) -> Sequence[Statistic]:
        """Return the quantiles of a column: `q` is one of them, or several."""
        check(
            bounds is not None,
            f"bounds{of_column} must be given, chosen without looking at the values, which are private; got none",
        )
        shares, _ = shares_of(list(q) if isinstance(q, tuple) else q)
        check(len(set(shares)) == len(shares), f"q{of_column} must list every quantile once, got one of them twice")
        width = None if step is None else positive(step, f"step{of_column}")
        return [cls(column, bounds, share, width) for share in shares]

    @property
    def name(self) -> str:
        """The name of its column in a table of several statistics."""
        return f"quantile_{self.column}_{written(self.q)}"

    def columns(self, own: Released, count: Released | None, shown: Shown) -> Columns:
        """Return the selected candidates, with all digits that candidates have."""
        points = own.part.lattice.points[own.values[:, own.part.shares.index(self.q)]].tolist()
        return Columns({"value": [int(point) for point in points] if own.part.unit == 1 else points}, False)

    def truths(self, plan: Any, answers: Answers) -> list[Any]:
        """Return the first candidate whose cost is 0, or NaN in an empty group."""
        part: RanksPart = plan.part(self)
        points, found = part.lattice.points, []
        for candidates, weights in answers.histograms[part.place]:
            upto = np.cumsum(weights)
            place = np.searchsorted(upto, math.ceil(self.q * int(upto[-1]))) if len(upto) else 0
            found.append(float(points[candidates[place]]) if len(upto) else math.nan)
        return [int(point) if part.unit == 1 and point == point else point for point in found]

    def accuracy(self, chance: str, plan: Any, confidence: float) -> str:
        """Return the meaning of the bound on ranks, which is the same for each group."""
        part: RanksPart = plan.part(self)
        bound, people = part.accuracy(confidence)
        of = f"{part.ranks.kind} of {self.column}"
        said = f"Each private {of} is within {at_most(bound)} people of the true one, in rank, {chance}."
        said += f" Values count as the nearest of {part.listed}."
        if people < math.inf:
            return f"{said} In a group of fewer than {people} people it can lie outside of all values."
        ends = [end for end, q in (("below the smallest", 0), ("above the largest", 1)) if q in part.shares]
        return f"{said} It can lie anywhere {' or '.join(ends)} value, so wide bounds give numbers far from all values."

    def notes(self, plan: Any, confidence: float) -> dict[str, Any]:
        """Return the candidates, and how far the selected one is from the quantile, in people."""
        part: RanksPart = plan.part(self)
        bound, people = part.accuracy(confidence)
        step = part.lattice.step
        assert step is not None
        return {
            "q": written(self.q),
            "step": float(step),
            "candidates": len(part.lattice.points),
            "rank_bound": bound,
            "people_needed": people if people < math.inf else None,
        }


@dataclass(frozen=True, slots=True)
class Median(Quantile):
    """The median of a column."""

    kind: ClassVar[str] = "median"

    @property
    def name(self) -> str:
        """The name of its column in a table of several statistics."""
        return f"median_{self.column}"


def written(q: Fraction) -> str:
    """Return a quantile as it was typed: a decimal, or a fraction such as 1/3."""
    return f"{float(q):.6f}".rstrip("0").rstrip(".") if _MILLIONTHS % q.denominator == 0 else str(q)


class Ranks(NamedTuple):
    """All quantiles of one column; they have one part of the budget."""

    quantiles: tuple[Quantile, ...]
    # The weight of one person.
    person: int

    @property
    def column(self) -> str:
        """The column."""
        return str(self.quantiles[0].column)

    @property
    def kind(self) -> str:
        """What they are."""
        return "median" if all(isinstance(one, Median) for one in self.quantiles) else "quantile"

    @property
    def name(self) -> str:
        """The name of their share of the budget."""
        return f"{self.kind}_{self.column}"

    def part(self, budget: Budget, share: Fraction, k: int, place: int, lattice: Lattice) -> RanksPart:
        """Return what selects them with a share of the budget, if one person counts in `k` groups."""
        ranks, r = distinct(one.q for one in self.quantiles)
        eps = Fraction(budget.eps) * share
        plan = Plan(ranks, r, rounded_down(eps / k), self.person).among(len(lattice.points))
        check(plan.level > 0, f"eps must be large enough for {k} groups and {len(ranks)} quantiles, got {budget.eps:g}")
        return RanksPart(self, share, rounded_down(eps), plan, k, place, lattice)


def ranked(statistics: Iterable[Statistic], *, of_persons: bool) -> tuple[Ranks, ...]:
    """Return the quantiles among some statistics by column; they share the candidates."""
    by_column: dict[str, list[Quantile]] = {}
    for one in statistics:
        if isinstance(one, Quantile):
            by_column.setdefault(str(one.column).casefold(), []).append(one)
    for found in by_column.values():
        if len({(one.column, one.bounds, one.step) for one in found}) > 1:
            raise ParameterError(
                f"quantiles of {received(found[0].column)} must have one spelling and the same bounds, got several"
            )
    return tuple(Ranks(tuple(found), _PERSON if of_persons else 1) for found in by_column.values())


@dataclass(frozen=True, slots=True)
class RanksPart:
    """The quantiles of a column in each group, and what selects them."""

    ranks: Ranks
    share: Fraction
    # Of all groups together.
    eps: float
    # Of one group.
    plan: Plan
    k: int
    # Its place among the histograms.
    place: int
    lattice: Lattice

    selects: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of its share of the budget."""
        return self.ranks.name

    def serves(self, statistic: object) -> bool:
        """Return whether it selects a quantile."""
        return statistic in self.ranks.quantiles

    @property
    def shares(self) -> list[Fraction]:
        """The quantiles in increasing order."""
        return [Fraction(p, self.plan.r) for p in self.plan.ranks]

    @property
    def unit(self) -> Fraction:
        """1 if all candidates are integers that a float holds, else the distance of candidates."""
        step, points = self.lattice.step, self.lattice.points
        assert step is not None
        whole = step.denominator == as_typed(float(points[0])).denominator == 1
        return Fraction(1) if whole and np.abs(points).max() <= _LARGEST else step

    @property
    def listed(self) -> str:
        """The first candidates and the last one."""
        points = self.lattice.points.tolist()
        texts = [fixed(point, decimals(*points[:2], points[-1])) for point in (*points[:2], points[-1])]
        return ", ".join(dict.fromkeys(texts)) if len(points) <= len(texts) - 1 else f"{texts[0]}, {texts[1]}, ..., {texts[2]}"

    @property
    def cost(self) -> tuple[Any, int]:
        """What a ledger counts."""
        return _Cost(self), 1

    def accuracy(self, confidence: float) -> Accuracy:
        """Return the bound of each quantile in people."""
        return self.plan._replace(person=1).accuracy(len(self.lattice.points), confidence)

    def confirmed(self, answers: Answers) -> tuple[NDArray[np.int64], list[Label]]:
        """Return the weights of a keyed release, with labels."""
        return _rows(answers.labels, answers.histograms[self.place])

    def released(self, answers: Answers, rng: Any, address: str | None) -> tuple[Answers, Released]:
        """Select the quantiles of each group.

        The address is the public name of a keyed release, None for fresh noise. A keyed selection has a generator of its own,
        whose key is a fingerprint of the group's weights: equal weights have equal results, and others have independent noise.
        """
        histograms, among = answers.histograms[self.place], len(self.lattice.points)
        rngs = [rng] * len(histograms) if address is None else self._keyed(answers, rng._fetched(), address)
        chosen = [self.plan.selected(*one, among, own) for one, own in zip(histograms, rngs, strict=True)]
        return answers, Released(self, np.array(chosen, np.int64).reshape(-1, len(self.plan.ranks)))

    def _keyed(self, answers: Answers, rng: Any, address: str) -> Iterable[SecureRng]:
        for label, histogram in zip(answers.labels, answers.histograms[self.place], strict=True):
            yield selecting(rng, (address, repr(self.plan), len(self.lattice.points)), *_rows([label], [histogram]))

    def described(self) -> tuple[str, str, float]:
        """Return what selects in all groups together, what selects in one, and the largest change of a cost, in people."""
        plan, change = self.plan, 1.0 if self.plan.tree else float(max(max(q, 1 - q) for q in self.shares))

        def selected_by(eps: float) -> str:
            if plan.tree:
                return f"DiscreteLaplace(eps={rounded_down(Fraction(eps) / 2)!r}, sensitivity=1) for counts, and again for runs"
            level = rounded_down(Fraction(eps) / plan.levels)
            if not plan.alone:
                return f"ExponentialMechanism(eps={level!r}) at each of {plan.levels} levels"
            if len(plan.ranks) > 1:
                return f"PermuteAndFlip(eps={level!r}) for each of two"
            return repr(PermuteAndFlip(eps, change, Target(plan.ranks[0], plan.r).monotonic))

        return selected_by(self.eps), selected_by(plan.eps), change

    @property
    def of(self) -> str:
        """What is selected."""
        listed = [] if self.ranks.kind == "median" else [" " + ", ".join(map(written, self.shares))]
        plural = "s" * (len(self.shares) > 1)
        return f"{self.ranks.kind}{plural}{''.join(listed)} of {self.ranks.column}"

    def check(self, plan: Any, confidence: float) -> list[str]:
        """Return a line of Python that computes the bound on ranks again."""
        shares = [written(q) if "/" not in written(q) else f"Fraction({q.numerator}, {q.denominator})" for q in self.shares]
        q = shares[0] if len(shares) == 1 else f"[{', '.join(shares)}]"
        asked = f"{q}, {len(self.lattice.points)}, eps={self.plan.eps!r}, confidence={confidence!r}"
        return [f"sn.quantile_accuracy({asked})  # {self.of}"]


class _Cost(Guarantee):
    """The guarantee of the quantiles of all groups; a ledger names it by what selects in one group."""

    __slots__ = ("_draws",)

    _draws: str

    def __init__(self, part: RanksPart) -> None:
        super().__init__(part.eps, 0.0, None, None, part.k)
        object.__setattr__(self, "_draws", part.described()[1])

    def __repr__(self) -> str:
        return self._draws


def _rows(labels: Sequence[Label], histograms: Sequence[Histogram]) -> tuple[NDArray[np.int64], list[Label]]:
    """Return the weights of groups, and how many each group has, so that every group has a row; and the labels of these rows."""
    values = [np.append(weights, len(weights)) for _, weights in histograms]
    rows = [
        (*label, place)
        for label, (candidates, _) in zip(labels, histograms, strict=True)
        for place in (*candidates.tolist(), None)
    ]
    return np.concatenate(values), rows
