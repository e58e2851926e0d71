"""What one release of a law reveals, and what many do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, overload

from stairnoise._errors import ParameterError
from stairnoise._law.guarantee import Guaranteed
from stairnoise._parameters import RealLike, flag
from stairnoise._types import Float, Generic

if TYPE_CHECKING:
    from stairnoise._types import Array, Floats, Number
    from stairnoise.privacy import PrivacyLoss


class Privacy(Guaranteed, Generic[Float]):
    """What a law of numbers says about its own privacy."""

    __slots__ = ()

    if TYPE_CHECKING:
        _integers: ClassVar[bool]

        def _loss(self, sensitivity: Any) -> Any:
            """Return the loss of one release as drawn, as `stairnoise._theory.privacy.parts.part.Part`."""

    def _density_loss(self) -> Any:
        """Return the loss of the density, for a law that knows it."""
        name = type(self).__name__
        raise ParameterError(f"lattice must be True for a {name}, whose loss is known of what is drawn, got False")

    def privacy_loss(self, *, lattice: bool = True, sensitivity: Number | None = None) -> PrivacyLoss[Float]:
        """Privacy loss of one release, or one sum of shares, at the worst pair of neighbouring inputs.

        Parameters
        ----------
        lattice : bool, default True
            True: of what is really drawn, the law on the multiples of ``granularity``. False: of the density, which is
            what the literature states; `Staircase` and `Laplace` know it. They differ by less than 1e-9 relative for ε
            from 2**-20 to 27 (and an optimal shape). For a discrete law both are the same.
        sensitivity : int, float or None
            Largest change Δ of the value that one person can cause, for the mechanisms that are made without one:
            `DiscreteGaussian`, `GeneralizedDiscreteLaplace`, `MultiScaleDiscreteLaplace` and `Arete`; an integer for a
            discrete law. None: the one it was made for, otherwise 1.

        Returns
        -------
        PrivacyLoss

        Raises
        ------
        ParameterError, ParameterTypeError
            `sensitivity` is out of range, or given to a law that was made for its own one; the probabilities would be too
            many to list; `lattice` is False for a law whose density's loss is not known.

        Notes
        -----
        The release's neighbours differ by at most the sensitivity Δ; the loss is that of a difference of exactly Δ (⌈Δ/g⌉
        steps of the lattice). For every measure but `PrivacyLoss.var` it is the worst of all, for a symmetric law that falls
        from its mode and for one with a concave logarithm. `MultiScaleDiscreteLaplace` need not fall from its mode, and
        every measure is that of its worst difference up to Δ; for an unsymmetric law it is that of the worse direction. k
        people, or a difference of kΔ, cost k ε. A staircase loses ε with some probability however small the difference.
        """
        # Here and not at the top: who only draws noise does not wait for it.
        from stairnoise.privacy import loss_of

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

        `sensitivity` as in `privacy_loss`, here and in the next methods.
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
