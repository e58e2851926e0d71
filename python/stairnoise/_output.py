"""The gate for output: it checks size, dtype and out before anything is drawn."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, dtype_name, got, received
from stairnoise._memory import base_view, exports_buffer, exports_dlpack, is_array, lent_memory, obstacle
from stairnoise._parameters import MOST_DIMENSIONS, count, refuse_dimensions, refuse_masked
from stairnoise._types import Memory

Shape = tuple[int, ...]
Names = tuple[str, ...]
Size = int | Shape

_MOST_BYTES = 2**63 - 1
# Values of a chunk, unless the caller specifies a number: 8 MiB of float64.
CHUNK = 2**20


def output_array(
    size: Size | None, parameters: Shape, out: Memory | None, dtype: DTypeLike | None, allowed: Names, *, name: str = "size"
) -> NDArray[Any]:
    """Return the array to fill, of NumPy's own class: the memory of `out` if given, otherwise a new array.

    Parameters
    ----------
    size : int, tuple of int, or None
        Shape of the output. None: the shape of `out`, or without it `parameters`.
    parameters : tuple of int
        Shape of the mechanism's parameters, which must broadcast to the output's shape.
    out : ndarray or other writable memory, or None
        What to fill.
    dtype : dtype or None
        One of `allowed`. None: the dtype of `out`, or without it ``allowed[0]``.
    allowed : tuple of str
        Names of the dtypes that the caller can write, with the default one first.
    name : str
        The caller's name for `size`.
    """
    wanted = None if dtype is None else _dtype(dtype, allowed)
    shape = None if size is None else _shape(size, name)
    if out is not None:
        memory = _checked_memory(out, allowed)
        if wanted is not None and wanted != memory.dtype:
            raise ParameterError(f"out and dtype must agree, got out of dtype {memory.dtype} and dtype {wanted}")
        if shape is not None and shape != memory.shape:
            raise ParameterError(f"out must have shape {shape}, as {name} asks, got {memory.shape}")
        _check_broadcast(parameters, memory.shape, "out")
        return memory
    if shape is None:
        shape = parameters
    _check_broadcast(parameters, shape, name)
    return _allocate(shape, wanted or _dtypes(allowed)[0], name)


def released_array(shape: Shape, out: Memory | None, default: str, allowed: Names) -> NDArray[Any]:
    """Return the array that a release fills, of NumPy's own class: the memory of `out` if given, otherwise a new array."""
    if out is None:
        return _allocate(shape, np.dtype(default), "values")
    memory = _checked_memory(out, allowed)
    if memory.shape != shape:
        raise ParameterError(f"out must have shape {shape}, the one that values and parameters broadcast to, got {memory.shape}")
    return memory


