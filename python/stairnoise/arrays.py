"""Gaussian noise for several arrays in one call, such as the weights or gradients of a model: `add_noise`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError, dtype_name, outline, place
from stairnoise._options import DrawOptions, Unpack
from stairnoise._output import array_of, require_writable
from stairnoise._parameters import one_of, refuse_dimensions, single
from stairnoise.mechanism.drawing import FLOAT64, threads_asked
from stairnoise.mechanisms.gaussian.mechanism import Gaussian
from stairnoise.rng import Rng, require_release, sampling_stream

if TYPE_CHECKING:
    from stairnoise._types import Memory, Number

    class _Options(DrawOptions, total=False):
        integers: Literal["refuse", "keep"]

    class _New(_Options, total=False):
        out: None


__all__ = ["add_noise"]

_Key = TypeVar("_Key")
_Given = TypeVar("_Given")
_Arrays = list[NDArray[Any]]

# Values that are converted or drawn together: 1 MiB of float64 stays in most processors' second cache.
_BLOCK = 2**17
# From this length on, a call of its own costs less than copying an array there and back.
_LONG = 2**12
# The largest numbers of the dtypes of 2 bytes.
_LARGEST = {"float16": 65504.0, "bfloat16": 2.0**128 - 2.0**120}
# Work after which two arrays are taken to share memory.
_MOST_WORK = 10**5
# Bits of a float64 that a float32 does not have.
_LOW = 2**29 - 1
_FLOAT32 = np.dtype(np.float32)


class _Part(NamedTuple):
    """A part of an array: the array's number, how many of its values come before, what is read, and what is written."""

    number: int
    before: int
    values: NDArray[Any]
    out: NDArray[Any]


