"""The discrete Gaussian law."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from stairnoise import _native
from stairnoise._errors import ParameterError, received
from stairnoise._law.alone import AloneDiscrete
from stairnoise._law.alone_privacy import SensitivityPrivacy
from stairnoise._parameters import RealLike, count, single

if TYPE_CHECKING:
    from stairnoise._theory.gaussian_lattice import DiscreteGaussianLaw
    from stairnoise._theory.privacy.lattice_gaussian import LatticeGaussian

_LARGEST_EPS = 2.0**20
_LARGEST_CALIBRATED = 2**40
# A release moved by more than this would leave int64.
_LARGEST_SENSITIVITY = 2**62


class DiscreteGaussian(SensitivityPrivacy, AloneDiscrete):
    r"""Discrete Gaussian noise: the comparator of Gaussian noise for counts, as census releases use it.

    .. math:: P(X = k) = \frac{e^{-k^2/(2σ^2)}}{\sum_{j ∈ ℤ} e^{-j^2/(2σ^2)}}

    Draws are exact: every integer has the probability above, for the float64 σ² as it is. One
    value protects ``rho(sensitivity)`` in zero-concentrated differential privacy and
    (ε, ``privacy_profile(ε, sensitivity)``) for every ε; it is not ε-differentially private for
    any ε alone. ``release`` rounds a true value that is no integer to the nearest one first, a half upwards.

    ``release(values, max_partitions_contributed=k)`` draws with k·σ² (rounded up), so that the
    whole release, of which one person changes k values, has the ``rho`` of one value.

    Parameters
    ----------
    sigma2 : float
        Parameter σ², from 2**-20 to 2**90; the variance is below it, by less than 1e-6 of it for σ² >= 1.

    Raises
    ------
    ParameterTypeError
        `sigma2` is not a real number.
    ParameterError
        `sigma2` is out of range or an array, or float64 does not hold it exactly.

    References
    ----------
    .. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS
       2020, arXiv:2004.00010: algorithm 3, proposition 5, theorem 7.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.DiscreteGaussian(100)
    >>> d
    DiscreteGaussian(sigma2=100.0)
    >>> d.rho(), d.error_bound(0.05)
    (0.005, 20)
    >>> f"{d.privacy_profile(0.5):.3g}"
    '6.93e-09'
    >>> d.release([12, 40, 7]).dtype.name
    'int64'
    """

    __slots__ = ()
    __module__ = "stairnoise"

    def __init__(self, sigma2: RealLike) -> None:
        number = single(sigma2, "sigma2")
        self._store(_native.discrete_gaussian(number), {"sigma2": number})

    @classmethod
    def from_eps(cls, eps: RealLike, delta: RealLike, sensitivity: int = 1) -> DiscreteGaussian:
        """Return the law of the least σ² for which one value is (ε, δ)-differentially private.

        Parameters
        ----------
        eps : float
            Privacy parameter ε > 0, at most 2**20.
        delta : float
            Privacy parameter δ, 0 < δ < 1.
        sensitivity : int, default 1
            Largest change of the value that one person can cause, from 1 to 2**40.

        Returns
        -------
        DiscreteGaussian
            Its ``privacy_profile(eps, sensitivity)`` is at most `delta`, with room for the rounding errors of both: σ²
            is the least to a relative 1e-9.

        Raises
        ------
        ParameterTypeError
            A parameter is not a real number.
        ParameterError
            A parameter is out of range or an array, or the noise would not fit 64-bit integers.

        Examples
        --------
        >>> import stairnoise as sn
        >>> d = sn.DiscreteGaussian.from_eps(eps=1, delta=1e-6)
        >>> round(d.sigma2, 4), d.privacy_profile(1) <= 1e-6
        (17.8995, True)
        """
        budget, slack = single(eps, "eps"), single(delta, "delta")
        shift = count(sensitivity, "sensitivity", least=1, most=_LARGEST_CALIBRATED)
        if not 0 < budget <= _LARGEST_EPS:
            raise ParameterError(f"eps must be greater than 0 and at most 2**20, got {received(eps)}")
        if not 0 < slack < 1:
            raise ParameterError(f"delta must be greater than 0 and less than 1, got {received(delta)}")
        from stairnoise._theory.gaussian_lattice import least_sigma2

        try:
            return cls(least_sigma2(budget, slack, shift))
        except ParameterError as error:
            raise ParameterError(
                f"eps, delta and sensitivity must leave a sigma2 that fits 64-bit integers, "
                f"got {budget}, {slack} and {shift}: {error}"
            ) from None

    @property
    def sigma2(self) -> float:
        """Parameter σ²."""
        return float(self._given["sigma2"])

    def rho(self, sensitivity: RealLike = 1) -> float:
        """ρ of zero-concentrated differential privacy: Δ²/(2σ²).

        Holds of a release of any number of values with independent noise, where one person changes them by
        at most `sensitivity` in the l2 norm [1]_.

        Parameters
        ----------
        sensitivity : float, default 1
            l2 sensitivity Δ > 0.

        Returns
        -------
        float

        Raises
        ------
        ParameterError
            `sensitivity` is not finite and greater than 0.

        References
        ----------
        .. [1] Canonne, Kamath and Steinke, theorem 14.
        """
        number = single(sensitivity, "sensitivity")
        if not 0 < number < math.inf:
            raise ParameterError(f"sensitivity must be finite and greater than 0, got {received(sensitivity)}")
        return number * number / (2 * self.sigma2)

    def _divided_among(self, k: int) -> DiscreteGaussian:
        exact = Fraction(self.sigma2) * k
        rounded = float(exact)
        try:
            return DiscreteGaussian(rounded if rounded >= exact else math.nextafter(rounded, math.inf))
        except ParameterError as error:
            raise ParameterError(
                f"max_partitions_contributed must leave a sigma2 that fits 64-bit integers, got {k}: {error}"
            ) from None

    def _checked_sensitivity(self, sensitivity: Any) -> int:
        return count(sensitivity, "sensitivity", least=1, most=_LARGEST_SENSITIVITY)

    def _loss_part(self, sensitivity: int) -> LatticeGaussian:
        from stairnoise._theory.privacy.lattice_gaussian import LatticeGaussian

        return LatticeGaussian(self.sigma2, float(sensitivity))

    def _sum_bound(self, k: int, alpha: float) -> int:
        from stairnoise._theory.gaussian_lattice import sum_bound

        return sum_bound(self.sigma2, k, alpha)

    def _make_functions(self) -> DiscreteGaussianLaw:
        from stairnoise._theory.gaussian_lattice import DiscreteGaussianLaw

        return DiscreteGaussianLaw(self.sigma2)
