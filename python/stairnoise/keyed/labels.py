"""Labels as bytes, the same for the columns of all libraries; the rows that they belong to, and fingerprints of rows.

Libraries are recognised by the name of a type's module, so that none is imported here. Lazy columns are refused.
"""

from __future__ import annotations

import datetime
import decimal
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, dtype_name, got, place
from stairnoise._memory import base_view, is_array
from stairnoise._native import Keys, Labels
from stairnoise._numpy_scalars import python_value
from stairnoise._parameters import refuse_masked, require, true_values
from stairnoise.columns import of_arrow
from stairnoise.columns.column import library, refuse_lazy
from stairnoise.columns.reading import answers_of, by_library, reader
from stairnoise.keyed import encoding

_RULE = "labels must be strings, integers, bools, dates, bytes, None or tuples of them"
_NOTHING = encoding.field(encoding.NONE, b"")
_EPOCH = datetime.date(1970, 1, 1).toordinal()
# Types of integers that int64 can hold: those of Polars and Arrow, and the nullable types of pandas.
_INTEGERS = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"})
_MASKED = frozenset({"Int8Dtype", "Int16Dtype", "Int32Dtype", "Int64Dtype", "UInt8Dtype", "UInt16Dtype", "UInt32Dtype"})


def fingerprint(keys: Keys, release: str, values: object, labels: object) -> str:
    """Return the fingerprint of rows; it does not depend on their order."""
    answers = true_values(values)[0] if library(values) is None else answers_of(values)
    column = column_of(labels, answers, answers.shape[1:])
    require("values", np.isfinite(answers), "finite")
    width = answers.shape[1] if answers.ndim > 1 else None
    rows = np.ascontiguousarray(answers).reshape(answers.shape)
    return keys.fingerprint(encoding.text(release), column, rows, width=width).hex()


def column_of(labels: object, answers: NDArray[Any], vector: tuple[int, ...]) -> Labels:
    """Check and return the labels of answers; an answer is a number, or a vector of the shape `vector`."""
    shape = answers.shape[: answers.ndim - len(vector)]
    if len(shape) > 1 or len(vector) > 1:
        raise ParameterError(
            f"values must have one dimension with labels, or none{' besides that of a vector' if vector else ''}, "
            f"got shape {answers.shape}; pass values.ravel()"
        )
    if 0 in vector:
        raise ParameterError(f"values must be vectors of one coordinate or more, got shape {answers.shape}")
    return label_column(labels, shape[0] if shape else None)


def label_column(labels: object, n: int | None) -> Labels:
    """Return the labels of `n` rows; None means a single value with a single label."""
    refuse_lazy(labels, "labels")
    if n is None and not _is_column(labels):
        return Labels.objects([labels], _encoded)
    column = by_library("labels", labels, _column, labels)
    if len(column) != (1 if n is None else n):
        raise ParameterError(f"labels must be as many as the values, {1 if n is None else n}, got {len(column)}")
    return column


def _is_column(labels: object) -> bool:
    """Return whether this is a column of labels and not a single label. (A tuple is a single label here.)"""
    return isinstance(labels, list) or is_array(labels) or library(labels) is not None


def _column(labels: Any) -> Labels:
    if isinstance(labels, Labels):
        return labels
    if is_array(labels):
        refuse_masked(labels, "labels")
        return _of_array(base_view(labels))
    found = library(labels)
    if found is not None:
        package, kind = found
        return _together(_COLUMNS_OF[package](labels)) if kind == "frame" else _OF[package](labels)
    if isinstance(labels, (list, tuple)) and labels and all(map(_is_column, labels)):
        return _together(labels)
    if isinstance(labels, Sequence) and not isinstance(labels, (str, bytes, bytearray, memoryview)):
        return Labels.objects(labels if type(labels) is list else list(labels), _encoded)
    raise ParameterTypeError(f"labels must be a sequence, an array, a column or several columns, got {got('labels', labels)}")


def _together(columns: Any) -> Labels:
    """Return tuples of the labels of several columns."""
    found = list(map(_column, columns))
    lengths = sorted(set(map(len, found)))
    if len(lengths) != 1:
        raise ParameterError(f"labels must be columns of one length, got {len(found)} columns of lengths {lengths}")
    return Labels.tuples(found)