@overload
def add_noise(arrays: Any, std: Number, *, out: _Given, **options: Unpack[_Options]) -> _Given: ...
@overload
def add_noise(arrays: dict[_Key, Any], std: Number, **options: Unpack[_New]) -> dict[_Key, NDArray[Any]]: ...
@overload
def add_noise(arrays: list[Any], std: Number, **options: Unpack[_New]) -> list[NDArray[Any]]: ...
@overload
def add_noise(arrays: tuple[Any, ...], std: Number, **options: Unpack[_New]) -> tuple[NDArray[Any], ...]: ...
@overload
def add_noise(arrays: Memory, std: Number, **options: Unpack[_New]) -> NDArray[Any]: ...
def add_noise(
    arrays: Any,
    std: Number,
    *,
    out: Any = None,
    integers: Literal["refuse", "keep"] = "refuse",
    rng: Rng | None = None,
    threads: int | None = None,
) -> Any:
    r"""Add Gaussian noise of a standard deviation to all values of a list of arrays, such as the weights of a model.

    This call knows no sensitivity, so it has no guarantee by itself: `std` must be the standard deviation that your accounting
    demands, for example a noise multiplier times the norm to which you clipped. If one person changes all n values together by
    at most c in the l2 norm, the call has the guarantee that ``Gaussian(std=std).privacy_map(c, size=n)`` returns: it is
    ρ-zero-concentrated differentially private with

    .. math:: ρ = \frac{(c + g\sqrt n)^2}{2\,\mathrm{std}^2}

    Here g is ``Gaussian(std=std).granularity``, at most ``std * 2**-32``: values are rounded to multiples of g.

    Parameters
    ----------
    arrays : list, tuple or dict of arrays, or one array
        Arrays of float16, float32, float64 or the bfloat16 of ``ml_dtypes``, of any shape and strides, with finite values. They
        may be of another library that lends its memory by DLPack on the CPU, such as Torch tensors. A NumPy scalar counts as
        an array of no axes, because NumPy's arithmetic turns such arrays into scalars; it cannot be written in place.
    std : float
        Standard deviation of the noise in every value, from 2**-1042 to below 2**993.
    out : like ``arrays``, or None
        Where to write: ``arrays`` itself, or arrays of the same shapes in the same order or under the same keys, of any of these
        dtypes. None: new NumPy arrays with the dtypes of ``arrays``.
    integers : {"refuse", "keep"}, default "refuse"
        What to do with arrays of integers or bools. "refuse": raise an error. "keep": copy them without noise. Use that only
        for numbers that do not depend on the data, such as the number of batches.
    rng : SecureRng or None
        None: one secure generator for the whole process. A SeededRng is refused unless it was made with
        ``allow_release=True``.
    threads : int or None
        How many threads share an array of 2**18 values or more, as in ``sample``. The values do not depend on it.

    Returns
    -------
    list, tuple or dict of ndarray, or one ndarray
        `out` if it was given.

    Raises
    ------
    ParameterError, ParameterTypeError
        A value is not finite or too large for the lattice (the text has the number of the array and the first such index). An
        array has another dtype, is read-only, or shares memory with another array that is written. Or another argument is not
        allowed. Nothing has been drawn and nothing written.

    Notes
    -----
    All arrays take one fill: value i of all arrays, one after the other in C order, gets the noise of value i of
    ``Gaussian(std=std)``. It is added in integers, as in ``release``, and the sum is rounded once to float64 or float32. For a
    dtype of 2 bytes, the float64 nearest to the sum is rounded; it is the sum itself up to ``2**20 * std``. Sums beyond a
    dtype become its largest number, and there is no negative zero.

    Arrays of float32 and float64 are read and written in place, other dtypes by way of 2**17 values of float64.

    If an error or Ctrl-C ends the call while it writes, a note in the exception says which arrays have no noise yet (from
    Python 3.11 on). Then publish none of them.

    Examples
    --------
    >>> import numpy as np
    >>> import stairnoise as sn
    >>> layers = [np.zeros((3, 2), np.float32), np.zeros(2, np.float16)]
    >>> noisy = sn.add_noise(layers, 0.1)
    >>> [(layer.shape, str(layer.dtype)) for layer in noisy]
    [((3, 2), 'float32'), ((2,), 'float16')]
    >>> sn.add_noise(layers, 0.1, out=layers) is layers
    True
    >>> round(sn.Gaussian(std=0.1).privacy_map(0.5, size=8).rho, 6)
    12.5
    """
    sampler = _sampler(single(std, "std"))
    keep = one_of(integers, "integers", ("refuse", "keep")) == "keep"
    stream, workers = sampling_stream(rng), threads_asked(threads)
    require_release(stream)
    given = _listed(arrays)
    if out is not arrays:
        given = [np.asarray(one) if isinstance(one, np.generic) else one for one in given]
    values = [_memory(array, f"array {number} of arrays", keep) for number, array in enumerate(given)]
    places = list(map(np.empty_like, values)) if out is None else values if out is arrays else _places(arrays, out, keep)
    if out is not None:
        _require_writable(values, places)
    with np.errstate(all="ignore"):
        _write(sampler, stream, values, places, workers)
    if out is not None:
        return out
    if isinstance(arrays, dict):
        return dict(zip(arrays, places, strict=True))
    return tuple(places) if isinstance(arrays, tuple) else places if isinstance(arrays, list) else places[0]


@lru_cache(maxsize=16)
def _sampler(std: float) -> _native.Mechanism:
    """Return the noise, which training asks for in every step."""
    return Gaussian(std=std)._sampler  # type: ignore[no-any-return]


# The arrays to read and to write


def _listed(arrays: Any) -> list[Any]:
    if isinstance(arrays, dict):
        return list(arrays.values())
    return list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.isnative and (dtype.char in "efd" or (dtype.name == "bfloat16" and dtype.type.__module__ == "ml_dtypes"))


def _memory(value: Any, name: str, keep: bool) -> NDArray[Any]:
    """Return the memory of an array as one of NumPy's own class, or refuse it."""
    array = array_of(value, name)
    whole = array.dtype.kind in "iub"
    if not (keep and whole) and not _is_float(array.dtype):
        remedy = '; integers="keep" copies it without noise' if whole else ""
        raise ParameterError(
            f"{name} must have dtype float16, float32, float64, or bfloat16 of ml_dtypes, got {dtype_name(array.dtype)}{remedy}"
        )
    refuse_dimensions(array, name)
    return array


