"""The discrete Gaussian mechanism."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from numbers import Number as AnyNumber
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError
from stairnoise._options import FrameOptions, KeyedRng, ReleaseOptions, Unpack
from stairnoise._parameters import Real, RealLike, common_shape, count, positive, real, refuse, whole_numbers
from stairnoise._types import Array, Columns, Float, Floats, Integer, Integers, Ints, Memory, Number, Numeric, Out, Singles, Whole
from stairnoise.columns import release as columns_release
from stairnoise.columns.column import library
from stairnoise.mechanism.array_gaussian import GaussianArrays, for_different, numbers_for_different
from stairnoise.mechanism.discrete import DiscreteMechanism
from stairnoise.mechanism.guarantee import NAME, Change, Guarantee, partitions
from stairnoise.mechanism.immutable import Parameter, comparable, display, of_this_version, setters
from stairnoise.mechanism.release import REFUSE, Nulls
from stairnoise.mechanisms.discrete_gaussian import calibration as discrete_gaussian_calibration
from stairnoise.mechanisms.discrete_gaussian import distribution, loss
from stairnoise.mechanisms.gaussian import calibration as gaussian_calibration
from stairnoise.numerics.rounding import quotient_up, rounded_up
from stairnoise.rng import Rng

if TYPE_CHECKING:
    from stairnoise.accounting.losses.loss import Part

    class _Options(ReleaseOptions, total=False):
        l2_sensitivity: RealLike | None

    class _FrameOptions(FrameOptions, total=False):
        l2_sensitivity: RealLike | None


_LARGEST_EPS = 2.0**20
_LARGEST_CALIBRATED = 2**40
_LEAST_SIGMA, _LARGEST_SIGMA = 2.0**-10, 2.0**45
_SIGMAS = "from 2**-10 to 2**45"
# A release that moves by more would leave int64.
_LARGEST_SENSITIVITY = 2**62


class _Calibration(NamedTuple):
    """`partitions` values, each changed by at most `sensitivity`, are (eps, delta)-differentially private together.

    For array parameters ε, δ and the sensitivity are numbers or arrays that broadcast.
    """

    eps: Real
    delta: Real
    sensitivity: int | Ints
    partitions: int


class DiscreteGaussian(GaussianArrays[np.int64, Whole, Float], DiscreteMechanism[Whole, Float]):
    r"""Discrete Gaussian noise: the counterpart of Gaussian noise for counts, which census releases use.

    .. math:: P(X = k) = \frac{e^{-k^2/(2σ^2)}}{\sum_{j ∈ ℤ} e^{-j^2/(2σ^2)}}

    Draws are exact: every integer has the probability above, for the float64 σ² as it is. One release
    of one value is ``rho(sensitivity)``-zero-concentrated differentially private. It is also
    (ε, ``privacy_profile(ε, sensitivity)``)-differentially private for every ε, but not ε-differentially
    private for any ε alone.

    A mechanism made from `sigma2` states only ρ. ``release(values, max_partitions_contributed=k)``
    draws with k·σ² (rounded up), so k values together have the ``rho`` of one. They do not have its
    (ε, δ). A mechanism made by `from_eps` keeps its (ε, δ) for the k values together. It uses a larger
    σ², computed for the sum of k draws.

    ``release`` first rounds each value that is not an integer to the nearest one, halves upwards. A
    value that changes by at most an integer Δ also changes by at most Δ after rounding. So the
    guarantees above hold for any values.

    A bound on the l2 norm of the change of several values holds for integers only. If 100 values go
    from 0.45 to 0.55, they change by 1 in the l2 norm, but by 10 after rounding. For such a bound use
    ``release(values, l2_sensitivity=s)``, which refuses values that are not whole numbers.

    Parameters
    ----------
    sigma2 : float or array of float
        Parameter σ², from 2**-20 to 2**90. The variance is smaller, by less than a relative 1e-6 for σ² >= 1.

    sigma : float or array of float
        Instead of `sigma2`: its square root σ, from 2**-10 to 2**45. σ² is rounded up to the next float64.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or neither is given.
    ParameterError
        A parameter is out of range, or float64 does not hold it exactly. Or both are given.

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
    >>> d == sn.DiscreteGaussian(sigma=10)
    True
    >>> d.rho(), d.error_bound(0.95)
    (0.005, 20)
    >>> f"{d.privacy_profile(0.5):.3g}"
    '6.93e-09'
    >>> d.release([12, 40, 7]).dtype.name
    'int64'
    """

    __slots__ = ("_calibration",)
    _any_sensitivity = True
    _change_norm = "l2"
    _partitions_rule = "leave a sigma2 that fits 64-bit integers"

    # What the mechanism was calibrated for; None if it was made from sigma2.
    _calibration: _Calibration | None

    @overload
    def __init__(self: DiscreteGaussian[int, float], sigma2: Number) -> None: ...
    @overload
    def __init__(self: DiscreteGaussian[int, float], *, sigma: Number) -> None: ...
    @overload
    def __init__(self: DiscreteGaussian[Ints, Floats], sigma2: Numeric) -> None: ...
    @overload
    def __init__(self: DiscreteGaussian[Ints, Floats], *, sigma: Numeric) -> None: ...
    def __init__(self, sigma2: RealLike | None = None, *, sigma: RealLike | None = None) -> None:
        if sigma is not None:
            refuse("sigma2", sigma2, sigma2 is None, "left out beside sigma")
            number = _squared(sigma)
        elif sigma2 is None:
            raise ParameterTypeError("sigma2 must be given, or sigma instead, got None")
        else:
            number = real(sigma2, "sigma2")
        self._keep(number, None, stated=False)

    def _keep(self, sigma2: Real, calibration: _Calibration | None, *, stated: bool) -> None:
        """Store σ² and its calibration; every constructor ends with this call."""
        _set_calibration(self, calibration)
        if isinstance(sigma2, float):
            native = _native.discrete_gaussian(sigma2)
            self._store(native, {"sigma2": sigma2}, stated=stated, noise_alone=calibration is None)
            return
        steps = np.zeros(sigma2.shape) + (0 if calibration is None else calibration.sensitivity)
        lattices = gaussian_calibration.Calibration(np.zeros(sigma2.shape, np.int64), sigma2, steps)
        self._store_arrays(lattices, {"sigma2": sigma2}, stated=stated, noise_alone=calibration is None)

    @classmethod
    def _calibrated(
        cls, sigma2: Real, eps: Any, delta: Any, sensitivity: Any, partitions: int, *version: str
    ) -> DiscreteGaussian[Any, Any]:
        """Return the mechanism from a ledger file, or from a pickle, which has the version that made it.

        The sensitivity is None if nobody stated it.
        """
        stated = sensitivity is not None
        change = sensitivity if stated else 1
        if version and of_this_version(_is_private, (eps, delta, change, partitions), sigma2, *version) is None:
            return cls._for_values(eps, delta, change, partitions, stated)
        mechanism = cls.__new__(cls)
        mechanism._keep(sigma2, _Calibration(eps, delta, change, partitions), stated=stated)
        return mechanism

    def _element(self, index: tuple[int, ...]) -> DiscreteGaussian[int, float]:
        sigma2 = self._lattices.sigma2[index].item()
        if self._calibration is None:
            return DiscreteGaussian(sigma2)
        *numbers, partitions = self._calibration
        eps, delta, change = (np.broadcast_to(number, self._parameter_shape)[index].item() for number in numbers)
        return self._calibrated(sigma2, eps, delta, change if self._stated else None, partitions)

    @overload
    @classmethod
    def from_eps(cls, eps: Number, delta: Number, sensitivity: int | None = None) -> DiscreteGaussian[int, float]: ...  # type: ignore[overload-overlap]
    @overload
    @classmethod
    def from_eps(
        cls, eps: Numeric, delta: Numeric, sensitivity: Integer | Integers | None = None
    ) -> DiscreteGaussian[Ints, Floats]: ...
    @classmethod
    def from_eps(cls, eps: RealLike, delta: RealLike, sensitivity: Any = None) -> Any:
        """Return the mechanism of the least σ² for which one value is (ε, δ)-differentially private.

        A larger σ² need not keep (ε, δ), because δ may rise with σ² before it falls again. The mechanism remembers its (ε, δ):
        ``for_partitions(k)``, and a release with ``max_partitions_contributed=k``, keep them for k values together.

        Parameters
        ----------
        eps : float or array of float
            Privacy parameter ε > 0, at most 2**20.
        delta : float or array of float
            Privacy parameter δ, 0 < δ < 1.
        sensitivity : int, array of int or None
            Largest change of the value that one person can cause, from 1 to 2**40. None is 1: `release` then takes integers
            only.

        Returns
        -------
        DiscreteGaussian
            Its ``privacy_profile(eps, sensitivity)`` is at most `delta`, even with rounding errors of a relative 1e-10. σ² is
            within a relative 1e-9 of the least such σ² from 2**-20 on.

        Raises
        ------
        ParameterTypeError
            A parameter is not a real number.
        ParameterError
            A parameter is out of range, the shapes do not broadcast, or the noise would not fit 64-bit integers.

        Examples
        --------
        >>> import stairnoise as sn
        >>> d = sn.DiscreteGaussian.from_eps(eps=1, delta=1e-6)
        >>> round(d.sigma2, 4), d.privacy_profile(1) <= 1e-6
        (17.8995, True)
        """
        stated = sensitivity is not None
        budget, slack, shift = real(eps, "eps"), real(delta, "delta"), _changes(sensitivity) if stated else 1
        refuse("eps", budget, (budget > 0) & (budget <= _LARGEST_EPS), "greater than 0 and at most 2**20", eps)
        refuse("delta", slack, (slack > 0) & (slack < 1), "greater than 0 and less than 1", delta)
        return cls._for_values(budget, slack, shift, 1, stated)

    @classmethod
    def _for_values(
        cls, eps: Real, delta: Real, sensitivity: int | Ints, partitions: int, stated: bool
    ) -> DiscreteGaussian[Any, Any]:
        """Return the mechanism with which `partitions` values are (eps, delta)-differentially private together."""

        def calibrate(eps: float, delta: float, shift: int) -> float:
            if partitions > 1:
                return discrete_gaussian_calibration.partitions_sigma2(eps, delta, shift, partitions)
            try:
                sigma2 = discrete_gaussian_calibration.least_sigma2(eps, delta, shift)
                _native.discrete_gaussian(sigma2)
            except ParameterError as error:
                rule = "eps, delta and sensitivity must leave a sigma2 that fits 64-bit integers"
                raise ParameterError(f"{rule}, got {eps}, {delta} and {shift}: {error}") from None
            return sigma2

        parameters: Any = {"eps": eps, "delta": delta, "sensitivity": sensitivity}
        sigma2 = numbers_for_different(calibrate, common_shape(parameters), *parameters.values())
        return cls._calibrated(sigma2, eps, delta, sensitivity if stated else None, partitions)

    sigma2 = Parameter[Float]("Parameter σ².")

    @property
    def sigma(self) -> Float:
        """Square root σ of the parameter; the standard deviation is smaller, by less than a relative 1e-6 for σ² >= 1."""
        return self._plain(np.sqrt(self._parameters["sigma2"]))

    @property
    def eps(self) -> Float | float | None:
        """ε given to `from_eps`, for one value, or for k together after ``for_partitions(k)``; None if made from `sigma2`."""
        return None if self._calibration is None else self._calibration.eps  # type: ignore[return-value]

    @property
    def delta(self) -> Float | float | None:
        """δ given to `from_eps`, for the same values as `eps`; None if made from `sigma2`."""
        return None if self._calibration is None else self._calibration.delta  # type: ignore[return-value]

    @property
    def sensitivity(self) -> Whole | int | None:
        """Largest change Δ of one value, as given to `from_eps`; None if made from `sigma2`."""
        return None if self._calibration is None else self._calibration.sensitivity  # type: ignore[return-value]

    def rho(self, sensitivity: RealLike | None = None, *, l2_sensitivity: RealLike | None = None) -> Float:
        """ρ of zero-concentrated differential privacy: Δ²/(2σ²).

        It covers one value that changes by at most `sensitivity`. For a mechanism made from `sigma2` it also covers k values
        that change by at most `sensitivity` each and are released with ``max_partitions_contributed=k``. For values that are
        not whole numbers, `sensitivity` must be an integer, because rounding can turn a change by 0.5 into one by 1.

        Parameters
        ----------
        sensitivity : float or None
            Largest change Δ > 0 of one value. None: the one given to `from_eps`, or 1.
        l2_sensitivity : float or None
            Instead of `sensitivity`: largest l2 norm of the change of any number of integers, released with
            ``release(values, l2_sensitivity=l2_sensitivity)`` [1]_.

        Returns
        -------
        float or ndarray of float64

        Raises
        ------
        ParameterTypeError
            A sensitivity is not a real number.
        ParameterError
            A sensitivity is not finite and greater than 0, or is an array. Or both are given. Or `l2_sensitivity` is given
            to a mechanism of array parameters, whose values have no ρ in common.

        References
        ----------
        .. [1] Canonne, Kamath and Steinke, theorem 14.
        """
        if l2_sensitivity is None:
            return self._rho(self._default_sensitivity if sensitivity is None else positive(sensitivity, "sensitivity"))
        refuse("l2_sensitivity", l2_sensitivity, sensitivity is None, "left out beside sensitivity")
        self._require_one_rho(l2_sensitivity)
        return self._rho(positive(l2_sensitivity, "l2_sensitivity"))

    def _rho(self, change: Any) -> Float:
        change = change * 1.0
        rho: Float = change * change / (2.0 * self._parameters["sigma2"])
        return rho if type(rho) is float else self._plain(rho)

    def _require_one_rho(self, l2_sensitivity: object) -> None:
        rule = "left out for array parameters, whose values have no rho in common"
        refuse("l2_sensitivity", l2_sensitivity, self._parameter_shape == (), rule)

    @overload
    def release(self, values: Columns, **options: Unpack[_FrameOptions]) -> Columns: ...
    @overload
    def release(self, values: RealLike, *, out: Out, **options: Unpack[_Options]) -> Out: ...
    @overload
    def release(self, values: Integer, *, out: None = None, **options: Unpack[_Options]) -> Whole: ...  # type: ignore[overload-overlap]
    @overload
    def release(self, values: Number, *, out: None = None, **options: Unpack[_Options]) -> Float: ...
    @overload
    def release(self, values: Singles, *, out: None = None, **options: Unpack[_Options]) -> Singles: ...
    @overload
    def release(self, values: Integers, *, out: None = None, **options: Unpack[_Options]) -> Ints: ...  # type: ignore[overload-overlap]
    @overload
    def release(self, values: Array, *, out: None = None, **options: Unpack[_Options]) -> Floats: ...
    def release(
        self,
        values: Any,
        *,
        columns: Iterable[Hashable] | None = None,
        nulls: Nulls = REFUSE,
        labels: object = None,
        statistic: str | Sequence[str] | None = None,
        max_partitions_contributed: int = 1,
        l2_sensitivity: RealLike | None = None,
        rng: Rng | KeyedRng | None = None,
        out: Memory | None = None,
        threads: int | None = None,
    ) -> Any:
        """Add noise to true answers and return the private ones; see `release` of the other mechanisms.

        Parameters
        ----------
        values : int, float, array of them, column or frame
            As for the other mechanisms.
        columns, nulls, labels, statistic, rng, out, threads
            As for the other mechanisms.
        max_partitions_contributed : int, default 1
            How many of the values one person can change, each by at most an integer Δ. They keep together the (ε, δ) of a
            mechanism made by `from_eps`, or the ``rho(Δ)`` of one value for a mechanism made from `sigma2`.
        l2_sensitivity : float or None
            Instead of `max_partitions_contributed`, for a mechanism made from `sigma2`. One person can change any number
            of the values, by at most this in the l2 norm. The whole release then has
            ``rho(l2_sensitivity=l2_sensitivity)``. `values` must be whole numbers, because rounding can make a small
            change large. The noise does not depend on `l2_sensitivity`.

        Returns
        -------
        int, float, ndarray, column or frame
            As for the other mechanisms.

        Raises
        ------
        ParameterError, ParameterTypeError
            A value is NaN or infinite, or, with `l2_sensitivity`, not a whole number; the error names the first such
            index. Or another argument is not allowed. Nothing has been drawn and `out` is untouched.
        LazyError
            `values` stands for a computation, which has not been run. The class is a ParameterTypeError.
        """
        if l2_sensitivity is not None:
            positive(l2_sensitivity, "l2_sensitivity")
            self._require_one_rho(l2_sensitivity)
            rule = "left out for a mechanism made by from_eps, which promises (eps, delta) and not rho"
            refuse("l2_sensitivity", l2_sensitivity, self._calibration is None, rule)
            k = partitions(max_partitions_contributed, NAME)
            refuse(NAME, k, k == 1, "1 with l2_sensitivity")
            if columns is None and library(values) is None:
                values = whole_numbers(values)
            else:
                columns_release.require_whole(values, columns)
        return super().release(  # type: ignore[call-overload,misc]
            values,
            columns=columns,
            nulls=nulls,
            labels=labels,
            statistic=statistic,
            max_partitions_contributed=max_partitions_contributed,
            rng=rng,
            out=out,
            threads=threads,
        )

    def _functions(self) -> Any:
        if self._parameter_shape:
            return self._functions_of_elements()
        return distribution.DiscreteGaussianDistribution(self._parameters["sigma2"])

    @property
    def _default_sensitivity(self) -> Any:
        return 1 if self._calibration is None else self._calibration.sensitivity

    def _checked_sensitivity(self, sensitivity: Any) -> Any:
        if self._calibration is not None and sensitivity is self._calibration.sensitivity:
            return sensitivity
        return count(sensitivity, "sensitivity", least=1, most=_LARGEST_SENSITIVITY)

    def _loss(self, sensitivity: Any) -> Part:
        if self._parameter_shape:
            return self._loss_of_elements(sensitivity)
        return loss.LatticeGaussian(self._parameters["sigma2"], float(sensitivity))

    def _loss_of_vector(self, norm: float) -> Part:
        """Return the loss of integers that change together by at most `norm` in the l2 norm."""
        self._require_one_rho(norm)
        refuse("l2_sensitivity", norm, self._calibration is None, "left out for a mechanism made by from_eps")
        # Rounded up, because float64 may have rounded a root down.
        square = max(1, math.floor(Fraction(math.nextafter(positive(norm, "l2_sensitivity"), math.inf)) ** 2))
        sigma2: Any = self._parameters["sigma2"]
        if not loss.can_be_computed(sigma2, square):
            raise ParameterError(
                f"l2_sensitivity must be at most {math.isqrt(loss.MOST_LISTED)}, or 2**15 for a sigma2 of at least "
                f"{loss.LEAST_ROUNDED:g}, to compute its loss, got {norm} and sigma2 = {sigma2}"
            )
        return loss.loss_of_change(sigma2, square)

    def _sum_bound(self, k: int, alpha: float) -> int:
        return distribution.sum_bound(self._parameters["sigma2"], k, alpha)

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        mechanism = self._keeping_guarantee(k, NAME)
        if mechanism._calibration is None:
            # k values with k times the σ² have the ρ of one value together.
            return Guarantee(None, None, self._rho(sensitivity), sensitivity, k)
        eps, delta, change, number = mechanism._calibration
        kept: tuple[Any, Any] = (eps, delta) if np.all(np.equal(sensitivity, change)) else (None, None)
        return Guarantee(*kept, number * mechanism._rho(sensitivity), sensitivity, number)

    def _cost_of(self, change: Change) -> tuple[None, None, float]:
        return None, None, rounded_up(change.squares() / (2 * Fraction(self._parameters["sigma2"])))

    def _divided_among(self, k: int) -> DiscreteGaussian[Any, Any]:
        if self._calibration is not None:
            eps, delta, sensitivity, before = self._calibration
            return self._for_values(eps, delta, sensitivity, before * k, bool(self._stated))

        def times(sigma2: float) -> float:
            numerator, denominator = sigma2.as_integer_ratio()
            return quotient_up(k * numerator, denominator)

        return DiscreteGaussian(numbers_for_different(times, self._parameter_shape, self._parameters["sigma2"]))

    def _exact_parameters(self) -> dict[str, Any]:
        return {"sigma2": self._parameters["sigma2"]}

    def _made_by(self) -> tuple[Any, tuple[Any, ...]]:
        if self._calibration is None:
            return super()._made_by()
        return self._calibrated, (self._parameters["sigma2"], *self._calibration._replace(sensitivity=self._stated_sensitivity))

    def __reduce__(self) -> tuple[Any, ...]:
        maker, arguments = self._made_by()
        return maker, arguments if self._calibration is None else (*arguments, _native.__version__)

    def __repr__(self) -> str:
        if self._calibration is None:
            return super().__repr__()
        *calibrated, partitions = zip(self._calibration._fields, self._calibration, strict=True)
        arguments = ", ".join(f"{name}={display(value)}" for name, value in calibrated if name != "sensitivity" or self._stated)
        wider = f".for_partitions({partitions[1]})" if partitions[1] > 1 else ""
        return f"DiscreteGaussian.from_eps({arguments}){wider}"

    def _key(self) -> tuple[object, ...]:
        calibration = None if self._calibration is None else tuple(map(comparable, self._calibration))
        return (*super()._key(), calibration, self._stated)


(_set_calibration,) = setters(DiscreteGaussian, "_calibration")


def _is_private(eps: Any, delta: Any, change: Any, k: int, sigma2: Any) -> bool:
    if isinstance(sigma2, float):
        return discrete_gaussian_calibration.is_private(eps, delta, change, sigma2, k)
    check = partial(discrete_gaussian_calibration.is_private, k=k)
    return all(for_different(check, np.shape(sigma2), eps, delta, change, sigma2)[0])


def _squared(sigma: RealLike) -> Real:
    """Return the least float64 that is at least σ², for every element."""
    deviation = real(sigma, "sigma")
    refuse("sigma", deviation, (deviation >= _LEAST_SIGMA) & (deviation <= _LARGEST_SIGMA), _SIGMAS, sigma)
    return numbers_for_different(lambda sigma: rounded_up(Fraction(sigma) ** 2), np.shape(deviation), deviation)


def _changes(sensitivity: Any) -> int | Ints:
    """Check and return the sensitivities of `from_eps`."""
    changes = None if isinstance(sensitivity, (AnyNumber, np.generic, str)) else real(sensitivity, "sensitivity")
    if not isinstance(changes, np.ndarray):
        return count(sensitivity, "sensitivity", least=1, most=_LARGEST_CALIBRATED)
    allowed = np.equal(changes, np.floor(changes)) & np.greater_equal(changes, 1) & np.less_equal(changes, _LARGEST_CALIBRATED)
    refuse("sensitivity", changes, allowed, "an integer from 1 to 2**40", sensitivity)
    whole = changes.astype(np.int64)
    whole.flags.writeable = False
    return whole