def _of_array(array: NDArray[Any]) -> Labels:
    if array.ndim != 1:
        raise ParameterError(f"labels must have one dimension, got an array of shape {array.shape}")
    kind = array.dtype.kind
    if kind == "i" or (kind == "u" and array.max(initial=0) < 2**63):
        return Labels.integers(array.astype(np.int64, copy=False))
    if kind == "M" and np.datetime_data(array.dtype) == ("D", 1):
        return Labels.dates(array.astype("<M8[D]", copy=False).view(np.int64), np.isnat(array))
    if kind not in "buSUOT":
        raise _wrong_dtype(dtype_name(array.dtype), timed=kind in "mM")
    return (_of_characters(array) if kind in "SU" else None) or Labels.objects(array.tolist(), _encoded)


def _of_characters(array: NDArray[Any]) -> Labels | None:
    """Return the labels of an array of texts or bytes; None if there is no character, or one has no UTF-8."""
    size = 4 if array.dtype.kind == "U" else 1
    width = array.dtype.itemsize // size
    if not width:
        return None
    native = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return Labels.code_points(native.view(np.uint32), width) if size > 1 else Labels.binaries(native.view(np.uint8), width)


def _integers(package: str, column: Any) -> Labels:
    """Return the labels of a column of integers that int64 can hold."""
    read = reader(package).column(column).chunks
    return Labels.integers(read.whole().astype(np.int64, copy=False), read.nulls)


def _of_pandas(column: Any) -> Labels:
    """Return the labels of a Series, an Index or an extension array; NaN is a null."""
    kind = type(column.dtype).__name__
    if kind == "CategoricalDtype":
        codes = getattr(column, "cat", column).codes
        return _column(column.dtype.categories).taken(np.asarray(codes, np.int64))
    if kind == "ArrowDtype" or (kind == "StringDtype" and column.dtype.storage != "python"):
        return _of_arrow(getattr(column, "array", column).__arrow_array__())
    if isinstance(column.dtype, np.dtype) and column.dtype.kind not in "OUST":
        return _of_array(np.asarray(column))
    if kind in _MASKED:
        return _integers("pandas", column)
    if kind not in ("StringDtype", "BooleanDtype") and getattr(column.dtype, "kind", "") not in "Oiu":
        raise _wrong_dtype(kind, timed="Date" in kind or "Period" in kind)
    return Labels.objects([None if _is_nan(label) else label for label in column.tolist()], _encoded_of_pandas)


def _of_polars(column: Any) -> Labels:
    text = str(column.dtype)
    if text.startswith(("Float", "Datetime", "Time", "Duration")):
        raise _wrong_dtype(text, timed=not text.startswith("Float"))
    if text.lower() in _INTEGERS:
        return _integers("polars", column)
    return _of_polars_text(column) if text == "String" else Labels.objects(column.to_list(), _encoded)


def _of_polars_text(column: Any) -> Labels:
    polars, read = sys.modules["polars"], reader("polars").column
    lengths = read(column.str.len_bytes()).chunks
    # A list without items becomes a null.
    texts = read(column.cast(polars.Binary).cast(polars.List(polars.UInt8)).explode().drop_nulls()).chunks.whole()
    return Labels.texts(lengths.whole().astype(np.uint32, copy=False), texts, lengths.nulls)


def _of_arrow(column: Any) -> Labels:
    """Return the labels of an Array or a ChunkedArray. Texts are read from Arrow's memory."""
    if hasattr(column, "combine_chunks") and hasattr(column, "chunks"):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    text = str(column.type)
    if text in ("float", "double", "halffloat") or text.startswith(("time", "duration")):
        raise _wrong_dtype(text, timed=text.startswith(("time", "duration")))
    if text.startswith("dictionary"):
        codes = of_arrow.column(column.indices).chunks
        # Signed, because -1 means null.
        places = codes.whole().astype(np.int64)
        if codes.nulls is not None:
            places[codes.nulls] = -1
        return _column(column.dictionary).taken(places)
    if text in _INTEGERS:
        return _integers("pyarrow", column)
    if text in ("string", "large_string"):
        return _of_arrow_text(column, np.dtype(np.int32 if text == "string" else np.int64))
    return Labels.objects(column.to_pylist(), _encoded)