def _places(arrays: Any, out: Any, keep: bool) -> _Arrays:
    """Return the memory of `out` in the order of `arrays`."""
    if isinstance(arrays, dict) and isinstance(out, dict) and arrays.keys() == out.keys():
        out = [out[key] for key in arrays]
    elif isinstance(arrays, dict) or isinstance(out, dict) or len(_listed(arrays)) != len(_listed(out)):
        raise ParameterError(
            f"out must have as many arrays as arrays, in the same order or with the same keys, got {outline(out)}"
        )
    return [_memory(array, f"array {number} of out", keep) for number, array in enumerate(_listed(out))]


def _require_writable(values: _Arrays, places: _Arrays) -> None:
    """Refuse outputs that do not fit the values, are read-only, or share memory."""
    for number, (array, out) in enumerate(zip(values, places, strict=True)):
        name = f"array {number} of out"
        if out is not array:
            if out.shape != array.shape or _is_float(out.dtype) != _is_float(array.dtype):
                raise ParameterError(f"{name} must have the shape and kind of number of {outline(array)}, got {outline(out)}")
            if out.dtype != array.dtype and not _is_float(out.dtype):
                raise ParameterError(f"{name} must have dtype {array.dtype}, got {out.dtype}")
        elif not _is_float(out.dtype):
            # It stays as it is.
            continue
        require_writable(out, name)
    # Nothing else can refer to the memory that an array of NumPy's own class owns, except its views.
    if values is places and all(out.flags.owndata for out in places) and len(set(map(id, places))) == len(places):
        return
    memory = [
        (*_ends(out), number, _is_float(out.dtype) or out is not array, out)
        for number, (array, out) in enumerate(zip(values, places, strict=True))
    ]
    if values is not places:
        memory += [(*_ends(array), number, False, array) for number, array in enumerate(values)]
    near: list[Any] = []
    for one in sorted(memory, key=lambda one: one[:2]):
        near = [other for other in near if other[1] > one[0]]
        for other in near:
            both = one[4], other[4]
            if (one[3] or other[3]) and not (one[2] == other[2] and _native.same_memory(*both)) and _share(*both):
                i, j = sorted((one[2], other[2]))
                raise ParameterError(f"out must have arrays that share no memory with others, got arrays {i} and {j} that do")
        near.append(one)


def _ends(array: NDArray[Any]) -> tuple[int, int]:
    """Return the first address of an array's memory, and the one after the last."""
    first: int = array.__array_interface__["data"][0]
    if not array.size:
        return first, first
    reach = [(length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True)]
    return first + sum(step for step in reach if step < 0), first + sum(step for step in reach if step > 0) + array.itemsize