def chunks_of(
    size: Size, chunk_size: int | None, parameters: Shape, value: Shape, dtype: DTypeLike | None, allowed: Names
) -> tuple[Shape, int, np.dtype[Any]]:
    """Return the shape of an output that is made in chunks of its first axis, the length of a chunk, and the dtype.

    Parameters
    ----------
    size : int or tuple of int
        Shape of the output but for `value`.
    chunk_size : int or None
        Length of a chunk. None: as many as give a chunk about `CHUNK` values.
    parameters : tuple of int
        Shape of the mechanism's parameters, which must broadcast to the output's shape.
    value : tuple of int
        Shape of one value.
    dtype : dtype or None
        One of `allowed`.
    allowed : tuple of str
        Names of the dtypes that the caller can write, with the default one first.
    """
    rows = size if isinstance(size, tuple) else (size,)
    if not rows:
        raise ParameterError("size must have a first axis to divide into chunks, got ()")
    shape = _shape((*rows, *value), "size")
    wanted = _dtypes(allowed)[0] if dtype is None else _dtype(dtype, allowed)
    _check_broadcast((*parameters, *value), shape, "size")
    row = math.prod(shape[1:])
    if chunk_size is None:
        return shape, max(1, CHUNK // max(1, row)), wanted
    length = count(chunk_size, "chunk_size", least=1, most=_MOST_BYTES)
    if min(length, shape[0]) * row * wanted.itemsize > _MOST_BYTES:
        raise ParameterError(f"chunk_size must give chunks small enough to index (below 2**63 bytes), got {length}")
    return shape, length, wanted


def overlaps_itself(array: NDArray[Any]) -> bool:
    """Return whether two elements share a byte, as views by ``as_strided`` can."""
    axes = [(abs(stride), length) for stride, length in zip(array.strides, array.shape, strict=True) if length > 1]
    if array.size == 0:
        return False
    reach = array.itemsize  # bytes spanned by the axes walked so far
    nested = True
    for stride, length in sorted(axes):
        nested = nested and stride >= reach
        reach += (length - 1) * stride
    if nested:  # each stride is longer than the span of the finer axes: the common case
        return False
    if array.size * array.itemsize > reach:  # more elements than room, for example with a stride of 0
        return True
    return _closest_elements(axes) < array.itemsize


def _closest_elements(axes: list[tuple[int, int]]) -> int:
    """Return the least distance in bytes between two elements, from the list of all offsets.

    Strides may interleave without a collision, such as 24 and 16 bytes for a shape of (2, 2).
    """
    offsets = np.zeros(1, np.int64)
    for stride, length in axes:
        offsets = np.add.outer(offsets, stride * np.arange(length, dtype=np.int64)).ravel()
    offsets.sort()
    return int(np.diff(offsets).min())


def _shape(size: Size, name: str) -> Shape:
    if isinstance(size, tuple):
        if len(size) > MOST_DIMENSIONS:
            raise ParameterError(f"{name} must have at most {MOST_DIMENSIONS} dimensions, got {len(size)}")
        return tuple(_length(length, name) for length in size)
    return (_length(size, name),)


def _length(length: object, name: str) -> int:
    try:
        return count(length, name, least=0, most=_MOST_BYTES)
    except (ParameterError, ParameterTypeError) as error:
        kind = type(error)
    raise kind(f"{name} must be a non-negative integer below 2**63, or a tuple of them, got {received(length)}")


def _dtype(dtype: DTypeLike, allowed: Names) -> np.dtype[Any]:
    try:
        wanted = np.dtype(dtype)
    except Exception:  # NumPy parses strings as Python and reads attributes of objects, so even SyntaxError is possible
        raise ParameterTypeError(f"dtype must be {_alternatives(allowed)}, got {received(dtype)}") from None
    if wanted not in _dtypes(allowed):
        raise ParameterError(f"dtype must be {_alternatives(allowed)}, got {wanted}")
    return np.dtype(wanted.name)  # type: ignore[no-any-return]


def array_of(out: Any, name: str = "out") -> NDArray[Any]:
    """Return the memory of `out` as an array of NumPy's own class: that of an array, or what another object lends."""
    if is_array(out):
        refuse_masked(out, name)
        return base_view(out)
    # A NumPy scalar lends its memory too, though it never changes.
    if isinstance(out, np.generic) or not (exports_dlpack(out) or exports_buffer(out)):
        raise ParameterTypeError(
            f"{name} must be a NumPy array or lend its memory (DLPack, buffer protocol), got {got('out', out)}"
        )
    memory = lent_memory(out)
    if memory is None:
        raise ParameterTypeError(
            f"{name} must lend its memory to NumPy (in the CPU's memory, strided, of a dtype of NumPy's), "
            f"got {got('out', out)}{obstacle(out)}"
        )
    return memory


def _checked_memory(out: Any, allowed: Names) -> NDArray[Any]:
    """Return the memory of `out` as an array of NumPy's own class, or refuse it."""
    memory = array_of(out)
    refuse_dimensions(memory, "out")
    if memory.dtype not in _dtypes(allowed):
        bytes_alone = not is_array(out) and memory.dtype in _dtypes(("uint8", "int8"))
        hint = '; memoryview(out).cast("d") has float64, cast("q") int64' if bytes_alone else ""
        raise ParameterError(f"out must have dtype {_alternatives(allowed)}, got {dtype_name(memory.dtype)}{hint}")
    require_writable(memory, "out")
    return memory


def require_writable(array: NDArray[Any], name: str) -> None:
    """Refuse memory that cannot be written, or in which two elements share a byte."""
    if not array.flags.writeable:
        raise ParameterError(f"{name} must be writable, got a read-only array")
    if not array.flags.c_contiguous and overlaps_itself(array):
        raise ParameterError(f"{name} must not overlap itself, got shape {array.shape} with strides {array.strides}")


def _check_broadcast(parameters: Shape, shape: Shape, name: str) -> None:
    """Require that the parameters broadcast to exactly `shape`, as NumPy's Generator does."""
    if not parameters:
        return
    trailing = shape[len(shape) - len(parameters) :]
    fits = len(parameters) <= len(shape) and all(have in (1, want) for have, want in zip(parameters, trailing, strict=True))
    if not fits:
        raise ParameterError(f"{name} must be a shape that the parameters, of shape {parameters}, broadcast to, got {shape}")


def _allocate(shape: Shape, dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    try:
        # NumPy asks for huge pages: 8 times cheaper here than memory from a plain allocator.
        return np.empty(shape, dtype)
    except ValueError as error:
        # Sizes were checked, so only a byte count over 2**63 remains; NumPy skips zero-length axes.
        raise ParameterError(f"{name} must be small enough to index (below 2**63 bytes), got shape {shape}") from error


@cache
def _dtypes(names: Names) -> tuple[np.dtype[Any], ...]:
    return tuple(map(np.dtype, names))


def _alternatives(names: Names) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