def _of_arrow_text(column: Any, offset: np.dtype[Any]) -> Labels:
    _, offsets, data = column.buffers()
    if not len(column):
        return Labels.objects([], _encoded)
    ends = np.frombuffer(offsets, offset, len(column) + 1, column.offset * offset.itemsize)
    texts = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
    return Labels.texts(ends, texts, of_arrow.nulls_of(column) if column.null_count else None)


_OF: dict[str, Callable[[Any], Labels]] = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}
_COLUMNS_OF: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda frame: [frame.iloc[:, place] for place in range(frame.shape[1])],
    "polars": lambda frame: frame.get_columns(),
    "pyarrow": lambda frame: frame.columns,
}


def _wrong_dtype(dtype: str, *, timed: bool) -> ParameterTypeError:
    hint = "; engines disagree about times: pass dates, or text" if timed else ""
    return ParameterTypeError(f"{_RULE}, got a column of dtype {dtype}{hint}")


def _is_nan(label: object) -> bool:
    return isinstance(label, float) and math.isnan(label)


def _encoded_of_pandas(label: Any, row: int) -> bytes:
    """Return the field of a label of pandas, where NaN in a tuple is a null."""
    if _is_tuple(label):
        label = tuple(None if _is_nan(part) else part for part in label)
    return _encoded(label, row)


def _encoded(label: Any, row: int) -> bytes:
    """Return the field of a label; errors name its type and row."""
    kind = type(label)
    if isinstance(label, np.datetime64):
        if np.datetime_data(label.dtype) == ("D", 1):
            return _NOTHING if np.isnat(label) else encoding.integer(int(label.astype(np.int64)), encoding.DATE)
    else:
        label = python_value(label)
    if label is None or _is_missing(label):
        return _NOTHING
    if isinstance(label, str):
        return _text(label, row)
    if isinstance(label, bool):
        return encoding.field(encoding.BOOL, bytes([label]))
    if isinstance(label, int):
        return encoding.integer(int(label))
    if isinstance(label, (bytes, bytearray, memoryview)):
        return encoding.field(encoding.BYTES, bytes(label))
    if isinstance(label, datetime.date) and not isinstance(label, datetime.datetime):
        return encoding.integer(label.toordinal() - _EPOCH, encoding.DATE)
    if isinstance(label, decimal.Decimal) and _is_whole(label):
        return encoding.integer(int(label))
    if _is_tuple(label):
        return encoding.fields(*(_encoded(part, row) for part in label))
    if _package(label) == "pyarrow" and hasattr(type(label), "as_py"):
        return _encoded(label.as_py(), row)
    refuse_lazy(label, "labels")
    hint = "; engines disagree about it: pass text" if isinstance(label, (float, datetime.datetime, decimal.Decimal)) else ""
    raise ParameterTypeError(f"{_RULE}, got a value of type {kind.__name__}{place((row,))}{hint}")


def _is_tuple(label: object) -> bool:
    """Return whether this is a tuple of labels. (An interval of Arrow is a tuple of numbers.)"""
    return isinstance(label, tuple) and type(label).__name__ != "MonthDayNano"


def _package(label: object) -> str:
    return type(label).__module__.partition(".")[0]


def _is_missing(label: object) -> bool:
    """Return whether this is NA or NaT of pandas."""
    return type(label).__name__ in ("NAType", "NaTType") and _package(label) == "pandas"


def _is_whole(label: decimal.Decimal) -> bool:
    """Return whether a decimal has no digit after the point; engines differ about 5 and 5.0."""
    exponent = label.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= 0


def _text(label: str, row: int) -> bytes:
    try:
        return encoding.text(label)
    except UnicodeEncodeError:
        pass
    # Raised outside the handler, because the handled error contains the label.
    raise ParameterError(f"labels must be text that UTF-8 can hold, got a string with a lone surrogate{place((row,))}")
