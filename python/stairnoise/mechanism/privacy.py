"""What one release reveals, and what many releases reveal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, overload

from stairnoise._errors import ParameterError
from stairnoise._parameters import RealLike, flag
from stairnoise._types import Float, Generic
from stairnoise.mechanism.guarantee import Guaranteed

if TYPE_CHECKING:
    from stairnoise._types import Array, Floats, Number
    from stairnoise.accounting.privacy_loss import PrivacyLoss


class Privacy(Guaranteed, Generic[Float]):
    """What a mechanism of numbers says about its own privacy."""

    __slots__ = ()

    if TYPE_CHECKING:
        _integers: ClassVar[bool]

        def _loss(self, sensitivity: Any) -> Any:
            """Return the loss of one release as drawn: a `stairnoise.accounting.losses.loss.Part`."""

    def _density_loss(self) -> Any:
        """Return the loss of the density; mechanisms that do not know it raise."""
        name = type(self).__name__
        raise ParameterError(f"lattice must be True for a {name}, whose loss is known of what is drawn, got False")

    def privacy_loss(self, *, lattice: bool = True, sensitivity: Number | None = None) -> PrivacyLoss[Float]:
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
        from stairnoise.accounting.privacy_loss import loss_of

        drawn = flag(lattice, "lattice")
        return loss_of(self, self._asked_sensitivity(sensitivity), drawn or self._integers)

    @overload
    def privacy_profile(self, eps: Number, sensitivity: Number | None = None) -> Float: ...
    @overload
    def privacy_profile(self, eps: Array, sensitivity: Number | None = None) -> Floats: ...
    @overload
    def privacy_profile(self, eps: RealLike, sensitivity: Number | None = None) -> Float | Floats: ...
    def privacy_profile(self, eps: RealLike, sensitivity: Number | None = None) -> Any:
        """Least δ for which one release is (ε, δ)-differentially private; see `PrivacyLoss.privacy_profile`.

        In this method and the next ones, `sensitivity` is as in `privacy_loss`.
        """
        return self.privacy_loss(sensitivity=sensitivity).privacy_profile(eps)

    @overload
    def rdp(self, alpha: Number, sensitivity: Number | None = None) -> Float: ...
    @overload
    def rdp(self, alpha: Array, sensitivity: Number | None = None) -> Floats: ...
    @overload
    def rdp(self, alpha: RealLike, sensitivity: Number | None = None) -> Float | Floats: ...
    def rdp(self, alpha: RealLike, sensitivity: Number | None = None) -> Any:
        """Rényi divergence of order `alpha` of one release; see `PrivacyLoss.rdp`."""
        return self.privacy_loss(sensitivity=sensitivity).rdp(alpha)

    @overload
    def tradeoff(self, false_alarm: Number, sensitivity: Number | None = None) -> Float: ...
    @overload
    def tradeoff(self, false_alarm: Array, sensitivity: Number | None = None) -> Floats: ...
    @overload
    def tradeoff(self, false_alarm: RealLike, sensitivity: Number | None = None) -> Float | Floats: ...
    def tradeoff(self, false_alarm: RealLike, sensitivity: Number | None = None) -> Any:
        """Least probability of a missed detection; see `PrivacyLoss.tradeoff`."""
        return self.privacy_loss(sensitivity=sensitivity).tradeoff(false_alarm)

    def compose(self, k: int, sensitivity: Number | None = None) -> PrivacyLoss[Float]:
        """Privacy loss of `k` independent releases; see `PrivacyLoss.compose`."""
        return self.privacy_loss(sensitivity=sensitivity).compose(k)
