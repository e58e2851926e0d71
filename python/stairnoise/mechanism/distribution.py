"""The distribution of a mechanism of numbers: SciPy's functions, moments and quantiles.

Arguments and parameters broadcast. The relative error is below 1e-12, in the far tails too, for ε from 2**-40 to 700. NaN gives
NaN. The result is a Python float if all of them are scalars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._parameters import Real, RealLike, argument, confidence_level, count, single
from stairnoise._types import Default, Float, Value
from stairnoise.mechanism.immutable import once

if TYPE_CHECKING:
    from stairnoise._types import Array, Floats, Number
    from stairnoise.mechanism.additive import AdditiveMechanism

    M = AdditiveMechanism[Any, Any, Float]

# Moments of much larger powers overflow float64.
_MOST_POWER = 64
# Up to this order the closed forms are quicker.
_MOST_CLOSED_POWER = 16
# With a unit from 1/this to this, the first four moments are far from the ends of float64.
_LARGE = 2.0**64


@overload
def interval(self: M[Float], confidence: Number) -> tuple[Float, Float]: ...  # type: ignore[overload-overlap]
@overload
def interval(self: M[Float], confidence: Number | Array) -> tuple[Floats, Floats]: ...
def interval(self: M[Float], confidence: RealLike) -> Any:
    """Return the ends of an interval with probability (1 - confidence)/2 outside it on each side.

    Parameters
    ----------
    confidence : float or array of float
        In [0, 1]; broadcasts against the parameters.

    Returns
    -------
    tuple of two floats or arrays
        The quantiles ``ppf((1 - confidence)/2)`` and ``isf((1 - confidence)/2)``.

    Raises
    ------
    ParameterError
        `confidence` is outside [0, 1].
    """
    level = argument(confidence, "confidence")
    _require((level >= 0) & (level <= 1), level, "confidence must be from 0 to 1")
    outside = (1 - level) / 2
    return self._apply("ppf", outside, "confidence"), self._apply("isf", outside, "confidence")


@once
def median(self: M[Float]) -> Float:
    """Return the least x with P(X <= x) >= 1/2."""
    return self.ppf(0.5)


@once
def support(self: M[Float]) -> tuple[Float, Float]:
    """Return the ends of the support."""
    low, high = self._distribution.support()
    return self._plain(low), self._plain(high)


@once
def entropy(self: M[Float]) -> Float:
    """Entropy in nats: differential for a continuous mechanism, Shannon's for a discrete one."""
    return self._plain(self._distribution.entropy())


@once
def mean(self: M[Float]) -> Float:
    """E X, which is 0 for symmetric noise."""
    return self._plain(self._distribution.mean())


@once
def var(self: M[Float]) -> Float:
    """Variance E (X - E X)²."""
    distribution, unit = scaled(self)
    return self._plain(times_power(distribution.var(), unit, 2))


@once
def std(self: M[Float]) -> Float:
    """Square root of the variance, also where float64 does not hold the variance."""
    distribution, unit = scaled(self)
    return self._plain(np.sqrt(distribution.var()) * unit)


def moment(self: M[Float], order: int) -> Float:
    """E X**order, for an integer order from 0 to 64; inf if float64 overflows."""
    power = count(order, "order", least=0, most=_MOST_POWER)
    distribution, unit = scaled(self)
    return self._plain(times_power(distribution.moment(power), unit, power))


def abs_moment(self: M[Float], p: RealLike) -> Float:
    """E|X|**p for a real p.

    Parameters
    ----------
    p : int or float
        Above -1 and at most 64.

    Returns
    -------
    float or ndarray of float64
        inf if float64 overflows, and for p < 0 if 0 has a positive probability.

    Raises
    ------
    ParameterError
        `p` is out of range or an array.
    """
    power = single(p, "p")
    if not -1 < power <= _MOST_POWER:
        raise ParameterError(f"p must be greater than -1 and at most {_MOST_POWER}, got {received(p)}")
    distribution, unit = scaled(self)
    moment = distribution.abs_moment(int(power) if power in range(_MOST_CLOSED_POWER + 1) else power)
    return self._plain(times_power(moment, unit, power))


