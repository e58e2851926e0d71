"""Releases in which one person changes several values, and the mechanism for each of these values."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from stairnoise._parameters import count

if TYPE_CHECKING:
    from stairnoise.mechanism.base import Mechanism

Kind = TypeVar("Kind", bound="Mechanism")

MOST_PARTITIONS = 2**53 - 1
NAME = "max_partitions_contributed"


def partitions(k: object, name: str) -> int:
    """Check how many values one person changes; `name` is what errors call it."""
    return count(k, name, least=1, most=MOST_PARTITIONS)


"""A mechanism that has a wider one, with which several values keep the guarantee of one."""


def for_partitions(self: Kind, k: int) -> Kind:
    """Return the mechanism that releases each value if one person changes `k` values.

    ``release(values, max_partitions_contributed=k)`` adds the noise of the returned mechanism. All values together
    then have the guarantee that one value has from this object: the ε, (ε, δ) or ρ of the table below. (The privacy
    profile at other ε may be larger.) For the noise of each value, ask the returned mechanism for `error_bound`
    and `std`.

    Parameters
    ----------
    k : int
        How many values one person can change, each by at most the sensitivity, from 1 to 2**53 - 1.

    Returns
    -------
    a mechanism of the same class
        This mechanism for ``k=1``. Otherwise:

        ===================================  ====================================================================
        `Laplace`, `DiscreteLaplace`,        ``eps/k``, rounded down; k values are ε-private together
        `Staircase`, `DiscreteStaircase`,
        `MultivariateStaircase`,
        `MultiScaleDiscreteLaplace`
        `MergedLaplace`                      all rates divided by k, or by more, so that k times its `pure_eps` is
                                             at most the `pure_eps` of this mechanism
        `TruncatedLaplace`,                  ``eps/k`` and ``delta/k``, rounded down: k values are (ε, δ)-private
        `TruncatedStaircase`,
        `TruncatedDiscreteStaircase`,
        `DiscreteCanonical`
        `Gaussian`                           the same (ε, δ), calibrated for an l2 sensitivity of Δ√k; made from
                                             ``sigma``, the same ρ with √k times the σ
        `DiscreteGaussian` and `Skellam`     the same (ε, δ), calibrated for the sum of k draws
        by `from_eps`
        `DiscreteGaussian` of a ``sigma2``   ``k * sigma2``, rounded up: k values keep the ρ of one, but not its
                                             (ε, δ)
        `Skellam` of a ``mu``                ``k * mu``, rounded up: k values keep the `rdp_bound` of one
        ===================================  ====================================================================

    Raises
    ------
    ParameterTypeError
        `k` is not an integer.
    ParameterError
        `k` is out of range, or no such mechanism fits its lattice. `GeneralizedDiscreteLaplace`, `Arete` and
        `LatticeNoise` have no ε to divide and take only ``k=1``.

    Examples
    --------
    >>> import stairnoise as sn
    >>> sn.DiscreteLaplace(eps=1).for_partitions(3)
    DiscreteLaplace(eps=0.3333333333333333)
    >>> sn.DiscreteLaplace(eps=1).error_bound(0.95), sn.DiscreteLaplace(eps=1).for_partitions(3).error_bound(0.95)
    (3, 9)
    """
    return self._keeping_guarantee(k, "k")
