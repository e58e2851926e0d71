"""Error bars of released values."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError
from stairnoise._parameters import RealLike, common_shape, confidence_level, count, number_array, one_of
from stairnoise._types import Floats
from stairnoise._values import require
from stairnoise.mechanism.guarantee import NAME

Of = Literal["value", "sum", "mean"]

_MOST_TERMS = 10**9
# Exceeds the rounding errors of a survival function.
_MARGIN = 1 - 2.0**-40
_INT64 = np.iinfo(np.int64)


def interval_of(
    mechanism: Any, released: RealLike, confidence: RealLike, of: Of, terms: int, max_partitions_contributed: int
) -> tuple[Any, Any]:
    """Return the ends that `confidence_interval` returns."""
    values = _released(released)
    single = in_float32(released, values)
    level = confidence_level(confidence)
    k = _terms(of, terms)
    wider = mechanism._keeping_guarantee(max_partitions_contributed, NAME)
    shape = common_shape({"released": values, "confidence": level, "parameters": np.empty(mechanism._parameter_shape)})
    granularity, bounds = wider._bounds_on_lattice((1 - np.asarray(level)) * _MARGIN, k)
    if mechanism._integers and values.dtype.kind == "i" and of != "mean":
        ends: tuple[NDArray[Any], NDArray[Any]] = _integer_ends(values, bounds)
    else:
        ends = _float_ends(mechanism, values, single, granularity, bounds, k, k if of == "mean" else 1)
    low, high = (np.broadcast_to(end, shape) for end in ends)
    return (low.item(), high.item()) if shape == () else (low.copy(), high.copy())


def _float_ends(
    mechanism: Any, values: NDArray[Any], single: bool, granularity: NDArray[Any], bounds: NDArray[Any], k: int, divisor: int
) -> tuple[Floats, Floats]:
    # Imported here, because fractions would add milliseconds to the import of the package.
    from fractions import Fraction

    from stairnoise.numerics.rounding import rounded_up

    # A continuous mechanism rounds each true value too, by at most half a step.
    rounding = Fraction(0) if mechanism._integers else Fraction(k, 2)
    granularity, bounds = np.broadcast_arrays(granularity, bounds)
    half = np.empty(bounds.shape)
    for index in np.ndindex(half.shape):
        half[index] = rounded_up((int(bounds[index]) + rounding) * Fraction(float(granularity[index])) / divisor)
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
    """Whether the released numbers, from which `values` was made, are float32."""
    return isinstance(released, np.float32) or (values.dtype.kind, values.dtype.itemsize) == ("f", 4)


def _terms(of: object, terms: object) -> int:
    one_of(of, "of", ("value", "sum", "mean"))
    k = count(terms, "terms", least=1, most=_MOST_TERMS)
    if of == "value" and k != 1:
        raise ParameterError(f'terms must be 1 for a single value (of="sum" or of="mean" takes more), got {k}')
    return k


def _integer_ends(values: NDArray[np.int64], bounds: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    reach = np.asarray(np.minimum(bounds, _INT64.max), np.int64)
    below = np.minimum(values, -1) - _INT64.min
    above = _INT64.max - np.maximum(values, 0)
    return values - np.minimum(reach, below), values + np.minimum(reach, above)


def last_place(values: NDArray[Any]) -> Floats:
    """Return the unit in the last place; for the largest float, the distance to the float below."""
    magnitude = np.abs(values)
    with np.errstate(over="ignore"):
        unit = np.spacing(magnitude)
    below = magnitude - np.nextafter(magnitude, np.zeros_like(magnitude))
    return np.asarray(np.where(np.isinf(unit), below, unit), np.float64)


def _sum_rounded_up(a: Floats, b: Floats) -> Floats:
    """Return the least float64 at or above a + b, possibly inf.

    The rounding error of a sum is itself a float64, which Knuth's TwoSum computes.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = a + b
        b_part = total - a
        error = (a - (total - b_part)) + (b - b_part)
        return np.where(error > 0, np.nextafter(total, np.inf), total)
