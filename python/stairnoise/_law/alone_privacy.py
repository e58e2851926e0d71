"""What one release of a law with parameters of its own reveals, and what many do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stairnoise._parameters import Real, RealLike

if TYPE_CHECKING:
    from stairnoise.privacy import PrivacyLoss


class AlonePrivacy:
    """What a law says about its own privacy that knows its sensitivity."""

    __slots__ = ()

    def _loss_part(self) -> Any:
        """Return the loss of one release, as `stairnoise._theory.privacy.parts.part.Part`."""
        raise NotImplementedError

    def privacy_loss(self) -> PrivacyLoss:
        """Privacy loss of one release at the worst pair of neighbouring inputs, of the law that is drawn on its lattice.

        Returns
        -------
        PrivacyLoss

        Notes
        -----
        The release's neighbours differ by at most the sensitivity Δ; the loss is that of a difference of ⌈Δ/g⌉
        steps of the lattice. For every measure but `PrivacyLoss.var` it is the worst of all, for a symmetric law that
        falls from its mode and for one with a concave logarithm. For an unsymmetric law every measure is that of the
        worse direction.
        """
        # Here and not at the top: who only draws noise does not wait for it.
        from stairnoise.privacy import remembered_loss

        return remembered_loss(self, None)

    def privacy_profile(self, eps: RealLike) -> Real:
        """Least δ for which one release is (ε, δ)-differentially private; see `PrivacyLoss.privacy_profile`."""
        return self.privacy_loss().privacy_profile(eps)

    def rdp(self, alpha: RealLike) -> Real:
        """Rényi divergence of order `alpha` of one release; see `PrivacyLoss.rdp`."""
        return self.privacy_loss().rdp(alpha)

    def tradeoff(self, false_alarm: RealLike) -> Real:
        """Least probability of a missed detection; see `PrivacyLoss.tradeoff`."""
        return self.privacy_loss().tradeoff(false_alarm)

    def compose(self, k: int) -> PrivacyLoss:
        """Privacy loss of `k` independent releases; see `PrivacyLoss.compose`."""
        return self.privacy_loss().compose(k)


class SensitivityPrivacy:
    """What a law says about its own privacy that is told a sensitivity."""

    __slots__ = ()

    @property
    def _default_sensitivity(self) -> Any:
        return 1

    def _checked_sensitivity(self, sensitivity: Any) -> Any:
        """Return the sensitivity as the law's parameters would be, or raise."""
        raise NotImplementedError

    def _loss_part(self, sensitivity: Any) -> Any:
        """Return the loss of one release, as `stairnoise._theory.privacy.parts.part.Part`."""
        raise NotImplementedError

    def privacy_loss(self, *, sensitivity: Any = None) -> PrivacyLoss:
        """Privacy loss of one release, or one sum of shares, at the worst pair of neighbouring inputs.

        Parameters
        ----------
        sensitivity : int, float or None
            Largest change Δ of the value that one person can cause; an integer for a discrete law. None: the law's own
            where it has one, otherwise 1.

        Returns
        -------
        PrivacyLoss
            Of the law that is drawn on its lattice.

        Raises
        ------
        ParameterError, ParameterTypeError
            `sensitivity` is out of range or not a number, or the probabilities would be too many to list.

        Notes
        -----
        The loss is that of a difference of exactly Δ (⌈Δ/g⌉ steps). For every measure but `PrivacyLoss.var` it is the
        worst of all for a symmetric law that falls from its mode. `MultiScaleDiscreteLaplace` need not, and every measure
        is that of its worst difference up to Δ.
        """
        from stairnoise.privacy import remembered_loss

        asked = self._default_sensitivity if sensitivity is None else sensitivity
        return remembered_loss(self, self._checked_sensitivity(asked))

    def privacy_profile(self, eps: RealLike, sensitivity: Any = None) -> Real:
        """Least δ for which one release is (ε, δ)-differentially private; see `PrivacyLoss.privacy_profile`.

        `sensitivity` as in `privacy_loss`.
        """
        return self.privacy_loss(sensitivity=sensitivity).privacy_profile(eps)

    def rdp(self, alpha: RealLike, sensitivity: Any = None) -> Real:
        """Rényi divergence of order `alpha` of one release; see `PrivacyLoss.rdp`, and `privacy_loss` for `sensitivity`."""
        return self.privacy_loss(sensitivity=sensitivity).rdp(alpha)

    def tradeoff(self, false_alarm: RealLike, sensitivity: Any = None) -> Real:
        """Least probability of a missed detection; see `PrivacyLoss.tradeoff`, and `privacy_loss` for `sensitivity`."""
        return self.privacy_loss(sensitivity=sensitivity).tradeoff(false_alarm)

    def compose(self, k: int, sensitivity: Any = None) -> PrivacyLoss:
        """Privacy loss of `k` independent releases; see `PrivacyLoss.compose`, and `privacy_loss` for `sensitivity`."""
        return self.privacy_loss(sensitivity=sensitivity).compose(k)
