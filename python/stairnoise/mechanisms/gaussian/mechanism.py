"""The Gaussian mechanism, calibrated analytically."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError, place
from stairnoise._parameters import Real, RealLike, common_shape, confidence_level, positive, real, refuse, single
from stairnoise._types import Float, Floats, Number, Numeric, Self
from stairnoise.mechanism.array_gaussian import GaussianArrays, for_different
from stairnoise.mechanism.continuous import ContinuousMechanism
from stairnoise.mechanism.guarantee import NAME, Change, Guarantee
from stairnoise.mechanism.immutable import of_this_version, setters
from stairnoise.mechanism.made_from_noise import MadeFromNoise, require_alone, scale_of_noise
from stairnoise.mechanisms.discrete_gaussian import distribution as discrete_gaussian_distribution
from stairnoise.mechanisms.discrete_gaussian import loss as discrete_gaussian_loss
from stairnoise.mechanisms.gaussian import calibration as gaussian_calibration
from stairnoise.mechanisms.gaussian import distribution
from stairnoise.numerics import roots
from stairnoise.numerics.rounding import rounded_up

if TYPE_CHECKING:
    from stairnoise.accounting.losses.loss import Part

_LEAST_EPS, _LARGEST_EPS = 2.0**-40, 2.0**20
_RESOLUTION = 1e-12
# Largest sensitivity/σ, if the caller chooses σ.
_MOST_BELOW = 2.0**20
# Standard deviations whose granularity, 2**-32 times their power of two, is from 2**-1074 to 2**960.
_LEAST_STD, _BEYOND_STDS = 2.0**-1042, 2.0**993


class Gaussian(MadeFromNoise, GaussianArrays[np.float64, Float, Float], ContinuousMechanism[Float]):
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

    ``Gaussian(sigma=z * sensitivity, sensitivity=sensitivity)`` has the standard deviation that you give, such as a noise
    multiplier z times the clipping norm. It states ρ; `privacy_profile` and `compose` compute its (ε, δ).

    ``Gaussian(std=σ)`` has the noise of ``Gaussian(sigma=σ, sensitivity=σ)``, on the lattice of that σ, and no sensitivity:
    ``guarantee(sensitivity=Δ)`` states the ρ for a change by Δ.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε of one release, from 2**-40 to 2**20.
    delta : float or array of float
        Privacy parameter δ, 0 < δ < 1.
    sensitivity : float, array of float or None
        Largest change Δ > 0 of the value that one person can cause. None is 1, for study: `release` requires that you state
        it, `sigma` or `std`, and `guarantee` of a `sigma` requires it.
    sigma : float or array of float
        Instead of `eps` and `delta`: the standard deviation of the noise, from 2**-20 to 2**33 times the sensitivity.
        Unlike some libraries, `release` does not multiply it by the sensitivity. The noise drawn has at least this σ, and
        less than a relative 2**-52 more.
    std : float or array of float
        Instead of `sigma` and `sensitivity`: the standard deviation of the noise alone, from 2**-1042 to below 2**993.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or neither `sigma` nor `std` nor both of `eps` and `delta` are given.
    ParameterError
        A parameter is out of range, or float64 does not hold it exactly. Or the shapes do not broadcast, or σ is 2**34 times
        the sensitivity, rounded down to a power of two, or more. Or `sigma` is given beside `eps` or `delta`, or `std` beside
        any other parameter.

    Notes
    -----
    Many programs use the classic formula σ = √(2 ln(1.25/δ)) Δ/ε [3]_. It is proven for ε < 1 only. For larger ε the
    true δ is larger than the δ in the formula: for δ = 10⁻⁶ it is 2 times as large at ε = 10, and 160 times at ε = 20. For
    smaller ε the formula adds more noise than is needed: 1.73 times at ε = 0.01. This class solves the equation above
    instead, which is right for every ε.

    References
    ----------
    .. [1] Balle and Wang, "Improving the Gaussian Mechanism for Differential Privacy: Analytical
       Calibration and Optimal Denoising", ICML 2018, arXiv:1805.06530, theorem 8.
    .. [2] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS
       2020, arXiv:2004.00010.
    .. [3] Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, theorem A.1.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.Gaussian(eps=1, delta=1e-6, sensitivity=1)
    >>> d
    Gaussian(eps=1.0, delta=1e-06, sensitivity=1.0)
    >>> round(d.sigma, 6), round(d.error_bound(0.95), 4)
    (4.224679, 8.2802)
    >>> f"{d.privacy_profile(2):.3g}"
    '1.08e-18'
    >>> d.release([12.5, 40.0, 7.25]).shape
    (3,)
    >>> round(sn.Gaussian(sigma=1.1).compose(100).eps_for_delta(1e-5), 2)
    79.28
    >>> sn.Gaussian(eps=[0.5, 1, 2], delta=1e-6).sigma.round(4)
    array([8.0576, 4.2247, 2.2305])
    """

    __slots__ = ("_partitions",)
    _change_norm = "l2"
    _partitions_rule = "leave a lattice that fits"

    _partitions: int

    @overload
    def __init__(self: Gaussian[float], eps: Number, delta: Number, sensitivity: Number | None = None) -> None: ...
    @overload
    def __init__(self: Gaussian[float], *, sensitivity: Number | None = None, sigma: Number) -> None: ...
    @overload
    def __init__(self: Gaussian[float], *, std: Number) -> None: ...
    @overload
    def __init__(self: Gaussian[Floats], eps: Numeric, delta: Numeric, sensitivity: Numeric | None = None) -> None: ...
    @overload
    def __init__(self: Gaussian[Floats], *, sensitivity: Numeric | None = None, sigma: Numeric) -> None: ...
    @overload
    def __init__(self: Gaussian[Floats], *, std: Numeric) -> None: ...
    def __init__(
        self,
        eps: RealLike | None = None,
        delta: RealLike | None = None,
        sensitivity: RealLike | None = None,
        *,
        sigma: RealLike | None = None,
        std: RealLike | None = None,
    ) -> None:
        if std is not None:
            require_alone("std", sensitivity, eps=eps, delta=delta, sigma=sigma)
            self._calibrate({"std": _checked_std(std)}, 1, stated=False)
            return
        stated, width = sensitivity is not None, 1.0 if sensitivity is None else sensitivity
        if sigma is not None:
            self._calibrate(_of_sigma(eps, delta, width, sigma), 1, stated)
            return
        for name, value in (("eps", eps), ("delta", delta)):
            if value is None:
                raise ParameterTypeError(f"{name} must be given, or sigma or std instead of eps and delta, got None")
        budget, slack, change = real(eps, "eps"), real(delta, "delta"), real(width, "sensitivity")
        allowed = (budget >= _LEAST_EPS) & (budget <= _LARGEST_EPS)
        refuse("eps", budget, allowed, "from 2**-40 to 2**20 for Gaussian noise", eps)
        refuse("delta", slack, (slack > 0) & (slack < 1), "greater than 0 and less than 1", delta)
        _require_positive("sensitivity", width, change)
        self._calibrate({"eps": budget, "delta": slack, "sensitivity": change}, 1, stated)

    def _calibrate(self, parameters: dict[str, Any], partitions: int, stated: bool, found: Any = None) -> Self:
        """Store the noise `found`, or that with which `partitions` values have the guarantee together; return the mechanism."""
        calibrate: Any = gaussian_calibration.calibrate if "eps" in parameters else gaussian_calibration.of_sigma
        # The lattice of a standard deviation alone is that of a sensitivity of one standard deviation.
        numbers = [*parameters.values()] * (2 if "std" in parameters else 1)
        _set_partitions(self, partitions)
        shape = common_shape(parameters)
        if shape == ():
            self._keep(parameters, found or calibrate(*numbers, partitions), stated)
            return self
        different, which = for_different(lambda *numbers: calibrate(*numbers, partitions), shape, *numbers)
        columns = np.array(different, [("log2_granularity", np.int64), ("sigma2", np.float64), ("steps", np.float64)])[which]
        lattices = gaussian_calibration.Calibration(*(columns[name].copy() for name in gaussian_calibration.Calibration._fields))
        self._store_arrays(lattices, parameters, stated=stated, noise_alone="eps" not in parameters)
        return self

    def _keep(self, parameters: dict[str, Any], calibration: gaussian_calibration.Calibration, stated: bool) -> None:
        _set_lattices(self, calibration)
        native = _native.discrete_gaussian(calibration.sigma2, calibration.log2_granularity)
        self._store(native, parameters, stated=stated, noise_alone="eps" not in parameters)

    def _element(self, index: tuple[int, ...]) -> Gaussian[float]:
        mechanism: Gaussian[Any] = type(self).__new__(type(self))
        _set_partitions(mechanism, self._partitions)
        shape = self._parameter_shape
        parameters = {name: np.broadcast_to(value, shape)[index].item() for name, value in self._parameters.items()}
        log2_granularity, sigma2, steps = (column[index].item() for column in self._lattices)
        mechanism._keep(parameters, gaussian_calibration.Calibration(log2_granularity, sigma2, int(steps)), bool(self._stated))
        return mechanism

    @classmethod
    def eps_for_error(cls, t: Number, confidence: Number = 0.95, *, delta: Number, sensitivity: Number = 1.0) -> float:
        """Least ε, with this δ, for which P(|X| <= t) >= confidence: the best privacy at a wanted accuracy.

        The inequality holds for every larger ε too, because σ falls as ε grows. The noise drawn at a larger ε keeps it up
        to one step of its lattice.

        Parameters
        ----------
        t : float
            Largest error, positive.
        confidence : float, default 0.95
            Probability of no larger error, at least 0.5 and less than 1.
        delta : float
            Privacy parameter δ, 0 < δ < 1.
        sensitivity : float, default 1.0
            Largest change Δ > 0 of the value that one person can cause.

        Returns
        -------
        float
            Within a relative 1e-9 of the least, and rounded so that
            ``Gaussian(eps, delta, sensitivity).error_bound(confidence)`` is at most `t`. The same bound of the noise drawn is at
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
        >>> eps = sn.Gaussian.eps_for_error(t=10, confidence=0.95, delta=1e-6)
        >>> round(eps, 4), round(sn.Gaussian(eps, 1e-6).error_bound(0.95), 6)
        (0.8162, 10.0)
        """
        limit, alpha = positive(t, "t"), 1 - confidence_level(single(confidence, "confidence"))
        slack, change = single(delta, "delta"), single(sensitivity, "sensitivity")

        def enough(eps: float) -> bool:
            try:
                mechanism: Gaussian[float] = cls(eps, slack, change)
            except ParameterError:
                # The noise is too wide for the lattice.
                return False
            _, drawn = mechanism._bounds_on_lattice(np.array(alpha), 1)
            return bool(mechanism._tail_bound(alpha) <= limit and drawn.item() <= limit / mechanism.granularity)

        cls(_LARGEST_EPS, delta, sensitivity)
        low, high = _LEAST_EPS, _LARGEST_EPS
        refuse("t", t, enough(high), "an error that some eps keeps below with this confidence and delta")
        if enough(low):
            return low
        return roots.bisection(enough, low, high, relative=_RESOLUTION, geometric=True)

    @property
    def eps(self) -> Float | float | None:
        """ε of one value, or of k values together if made by ``for_partitions(k)``; None if made from `sigma` or `std`."""
        return self._parameters.get("eps")

    @property
    def delta(self) -> Float | float | None:
        """Privacy parameter δ, for the same values as `eps`; None if made from `sigma` or `std`."""
        return self._parameters.get("delta")

    @property
    def sensitivity(self) -> Float | float | None:
        """Largest change Δ of one value that one person can cause; None if made from `std`."""
        return self._parameters.get("sensitivity")

    def _lattice_step(self) -> Any:
        if not self._parameter_shape:
            return super()._lattice_step()
        granularity: Any = np.ldexp(1.0, self._lattices.log2_granularity)
        granularity.flags.writeable = False
        return granularity

    @property
    def sigma(self) -> Float:
        """Standard deviation σ of the noise."""
        if self._partitions == 1 and "eps" not in self._parameters:
            # In float64 the noise drawn has this σ too.
            sigma = next(iter(self._parameters.values()))
            return np.broadcast_to(sigma, self._parameter_shape).copy() if self._parameter_shape else sigma  # type: ignore[no-any-return]
        log2_granularity, sigma2, _ = self._lattices
        return self._plain(np.ldexp(np.sqrt(sigma2), log2_granularity))

    @property
    def sigma2(self) -> Float:
        """Variance σ² of the noise; inf if float64 overflows."""
        log2_granularity, sigma2, _ = self._lattices
        with np.errstate(over="ignore"):
            return self._plain(np.ldexp(sigma2, 2 * log2_granularity))

    @property
    def rho(self) -> Float:
        """ρ of zero-concentrated differential privacy of one value: Δ²/(2σ²), with Δ in whole lattice steps.

        Δ is 1 if the mechanism was made from `std`. For several values and other changes, `guarantee` states ρ.
        """
        return self._rho(1, self._sensitivity_or_default(None))

    def _rho(self, values: int, sensitivity: float | None) -> Float:
        """Return the ρ of so many values together, rounded up if the guarantee is ρ alone."""

        def rho(mechanism: Gaussian[float]) -> Any:
            steps, sigma2 = mechanism._steps_of(sensitivity), mechanism._lattices.sigma2
            if "eps" not in mechanism._parameters:
                return rounded_up(values * Fraction(steps) ** 2 / (2 * Fraction(sigma2)))
            return values * (float(steps) * float(steps) / (2 * sigma2))

        return self._of_elements(rho)  # type: ignore[no-any-return]

    def _steps_of(self, sensitivity: float | None) -> Any:
        """Return a sensitivity in lattice steps, or for None that of the mechanism."""
        log2_granularity, _, steps = self._lattices
        return steps if sensitivity is None else math.ceil(Fraction(sensitivity) / Fraction(2) ** log2_granularity)

    def _functions(self) -> Any:
        return self._functions_of_elements() if self._parameter_shape else distribution.NormalDistribution(float(self.sigma))

    def _loss(self, sensitivity: Any) -> Part:
        if self._parameter_shape:
            given = sensitivity is not None
            steps = np.ceil(sensitivity / self.granularity) if given else self._lattices.steps
            return self._loss_of_elements(steps)
        return discrete_gaussian_loss.LatticeGaussian(self._lattices.sigma2, float(self._steps_of(sensitivity)))

    def _sum_bound(self, k: int, alpha: float) -> int:
        return discrete_gaussian_distribution.sum_bound(self._lattices.sigma2, k, alpha)

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        mechanism = self._keeping_guarantee(k, NAME)
        number = mechanism._partitions
        change = mechanism.sensitivity if sensitivity is None else sensitivity
        return Guarantee(mechanism.eps, mechanism.delta, mechanism._rho(number, sensitivity), change, number)

    def _cost_of(self, change: Change) -> tuple[None, None, float]:
        return None, None, rounded_up(change.squares() / (2 * Fraction(self._lattices.sigma2)))

    def _divided_among(self, k: int) -> Gaussian[Float]:
        return type(self).__new__(type(self))._calibrate(self._parameters, self._partitions * k, bool(self._stated))

    def _exact_parameters(self) -> dict[str, Any]:
        found, given = self._lattices, self._parameters
        if "std" in given:
            given = {"sigma": given["std"], "sensitivity": given["std"]}
        return {**given, "sigma2": found.sigma2, "log2_granularity": found.log2_granularity}

    @classmethod
    def _calibrated(
        cls, eps: Any, delta: Any, sensitivity: Any, partitions: int, sigma: Any = None, *pickled: Any
    ) -> Gaussian[Any]:
        """Return the mechanism from a ledger file, or from a pickle, which has its calibration and the version that made it."""
        parameters = {"eps": eps, "delta": delta} if sigma is None else {"sigma": sigma}
        stated = sensitivity is not None
        parameters["sensitivity"] = sensitivity if stated else 1.0
        found = (
            of_this_version(gaussian_calibration.is_private, (*parameters.values(), partitions), *pickled) if pickled else None
        )
        return cls.__new__(cls)._calibrate(parameters, partitions, stated, found and gaussian_calibration.Calibration(*found))

    @classmethod
    def _of_noise(cls, std: Any, partitions: int) -> Gaussian[Any]:
        """Return the mechanism of a standard deviation for so many values, from a pickle or a ledger file."""
        return cls.__new__(cls)._calibrate({"std": _checked_std(std)}, partitions, stated=False)

    def _made_by(self) -> tuple[Any, tuple[Any, ...]]:
        if "std" in self._parameters:
            return self._of_noise, (self._parameters["std"], self._partitions)
        arguments = (self.eps, self.delta, self._stated_sensitivity, self._partitions)
        return self._calibrated, (*arguments, self._parameters["sigma"]) if "sigma" in self._parameters else arguments

    def __reduce__(self) -> tuple[Any, ...]:
        maker, arguments = self._made_by()
        if self._parameter_shape or "eps" not in self._parameters:
            return maker, arguments
        return maker, (*arguments, None, tuple(self._lattices), _native.__version__)

    def __repr__(self) -> str:
        return super().__repr__() + (f".for_partitions({self._partitions})" if self._partitions > 1 else "")

    def _key(self) -> tuple[object, ...]:
        return (*super()._key(), self._partitions)