def root_moment(mechanism: AdditiveMechanism, p: int) -> Any:
    """(E|X|**p)**(1/p), also where float64 does not hold the moment."""
    distribution, unit = scaled(mechanism)
    return distribution.abs_moment(p) ** (1 / p) * unit


def scaled(mechanism: AdditiveMechanism) -> tuple[Any, Any]:
    """Return a distribution whose moments float64 holds, and the unit that X is in."""
    unit = mechanism._unit
    if np.all((unit >= 1 / _LARGE) & (unit <= _LARGE)):
        return mechanism._distribution, 1.0
    return mechanism._in_units(), unit


@overload
def stats(self: M[Float], moments: Literal["m", "v", "s", "k"]) -> Float: ...
@overload
def stats(self: M[Float], moments: Literal["mv"] = "mv") -> tuple[Float, Float]: ...
@overload
def stats(self: M[Float], moments: Literal["mvs"]) -> tuple[Float, Float, Float]: ...
@overload
def stats(self: M[Float], moments: Literal["mvsk"]) -> tuple[Float, Float, Float, Float]: ...
@overload
def stats(self: M[Float], moments: str) -> Float | tuple[Float, ...]: ...
def stats(self: M[Float], moments: str = "mv") -> Any:
    """Mean ("m"), variance ("v"), skewness ("s") and excess kurtosis ("k"), like SciPy's ``stats`` method.

    Parameters
    ----------
    moments : str, default "mv"
        Letters out of "mvsk".

    Returns
    -------
    float, ndarray or tuple of them
        One for each letter, in the order m, v, s, k; not a tuple for a single letter.

    Raises
    ------
    ParameterError
        `moments` has another letter, or none.
    ParameterTypeError
        `moments` is not a string.
    """
    if not isinstance(moments, str):
        raise ParameterTypeError(f'moments must be letters out of "mvsk", got {received(moments)}')
    if not moments or set(moments) - set("mvsk"):
        raise ParameterError(f'moments must be letters out of "mvsk", got {received(moments)}')
    wanted = tuple(_stat(self, letter) for letter in "mvsk" if letter in moments)
    return wanted if len(wanted) > 1 else wanted[0]


def _stat(mechanism: AdditiveMechanism, letter: str) -> Any:
    if letter in "mv":
        return mechanism.mean() if letter == "m" else mechanism.var()
    return mechanism._skewness() if letter == "s" else mechanism._excess_kurtosis()


def central(mechanism: AdditiveMechanism) -> tuple[float, float, list[float]]:
    """Return the mean, the standard deviation, and the first four moments about 0, in any unit."""
    known, _ = scaled(mechanism)
    return float(known.mean()), float(np.sqrt(known.var())), [float(known.moment(order)) for order in range(1, 5)]


@overload
def error_bound(self: AdditiveMechanism[Default, Value, Any], confidence: Number = 0.95) -> Value: ...  # type: ignore[overload-overlap]
@overload
def error_bound(self: AdditiveMechanism[Default, Value, Any], confidence: Number | Array) -> NDArray[Default]: ...
def error_bound(self: AdditiveMechanism, confidence: RealLike = 0.95) -> Any:
    """Smallest t with P(|X| <= t) >= confidence.

    Parameters
    ----------
    confidence : float or array of float, default 0.95
        At least 0.5 and less than 1; broadcasts against the parameters.

    Returns
    -------
    float, int or ndarray
        An integer for a discrete mechanism.

    Raises
    ------
    ParameterError
        `confidence` is out of range.
    """
    return self._tail_bound(1 - confidence_level(confidence))


def times_power(moment: Any, unit: Any, p: float) -> Any:
    """Return the moment of order p in the caller's unit; in two factors, because the power alone may overflow."""
    with np.errstate(all="ignore"):
        root = np.power(unit, p / 2)
        return np.where(moment == 0, 0.0, moment * root * root)


def _require(allowed: Any, level: Real, rule: str) -> None:
    if allowed is True:
        return
    bad = np.flatnonzero(~np.asarray(allowed))
    if bad.size:
        raise ParameterError(f"{rule}, got {received(np.asarray(level).item(bad[0]))}")


def plain(result: Any) -> Real:
    """Turn a zero-dimensional result into a Python float."""
    if type(result) is float:
        return result
    return result if getattr(result, "ndim", 0) else float(result)
