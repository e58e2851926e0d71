"""Checks and conversion of the true answers that a release protects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, place
from stairnoise._memory import apart
from stairnoise._parameters import number_array, real

_INT64 = np.iinfo(np.int64)


def true_values(values: object) -> tuple[NDArray[Any], bool]:
    """Convert the caller's true answers to int64 or float64 without rounding, and return whether they were float32."""
    kind = type(values)
    if kind is float or (kind is int and _INT64.min <= values <= _INT64.max):  # type: ignore[operator]
        return np.array(values, np.float64 if kind is float else np.int64), False
    array = number_array(values, "values")
    if array.dtype.kind == "f":
        return _to_float64(array), array.dtype.itemsize == 4
    return _to_int64(array), False


def laid_out(answers: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Return the answers in the shape of `out`, copied if they share part of their memory with it.

    The extension's error names the place of a NaN or an infinity. Answers that are broadcast are checked here before, so that the
    error names the place in the caller's array.
    """
    if answers.shape == out.shape:
        return apart(answers, out)
    require("values", np.isfinite(answers), "finite")
    return np.broadcast_to(apart(answers, out), out.shape)


def require(name: str, allowed: Any, rule: str) -> None:
    """Refuse an array with a number that is not allowed. The error names only the place, because the number is data."""
    if not (allowed if isinstance(allowed, np.bool_) else np.all(allowed)):
        where = place(np.unravel_index(np.argmin(allowed), np.shape(allowed)))
        raise ParameterError(f"{name} must be {rule}, got one that is not{where}") from None


def whole_numbers(values: object) -> NDArray[Any]:
    """Convert the caller's true answers to an array, or refuse them if one is not a whole number."""
    array = number_array(values, "values")
    if array.dtype.kind != "f":
        return _to_int64(array)
    # The extension refuses numbers that are not finite.
    require("values", np.isnan(array) | (array == np.floor(array)), "whole numbers with l2_sensitivity")
    return array


def _to_float64(array: NDArray[Any]) -> NDArray[np.float64]:
    if array.dtype.itemsize > 8:
        return np.asarray(real(array, "values"))
    return array.astype(np.float64, copy=False)


def _to_int64(array: NDArray[Any]) -> NDArray[np.int64]:
    if array.dtype.kind == "O" or array.dtype == np.uint64:
        require("values", np.asarray((array >= _INT64.min) & (array <= _INT64.max), np.bool_), "within int64")
    return array.astype(np.int64, copy=False)
