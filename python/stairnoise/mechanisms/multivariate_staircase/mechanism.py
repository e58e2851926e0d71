"""The staircase mechanism for vectors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from stairnoise import _native
from stairnoise._parameters import Cost, Real, RealLike, argument, confidence_level, count, refuse, single, stair_shape
from stairnoise._types import Floats, Number, number_or_array
from stairnoise.mechanism.base import Mechanism
from stairnoise.mechanism.distribution import plain, times_power
from stairnoise.mechanism.drawing import require_values
from stairnoise.mechanism.guarantee import Change, Guarantee, mapped
from stairnoise.mechanism.immutable import Parameter, once
from stairnoise.mechanisms.multivariate_staircase import calibration, distribution
from stairnoise.numerics.rounding import rounded_up

Norm = Literal["l1", "l2", "linf"]

_POWERS = {"l1": 1, "l2": 2}
_MOST_DIMENSIONS = 100_000
_MOST_POWER = 64


class MultivariateStaircase(Mechanism[np.float64, Floats, Floats]):
    r"""Staircase noise for vectors; one person can change a vector by at most Δ in one norm.

    The density falls in steps of width Δ of the norm, each by the factor :math:`b = e^{-ε}`:

    .. math:: f(x) = a\, b^{J(x)}, \qquad J(x) = 0 \text{ for } ‖x‖ < γΔ, \quad ⌊‖x‖/Δ - γ⌋ + 1 \text{ otherwise.}

    A release of a whole vector is ε-differentially private. Draws come from this distribution with D lattice steps for Δ and
    ⌈γD⌉ for γΔ. Each coordinate is rounded to a multiple of ``granularity`` g, so every lattice vector has exactly the
    probability of the cube around it. D is ⌈Δ/g⌉ plus the distance that rounding the answers can add.

    Densities, moments and probabilities are those of f. E ‖X‖ and E ‖X‖² of the noise drawn differ by less than
    (dim + 4)·1e-9 relative for an optimal γ and ε up to 13 (dim + 1). At larger ε the central stair may be narrower than a
    lattice step.

    Parameters
    ----------
    eps : float
        Privacy parameter ε of one vector, at least (dim + 128)/2**16.
    sensitivity : float or None
        Largest change Δ > 0 of the vector that one person can cause, measured in `norm`. None is 1, for study: `release`
        requires that you state it.
    dim : int, default 2
        Length d of a vector, from 1 to 100 000.
    gamma : {"l1", "l2"} or float, default "l1"
        Radius of the central stair in units of Δ, from 0 to 1. "l1" minimises the expected norm E ‖X‖, "l2" minimises
        E ‖X‖²; both are rounded to 24 bits. 0 and 1 give the same distribution.
    norm : {"l1", "l2", "linf"}, default "l1"
        The sum of magnitudes, the Euclidean norm, or the largest magnitude.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or `dim` is not an integer.
    ParameterError
        A parameter is an array or out of range, or float64 does not hold it exactly.

    References
    ----------
    .. [1] Geng, Kairouz, Oh and Viswanath, "The Staircase Mechanism in Differential Privacy", IEEE Journal of Selected Topics
       in Signal Processing 9, 2015: the distribution for the sum of magnitudes, and its optimality in two dimensions.
    .. [2] Kulesza, Suresh and Wang, "General Staircase Mechanisms for Optimal Differential Privacy", 2025: other norms.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.MultivariateStaircase(eps=5, sensitivity=1, dim=2)
    >>> d
    MultivariateStaircase(eps=5.0, sensitivity=1.0, dim=2, gamma='l1', norm='l1')
    >>> round(d.gamma, 6), round(d.expected_norm(), 6)
    (0.229868, 0.265511)
    >>> d.sample(1000, rng=sn.SeededRng(1)).shape
    (1000, 2)
    >>> d.release([[0.25, 0.5], [3, 4]]).shape
    (2, 2)
    """

    __slots__ = ("_gamma",)

    _gamma: float

    def __init__(
        self, eps: float, sensitivity: float | None = None, dim: int = 2, gamma: Cost | float = "l1", norm: Norm = "l1"
    ) -> None:
        parameters: dict[str, Any] = {
            "eps": single(eps, "eps"),
            "sensitivity": 1.0 if sensitivity is None else single(sensitivity, "sensitivity"),
            "dim": count(dim, "dim", least=1, most=_MOST_DIMENSIONS),
            "gamma": stair_shape(gamma, "gamma"),
            "norm": norm,
        }
        number, given = parameters["gamma"], parameters["norm"]
        refuse("norm", norm, isinstance(given, str) and given in ("l1", "l2", "linf"), '"l1", "l2" or "linf"')
        if isinstance(number, str):
            # The extension checks the other parameters first, because the search for gamma needs an eps in range.
            _native.multivariate_staircase(*(parameters | {"gamma": 1.0}).values())
            number = calibration.rounded(calibration.optimal(parameters["eps"], parameters["dim"], _POWERS[number]))
        object.__setattr__(self, "_gamma", number)
        native = _native.multivariate_staircase(*(parameters | {"gamma": number}).values())
        self._store(native, parameters, stated=sensitivity is not None)

    eps = Parameter[float]("Privacy parameter ε of one vector.")
    sensitivity = Parameter[float]("Largest change Δ of the vector that one person can cause, in the norm.")

    dim = Parameter[int]("Length d of a vector.")

    @property
    def gamma(self) -> float:
        """Radius of the central stair in units of Δ; an optimum is rounded to 24 bits."""
        return self._gamma

    norm = Parameter[Norm]("Norm that measures vectors.")

    @property
    def granularity(self) -> float:
        """Lattice step g, a power of two: every coordinate of a draw is a multiple of it."""
        return float(self._sampler.granularity)

    @property
    def _value_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return (self.dim,)

    # The distribution

    def pdf(self, x: RealLike) -> Real:
        """Probability density at vectors along the last axis; at the edge of a stair, the lower of the two densities.

        Parameters
        ----------
        x : array of float
            Vectors along the last axis, of length `dim`.

        Returns
        -------
        float or ndarray of float64
            Per unit of volume, without the last axis.

        Raises
        ------
        ParameterError
            The last axis has another length.
        """
        return plain(np.exp(self.logpdf(x)))

    def logpdf(self, x: RealLike) -> Real:
        """Natural logarithm of `pdf`, finite where `pdf` underflows."""
        vectors = np.asarray(argument(x, "x"), np.float64)
        require_values(vectors.shape, self._value_shape, "x")
        with np.errstate(all="ignore"):
            size = _norm_of(vectors / self.sensitivity, self.norm)
            return plain(np.where(np.isnan(size), np.nan, self._log_height() - self.eps * self._distribution.stair(size)))

    @number_or_array
    def norm_cdf(self, x: RealLike) -> Real:
        """P(‖X‖ <= x), which depends on the dimension and not on the norm.

        Parameters
        ----------
        x : float or array of float

        Returns
        -------
        float or ndarray of float64
        """
        return plain(self._distribution.cdf(self._in_units(x)))

    @number_or_array
    def norm_sf(self, x: RealLike) -> Real:
        """P(‖X‖ > x), computed directly; probabilities below about 1e-130 become 0."""
        return plain(self._distribution.sf(self._in_units(x)))

    @number_or_array
    def norm_ppf(self, q: RealLike) -> Real:
        """Quantile of the norm: the x with P(‖X‖ <= x) = q; inf for 1, NaN outside [0, 1]."""
        return plain(self._distribution.ppf(np.asarray(argument(q, "q"), np.float64)) * self.sensitivity)

    @number_or_array
    def norm_isf(self, q: RealLike) -> Real:
        """Upper quantile of the norm: the x with P(‖X‖ > x) = q; inf for 0, NaN outside [0, 1]."""
        return plain(self._distribution.isf(np.asarray(argument(q, "q"), np.float64)) * self.sensitivity)

    @number_or_array
    def error_bound(self, confidence: RealLike = 0.95) -> Real:
        """Smallest t with P(‖X‖ <= t) >= confidence: the radius of a ball around a released vector that holds the true one.

        Among all releases of a vector, the proportion `confidence` is within t of the true vector, in the mechanism's
        norm. The rounding of the true coordinates to multiples of ``granularity`` adds to this distance.

        Parameters
        ----------
        confidence : float or array of float, default 0.95
            At least 0.5 and less than 1.

        Returns
        -------
        float or ndarray of float64

        Raises
        ------
        ParameterError
            `confidence` is out of range.
        """
        return plain(self._distribution.isf(np.asarray(1 - confidence_level(confidence))) * self.sensitivity)

    def expected_norm(self, p: float = 1) -> float:
        r"""Return the expectation of ‖X‖ to the power p, which depends on the dimension and not on the norm.

        .. math:: E ‖X‖^p = \frac{d}{d+p}\, Δ^p\, \frac{Φ(b, -d-p, γ)}{Φ(b, -d, γ)}, \qquad
                  Φ(b, -s, γ) = \sum_{m ≥ 0} b^m (m+γ)^s.

        Parameters
        ----------
        p : float, default 1
            Above -dim and at most 64.

        Returns
        -------
        float
            inf if float64 overflows.

        Raises
        ------
        ParameterError
            `p` is out of range.
        """
        power = single(p, "p")
        refuse("p", p, -self.dim < power <= _MOST_POWER, f"greater than -dim and at most {_MOST_POWER}")
        return float(times_power(self._distribution.moment(power), self.sensitivity, power))

    @once
    def var(self) -> float:
        """Variance of each coordinate, E X_i²; their covariances are 0."""
        return distribution.squared_coordinate_share(self.norm, self.dim) * self.expected_norm(2)

    @once
    def std(self) -> float:
        """Square root of the variance of each coordinate, also where float64 does not hold the variance."""
        share = distribution.squared_coordinate_share(self.norm, self.dim)
        return math.sqrt(share * self._distribution.moment(2)) * self.sensitivity

    def mean(self) -> Floats:
        """E X, which is 0 by symmetry."""
        return np.zeros(self.dim)

    @once
    def entropy(self) -> float:
        """Differential entropy of the vector in nats."""
        return float(self._distribution.entropy()) + self._log_volume()

    def privacy_map(self, d_in: Number, *, integers: bool = False) -> Guarantee:
        """Return the ε that a change of one vector by `d_in` costs.

        It depends on the noise alone: the mechanism's own sensitivity does not limit `d_in`. The rounding of coordinates to
        multiples of `granularity` is included. Several vectors of one person cost the sum.

        Parameters
        ----------
        d_in : float
            Largest change of the vector in the mechanism's `norm`, at least 0.
        integers : bool, default False
            Whether all coordinates are integers, by type or by your word. A granularity of at most 1 then rounds nothing.

        Returns
        -------
        Guarantee
            Its ``eps`` is a multiple of the mechanism's.

        Raises
        ------
        ParameterError, ParameterTypeError
            An argument is out of range or of the wrong type.

        Notes
        -----
        Let the noise have D lattice steps for Δ. If a rounded vector moves by at most tD for an integer t, then ‖x‖ changes by at
        most tD, and J(x) by at most t: every stair after the first is D wide. So the density changes by a factor of at most
        e^(tε) at every point, and therefore so does its integral over the cube of each lattice vector. ε is t times that of the
        mechanism for the least such t.

        The rounded vector moves by at most ⌈d/g⌉ + dim - 1 steps in l1, less than d/g + √dim in l2, and ⌈d/g⌉ in linf.

        Examples
        --------
        >>> import stairnoise as sn
        >>> d = sn.MultivariateStaircase(eps=0.5, sensitivity=1, dim=3, norm="l2")
        >>> d.privacy_map(1).eps, d.privacy_map(0.25).eps, d.privacy_map(3).eps
        (0.5, 0.5, 1.5)
        """
        return mapped(self, d_in, 1, integers)

    @property
    def _change_norm(self) -> str:  # type: ignore[override]
        return self.norm

    def _cost_of(self, change: Change) -> tuple[float, float, None]:
        steps = change._replace(size=self.dim).length(self.norm)
        return rounded_up(-(-steps // self._sensitivity_steps) * Fraction(self.eps)), 0.0, None

    def _functions(self) -> distribution.Radial:
        """Return the distribution of the norm, in units of the sensitivity."""
        # A gamma of 0 or 1 gives the same distribution.
        return distribution.Radial(self.eps, self.dim, self._gamma or 1.0)

    def _exact_parameters(self) -> dict[str, Any]:
        return {name: self._parameters[name] for name in ("eps", "sensitivity", "dim", "norm")} | {"r": self._sampler.lengths[0]}

    def _in_units(self, x: RealLike) -> Floats:
        return np.asarray(argument(x, "x"), np.float64) / self.sensitivity

    def _log_volume(self) -> float:
        """Return the logarithm of the volume of the ball of radius Δ."""
        return distribution.log_unit_volume(self.norm, self.dim) + self.dim * math.log(self.sensitivity)

    @once
    def _log_height(self) -> float:
        return float(self._distribution.log_height()) - self._log_volume()


def _norm_of(vectors: Floats, norm: Norm) -> Floats:
    magnitudes = np.abs(vectors)
    if norm == "l1":
        return np.asarray(magnitudes.sum(axis=-1))
    if norm == "linf":
        return np.asarray(magnitudes.max(axis=-1))
    # Divided by the largest magnitude, so that no square overflows.
    largest = magnitudes.max(axis=-1, keepdims=True)
    scaled = np.where(largest > 0, magnitudes / largest, 0.0)
    return np.asarray(largest[..., 0] * np.sqrt((scaled**2).sum(axis=-1)))
