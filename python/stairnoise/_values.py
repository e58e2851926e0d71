"""The gate for the true answers that a release protects."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, received
from stairnoise._parameters import number_array, real

_INT64 = np.iinfo(np.int64)


class TrueValues(NamedTuple):
    """True answers in one of the two forms that the extension takes."""

    array: NDArray[Any]
    """int64 or float64, converted without rounding."""
    single_precision: bool
    """Whether the caller's values were float32."""


def true_values(values: object) -> TrueValues:
    """Convert what a caller wants to release to int64 or float64, or refuse it."""
    kind = type(values)
    if kind is float or (kind is int and _INT64.min <= values <= _INT64.max):  # type: ignore[operator]
        return TrueValues(np.array(values, np.float64 if kind is float else np.int64), False)
    array = number_array(values, "values")
    if array.dtype.kind == "f":
        return TrueValues(_to_float64(array), array.dtype.itemsize == 4)
    return TrueValues(_to_int64(array), False)


def require_finite(values: NDArray[Any]) -> None:
    """Name the first value that is NaN or infinite, if there is one."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        _refuse(values, int(bad[0]), "must be finite")


def _to_float64(array: NDArray[Any]) -> NDArray[np.float64]:
    if array.dtype.itemsize > 8:
        return np.asarray(real(array, "values"))
    return array.astype(np.float64, copy=False)


def _to_int64(array: NDArray[Any]) -> NDArray[np.int64]:
    if array.dtype.kind == "O" or array.dtype == np.uint64:
        too_wide = (array > _INT64.max) | (array < _INT64.min)
        if np.any(too_wide):
            _refuse(array, int(np.flatnonzero(too_wide)[0]), "must fit in int64")
    return array.astype(np.int64, copy=False)


def _refuse(array: NDArray[Any], flat_index: int, rule: str) -> None:
    value = received(array.item(flat_index))
    index = tuple(map(int, np.unravel_index(flat_index, array.shape)))
    place = f" at index {index}" if array.ndim else ""
    raise ParameterError(f"values {rule}, got {value}{place}") from None
