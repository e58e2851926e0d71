"""Error bars of released values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._parameters import RealLike, common_shape, confidence_level, count, number_array
from stairnoise._types import AnyFloat, Default, Value
from stairnoise._values import require
from stairnoise.mechanism.partitions import NAME

if TYPE_CHECKING:
    from fractions import Fraction

    from typing_extensions import TypedDict, Unpack

    from stairnoise._types import Array, Floats, Integer, Integers, Number
    from stairnoise.mechanism.additive import AdditiveMechanism

    class _Options(TypedDict, total=False):
        terms: int
        max_partitions_contributed: int


# Fractions and the numerics of sums are imported where they are used: here they would add 4 ms to an import of 9 ms.

Of = Literal["value", "sum", "mean"]

_MOST_TERMS = 10**9
# The first margin exceeds the rounding errors of a survival function, the second those of listed probabilities.
_MARGIN = 1 - 2.0**-40
_LIST_MARGIN = 1 - 2.0**-37
_INT64 = np.iinfo(np.int64)


@overload
def confidence_interval(
    self: AdditiveMechanism[Any, Value, Any],
    released: Integer,
    confidence: Number = 0.95,
    *,
    of: Literal["value", "sum"] = "value",
    **options: Unpack[_Options],
) -> tuple[Value, Value]: ...
@overload
def confidence_interval(
    self: AdditiveMechanism[Any, Value, AnyFloat],
    released: Number,
    confidence: Number = 0.95,
    *,
    of: Of = "value",
    **options: Unpack[_Options],
) -> tuple[Value | AnyFloat, Value | AnyFloat]: ...
@overload
def confidence_interval(
    self: AdditiveMechanism[Default, Any, Any],
    released: Integers,
    confidence: Number = 0.95,
    *,
    of: Literal["value", "sum"] = "value",
    **options: Unpack[_Options],
) -> tuple[NDArray[Default], NDArray[Default]]: ...
@overload
def confidence_interval(
    self: AdditiveMechanism[Default, Any, Any],
    released: Array,
    confidence: RealLike = 0.95,
    *,
    of: Of = "value",
    **options: Unpack[_Options],
) -> tuple[NDArray[Default] | Floats, NDArray[Default] | Floats]: ...
@overload
def confidence_interval(
    self: AdditiveMechanism[Default, Value, AnyFloat],
    released: RealLike,
    confidence: RealLike = 0.95,
    *,
    of: Of = "value",
    **options: Unpack[_Options],
) -> tuple[Value | AnyFloat | NDArray[Default] | Floats, Value | AnyFloat | NDArray[Default] | Floats]: ...
def confidence_interval(
    self: AdditiveMechanism,
    released: RealLike,
    confidence: RealLike = 0.95,
    *,
    of: Of = "value",
    terms: int = 1,
    max_partitions_contributed: int = 1,
) -> Any:
    """Interval that contains the true value with at least the given probability.

    Only the noise is random here; the true value is fixed. Among all releases of that value, at least the
    proportion `confidence` has an interval that contains it. Sampling error is not included.

    The interval uses the distribution that is drawn, on its lattice. A continuous mechanism rounds true values to
    multiples of the granularity g, by at most g/2; the interval includes this. For a discrete mechanism, true values
    are assumed to be integers, because `release` rounds all others to integers first. If some are not integers, widen
    the interval by 1/2 at both ends (by ``terms/2`` for a sum).

    Parameters
    ----------
    released : int, float or array of them
        Published number or numbers; each has an interval. Broadcasts with the parameters and `confidence`. Error
        messages never show these values, so passing true values by mistake leaks nothing.
    confidence : float or array of float, default 0.95
        At least 0.5 and less than 1.
    of : {"value", "sum", "mean"}, default "value"
        What `released` is: one released value, or the sum or mean of `terms` values. Each of these was released
        with this mechanism and its own noise.
    terms : int, default 1
        How many values were added up, from 1 to 10**9; 1 for "value".
    max_partitions_contributed : int, default 1
        The value that `release` was called with.

    Returns
    -------
    low, high : int, float or ndarray
        Ends of the interval, both included, at equal distances from `released`. They are integers for a discrete
        mechanism, if `released` holds integers and no means. Otherwise they are float64, rounded outwards. They are
        NumPy arrays unless all arguments and parameters are scalars.

    Raises
    ------
    ParameterError
        `confidence` is out of range, `of` is another word, `terms` is out of range or does not fit `of`,
        `released` is not finite, or the shapes do not broadcast.
    ParameterTypeError
        An argument is not a number.

    Notes
    -----
    For one value the half-width is the exact quantile ``error_bound(confidence)``. For sums:

    - Laplace mechanisms have a closed form, which is exact too.
    - For staircase mechanisms the transform of the sum is inverted. This is exact if the integers that matter are at
      most 2**21. Otherwise wider bins replace the lattice's, and the distribution is larger in Birnbaum's order of
      peakedness [1]_. That widens the interval by less than 1e-4 for up to 10**6 terms, and by less than 4 % up to
      10**9 terms.
    - Gaussian noise uses its closed form.
    - The other mechanisms invert transforms of their lists of probabilities, or of wider distributions.
    - For an unsymmetric `TruncatedLaplace`, every term is rounded away from 0 to a bin. The same holds for
      `MultiScaleDiscreteLaplace` if its terms are too many for their integers to fit. This widens the interval by a
      relative 1e-5 for each term.

    Rounding errors are bounded and added.

    The interval includes the rounding of `released` to float64 or float32: half a unit in its last place. It does not
    include errors made in adding up the terms, nor saturation at the ends of an integer type.

    References
    ----------
    .. [1] Birnbaum, "On Random Variables with Comparable Peakedness", Annals of Mathematical Statistics 19,
       1948.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.DiscreteLaplace(eps=1)
    >>> d.confidence_interval([120, 43, 0])
    (array([117,  40,  -3]), array([123,  46,   3]))
    >>> d.confidence_interval(163, of="sum", terms=3)
    (158, 168)
    """
    values = _released(released)
    single = in_float32(released, values)
    level = confidence_level(confidence)
    k = _terms(of, terms)
    mechanism = self._keeping_guarantee(max_partitions_contributed, NAME)
    shape = common_shape({"released": values, "confidence": level, "parameters": np.empty(self._parameter_shape)})
    granularity, bounds = mechanism._bounds_on_lattice((1 - np.asarray(level)) * _MARGIN, k)
    if self._integers and values.dtype.kind == "i" and of != "mean":
        ends: tuple[NDArray[Any], NDArray[Any]] = _integer_ends(values, bounds)
    else:
        ends = _float_ends(self, values, single, granularity, bounds, k, k if of == "mean" else 1)
    low, high = (np.broadcast_to(end, shape) for end in ends)
    return (low.item(), high.item()) if shape == () else (low.copy(), high.copy())


def _float_ends(
    mechanism: AdditiveMechanism,
    values: NDArray[Any],
    single: bool,
    granularity: NDArray[Any],
    bounds: NDArray[Any],
    k: int,
    divisor: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from fractions import Fraction

    # A continuous mechanism rounds each true value too, by at most half a step.
    rounding = Fraction(0) if mechanism._integers else Fraction(k, 2)
    steps = np.broadcast_arrays(granularity, bounds)
    half = np.empty(steps[0].shape)
    for index in np.ndindex(half.shape):
        exact = (Fraction(int(steps[1][index])) + rounding) * Fraction(float(steps[0][index])) / divisor
        half[index] = _rounded_up(exact)
    centre = values.astype(np.float64)
    unit = last_place(centre.astype(np.float32) if single else centre)
    if mechanism._integers:
        unit = np.where((unit > 1) | (divisor > 1), unit, 0.0)
    half = _sum_rounded_up(half, unit / 2)
    return -_sum_rounded_up(-centre, half), _sum_rounded_up(centre, half)


def _released(released: RealLike) -> NDArray[Any]:
    values = number_array(released, "released")
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            floats = values if values.dtype.itemsize <= 8 else values.astype(np.float64)
        require("released", np.isfinite(floats), "finite")
        return floats
    if values.dtype == object or values.dtype == np.uint64:
        require("released", np.asarray((values >= _INT64.min) & (values <= _INT64.max), np.bool_), "within int64")
    return values.astype(np.int64, copy=False)


def in_float32(released: RealLike, values: NDArray[Any]) -> bool:
    """Whether the released numbers, and `values` that were made of them, are float32."""
    return isinstance(released, np.float32) or (values.dtype.kind, values.dtype.itemsize) == ("f", 4)


def _terms(of: object, terms: object) -> int:
    if not isinstance(of, str):
        raise ParameterTypeError(f'of must be "value", "sum" or "mean", got {received(of)}')
    if of not in ("value", "sum", "mean"):
        raise ParameterError(f'of must be "value", "sum" or "mean", got {received(of)}')
    k = count(terms, "terms", least=1, most=_MOST_TERMS)
    if of == "value" and k != 1:
        raise ParameterError(f'terms must be 1 for a single value (of="sum" or of="mean" takes more), got {k}')
    return k


def refuse(name: str, value: Any, allowed: Any, rule: str) -> None:
    if allowed is True:
        return
    bad = np.flatnonzero(~np.asarray(allowed, bool))
    if bad.size:
        raise ParameterError(f"{name} must be {rule}, got {received(np.asarray(value).item(bad[0]))}")


def _integer_ends(values: NDArray[np.int64], bounds: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    reach = np.asarray(np.minimum(bounds, _INT64.max), np.int64)
    below = np.minimum(values, -1) - _INT64.min
    above = _INT64.max - np.maximum(values, 0)
    return values - np.minimum(reach, below), values + np.minimum(reach, above)


def _rounded_up(exact: Fraction) -> float:
    nearest = float(exact)
    return nearest if exact <= nearest else math.nextafter(nearest, math.inf)


def last_place(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the unit in the last place; for the largest float, which has no next one, the distance to the one below."""
    magnitude = np.abs(values)
    with np.errstate(over="ignore"):
        unit = np.spacing(magnitude)
    below = magnitude - np.nextafter(magnitude, np.zeros_like(magnitude))
    return np.asarray(np.where(np.isinf(unit), below, unit), np.float64)


def _sum_rounded_up(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least float64 at or above a + b, possibly inf.

    The rounding error of a sum is itself a float64, which Knuth's TwoSum computes.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = a + b
        b_part = total - a
        error = (a - (total - b_part)) + (b - b_part)
        return np.where(error > 0, np.nextafter(total, np.inf), total)