(_set_lattices,), (_set_partitions,) = setters(GaussianArrays, "_lattices"), setters(Gaussian, "_partitions")


def _checked_std(std: object) -> Real:
    return scale_of_noise(std, "std", _LEAST_STD, _BEYOND_STDS, "from 2**-1042 to below 2**993")


def _of_sigma(eps: object, delta: object, sensitivity: object, sigma: object) -> dict[str, Any]:
    """Return the checked parameters of a mechanism made from `sigma`."""
    if eps is not None or delta is not None:
        refuse("eps", eps, eps is None, "left out beside sigma")
        refuse("delta", delta, delta is None, "left out beside sigma")
    deviation, change = real(sigma, "sigma"), real(sensitivity, "sensitivity")
    _require_positive("sigma", sigma, deviation)
    _require_positive("sensitivity", sensitivity, change)
    parameters = {"sigma": deviation, "sensitivity": change}
    if type(deviation) is float and type(change) is float and deviation * _MOST_BELOW >= change:
        return parameters
    shape = common_shape(parameters)
    with np.errstate(over="ignore"):
        enough = deviation * _MOST_BELOW >= change
    if enough is not True and not np.all(enough):
        index = tuple(map(int, np.argwhere(~np.broadcast_to(enough, shape))[0]))
        shown = (np.broadcast_to(value, shape)[index].item() for value in parameters.values())
        rule = "at least 2**-20 times the sensitivity (std needs no sensitivity)"
        raise ParameterError(f"sigma must be {rule}, got sigma {next(shown)} and sensitivity {next(shown)}{place(index)}")
    return parameters


def _require_positive(name: str, passed: object, value: Real) -> None:
    refuse(name, value, (value > 0) & (value < math.inf), "finite and greater than 0", passed)
