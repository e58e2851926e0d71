"""Moments of a mechanism of numbers, in units in which float64 holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise._parameters import Real

# With a unit between 1/_LARGE and _LARGE, the first four moments are far from the ends of float64.
_LARGE = 2.0**64


def root_moment(mechanism: Any, p: int) -> Any:
    """(E|X|**p)**(1/p), also where float64 cannot hold the moment."""
    distribution, unit = scaled(mechanism)
    return distribution.abs_moment(p) ** (1 / p) * unit


def scaled(mechanism: Any) -> tuple[Any, Any]:
    """Return a distribution whose moments float64 can hold, and its unit."""
    try:
        return mechanism._scaled_made  # type: ignore[no-any-return]
    except AttributeError:
        unit = mechanism._unit
    near = np.all((unit >= 1 / _LARGE) & (unit <= _LARGE))
    made = (mechanism._distribution, 1.0) if near else (mechanism._in_units(), unit)
    object.__setattr__(mechanism, "_scaled_made", made)
    return made


def central(mechanism: Any) -> tuple[float, float, list[float]]:
    """Return the mean, the standard deviation, and the first four moments about 0, in any unit."""
    known, _ = scaled(mechanism)
    return float(known.mean()), float(np.sqrt(known.var())), [float(known.moment(order)) for order in range(1, 5)]


def times_power(moment: Any, unit: Any, p: float) -> Any:
    """Return the moment of order p in the caller's unit; in two factors, because the power alone may overflow."""
    if isinstance(unit, float) and unit == 1:
        return moment
    with np.errstate(all="ignore"):
        root = np.power(unit, p / 2)
        return np.where(moment == 0, 0.0, moment * root * root)


def plain(result: Any) -> Real:
    """Turn a zero-dimensional result into a Python float."""
    if type(result) is float:
        return result
    return result if getattr(result, "ndim", 0) else float(result)
