"""The budget of a question: what is asked for, checked, and how it is divided."""

from __future__ import annotations

from fractions import Fraction

from stairnoise._errors import ParameterError, meant, received
from stairnoise._parameters import mapping, positive, refuse, single
from stairnoise.query.mechanism import OF_COUNTS, WITH_DELTA, Budget, named
from stairnoise.query.question import Question


def changed_groups(question: Question) -> int:
    """Return how many groups one person can change: at most as many as there are, if all are listed."""
    if question.unlisted:
        return question.max_groups
    return min(question.max_groups, question.size)


def budget(eps: object, delta: object, mechanism: object, shares: object, question: Question) -> Budget:
    """Check the budget of a question, its shares and its mechanism, before anything is asked or spent."""
    names = [statistic.name for statistic in question.measured]
    spent = Budget(
        positive(eps, "eps"),
        None if delta is None else _delta(delta),
        named(mechanism),
        _shares(shares, names),
        bool(question.unlisted),
        len(question.ranked),
    )
    for one in question.statistics:
        if one.selected and spent.mechanism is not None:
            raise ParameterError(f"mechanism must be left out for a {one.kind}, got {spent.mechanism!r}")
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
    if spent.mechanism is not None and not question.numbers:
        raise ParameterError(f"mechanism must be left out for quantiles, which are selected, got {spent.mechanism!r}")
    if spent.mechanism in OF_COUNTS and not only_counts:
        raise ParameterError(
            f"mechanism must be one for sums: {spent.mechanism!r} is for counts, got a {question.summed[0].kind}"
        )
    k = changed_groups(question)
    if question.numbers:
        spent.for_numbers(Fraction(1), 1, k)._keeping_guarantee(k, "max_groups")
    return spent


def _shares(shares: object, names: list[str]) -> tuple[Fraction, ...]:
    """Return what each measured number gets; a number without a share has 1."""
    given = mapping(shares, "shares", "names to numbers")
    for name in given:
        if name not in names:
            raise ParameterError(
                f"shares must be of {', '.join(map(repr, names))}, got one of {received(name)}{meant(str(name), names)}"
            )
    weights = [Fraction(positive(given.get(name, 1), f"shares of {name!r}")) for name in names]
    return tuple(weight / sum(weights) for weight in weights)


def _delta(delta: object) -> float:
    number = single(delta, "delta")
    refuse("delta", number, 0 < number < 1, "greater than 0 and less than 1")
    return number


def _require_delta(unlisted: list[str], spent: Budget, only_counts: bool) -> None:
    listed = ", ".join(map(repr, unlisted))
    if spent.delta is None:
        raise ParameterError(
            f"groups of {listed} must be listed, or delta given: which groups the data have is private too; got neither"
        )
    if spent.mechanism is not None and (only_counts or spent.mechanism in WITH_DELTA):
        what = "partition selection counts the groups of" if only_counts else "partition selection takes the delta of"
        raise ParameterError(f"mechanism must be left out: {what} {listed}, got {spent.mechanism!r}")
