"""PyArrow: arrays, chunked arrays, record batches and tables, by the memory layout of Arrow's format.

Buffers are read and made here. `pyarrow.compute` would need an import, and its casts of decimals print the number that does not
fit.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._parameters import require
from stairnoise.columns.column import Chunks, Column, Frame, Make, Nulls, ends_of_decimal, not_numbers, not_whole, places

_WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_DTYPES: dict[str, Any] = {name: np.dtype(name) for name in _WHOLE}
_DTYPES |= {"halffloat": np.dtype(np.float16), "float": np.dtype(np.float32), "double": np.dtype(np.float64)}
_DECIMALS = {"decimal32", "decimal64", "decimal128", "decimal256"}
_WORD = 64


def column(values: Any) -> Column:
    """Read an array or a chunked array."""
    pyarrow = sys.modules["pyarrow"]
    kind = values.type
    chunked = issubclass(type(values), pyarrow.ChunkedArray)
    chunks = values.chunks if chunked else [values]
    words = _words(values)
    arrays = [_numbers(chunk, words) for chunk in chunks] or [np.zeros(0, words)]
    nulls = Chunks([nulls_of(chunk) for chunk in chunks]).whole() if values.null_count else None
    numbers, ends = Chunks(arrays, nulls), None
    if _is_decimal(kind):
        numbers, ends = Chunks([_from_words(numbers.whole())], nulls), ends_of_decimal(kind.precision)
    lengths = [len(chunk) for chunk in chunks]

    def make(released: NDArray[Any], nulls: Nulls) -> Any:
        new = kind if ends is not None and released.dtype == np.int64 else pyarrow.from_numpy_dtype(released.dtype)
        whole = _array(pyarrow, new, released, nulls)
        return pyarrow.chunked_array(slices(whole, lengths), type=new) if chunked else whole

    return Column(numbers, make, ends)


def categories(values: Any, labels: tuple[Any, ...]) -> Make:
    """Return a function that makes a dictionary array of these labels, in the chunks of `values`."""
    pyarrow = sys.modules["pyarrow"]
    chunked = issubclass(type(values), pyarrow.ChunkedArray)
    lengths = [len(chunk) for chunk in values.chunks] if chunked else [len(values)]
    dictionary = pyarrow.array(labels)

    def make(codes: NDArray[Any], nulls: Nulls) -> Any:
        indices = _array(pyarrow, pyarrow.int32(), codes.astype(np.int32), nulls)
        whole = pyarrow.DictionaryArray.from_arrays(indices, dictionary)
        return pyarrow.chunked_array(slices(whole, lengths), type=whole.type) if chunked else whole

    return make


def frame(values: Any, names: list[Any]) -> Frame:
    """Read the named columns of a table or of a record batch."""
    schema = values.schema
    found = places(names, lambda name: schema.get_all_field_indices(name) if isinstance(name, str) else [])

    def replace(released: list[Any]) -> Any:
        columns, fields = list(values.columns), list(schema)
        for place, new in zip(found, released, strict=True):
            columns[place], fields[place] = new, fields[place].with_type(new.type)
        return type(values).from_arrays(columns, schema=sys.modules["pyarrow"].schema(fields, metadata=schema.metadata))

    return Frame([values.column(place) for place in found], replace)


def slices(whole: Any, lengths: list[int]) -> list[Any]:
    """Return consecutive parts of these lengths of an array of Arrow or a series of Polars."""
    starts = np.cumsum([0, *lengths])
    return [whole.slice(int(start), length) for start, length in zip(starts[:-1], lengths, strict=True)]


def _name(kind: Any) -> str:
    """Name a type without content such as the fields of a record."""
    nested = kind.num_fields or hasattr(type(kind), "extension_name")
    return type(kind).__name__ if nested else str(kind)


def _is_decimal(kind: Any) -> bool:
    return str(kind).partition("(")[0] in _DECIMALS


def _words(values: Any) -> np.dtype[Any]:
    """Return the dtype of one element in memory: a decimal of 128 or 256 bits is several words of 64, the lowest first."""
    kind = values.type
    if _is_decimal(kind):
        if kind.scale != 0:
            raise not_whole(values, _name(kind))
        bits = kind.bit_width
        return np.dtype(f"<i{bits // 8}" if bits <= _WORD else ("<i8", (bits // _WORD,)))
    if str(kind) not in _DTYPES:
        raise not_numbers(values, _name(kind))
    return _DTYPES[str(kind)]  # type: ignore[no-any-return]


def _numbers(chunk: Any, words: np.dtype[Any]) -> NDArray[Any]:
    """View the memory of a chunk, with arbitrary numbers in the places of nulls."""
    data = chunk.buffers()[1]
    if len(chunk) == 0 or data is None:
        return np.zeros(len(chunk), words)
    return np.frombuffer(data, words, len(chunk), chunk.offset * words.itemsize)


def nulls_of(chunk: Any) -> NDArray[np.bool_]:
    """Return for each element of an array whether it is null."""
    validity = chunk.buffers()[0]
    if chunk.null_count == 0 or validity is None:
        return np.zeros(len(chunk), np.bool_)
    first, skipped = divmod(chunk.offset, 8)
    return nulls_of_bits(np.frombuffer(validity, np.uint8)[first:], skipped, len(chunk))


def nulls_of_bits(valid: NDArray[np.uint8], skipped: int, length: int) -> NDArray[np.bool_]:
    """Return which elements are null, from their bits after `skipped` others."""
    bits = np.unpackbits(valid, count=skipped + length, bitorder="little")
    return np.equal(bits, 0, out=bits.view(np.bool_))[skipped:]


def bits_of(nulls: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return a bit for every element, 0 for null."""
    return np.packbits(~nulls, bitorder="little")


def _from_words(words: NDArray[Any]) -> NDArray[np.int64]:
    """Convert the words of decimals; int64 holds a decimal if its higher words repeat the sign of its lowest."""
    if words.ndim == 1:
        return words.astype(np.int64)
    lowest = words[:, 0]
    require("values", (words[:, 1:] == (lowest >> (_WORD - 1))[:, None]).all(axis=1), "within int64")
    return lowest.astype(np.int64)


def _array(pyarrow: Any, kind: Any, numbers: NDArray[Any], nulls: Nulls) -> Any:
    """Make an array of this type from the memory of `numbers`."""
    data = numbers
    if _is_decimal(kind):
        data = numbers.astype(f"<i{min(kind.bit_width, _WORD) // 8}")
        if kind.bit_width > _WORD:
            signs = np.broadcast_to((data >> (_WORD - 1))[:, None], (len(data), kind.bit_width // _WORD - 1))
            data = np.concatenate([data[:, None], signs], axis=1)
    validity = None if nulls is None else pyarrow.py_buffer(bits_of(nulls))
    return pyarrow.Array.from_buffers(kind, len(numbers), [validity, pyarrow.py_buffer(np.ascontiguousarray(data))])
