"""Drawing noise alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._output import Shape, array_of, output_array
from stairnoise._parameters import count
from stairnoise.rng import Rng, sampling_stream

# NumPy can index any array with fewer values than this.
SURELY_A_LENGTH = 2**48
# NumPy keeps one object for each native dtype, so comparing identity is quickest.
FLOAT64 = np.dtype(np.float64)
INT64 = np.dtype(np.int64)


def sample_generally(
    mechanism: Any, size: Any, rng: Rng | None, out: Any, dtype: Any, threads: int | None = None, *, size_name: str = "size"
) -> Any:
    """Draw with any arguments of `sample`; `size_name` is what errors call the size."""
    stream = sampling_stream(rng)
    workers = threads_asked(threads)
    vector = mechanism._value_shape
    if vector and size is not None:
        size = (*(size if isinstance(size, tuple) else (size,)), *vector)
    if vector and out is not None:
        require_values(array_of(out).shape, vector, "out")
    shape = (*mechanism._parameter_shape, *vector)
    noise = output_array(size, shape, out, dtype, mechanism._dtypes, name=size_name)
    mechanism._fill(stream, noise, workers)
    if out is not None:
        return out
    return noise.item() if size is None and shape == () else noise


def chunks(
    mechanism: Any, view: _native.Stream, shape: Shape, length: int, dtype: np.dtype[Any], threads: int
) -> Iterator[NDArray[Any]]:
    """Draw the rows of an output, `length` at a time."""
    row = math.prod(shape[1:])
    for first in range(0, shape[0], length):
        chunk = np.empty((min(length, shape[0] - first), *shape[1:]), dtype)
        mechanism._fill(view.after(first * row), chunk, threads, first)
        yield chunk


def rows_from(first: int | None, parameter: Any, out: NDArray[Any]) -> Any:
    """Return the part of an array parameter that belongs to `out`: the rows of an output from number `first` on, or all rows."""
    if first is None:
        return parameter
    along_rows = isinstance(parameter, np.ndarray) and parameter.ndim == out.ndim and len(parameter) > 1
    return parameter[first : first + len(out)] if along_rows else parameter


def threads_asked(threads: object) -> int:
    """Check a number of threads; return 0 for None: the extension then decides."""
    return 0 if threads is None else count(threads, "threads", least=1, most=_native.MOST_THREADS)


def require_values(shape: Shape, vector: Shape, name: str) -> None:
    """Raise unless the last axis has the length of a vector."""
    if vector and (not shape or shape[-1] != vector[0]):
        raise ParameterError(f"{name} must have a last axis of length dim = {vector[0]}, got shape {shape}")
