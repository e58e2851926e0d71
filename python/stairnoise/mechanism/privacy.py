"""What one release reveals, and what many releases reveal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from stairnoise._parameters import RealLike, flag
from stairnoise._types import Float
from stairnoise.accounting import privacy_loss as accounting

if TYPE_CHECKING:
    from stairnoise._types import Array, Floats, Number
    from stairnoise.accounting.privacy_loss import PrivacyLoss
    from stairnoise.mechanism.additive import AdditiveMechanism

    M = AdditiveMechanism[Any, Any, Float]


def privacy_loss(self: M[Float], *, lattice: bool = True, sensitivity: Number | None = None) -> PrivacyLoss[Float]:
    """Privacy loss of one release, or one sum of shares, for the worst pair of neighbouring inputs.

    Parameters
    ----------
    lattice : bool, default True
        True: the loss of the distribution that is drawn, on the multiples of ``granularity``. False: the loss of the
        density, which the literature states; only `Staircase` and `Laplace` know it. The two differ by less than
        1e-9 relative for ε from 2**-20 to 27 (and an optimal shape). They are equal for a discrete mechanism.
    sensitivity : int, float or None
        Largest change Δ of the value that one person can cause; an integer for a discrete mechanism. Only
        `DiscreteGaussian`, `Skellam`, `GeneralizedDiscreteLaplace`, `MultiScaleDiscreteLaplace` and `Arete` take it.
        None: the sensitivity it was made for, or 1 if there is none.

    Returns
    -------
    PrivacyLoss

    Raises
    ------
    ParameterError, ParameterTypeError
        `sensitivity` is out of range, or given to a mechanism that was made for a fixed one. There would be too many
        probabilities to list. Or `lattice` is False and the loss of the density is not known.

    Notes
    -----
    Neighbouring inputs differ by at most the sensitivity Δ. The loss is computed for a difference of exactly Δ (⌈Δ/g⌉
    steps of the lattice). For every measure except `PrivacyLoss.var`, this difference is the worst. That holds for a
    symmetric distribution that falls from its mode, and for one with a concave logarithm. `MultiScaleDiscreteLaplace`
    and `LatticeNoise` need not fall from their mode; each measure is for its worst difference up to Δ. For an unsymmetric
    distribution, the measures are for the worse direction. k people, or a difference of kΔ, cost k ε. A staircase
    loses ε with some probability for every difference, however small.
    """
    # Imported here, so that programs which only draw noise do not wait for it.
    drawn = flag(lattice, "lattice")
    return accounting.loss_of(self, self._asked_sensitivity(sensitivity), drawn or self._integers)


@overload
def privacy_profile(self: M[Float], eps: Number, sensitivity: Number | None = None) -> Float: ...  # type: ignore[overload-overlap]
@overload
def privacy_profile(self: M[Float], eps: Number | Array, sensitivity: Number | None = None) -> Floats: ...
def privacy_profile(self: M[Float], eps: RealLike, sensitivity: Number | None = None) -> Any:
    """Least δ for which one release is (ε, δ)-differentially private; see `PrivacyLoss.privacy_profile`.

    In this method and the next ones, `sensitivity` is as in `privacy_loss`.
    """
    return self.privacy_loss(sensitivity=sensitivity).privacy_profile(eps)


@overload
def rdp(self: M[Float], alpha: Number, sensitivity: Number | None = None) -> Float: ...  # type: ignore[overload-overlap]
@overload
def rdp(self: M[Float], alpha: Number | Array, sensitivity: Number | None = None) -> Floats: ...
def rdp(self: M[Float], alpha: RealLike, sensitivity: Number | None = None) -> Any:
    """Rényi divergence of order `alpha` of one release; see `PrivacyLoss.rdp`."""
    return self.privacy_loss(sensitivity=sensitivity).rdp(alpha)


@overload
def tradeoff(self: M[Float], false_alarm: Number, sensitivity: Number | None = None) -> Float: ...  # type: ignore[overload-overlap]
@overload
def tradeoff(self: M[Float], false_alarm: Number | Array, sensitivity: Number | None = None) -> Floats: ...
def tradeoff(self: M[Float], false_alarm: RealLike, sensitivity: Number | None = None) -> Any:
    """Least probability of a missed detection; see `PrivacyLoss.tradeoff`."""
    return self.privacy_loss(sensitivity=sensitivity).tradeoff(false_alarm)


def compose(self: M[Float], k: int, sensitivity: Number | None = None) -> PrivacyLoss[Float]:
    """Privacy loss of `k` independent releases; see `PrivacyLoss.compose`."""
    return self.privacy_loss(sensitivity=sensitivity).compose(k)
