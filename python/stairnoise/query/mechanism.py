"""Which mechanism protects which number, with which part of the budget."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from stairnoise._errors import ParameterError, ParameterTypeError, meant, received
from stairnoise._recommendation import LAPLACE_UP_TO
from stairnoise.mechanisms.partition_selection import mechanism as partition_selection
from stairnoise.numerics.rounding import rounded_down
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
    # How many of the last shares are those of quantiles, which need no δ.
    ranked: int = 0

    def for_numbers(self, share: Fraction, sensitivity: int, k: int) -> Any:
        """Return the mechanism of numbers that get a share of the budget; its `for_partitions(k)` draws the noise."""
        eps = rounded_down(Fraction(self.eps) * share)
        # As `compare` recommends for a few releases of whole numbers at this ε each; at sensitivity 1 both are one distribution.
        geometric = sensitivity == 1 or eps / k <= LAPLACE_UP_TO
        name = self.mechanism or ("discrete_laplace" if geometric else "discrete_staircase")
        if name in WITH_DELTA:
            assert self.delta is not None
            mechanism = BY_NAME[name].load()
            # The constructor of Gaussian noise takes its variance.
            make = getattr(mechanism, "from_eps", mechanism)
            others = sum(self.shares[: len(self.shares) - self.ranked]) if self.ranked else 1
            return make(eps, rounded_down(Fraction(self.delta) * share / others), sensitivity)
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


def named(name: object) -> str | None:
    """Check the name of a mechanism; None stands for the recommended one."""
    if name is None:
        return None
    rule = f"mechanism must be {', '.join(map(repr, MECHANISMS[:-1]))} or {MECHANISMS[-1]!r}, or None for the recommended one"
    if not isinstance(name, str):
        raise ParameterTypeError(f"{rule}, got {received(name)}")
    if name not in MECHANISMS:
        hint = meant(name, MECHANISMS)
        if (whole := f"discrete_{name}") in MECHANISMS:
            hint = f": the results are whole numbers or multiples of a unit; did you mean {whole!r}?"
        raise ParameterError(f"{rule}, got {received(name)}{hint}")
    return name
