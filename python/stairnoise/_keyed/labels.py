"""The gate for labels: columns of any library become one encoding for every label.

Libraries are recognised by the name of a type's module, so that none is imported here. Nothing lazy is executed.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stairnoise._errors import ParameterError, ParameterTypeError, dtype_name, place
from stairnoise._keyed import encoding
from stairnoise._memory import base_view, is_array
from stairnoise._output import Shape
from stairnoise._parameters import refuse_masked

_RULE = "labels must be strings, integers, bools, dates, bytes, None or tuples of them"
_EPOCH = datetime.date(1970, 1, 1).toordinal()


def encoded_labels(labels: object, shape: Shape) -> list[bytes]:
    """Return the field of every label; `shape` is () for a single value, which has a single label."""
    if shape == () and not _is_column(labels):
        return [_encoded(labels, (), nan_is_null=False)]
    items, nan_is_null = _items(labels)
    wanted = shape or (1,)
    if len(items) != wanted[0]:
        raise ParameterError(f"labels must be as many as the values, {wanted[0]}, got {len(items)}")
    return [_encoded(label, (row,), nan_is_null=nan_is_null) for row, label in enumerate(items)]


def _is_column(labels: object) -> bool:
    return isinstance(labels, list) or is_array(labels) or _library(labels) in ("pandas", "polars", "pyarrow")


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _items(labels: Any) -> tuple[Sequence[Any], bool]:
    """Return the labels one by one, and tell whether a NaN among them stands for a missing one."""
    if is_array(labels):
        refuse_masked(labels, "labels")
        return _of_array(base_view(labels)), False
    library = _library(labels)
    kind = type(labels).__name__
    if library == "pandas" and hasattr(labels, "dtype") or kind == "MultiIndex":
        return labels.tolist(), True
    if kind == "DataFrame" and library in ("pandas", "polars"):
        return _zipped([labels[name] for name in labels.columns])
    if library == "polars" and kind == "Series":
        return labels.to_list(), False
    if library == "pyarrow" and kind in ("Table", "RecordBatch"):
        return _zipped(labels.columns)
    if library == "pyarrow" and hasattr(labels, "to_pylist"):
        return labels.to_pylist(), False
    if isinstance(labels, (list, tuple)) and labels and all(map(_is_column, labels)):
        return _zipped(labels)
    if isinstance(labels, Sequence) and not isinstance(labels, (str, bytes, bytearray, memoryview)):
        return labels, False
    raise ParameterTypeError(
        f"labels must be a sequence, an array, a column or several columns, got a value of type {type(labels).__name__}"
    )


def _zipped(columns: Any) -> tuple[Sequence[Any], bool]:
    """Return tuples of several columns' labels."""
    lists = []
    for column in columns:
        items, nan_is_null = _items(column)
        lists.append([None if nan_is_null and _is_nan(item) else item for item in items])
    if len(set(map(len, lists))) > 1:
        raise ParameterError(f"labels must be columns of one length, got lengths {', '.join(str(len(items)) for items in lists)}")
    return list(zip(*lists, strict=True)), False


def _of_array(array: np.ndarray[Any, Any]) -> Sequence[Any]:
    if array.ndim != 1:
        raise ParameterError(f"labels must have one dimension, got an array of shape {array.shape}")
    if array.dtype.kind == "M" and np.datetime_data(array.dtype) == ("D", 1):
        return [
            None if missing else _Day(day) for missing, day in zip(np.isnat(array), array.view(np.int64).tolist(), strict=True)
        ]
    if array.dtype.kind not in "biuSUOT":
        raise ParameterTypeError(f"{_RULE}, got an array of dtype {dtype_name(array.dtype)}")
    items: list[Any] = array.tolist()
    return items


class _Day(int):
    """Days from 1970-01-01, in an array of dates, which may lie outside the years of Python's dates."""


def _is_nan(label: object) -> bool:
    return isinstance(label, float) and math.isnan(label)


def _encoded(label: Any, index: tuple[int, ...], *, nan_is_null: bool) -> bytes:
    """Return the field of a label, or refuse it by its type and place."""
    kind = type(label)
    if kind.__module__ == "numpy" and isinstance(label, np.generic):
        if isinstance(label, np.datetime64):
            return _encoded(_of_array(np.array([label]))[0], index, nan_is_null=False)
        label = label.item()
    if isinstance(label, str):
        return _text(label, index)
    if label is None or _is_missing(label) or (nan_is_null and _is_nan(label)):
        return encoding.field(encoding.NONE, b"")
    if isinstance(label, bool):
        return encoding.field(encoding.BOOL, bytes([label]))
    if isinstance(label, int):
        return encoding.integer(int(label), encoding.DATE if kind is _Day else encoding.INTEGER)
    if isinstance(label, (bytes, bytearray, memoryview)):
        return encoding.field(encoding.BYTES, bytes(label))
    if isinstance(label, datetime.date) and not isinstance(label, datetime.datetime):
        return encoding.integer(label.toordinal() - _EPOCH, encoding.DATE)
    if isinstance(label, decimal.Decimal) and label.is_finite() and label.as_tuple().exponent >= 0:  # type: ignore[operator]
        return encoding.integer(int(label))
    if isinstance(label, tuple):
        return encoding.fields(*(_encoded(part, index, nan_is_null=nan_is_null) for part in label))
    if hasattr(label, "as_py") and _library(label) == "pyarrow":
        return _encoded(label.as_py(), index, nan_is_null=False)
    hint = (
        "; engines disagree about floats and times, so pass them as text" if isinstance(label, (float, datetime.datetime)) else ""
    )
    raise ParameterTypeError(f"{_RULE}, got a value of type {kind.__name__}{place(index)}{hint}")


def _is_missing(label: object) -> bool:
    """Tell whether it is one of pandas' own marks."""
    return type(label).__name__ in ("NAType", "NaTType") and _library(label) == "pandas"


def _text(label: str, index: tuple[int, ...]) -> bytes:
    try:
        return encoding.text(label)
    except UnicodeEncodeError:
        pass
    # Outside the handler, whose error has the label in it.
    raise ParameterError(f"labels must be text that UTF-8 can hold, got a string with a lone surrogate{place(index)}")
