"""Facts about the memory of arrays, asked from NumPy's own class, because a subclass can report false ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native

# DLPack's number for the memory of the processor.
_CPU = 1


def is_array(value: object) -> bool:
    """Return whether a value is an array, by its type, because an attribute ``__class__`` can lie."""
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
    overlaps = np.may_share_memory(array, out) and not _native.same_memory(array, out)
    return array.copy() if overlaps else array


def exports_buffer(value: object) -> bool:
    """Return whether an object lends its memory by Python's buffer protocol."""
    try:
        memoryview(value).release()  # type: ignore[arg-type]
    except Exception:  # TypeError if there is no buffer; Python code that exports a buffer may raise anything
        return False
    return True


def exports_dlpack(value: object) -> bool:
    """Return whether an object's type lends its memory by DLPack, as Torch's and JAX's do."""
    return hasattr(type(value), "__dlpack__")


def lent_memory(value: object) -> NDArray[Any] | None:
    """View memory that another object lends; None if it lends none or NumPy cannot view it.

    The view keeps the memory alive, and a bytearray or an ``array.array`` cannot be resized meanwhile. There are two views,
    because an exporter or NumPy can make a copy instead, and the caller's memory would not change.
    """
    first, second = _view(value), _view(value)
    if first is None or second is None or not (first.size == 0 or _native.same_memory(first, second)):
        return None
    return first


def obstacle(value: object) -> str:
    """Return the reason why DLPack does not lend an object to NumPy, as the end of an error."""
    try:
        device = int(type(value).__dlpack_device__(value)[0])  # type: ignore[attr-defined]
        if device != _CPU:
            return f" in the memory of another device (DLPack's type {device}): copy it to the CPU first"
        # An attribute of Torch.
        if value.requires_grad is True:  # type: ignore[attr-defined]
            return " that requires gradients: pass its detach()"
    except Exception:  # foreign code may raise anything
        pass
    return ""


def by_dlpack(value: Any) -> NDArray[Any]:
    """View memory on the CPU that DLPack lends, or raise anything; the view can be read-only, or a copy."""
    if obstacle(value):
        raise BufferError
    array = np.from_dlpack(value)
    # NumPy before 2.1, and every NumPy with an older exporter, does not know whether memory from DLPack is writable.
    if not array.flags.writeable and hasattr(type(value), "__array__"):
        again = np.asarray(value)
        if type(again) is np.ndarray and again.flags.writeable and _native.same_memory(array, again):
            return again
    return array


def _view(value: object) -> NDArray[Any] | None:
    try:
        return by_dlpack(value) if exports_dlpack(value) else np.asarray(memoryview(value))  # type: ignore[arg-type]
    except Exception:  # foreign code, and NumPy for what it has no dtype for, may raise anything
        return None
