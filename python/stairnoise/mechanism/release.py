"""Releasing true answers with noise: gate, lattice, noise, conversion.

The gates of `stairnoise._values` and `stairnoise._output` turn the arguments into two plain NumPy arrays. The extension then
rounds the answers to the lattice, adds the noise in integers, and converts the sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, received
from stairnoise._output import Shape, released_array
from stairnoise._parameters import RealLike
from stairnoise._types import AnyFloat, Default, Out, Value
from stairnoise._values import laid_out, true_values
from stairnoise.columns import release as columns_release
from stairnoise.columns.libraries import library
from stairnoise.keyed import release as keyed_release
from stairnoise.mechanism.drawing import require_values, threads_asked
from stairnoise.mechanism.partitions import NAME, partitions
from stairnoise.mechanism.stated import unstated
from stairnoise.rng import Rng, require_release, sampling_stream

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from typing_extensions import Unpack

    from stairnoise._types import (
        Array,
        Columns,
        Floats,
        FrameOptions,
        Integer,
        Integers,
        Memory,
        Number,
        ReleaseOptions,
        Singles,
    )
    from stairnoise.keyed.rng import KeyedRng
    from stairnoise.mechanism.base import Mechanism

Nulls = Literal["refuse", "zero", "keep"]
REFUSE: Nulls = "refuse"
_NULLS = ("refuse", "zero", "keep")


@overload
def release(self: Mechanism, values: Columns, **options: Unpack[FrameOptions]) -> Columns: ...
@overload
def release(self: Mechanism, values: RealLike, *, out: Out, **options: Unpack[ReleaseOptions]) -> Out: ...
@overload
def release(
    self: Mechanism[Any, Value, Any], values: Integer, *, out: None = None, **options: Unpack[ReleaseOptions]
) -> Value: ...
@overload
def release(
    self: Mechanism[Any, Any, AnyFloat], values: Number, *, out: None = None, **options: Unpack[ReleaseOptions]
) -> AnyFloat: ...
@overload
def release(self: Mechanism, values: Singles, *, out: None = None, **options: Unpack[ReleaseOptions]) -> Singles: ...
@overload
def release(
    self: Mechanism[Default, Any, Any], values: Integers, *, out: None = None, **options: Unpack[ReleaseOptions]
) -> NDArray[Default]: ...
@overload
def release(self: Mechanism, values: Array, *, out: None = None, **options: Unpack[ReleaseOptions]) -> Floats: ...
def release(
    self: Mechanism,
    values: RealLike | Columns,
    *,
    columns: Iterable[Hashable] | None = None,
    nulls: Nulls = REFUSE,
    labels: object = None,
    statistic: str | Sequence[str] | None = None,
    max_partitions_contributed: int = 1,
    rng: Rng | KeyedRng | None = None,
    out: Memory | None = None,
    threads: int | None = None,
) -> Any:
    """Add noise to true answers and return the private ones.

    Each value is rounded to the lattice by ``floor(x/g + 1/2)``, computed exactly. The noise is added there in
    integers, and the sum is converted once. A sum that the output's type cannot hold becomes the largest or smallest
    number of that type. An error instead would reveal something about the noise.

    The mechanism must have been made with its `sensitivity`, or from its noise alone, such as ``Gaussian(sigma=2)``.
    Without one a discrete mechanism takes integers, because a person changes a count by 1, and no floats. The types
    decide that, never the values.

    A discrete mechanism has g = 1 and rounds 10.5 to 11 before it adds noise. The error can then exceed `error_bound`,
    which covers only the noise, by up to 1/2.

    Parameters
    ----------
    values : int, float, array of them, column or frame
        True answers, finite and below ``2**126 * granularity`` in magnitude (1e28 for ``Laplace(1)``). Array
        parameters and values broadcast against each other; every number returned is a separate release. Vectors are
        along the last axis. A column is then one vector, and the rows of a frame are vectors.
        Masked arrays are refused. A column is a pandas Series, Index or extension array, a Polars Series, or a
        PyArrow Array or ChunkedArray, of integers, floats or decimals of scale 0. A frame is a DataFrame of pandas
        or Polars, or a PyArrow Table or RecordBatch.
    columns : str, list of names, "all" or None
        Columns of a frame to release, each as an array of its own in this order. "all" is for frames of numbers
        alone, such as a crosstab. A frame must have it, and nothing else may.
    nulls : {"refuse", "zero", "keep"}, default "refuse"
        What to do with the nulls of a column. "refuse": raise an error. "zero": a null is the answer 0, and gets
        noise. "keep": a null stays null. Use that only if everybody may know which answers are missing. The noise
        of other rows does not depend on nulls. NaN is an error always.
    labels : sequence, array or column; only with a KeyedRng
        A label for each value in the order of the values, such as the name of its group; `values` then have one
        dimension, or none and one label. Labels are strings, integers, bools, dates, bytes, None or tuples of them.
        Several columns make tuples. Equal labels must have equal values, and get equal answers. The rows of a frame
        have one label each.
    statistic : str or list of str; only with a KeyedRng
        Public name of what the values are, such as "count". Two statistics of the same groups have independent noise.
        Several columns of a frame need a list of different names, one for each column.
    max_partitions_contributed : int, default 1
        How many of the values one person can change by being added or removed, each by at most the sensitivity.
        (A *replaced* person changes two cells of a histogram.) Every value then gets the wider noise of
        `for_partitions`, so the whole release has the guarantee of one value. The values of a frame are the cells
        of all its columns that are released.
    rng : SecureRng, KeyedRng or None
        None: one secure generator for the whole process. A SeededRng is refused unless it was
        made with ``allow_release=True``. A KeyedRng needs `labels` and a `statistic`.
    out : ndarray or other writable memory, or None
        Array to fill and return, or memory as for `sample`; it may be `values` itself. Its dtype is one that
        `sample` allows; a discrete mechanism also allows float32. A sum that this dtype cannot hold becomes its largest or
        smallest number. Not allowed for columns and frames.
    threads : int or None
        How many threads release 2**18 values or more, as in `sample`. The released numbers do not depend on it.

    Returns
    -------
    int, float, ndarray, column or frame
        int64 if the mechanism is discrete and the values are integers. Otherwise float32 if the values are
        float32, else float64. A zero-dimensional result is a Python scalar. A column or frame is of the type that
        `values` has, with its index, name, chunks and other columns. There integers from a discrete mechanism
        are the library's int64. A decimal keeps its type, whose ends take the place of sums beyond them.

    Raises
    ------
    ParameterError, ParameterTypeError
        No sensitivity was stated. Or a value is NaN, infinite or too large for the lattice (the text names the first such
        index). Or another argument is not allowed, such as an `out` that another thread is filling. Nothing has been
        drawn and `out` is untouched.
    LazyError
        `values` stands for a computation, such as a Polars LazyFrame, a DuckDB relation, a DataFrame of Dask or
        Spark, or an xarray DataArray over Dask. It has not been run. The class is a ParameterTypeError.

    Notes
    -----
    Arrays of float64 and int64 are read in place, and the result is written directly to the output. A release
    takes a few MiB besides the output. Values of other types are first converted to 8 bytes each. Values that
    share part of their memory with `out` are first copied.
    """
    if labels is not None or statistic is not None:
        _require_null_rule(nulls)
        k = max_partitions_contributed
        return keyed_release.released_by_key(self, values, columns, nulls, labels, statistic, k, rng, out, threads)
    stream = sampling_stream(rng)  # type: ignore[arg-type]
    # The fast path: calls without options take a quarter of the time of the general way.
    once = type(max_partitions_contributed) is int and max_partitions_contributed == 1
    if once and threads is None and self._fast_release is not None and columns is None and nulls is REFUSE:
        # What `_require_stated` may refuse takes the general way.
        fits = self._takes_floats or type(values) is int or (type(values) is np.ndarray and values.dtype.kind == "i")
        found = self._fast_release(stream, values, out, self._integers) if fits else None
        if found is not None:
            return found
    require_release(stream)
    workers = threads_asked(threads)
    k = partitions(max_partitions_contributed, NAME)
    if nulls is not REFUSE:
        _require_null_rule(nulls)
    if columns is not None or library(values) is not None:
        return columns_release.released(self, columns_release.Fresh(self, stream, k, workers), values, columns, nulls, out)
    answers, single_precision = true_values(values)
    require_stated(self, answers.dtype)
    require_values(answers.shape, self._value_shape, "values")
    shape = released_shape(self, answers.shape)
    released = released_array(shape, out, released_dtype(self, answers.dtype, single_precision), self._release_dtypes)
    # A new array has no memory in common with the answers.
    if out is not None or answers.shape != shape:
        answers = laid_out(answers, released)
    self._add_noise(stream, answers, released, k, workers)
    if out is not None:
        return out
    return released.item() if shape == () else released


def _require_null_rule(nulls: object) -> None:
    if not (isinstance(nulls, str) and nulls in _NULLS):
        raise ParameterError(f'nulls must be "refuse", "zero" or "keep", got {received(nulls)}')


def require_stated(mechanism: Mechanism, dtype: np.dtype[Any]) -> None:
    """Refuse true answers of this type if nobody stated their sensitivity: 1 is true of counts, and false of salaries.

    The type decides, never the values: whether a release fails would tell something about them.
    """
    whole = mechanism._integers
    if not mechanism._takes_floats and not (whole and dtype.kind in "iu"):
        purpose = "a release of floats" if whole else "a release"
        raise unstated(mechanism, purpose, beside=f" beside values of dtype {dtype}")


def released_shape(mechanism: Mechanism, values: Shape) -> Shape:
    """Broadcast the shape of true answers with that of the parameters."""
    parameters = mechanism._parameter_shape
    if not parameters:
        return values
    try:
        return np.broadcast_shapes(values, parameters)
    except ValueError:
        raise ParameterError(
            f"values must have a shape that broadcasts with the parameters, of shape {parameters}, got {values}"
        ) from None


def released_dtype(mechanism: Mechanism, dtype: np.dtype[Any], single_precision: bool) -> str:
    """Return the dtype of what is released for true answers of this type, which may have been float32."""
    if mechanism._integers and dtype.kind == "i":
        return "int64"
    return "float32" if single_precision else "float64"
