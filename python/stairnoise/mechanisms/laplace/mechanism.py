"""The Laplace mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import Any, overload

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterTypeError
from stairnoise._parameters import Real, RealLike
from stairnoise._types import Float, Floats, Number, Numeric, Self
from stairnoise.distributions.symmetric import Line, Symmetric
from stairnoise.mechanism.array_gaussian import numbers_for_different
from stairnoise.mechanism.array_parameters import LAPLACE, ArrayParameters
from stairnoise.mechanism.continuous import ContinuousMechanism
from stairnoise.mechanism.cost import CostFunction, elementwise
from stairnoise.mechanism.eps_for_error import LEAST_EPS, raised_for_lattice
from stairnoise.mechanism.guarantee import NAME, Guarantee
from stairnoise.mechanism.made_from_noise import MadeFromNoise, require_alone, scale_of_noise
from stairnoise.mechanisms.laplace import distribution, loss
from stairnoise.mechanisms.staircase import cost, least_eps
from stairnoise.numerics.rounding import rounded_up

_FORMULAS = Line(distribution)
# Scales whose granularity, 2**-33 times their power of two, is from 2**-1074 to 2**960.
_LEAST_SCALE, _BEYOND_SCALES = 2.0**-1041, 2.0**994


class Laplace(MadeFromNoise, ArrayParameters[np.float64, Float, Float], ContinuousMechanism[Float]):
    r"""Laplace noise of scale Δ/ε: the classic ε-differentially private noise.

    .. math:: f(x) = \frac{ε}{2Δ}\, e^{-ε|x|/Δ}

    Draws are exact on the lattice of multiples of ``granularity`` g. Their distribution is two-sided
    geometric: probabilities fall by :math:`e^{-ε/D}` per lattice point, with :math:`D = ⌈Δ/g⌉`, for the
    float64 parameters as they are. Moments and bounds are those of the density above.

    For ε from 2**-20 to 2**20, E|X| and E X² of the noise drawn differ by less than 1e-9
    relative. Bounds differ by less than 1e-9 of Δ and of themselves. For smaller ε the lattice is
    coarser: Δ is rounded up to D steps, by 2**-12 at most.

    ``Laplace(scale=b)`` and ``Laplace(std=s)`` have the noise of ``Laplace(eps=1, sensitivity=b)``, on the lattice of that scale.
    They have no sensitivity: ``guarantee(sensitivity=Δ)`` states the ε for a change by Δ.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : float, array of float or None
        Largest change Δ > 0 of the value that one person can cause. None is 1, for study: `release` requires that you state
        it, unless `scale` or `std` is given.
    scale : float or array of float
        Instead of `eps` and `sensitivity`: the scale b of the noise, from 2**-1041 to below 2**994.
    std : float or array of float
        Instead of `scale`: the standard deviation √2 b, from 2**-1040 to below 2**994. b is rounded up to a float64.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or none of `eps`, `scale` and `std` is given.
    ParameterError
        A parameter is out of range, or float64 does not hold it exactly. Or the shapes do not
        broadcast, or ε is so small that the lattice would not fit 64-bit integers. Or another parameter is given beside `scale`
        or `std`.

    References
    ----------
    .. [1] Dwork, McSherry, Nissim and Smith, "Calibrating Noise to Sensitivity in Private Data
       Analysis", TCC 2006.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.Laplace(eps=0.5, sensitivity=1)
    >>> d
    Laplace(eps=0.5, sensitivity=1.0)
    >>> d.var()
    8.0
    >>> round(d.error_bound(0.95), 4)
    5.9915
    >>> d.sample((2, 3), rng=sn.SeededRng(1)).shape
    (2, 3)
    >>> noise = sn.Laplace(scale=2)
    >>> noise
    Laplace(scale=2.0)
    >>> noise.guarantee(sensitivity=1).eps
    0.5
    """

    __slots__ = ("_partitions",)
    _native_name = "laplace"
    _family = LAPLACE

    # Of a mechanism made from its scale: the arguments of `for_partitions` by which its ε of 1 was divided.
    _partitions: tuple[int, ...]

    @overload
    def __init__(self: Laplace[float], eps: Number, sensitivity: Number | None = None) -> None: ...
    @overload
    def __init__(self: Laplace[float], *, scale: Number) -> None: ...
    @overload
    def __init__(self: Laplace[float], *, std: Number) -> None: ...
    @overload
    def __init__(self: Laplace[Floats], eps: Numeric, sensitivity: Numeric | None = None) -> None: ...
    @overload
    def __init__(self: Laplace[Floats], *, scale: Numeric) -> None: ...
    @overload
    def __init__(self: Laplace[Floats], *, std: Numeric) -> None: ...
    def __init__(
        self,
        eps: RealLike | None = None,
        sensitivity: RealLike | None = None,
        *,
        scale: RealLike | None = None,
        std: RealLike | None = None,
    ) -> None:
        if scale is not None:
            require_alone("scale", sensitivity, eps=eps, std=std)
            self._keep_scale(_checked_scale(scale), ())
        elif std is not None:
            require_alone("std", sensitivity, eps=eps)
            self._keep_scale(_scale_of(std), ())
        elif eps is None:
            raise ParameterTypeError("eps must be given, or scale or std instead, got None")
        else:
            self._validate(eps, sensitivity)

    def _keep_scale(self, scale: Real, partitions: tuple[int, ...]) -> None:
        object.__setattr__(self, "_partitions", partitions)
        self._validate(reduce(_native.largest_quotient, partitions, 1.0), scale, noise_alone=True)

    @classmethod
    def _of_noise(cls, scale: Any, *partitions: int) -> Self:
        """Return the mechanism of a scale for so many values, from a pickle or a ledger file."""
        mechanism = cls.__new__(cls)
        mechanism._keep_scale(_checked_scale(scale), partitions)
        return mechanism

    @classmethod
    def _for_one_call(cls, arguments: dict[str, Any], out: object) -> Self:
        return super()._for_one_call(arguments, out) if {"scale", "std"}.isdisjoint(arguments) else cls(**arguments)

    @property
    def eps(self) -> Float | float | None:  # type: ignore[override]
        """Privacy parameter ε of one draw; None if made from `scale` or `std`."""
        return None if self._stated is None else self._eps  # type: ignore[return-value]

    @property
    def sensitivity(self) -> Float | float | None:  # type: ignore[override]
        """Largest change Δ of one value that one person can cause; None if made from `scale` or `std`."""
        return None if self._stated is None else self._sensitivity  # type: ignore[return-value]

    @property
    def scale(self) -> Float:
        """Scale Δ/ε of the density."""
        with np.errstate(all="ignore"):
            return self._plain(np.divide(self._sensitivity, self._eps))

    def _named_arguments(self) -> dict[str, Any]:
        return {"scale": self._sensitivity} if self._stated is None else super()._named_arguments()

    def _made_by(self) -> tuple[Any, tuple[Any, ...]]:
        return (self._of_noise, (self._sensitivity, *self._partitions)) if self._stated is None else super()._made_by()

    def __repr__(self) -> str:
        wider = self._partitions if self._stated is None else ()
        return super().__repr__() + "".join(f".for_partitions({k})" for k in wider)

    def _key(self) -> tuple[object, ...]:
        return (*super()._key(), self._partitions) if self._stated is None else super()._key()

    def _functions(self) -> Symmetric:
        parameters = self._eps, self._sensitivity
        return Symmetric(_FORMULAS, distribution.constants, self._parameter_shape, "laplace_abs_moment", parameters)

    def _loss(self, sensitivity: Any) -> Any:
        if sensitivity is None:
            return super()._loss(sensitivity)
        granularity, steps, _ = self._describe()
        # Exact: the granularity is a power of two, and larger numbers of steps than 2**53 are whole anyway.
        change = np.ceil(sensitivity / granularity)
        return loss.Steps(np.asarray(self._eps * (change / steps)), change)

    def _density_loss(self, sensitivity: Any) -> Any:
        eps = self._broadcast(self._parameter_shape)[0] if sensitivity is None else np.asarray(sensitivity / self.scale)
        return loss.Steps(eps, np.full(np.shape(eps), np.inf))

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        if sensitivity is None:
            return super()._promise(sensitivity, k)
        eps = self._keeping_guarantee(k, NAME)._eps_of_steps(sensitivity, k)
        return Guarantee(eps, 0.0, None, sensitivity, k)

    def _eps_of_steps(self, sensitivity: float, k: int) -> Any:
        """Return the ε of k values that change by a sensitivity each, rounded up."""
        granularity, steps, _ = self._describe()

        def eps(one: float, g: float, D: int) -> float:
            return rounded_up(k * math.ceil(Fraction(sensitivity) / Fraction(g)) * Fraction(one) / D)

        return numbers_for_different(eps, self._parameter_shape, self._eps, granularity, steps)

    def _divided_among(self, k: int) -> Self:
        if self._stated is None:
            return self._of_noise(self._sensitivity, *self._partitions, k)
        return super()._divided_among(k)

    def _exact_parameters(self) -> dict[str, Any]:
        return {"eps": self._eps, "sensitivity": self._sensitivity}

    @classmethod
    def _least_eps(cls, t: float, alpha: float, D: float, spec: Any) -> float | None:
        del spec
        found = max(least_eps.laplace(t, alpha, D), LEAST_EPS)
        return raised_for_lattice(cls, t, alpha, D, None, found)

    def _expected_cost(self, function: CostFunction) -> Any:
        return elementwise(
            lambda eps, D: cost.laplace_cost(function, D / eps), self._parameter_shape, self._eps, self._sensitivity
        )


def _checked_scale(scale: object) -> Real:
    return scale_of_noise(scale, "scale", _LEAST_SCALE, _BEYOND_SCALES, "from 2**-1041 to below 2**994")


def _scale_of(std: object) -> Real:
    """Return the least float64 b with √2 b >= std, for every element."""
    deviation = scale_of_noise(std, "std", 2 * _LEAST_SCALE, _BEYOND_SCALES, "from 2**-1040 to below 2**994")
    return numbers_for_different(_least_scale, np.shape(deviation), deviation)


def _least_scale(std: float) -> float:
    half = Fraction(std) ** 2 / 2
    # A division by √2 is less than two units in the last place away from the result.
    scale = math.nextafter(math.nextafter(std / math.sqrt(2), 0.0), 0.0)
    while Fraction(scale) ** 2 < half:
        scale = math.nextafter(scale, math.inf)
    return scale
