"""What a release promises, in one form for every mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._parameters import Real
from stairnoise.mechanism.immutable import Immutable, display
from stairnoise.mechanism.partitions import NAME, partitions
from stairnoise.mechanism.stated import unstated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stairnoise._types import Number
    from stairnoise.mechanism.base import Mechanism


class Guarantee(Immutable):
    """What a mechanism promises about its releases; ``guarantee()`` of every mechanism returns one.

    One person changes each of ``partitions`` released values by at most ``sensitivity``. All these values together have the
    (ε, δ) and the ρ below. Objects are immutable and hashable, and print as a sentence.

    Attributes
    ----------
    eps : float, ndarray or None
        ε of differential privacy. None for a mechanism that states only ρ, such as ``Gaussian(sigma=1)``, or only its
        ``rdp_bound``, such as ``Skellam(mu)``. Its ``privacy_profile(eps)`` returns a δ for every ε.
    delta : float, ndarray or None
        δ of differential privacy: 0.0 for pure ε, None if ``eps`` is None.
    rho : float, ndarray or None
        ρ of zero-concentrated differential privacy, for Gaussian noise. None for all other mechanisms.
    sensitivity : float, int or ndarray
        Largest change of one value that one person can cause. For a vector, the change is measured in its norm.
    partitions : int
        How many values one person changes.

    Examples
    --------
    >>> import stairnoise as sn
    >>> sn.Gaussian(eps=1, delta=1e-6).guarantee().delta
    1e-06
    >>> sn.Laplace(eps=1, sensitivity=2).guarantee()
    Guarantee: one value that changes by at most 2.0 is 1.0-differentially private.
    >>> sn.Laplace(eps=1, sensitivity=2).guarantee(max_partitions_contributed=3)
    Guarantee: 3 values that change by at most 2.0 each are 1.0-differentially private together.
    """

    __slots__ = ("delta", "eps", "partitions", "rho", "sensitivity")
    __module__ = "stairnoise"

    eps: Real | None
    delta: Real | None
    rho: Real | None
    sensitivity: Real | NDArray[np.int64]
    partitions: int

    def __init__(
        self,
        eps: Real | None = None,
        delta: Real | None = None,
        rho: Real | None = None,
        sensitivity: Real | NDArray[np.int64] = 1,
        partitions: int = 1,
    ) -> None:
        fields = {"eps": eps, "delta": delta, "rho": rho, "sensitivity": sensitivity, "partitions": partitions}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _named_arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("eps", "delta", "rho", "sensitivity", "partitions")}

    def __repr__(self) -> str:
        change = display(self.sensitivity)
        claims = []
        if self.eps is not None:
            pure = self.delta is not None and np.all(np.equal(self.delta, 0))
            bounds = _shown(self.eps) if pure else f"({_shown(self.eps)}, {_shown(self.delta)})"
            claims.append(f"{bounds}-differentially private")
        if self.rho is not None:
            claims.append(f"{_shown(self.rho)}-zero-concentrated differentially private")
        promise = " and ".join(claims) or "(α, rdp_bound(α))-Rényi differentially private for every α > 1"
        if self.partitions == 1:
            return f"Guarantee: one value that changes by at most {change} is {promise}."
        return f"Guarantee: {self.partitions} values that change by at most {change} each are {promise} together."


def _shown(number: Any) -> str:
    """Write an ε, δ or ρ; one of more than four digits is rounded up, because a mechanism promises every larger one too."""
    # Imported here, so that programs which only draw noise do not wait for decimals.
    from stairnoise._digits import at_most

    as_it_is = display(number)
    return as_it_is if not isinstance(number, float) or float(at_most(number)) == number else at_most(number)


"""A mechanism that says what its releases promise."""


def guarantee(self: Mechanism, sensitivity: Number | None = None, *, max_partitions_contributed: int = 1) -> Guarantee:
    """Return what a release promises.

    Parameters
    ----------
    sensitivity : int, float or None
        Largest change Δ of one value. Only `DiscreteGaussian`, `Skellam`, `GeneralizedDiscreteLaplace`,
        `MultiScaleDiscreteLaplace` and `Arete` take it. None: the sensitivity it was made for. A mechanism made from its
        noise alone has none.
    max_partitions_contributed : int, default 1
        How many values one person can change, as in `release`. `GeneralizedDiscreteLaplace`, `Arete` and
        `LatticeNoise` do not divide their privacy budget: for them, the guarantee is that of this many releases.

    Returns
    -------
    Guarantee
        For a Gaussian mechanism made by ``for_partitions(k)``, the guarantee covers its k values together. The other
        mechanisms that `for_partitions` returns have a smaller privacy budget; their guarantee covers one value.

    Raises
    ------
    ParameterError, ParameterTypeError
        `sensitivity` is out of range or missing, or the mechanism was made for a fixed one. Or
        `max_partitions_contributed` is not allowed.

    Examples
    --------
    >>> import stairnoise as sn
    >>> sn.DiscreteGaussian(sigma2=100).guarantee(sensitivity=2)
    Guarantee: one value that changes by at most 2 is 0.02-zero-concentrated differentially private.
    >>> sn.MergedLaplace([16, 4], [0.125]).guarantee().eps
    5.5
    """
    if sensitivity is None and self._is_noise_alone:
        raise unstated(self, "a guarantee", "pass sensitivity=..." if self._any_sensitivity else None)
    return self._promise(self._asked_sensitivity(sensitivity), partitions(max_partitions_contributed, NAME))
