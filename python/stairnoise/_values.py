"""The gate for the true answers that a release protects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, place
from stairnoise._memory import apart
from stairnoise._parameters import number_array, real

_INT64 = np.iinfo(np.int64)


def true_values(values: object) -> tuple[NDArray[Any], bool]:
    """Convert the caller's true answers to int64 or float64 without rounding, or refuse them; add whether they were float32."""
    kind = type(values)
    if kind is float or (kind is int and _INT64.min <= values <= _INT64.max):  # type: ignore[operator]
        return np.array(values, np.float64 if kind is float else np.int64), False
    array = number_array(values, "values")
    if array.dtype.kind == "f":
        return _to_float64(array), array.dtype.itemsize == 4
    return _to_int64(array), False


def laid_out(answers: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Return the answers in the shape of `out`, copied if they share part of their memory with it.

    The extension names the place of an answer that is NaN or infinite. Repeated answers are checked here, before they are
    repeated, so that the error names the caller's place.
    """
    if answers.shape == out.shape:
        return apart(answers, out)
    require("values", np.isfinite(answers), "finite")
    return np.broadcast_to(apart(answers, out), out.shape)


def require(name: str, allowed: NDArray[np.bool_] | np.bool_, rule: str) -> None:
    """Refuse an array with a number that is not allowed, and name only its place: the number itself is data."""
    bad = np.flatnonzero(~allowed)
    if bad.size:
        where = place(np.unravel_index(bad[0], np.shape(allowed)))
        raise ParameterError(f"{name} must be {rule}, got one that is not{where}") from None


def whole_numbers(values: object) -> NDArray[Any]:
    """Convert the caller's true answers to an array, or refuse them if one is not a whole number."""
    array = number_array(values, "values")
    if array.dtype.kind != "f":
        return _to_int64(array)
    # What is not finite passes here, and the extension refuses it.
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
