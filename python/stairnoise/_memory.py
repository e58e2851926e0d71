"""Facts about the memory of arrays, from NumPy's own class; a subclass may report other facts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native


def is_array(value: object) -> bool:
    """Tell whether a value is an array, by its type; an attribute ``__class__`` can lie."""
    return issubclass(type(value), np.ndarray)


def base_view(array: NDArray[Any]) -> NDArray[Any]:
    """View an array as one of NumPy's own class, with the same memory but no attribute or method of a subclass."""
    if type(array) is np.ndarray:
        return array
    view = np.ndarray.view(array, np.ndarray)
    if not _native.same_memory(view, array):
        raise AssertionError("a view must have the memory of its array")
    return view


def apart(array: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Return the array, or a copy if it may share memory with `out`; both are of NumPy's own class.

    An array of exactly the elements of `out` needs no copy, because each element is read before it is overwritten.
    """
    if not np.may_share_memory(array, out) or _native.same_memory(array, out):
        return array
    copied: NDArray[Any] = array.copy()
    return copied