def _share(one: NDArray[Any], other: NDArray[Any]) -> bool:
    try:
        return np.shares_memory(one, other, max_work=_MOST_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


# Noise


class _Batch:
    """Consecutive parts of the arrays that are read, drawn and written at once; what is written has one dtype."""

    def __init__(self, parts: list[_Part]) -> None:
        self.parts = parts
        self.size = sum([part.values.size for part in parts])

    def read(self) -> NDArray[Any]:
        """Return the values as float32 or float64."""
        first = self.parts[0].values
        if len(self.parts) == 1 and first.dtype.char in "fd":
            return first
        dtype = _FLOAT32 if first.dtype.char == "f" else FLOAT64
        return np.concatenate([part.values.reshape(-1) for part in self.parts], out=np.empty(self.size, dtype), casting="unsafe")

    def write(self, sampler: _native.Mechanism, stream: _native.Stream, values: NDArray[Any], threads: int) -> None:
        """Write the values with noise."""
        out = self.parts[0].out
        direct = out.dtype.char in "fd"
        if len(self.parts) == 1 and direct:
            sampler.release_checked(stream, values.reshape(out.shape), out, threads)
            return
        noisy = np.empty(values.shape, out.dtype if direct else FLOAT64)
        sampler.release_checked(stream, values, noisy, threads)
        flat = noisy.reshape(-1) if direct else _of_two_bytes(noisy.reshape(-1), out.dtype)
        first = 0
        for part in self.parts:
            out = part.out
            last = first + out.size
            out[...] = flat[first:last].reshape(out.shape)
            first = last


def _write(sampler: _native.Mechanism, stream: _native.Stream, values: _Arrays, places: _Arrays, threads: int) -> None:
    """Check all arrays, and then write them with noise."""
    batches = list(_batches(values, places, threads))
    once = batches[0].read() if len(batches) == 1 else None  # a single batch is read once
    for batch in batches:
        _require_accepted(batch, sampler.first_refused(batch.read() if once is None else once), values)
    view, first = sampler.next_view(stream, sum(batch.size for batch in batches)), 0
    number = 0
    try:
        for array, out in zip(values, places, strict=True):
            if not _is_float(array.dtype) and out is not array:
                np.copyto(out, array)
        for batch in batches:
            number = batch.parts[0].number
            batch.write(sampler, view.after(first), batch.read() if once is None else once, threads)
            first += batch.size
    except BaseException as error:
        if hasattr(error, "add_note"):
            error.add_note(f"add_noise ended while it wrote: arrays from number {number} on may be without noise")
        raise


def _batches(values: _Arrays, places: _Arrays, threads: int) -> Iterator[_Batch]:
    """Divide the arrays into batches, in order.

    A long array that the extension reads and writes itself is one batch, which threads share. A single thread takes blocks of it,
    because they are checked and then written, and the second step finds them in the cache.
    """
    parts: list[_Part] = []
    size, kind = 0, None
    for number, (array, out) in enumerate(zip(values, places, strict=True)):
        dtype, place_dtype = array.dtype, out.dtype
        if dtype.kind in "iub":
            continue
        long = array.size > _LONG
        alone = long and threads != 1 and dtype.char in "fd" and place_dtype.char in "fd"
        # float32 is read as it is, all else as float64.
        this = (dtype.char == "f", place_dtype)
        before = 0
        for part, place_of_part in _blocks(array, out) if long and not alone else ((array, out),):
            n = part.size
            if parts and (alone or size + n > _BLOCK or kind != this):
                yield _Batch(parts)
                parts, size = [], 0
            kind = this
            parts.append(_Part(number, before, part, place_of_part))
            size += n
            before += n
    if parts:
        yield _Batch(parts)


def _blocks(values: NDArray[Any], out: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Divide two arrays of one shape into views of at most `_BLOCK` values, in C order."""
    if values.size <= _BLOCK:
        yield values, out
        return
    rows = _BLOCK // math.prod(values.shape[1:])
    for first in range(0, len(values), max(rows, 1)):
        if rows:
            yield values[first : first + rows], out[first : first + rows]
        else:
            yield from _blocks(values[first], out[first])


def _require_accepted(batch: _Batch, position: int | None, arrays: _Arrays) -> None:
    """Raise for a value of the batch that is refused."""
    if position is None:
        return
    for part in batch.parts:
        if position < part.values.size:
            break
        position -= part.values.size
    where = place(np.unravel_index(part.before + position, arrays[part.number].shape))
    rule = "finite and below 2**126 times the granularity in magnitude"
    raise ParameterError(f"arrays must be {rule}, got a value that is not in array {part.number}{where}")


def _of_two_bytes(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round float64 to float16 or bfloat16."""
    largest = _LARGEST[dtype.name]
    clipped = np.clip(values, -largest, largest)
    if dtype.char != "e":
        # ml_dtypes converts by way of float32. Rounding to odd first makes that one rounding (Boldo and Melquiond 2008).
        bits = clipped.view(np.int64)
        bits[...] = (bits & ~_LOW) | ((bits & _LOW) != 0) * (_LOW + 1)
    rounded: NDArray[Any] = clipped.astype(dtype)
    # -0.0 becomes 0.0.
    rounded[rounded == 0] = 0
    return rounded


add_noise.__module__ = "stairnoise"
