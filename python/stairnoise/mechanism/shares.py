"""The base of infinitely divisible mechanisms, which split into shares that add up to the whole."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from stairnoise._errors import ParameterError
from stairnoise._parameters import count, refuse
from stairnoise._types import Default, Self, Value
from stairnoise.distributions import infinitely_divisible
from stairnoise.mechanism.additive import AdditiveMechanism
from stairnoise.mechanism.guarantee import Change, Guarantee, group
from stairnoise.mechanism.immutable import Parameter, once

_MOST_PARTIES = 2**32 - 1


def parties(n_parties: object, present: object) -> dict[str, Any]:
    """Check the two parameters of a share."""
    if type(n_parties) is int and type(present) is int and 1 <= present <= n_parties <= _MOST_PARTIES:
        return {"n_parties": n_parties, "present": present}
    n = count(n_parties, "n_parties", least=1, most=_MOST_PARTIES)
    return {"n_parties": n, "present": count(present, "present", least=1, most=n)}


class Shares(AdditiveMechanism[Default, Value, float]):
    """A mechanism that is the sum of any number of independent, equal shares."""

    __slots__ = ()
    _any_sensitivity = True
    # Lattice step, and bound on the relative error of `privacy_eps`.
    _step: float = 1.0
    _eps_error: Fraction = Fraction(1, 10**12)

    n_parties = Parameter[int]("Number of shares that add up to the whole.")
    present = Parameter[int]("Number of shares whose sum this mechanism adds.")

    if TYPE_CHECKING:

        def privacy_eps(self, sensitivity: Any = ..., *, max_partitions_contributed: int = 1) -> float: ...
        def _terms(self) -> list[Any]:
            """Return the terms of the sum, in lattice steps: `stairnoise.distributions.infinitely_divisible.Term`."""

    sensitivity = Parameter[Any]("Largest change Δ of the sum that one person can cause; None for noise alone.")

    @property
    def _default_sensitivity(self) -> Any:
        return self.sensitivity or 1

    def mean(self) -> float:
        """E X, zero by symmetry."""
        return 0.0

    @once
    def var(self) -> float:
        """E X², in closed form."""
        return self._step * infinitely_divisible.variance(self._terms()) * self._step

    @once
    def std(self) -> float:
        """Square root of the variance."""
        return math.sqrt(self.var())

    def _functions(self) -> Any:
        return infinitely_divisible.Differences(self._terms())

    def _falls_from_its_mode(self) -> bool:
        return True

    def _sum_bound(self, k: int, alpha: float) -> int:
        return infinitely_divisible.sum_bound(tuple(self._terms()), k, alpha, peaked=self._falls_from_its_mode())

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        return Guarantee(self.privacy_eps(sensitivity, max_partitions_contributed=k), 0.0, None, sensitivity, k)

    def _cost_of(self, change: Change) -> tuple[float | None, float | None, float | None]:
        """Return the least cost of the change as one of so many values by all of it, by a step, or by the sensitivity."""
        largest = float(change.distance) if not self._integers else math.ceil(change.distance)
        lengths = {largest, *((1, self._default_sensitivity) if self._integers else ())} - {0}
        bounds = []
        for length in lengths:
            with suppress(ParameterError):  # a length for which privacy_eps is not computed
                eps = Fraction(self.privacy_eps(length)) * (1 + self._eps_error)
                bounds.append(group(eps, 0.0, change.units(self._in_steps(length))))
        refuse("d_in", largest, not lengths or len(bounds) > 0, "a change for which privacy_eps is computed")
        return min(bounds, default=(0.0, 0.0, None))

    def _in_steps(self, change: Any) -> int:
        return math.ceil(Fraction(change) / Fraction(self._sampler.granularity))

    def _laplace(self) -> Any:
        """Return the Laplace mechanism for comparison; None for a share."""
        return super()._laplace() if self.n_parties == self.present else None

    @property
    def _fraction(self) -> float:
        return float(self._parameters["present"] / self._parameters["n_parties"])

    def _exact_share(self) -> dict[str, Any]:
        """Return the exact parameters of the parties: 2 of 4 shares have the noise of 1 of 2."""
        part = Fraction(self.present, self.n_parties)
        return {"n_parties": part.denominator, "present": part.numerator}

    def share(self, n_parties: int, present: int = 1) -> Self:
        """Return the mechanism for one party; the noise of `n_parties` such parties adds up to this noise.

        A share alone protects almost nothing. The sum is private once enough parties have added their shares, and only
        from people who never see a part of the sum. ``share(n, present).privacy_eps()`` states the ε of the noise of
        the parties present.

        Parameters
        ----------
        n_parties : int
            How many parties, at least 1; the product over repeated calls is at most 2**32 - 1.
        present : int, default 1
            From 1 to `n_parties`. The mechanism adds the sum of this many shares, for parties that drop out.

        Returns
        -------
        a mechanism of the same class
            The split is exact: the shape is multiplied by the fraction ``present/n_parties``, which is not rounded to
            float64.

        Raises
        ------
        ParameterError, ParameterTypeError
            A number is out of range or not an integer, or a share would be too small for a table.
        """
        counts = parties(n_parties, present)
        combined = {name: self._parameters[name] * number for name, number in counts.items()}
        return type(self)(*(self._named_arguments() | combined).values())
