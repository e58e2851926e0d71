"""Error bars of released values."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from stairnoise._errors import ParameterError
from stairnoise._numpy_scalars import NUMBERS
from stairnoise._parameters import REMEMBERED, RealLike, common_shape, confidence_level, count, number_array, one_of, require
from stairnoise._types import AnyArray, Floats, Ints
from stairnoise.mechanism.guarantee import NAME, partitions
from stairnoise.numerics.elementwise import over_elements
from stairnoise.numerics.rounding import quotient_up

Of = Literal["value", "sum", "mean"]

_MOST_TERMS = 10**9
# Exceeds the rounding errors of a survival function.
_MARGIN = 1 - 2.0**-40
_INT64 = np.iinfo(np.int64)
# NumPy's numbers whose last place is that of float64.
_FLOAT64 = NUMBERS - {np.float32}
# float64 has all integers up to here.
_WHOLE = 2**53


def interval_of(
    mechanism: Any, released: RealLike, confidence: RealLike, of: Of, terms: int, max_partitions_contributed: int
) -> tuple[Any, Any]:
    """Return the ends that `confidence_interval` returns."""
    number: Any = released.item() if type(released) in _FLOAT64 else released  # type: ignore[union-attr]
    one_number = type(number) in (int, float) and abs(number) < _INT64.max
    values = number if one_number else _released(released)
    level, k = confidence_level(confidence), _terms(of, terms)
    people, divisor = partitions(max_partitions_contributed, NAME), k if of == "mean" else 1
    single = level if isinstance(level, float) and mechanism._parameter_shape == () else None
    if single is not None and one_number:
        bounds, halves = _width(mechanism, single, k, divisor, people)
        return _ends_of_one(mechanism._integers, number, bounds, halves, of, divisor)
    values = np.asarray(values)
    shape = common_shape({"released": values, "confidence": level, "parameters": np.empty(mechanism._parameter_shape)})
    if single is not None:
        bounds, halves = _width(mechanism, single, k, divisor, people)
    else:
        granularity, bounds = mechanism._keeping_guarantee(people, NAME)._bounds_on_lattice((1 - np.asarray(level)) * _MARGIN, k)
        halves = over_elements(_half_width, float, bounds, granularity, mechanism._integers, k, divisor)
    if mechanism._integers and values.dtype.kind == "i" and of != "mean":
        ends: tuple[AnyArray, AnyArray] = _integer_ends(values, np.asarray(bounds))
    else:
        ends = _float_ends(mechanism._integers and divisor == 1, values, in_float32(released, values), np.asarray(halves))
    low, high = (np.broadcast_to(end, shape) for end in ends)
    return (low.item(), high.item()) if shape == () else (low.copy(), high.copy())


def _ends_of_one(integers: bool, number: Any, bound: int, half: float, of: Of, divisor: int) -> tuple[Any, Any]:
    """Return what `_integer_ends` or `_float_ends` returns, for an int or a float64."""
    if integers and type(number) is int and of != "mean":
        reach = min(bound, _INT64.max)
        return max(number - reach, _INT64.min), min(number + reach, _INT64.max)
    centre = float(number)
    half = _up(half, 0.0 if integers and divisor == 1 and abs(centre) < _WHOLE else math.ulp(centre) / 2)
    return -_up(-centre, half), _up(centre, half)


@lru_cache(maxsize=REMEMBERED)
def _width(mechanism: Any, level: float, k: int, divisor: int, people: int) -> tuple[int, float]:
    """Return the bound of the noise in lattice steps, and that of the noise and of rounding, for scalar parameters."""
    granularity, bounds = mechanism._keeping_guarantee(people, NAME)._bounds_on_lattice(np.array((1 - level) * _MARGIN), k)
    return int(bounds.item()), _half_width(bounds.item(), granularity.item(), mechanism._integers, k, divisor)


def _half_width(bound: int, granularity: float, whole: bool, k: int, divisor: int) -> float:
    # A continuous mechanism rounds each true value too, by at most half a step.
    steps = 2 * int(bound) + (0 if whole else k)
    numerator, denominator = float(granularity).as_integer_ratio()
    return quotient_up(steps * numerator, 2 * denominator * divisor)


def _float_ends(whole: bool, values: AnyArray, single: bool, half: Floats) -> tuple[Floats, Floats]:
    centre = values.astype(np.float64)
    unit = last_place(centre.astype(np.float32) if single else centre)
    if whole:
        unit = np.where(unit > 1, unit, 0.0)
    half = _sum_rounded_up(half, unit / 2)
    return -_sum_rounded_up(-centre, half), _sum_rounded_up(centre, half)


def _released(released: RealLike) -> AnyArray:
    values = number_array(released, "released")
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            floats = values if values.dtype.itemsize <= 8 else values.astype(np.float64)
        require("released", np.isfinite(floats), "finite")
        return floats
    if values.dtype == object or values.dtype == np.uint64:
        require("released", np.asarray((values >= _INT64.min) & (values <= _INT64.max), np.bool_), "within int64")
    return values.astype(np.int64, copy=False)


def in_float32(released: RealLike, values: AnyArray) -> bool:
    """Whether the released numbers, from which `values` was made, are float32."""
    return isinstance(released, np.float32) or (values.dtype.kind, values.dtype.itemsize) == ("f", 4)


def _terms(of: object, terms: object) -> int:
    one_of(of, "of", ("value", "sum", "mean"))
    k = count(terms, "terms", least=1, most=_MOST_TERMS)
    if of == "value" and k != 1:
        raise ParameterError(f'terms must be 1 for a single value (of="sum" or of="mean" takes more), got {k}')
    return k


def _integer_ends(values: Ints, bounds: AnyArray) -> tuple[Ints, Ints]:
    reach = np.asarray(np.minimum(bounds, _INT64.max), np.int64)
    below = np.minimum(values, -1) - _INT64.min
    above = _INT64.max - np.maximum(values, 0)
    return values - np.minimum(reach, below), values + np.minimum(reach, above)


def last_place(values: AnyArray) -> Floats:
    """Return the unit in the last place; for the largest float, the distance to the float below."""
    magnitude = np.abs(values)
    with np.errstate(over="ignore"):
        unit = np.spacing(magnitude)
    below = magnitude - np.nextafter(magnitude, np.zeros_like(magnitude))
    return np.asarray(np.where(np.isinf(unit), below, unit), np.float64)


def _up(a: float, b: float) -> float:
    """Return `_sum_rounded_up` of two numbers."""
    total = a + b
    b_part = total - a
    error = (a - (total - b_part)) + (b - b_part)
    return math.nextafter(total, math.inf) if error > 0 else total


def _sum_rounded_up(a: Floats, b: Floats) -> Floats:
    """Return the least float64 at or above a + b, possibly inf.

    The rounding error of a sum is itself a float64, which Knuth's TwoSum computes.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = a + b
        b_part = total - a
        error = (a - (total - b_part)) + (b - b_part)
        return np.where(error > 0, np.nextafter(total, np.inf), total)
