"""Which mechanism protects which number, and how the budget is divided among them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from stairnoise._errors import ParameterError, ParameterTypeError, meant, outline, received
from stairnoise._parameters import positive, single
from stairnoise._recommendation import LAPLACE_UP_TO
from stairnoise.mechanisms.partition_selection import mechanism as partition_selection
from stairnoise.numerics.rounding import rounded_down
from stairnoise.query.question import Question
from stairnoise.registry import BY_NAME, ROWS

# Counts are whole numbers and sums whole multiples of a unit, so all mechanisms here have noise on the integers.
WITHOUT_DELTA = tuple(row.name for row in ROWS if row.released and row.kind == "discrete")
WITH_DELTA = tuple(row.name for row in ROWS if row.group == "with a delta" and row.kind == "discrete")
MECHANISMS = (*WITHOUT_DELTA, *WITH_DELTA)
# These have sensitivity 1 only, so they cannot protect sums.
OF_COUNTS = ("discrete_canonical",)


class Budget(NamedTuple):
    """What a query may cost, the mechanism that was asked for, and the share of each measured number."""

    eps: float
    delta: float | None
    mechanism: str | None
    # They sum to 1. What they give of ε and δ is rounded down, so that it never sums to more.
    shares: tuple[Fraction, ...]
    # Whether the groups are chosen privately.
    selects: bool

    def for_numbers(self, share: Fraction, sensitivity: int, k: int) -> Any:
        """Return the mechanism of numbers that get a share of the budget; its `for_partitions(k)` draws the noise."""
        eps = rounded_down(Fraction(self.eps) * share)
        name = self.mechanism or _recommended(eps / k, sensitivity)
        if name in WITH_DELTA:
            assert self.delta is not None
            mechanism = BY_NAME[name].load()
            # The constructor of Gaussian noise takes its variance.
            make = getattr(mechanism, "from_eps", mechanism)
            return make(eps, rounded_down(Fraction(self.delta) * share), sensitivity)
        return BY_NAME[name].load()(eps, sensitivity)

    def fitting(self, share: Fraction, sensitivity: int, k: int, names: str, got: str) -> Any:
        """Do the same where the noise fits 64 bits. A mechanism's own error would name an ε and a sensitivity that nobody set."""
        try:
            mechanism = self.for_numbers(share, sensitivity, k)
            mechanism._keeping_guarantee(k, "max_groups")
        except ParameterError:
            raise ParameterError(f"{names} must leave noise that fits 64-bit integers, got {got}") from None
        return mechanism

    def selection(self, share: Fraction, k: int) -> Any:
        """Return the mechanism that decides which groups are shown, and counts them. No other part has a δ then."""
        assert self.delta is not None
        return partition_selection.PartitionSelection(rounded_down(Fraction(self.eps) * share), self.delta, k)


def changed_groups(question: Question) -> int:
    """Return how many groups one person can change: at most as many as there are, if all are listed."""
    if question.unlisted:
        return question.max_groups
    return min(question.max_groups, math.prod(len(question.groups[name]) for name in question.by))


def budget(eps: object, delta: object, mechanism: object, shares: object, question: Question) -> Budget:
    """Check the budget of a question, its shares and its mechanism, before anything is asked or spent."""
    names = [statistic.name for statistic in question.measured]
    spent = Budget(
        positive(eps, "eps"),
        None if delta is None else _delta(delta),
        _mechanism(mechanism),
        _shares(shares, names),
        bool(question.unlisted),
    )
    only_counts = not question.summed
    if question.unlisted:
        _require_delta(question.unlisted, spent, only_counts)
        spent.selection(spent.shares[0], question.max_groups)
        if only_counts:
            return spent
    elif spent.mechanism in WITH_DELTA and spent.delta is None:
        raise ParameterError(f"delta must be given for {spent.mechanism}, got None")
    elif spent.mechanism not in WITH_DELTA and spent.delta is not None:
        raise ParameterError(
            f"delta must be left out: all groups are listed, and {spent.mechanism or 'the default mechanism'} has none, "
            f"got {spent.delta:g}"
        )
    if spent.mechanism in OF_COUNTS and not only_counts:
        raise ParameterError(
            f"mechanism must be one for sums: {spent.mechanism!r} is for counts, got a {question.summed[0].kind}"
        )
    k = changed_groups(question)
    spent.for_numbers(Fraction(1), 1, k)._keeping_guarantee(k, "max_groups")
    return spent


def _shares(shares: object, names: list[str]) -> tuple[Fraction, ...]:
    """Return what each measured number gets; a number without a share has 1."""
    if not isinstance(shares, Mapping):
        if shares is not None:
            raise ParameterTypeError(f"shares must be a dict from names to numbers, got {outline(shares)}")
        shares = {}
    for name in shares:
        if name not in names:
            raise ParameterError(
                f"shares must be of {', '.join(map(repr, names))}, got one of {received(name)}{meant(str(name), names)}"
            )
    weights = [Fraction(positive(shares.get(name, 1), f"shares of {name!r}")) for name in names]
    return tuple(weight / sum(weights) for weight in weights)


def _delta(delta: object) -> float:
    number = single(delta, "delta")
    if not 0 < number < 1:
        raise ParameterError(f"delta must be greater than 0 and less than 1, got {received(number)}")
    return number


def _mechanism(name: object) -> str | None:
    if name is None:
        return None
    rule = f"mechanism must be {', '.join(map(repr, MECHANISMS[:-1]))} or {MECHANISMS[-1]!r}, or None for the recommended one"
    if not isinstance(name, str):
        raise ParameterTypeError(f"{rule}, got {received(name)}")
    if name not in MECHANISMS:
        whole = [known for known in MECHANISMS if known == f"discrete_{name}"]
        hint = (
            f": the results are whole numbers or multiples of a unit; did you mean {whole[0]!r}?"
            if whole
            else meant(name, MECHANISMS)
        )
        raise ParameterError(f"{rule}, got {received(name)}{hint}")
    return name


def _require_delta(unlisted: list[str], spent: Budget, only_counts: bool) -> None:
    listed = ", ".join(map(repr, unlisted))
    if spent.delta is None:
        raise ParameterError(
            f"groups of {listed} must be listed, or delta given: which groups the data have is private too; got neither"
        )
    if spent.mechanism is not None and (only_counts or spent.mechanism in WITH_DELTA):
        what = "partition selection counts the groups of" if only_counts else "partition selection takes the delta of"
        raise ParameterError(f"mechanism must be left out: {what} {listed}, got {spent.mechanism!r}")


def _recommended(eps: float, sensitivity: int) -> str:
    """Return the mechanism that `compare` recommends for a few releases of whole numbers at this ε each.

    At sensitivity 1 both are the same distribution.
    """
    return "discrete_laplace" if sensitivity == 1 or eps <= LAPLACE_UP_TO else "discrete_staircase"
