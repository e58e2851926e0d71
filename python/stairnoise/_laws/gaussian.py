"""The Gaussian mechanism, calibrated analytically."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError, received
from stairnoise._law.guarantee import Guarantee
from stairnoise._law.law import ContinuousLaw
from stairnoise._law.partitions import NAME
from stairnoise._parameters import RealLike, single

if TYPE_CHECKING:
    from stairnoise._theory.laws.gaussian import NormalLaw
    from stairnoise._theory.optimal.gaussian_sigma import Calibration
    from stairnoise._theory.privacy.parts.lattice_gaussian import LatticeGaussian

_LEAST_EPS, _LARGEST_EPS = 2.0**-40, 2.0**20
_RESOLUTION = 1e-12


class Gaussian(ContinuousLaw):
    r"""Gaussian noise of the least σ that is (ε, δ)-differentially private.

    .. math:: Φ\left(\frac{Δ}{2σ} - \frac{εσ}{Δ}\right) - e^ε\, Φ\left(-\frac{Δ}{2σ} - \frac{εσ}{Δ}\right) = δ

    Draws are exact on the lattice of multiples of ``granularity``; their distribution is the discrete
    Gaussian on it. The guarantee is proven for that distribution, not for the normal one. ``sigma`` is
    larger to cover the difference: by less than 1e-9 relative for σ up to 1000 Δ, and by less than
    2**-42 σ/Δ relative beyond. Distribution functions are those of the normal distribution with this
    ``sigma``. The distribution function on the lattice differs by less than 1e-10.

    ``release(values, max_partitions_contributed=k)`` is (ε, δ)-differentially private as a whole. The
    l2 sensitivity is then Δ√k, so ``sigma`` is about √k times as large, not k times.
    ``for_partitions(k)`` returns the mechanism that releases each value.

    For a vector of d coordinates, released with one call, Δ bounds its change in the l2 norm after rounding. Every
    coordinate is rounded to a multiple of ``granularity`` g, so a change by c before rounding is at most c + g√d
    afterwards. Make the mechanism with ``sensitivity=c + g * d**0.5``.

    Parameters
    ----------
    eps : float
        Privacy parameter ε of one release, from 2**-40 to 2**20.
    delta : float
        Privacy parameter δ, 0 < δ < 1.
    sensitivity : float, default 1.0
        Largest change Δ > 0 of the value that one person can cause.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is out of range or an array, or float64 does not hold it exactly. Or the noise would be
        2**33 times as wide as the sensitivity.

    References
    ----------
    .. [1] Balle and Wang, "Improving the Gaussian Mechanism for Differential Privacy: Analytical
       Calibration and Optimal Denoising", ICML 2018, arXiv:1805.06530, theorem 8.
    .. [2] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS
       2020, arXiv:2004.00010.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.Gaussian(eps=1, delta=1e-6, sensitivity=1)
    >>> d
    Gaussian(eps=1.0, delta=1e-06, sensitivity=1.0)
    >>> round(d.sigma, 6), round(d.error_bound(0.05), 4)
    (4.224679, 8.2802)
    >>> f"{d.privacy_profile(2):.3g}"
    '1.08e-18'
    >>> d.release([12.5, 40.0, 7.25]).shape
    (3,)
    """

    __slots__ = ("_calibration", "_partitions")
    _partitions_rule = "leave a lattice that fits"
    __module__ = "stairnoise"

    _calibration: Calibration
    _partitions: int

    def __init__(self, eps: RealLike, delta: RealLike, sensitivity: RealLike = 1.0) -> None:
        budget, slack, change = single(eps, "eps"), single(delta, "delta"), single(sensitivity, "sensitivity")
        if not _LEAST_EPS <= budget <= _LARGEST_EPS:
            raise ParameterError(f"eps must be from 2**-40 to 2**20 for Gaussian noise, got {received(eps)}")
        if not 0 < slack < 1:
            raise ParameterError(f"delta must be greater than 0 and less than 1, got {received(delta)}")
        if not 0 < change < math.inf:
            raise ParameterError(f"sensitivity must be finite and greater than 0, got {received(sensitivity)}")
        self._calibrate(budget, slack, change, 1)

    def _calibrate(self, eps: float, delta: float, sensitivity: float, partitions: int) -> None:
        from stairnoise._theory.optimal.gaussian_sigma import calibrate

        found = calibrate(eps, delta, sensitivity, partitions)
        object.__setattr__(self, "_calibration", found)
        object.__setattr__(self, "_partitions", partitions)
        noise = _native.discrete_gaussian(found.sigma2, found.log2_granularity)
        self._store(noise, {"eps": eps, "delta": delta, "sensitivity": sensitivity})

    @classmethod
    def eps_for_error(cls, t: RealLike, alpha: RealLike, delta: RealLike, sensitivity: RealLike = 1.0) -> float:
        """Least ε, with this δ, for which P(|X| > t) <= alpha: the best privacy at a wanted accuracy.

        The inequality holds for every larger ε too, because σ falls as ε grows. The noise drawn at a larger ε keeps it up
        to one step of its lattice.

        Parameters
        ----------
        t : float
            Largest error, positive.
        alpha : float
            Probability of a larger error, greater than 0 and less than 1.
        delta : float
            Privacy parameter δ, 0 < δ < 1.
        sensitivity : float, default 1.0
            Largest change Δ > 0 of the value that one person can cause.

        Returns
        -------
        float
            Within a relative 1e-9 of the least, and rounded so that
            ``Gaussian(eps, delta, sensitivity).error_bound(alpha)`` is at most `t`. The same bound of the noise drawn is at
            most `t` too.

        Raises
        ------
        ParameterTypeError
            An argument is not a real number.
        ParameterError
            An argument is out of range or an array, or no ε up to 2**20 is large enough.

        Examples
        --------
        >>> import stairnoise as sn
        >>> eps = sn.Gaussian.eps_for_error(t=10, alpha=0.05, delta=1e-6)
        >>> round(eps, 4), round(sn.Gaussian(eps, 1e-6).error_bound(0.05), 6)
        (0.8162, 10.0)
        """
        limit, level = single(t, "t"), single(alpha, "alpha")
        if not 0 < limit < math.inf:
            raise ParameterError(f"t must be finite and greater than 0, got {received(t)}")
        if not 0 < level < 1:
            raise ParameterError(f"alpha must be greater than 0 and less than 1, got {received(alpha)}")

        from stairnoise._theory.numerics.roots import bisection

        def enough(eps: float) -> bool:
            try:
                law = cls(eps, delta, sensitivity)
            except ParameterError:
                # The noise is too wide for the lattice.
                return False
            _, drawn = law._bounds_on_lattice(np.array(level), 1)
            return bool(law.error_bound(level) <= limit and drawn.item() <= limit / law.granularity)

        cls(_LARGEST_EPS, delta, sensitivity)
        low, high = _LEAST_EPS, _LARGEST_EPS
        if not enough(high):
            raise ParameterError(f"t must be an error that some eps keeps below with this alpha and delta, got {received(t)}")
        if enough(low):
            return low
        return bisection(enough, low, high, relative=_RESOLUTION, middle=lambda low, high: math.sqrt(low * high))

    @property
    def eps(self) -> float:
        """Privacy parameter ε of one value, or of k values together if made by ``for_partitions(k)``."""
        return float(self._given["eps"])

    @property
    def delta(self) -> float:
        """Privacy parameter δ, for the same values as `eps`."""
        return float(self._given["delta"])

    @property
    def sensitivity(self) -> float:
        """Largest change Δ of one value that one person can cause."""
        return float(self._given["sensitivity"])

    @property
    def sigma(self) -> float:
        """Standard deviation σ of the noise."""
        return math.ldexp(math.sqrt(self._calibration.sigma2), self._calibration.log2_granularity)

    @property
    def sigma2(self) -> float:
        """Variance σ² of the noise; inf if float64 overflows."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(self._calibration.sigma2, 2 * self._calibration.log2_granularity))

    @property
    def rho(self) -> float:
        """ρ of zero-concentrated differential privacy of one value: Δ²/(2σ²), with Δ in whole lattice steps.

        For several values, `guarantee` states ρ.
        """
        cells = float(self._calibration.cells)
        return cells * cells / (2 * self._calibration.sigma2)

    def _functions(self) -> NormalLaw:
        from stairnoise._theory.laws.gaussian import NormalLaw

        return NormalLaw(self.sigma)

    def _loss(self, sensitivity: Any) -> LatticeGaussian:
        from stairnoise._theory.privacy.parts.lattice_gaussian import LatticeGaussian

        return LatticeGaussian(self._calibration.sigma2, float(self._calibration.cells))

    def _sum_bound(self, k: int, alpha: float) -> int:
        from stairnoise._theory.sums.discrete_gaussian import sum_bound

        return sum_bound(self._calibration.sigma2, k, alpha)

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        law = self._keeping_guarantee(k, NAME)
        return Guarantee(law.eps, law.delta, law._partitions * law.rho, law.sensitivity, law._partitions)

    def _divided_among(self, k: int) -> Gaussian:
        return self._calibrated(self.eps, self.delta, self.sensitivity, self._partitions * k)

    def _exact_parameters(self) -> dict[str, Any]:
        found = self._calibration
        return {**self._given, "sigma2": found.sigma2, "log2_granularity": found.log2_granularity}

    @classmethod
    def _calibrated(cls, eps: float, delta: float, sensitivity: float, partitions: int) -> Gaussian:
        """Return the law with which `partitions` values are (eps, delta)-differentially private together."""
        law = cls.__new__(cls)
        law._calibrate(eps, delta, sensitivity, partitions)
        return law

    def __reduce__(self) -> tuple[Any, ...]:
        return self._calibrated, (self.eps, self.delta, self.sensitivity, self._partitions)

    def __repr__(self) -> str:
        return super().__repr__() + (f".for_partitions({self._partitions})" if self._partitions > 1 else "")

    def _key(self) -> tuple[object, ...]:
        return (*super()._key(), self._partitions)
