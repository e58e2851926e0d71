"""What one release of a law reveals, and what many do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stairnoise._parameters import Real, RealLike

if TYPE_CHECKING:
    from stairnoise.privacy import PrivacyLoss


class Privacy:
    """What every law says about its own privacy."""

    __slots__ = ()

    def privacy_loss(self, *, lattice: bool = True) -> PrivacyLoss:
        """Privacy loss of one release at the worst pair of neighbouring inputs.

        Parameters
        ----------
        lattice : bool, default True
            Of a continuous law. True: of what is really drawn, the law on the multiples of
            ``granularity``. False: of the density, which is what the literature states. They
            differ by less than 1e-9 relative for ε from 2**-20 to 27 (and an optimal shape).

        Returns
        -------
        PrivacyLoss

        Notes
        -----
        The release's neighbours differ by at most the sensitivity Δ; the loss is that of a
        difference of exactly Δ (⌈Δ/g⌉ steps of the lattice), which is the worst for every measure but
        `PrivacyLoss.var`. k people, or a difference of kΔ, cost k ε. A staircase loses ε with some
        probability however small the difference.
        """
        # Here and not at the top: who only draws noise does not wait for it.
        from stairnoise.privacy import privacy_loss

        return privacy_loss(self, lattice=lattice)

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
