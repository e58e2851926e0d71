"""The same numbers in other forms: dtypes, byte orders, strides, subclasses, containers of Python and of other libraries."""

import array
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from tests.property.hostile.pool import Jealous, Liar, OwnArray

Plain = np.ndarray[Any, np.dtype[np.float64]]


class Foreign:
    """Another library's array."""

    def __init__(self, numbers: Plain) -> None:
        self._numbers = numbers

    def __array__(self, dtype: Any = None, copy: Any = None) -> Plain:
        return np.array(self._numbers, dtype)


def _cast(code: str) -> Callable[[Plain], Any]:
    return lambda a: a.astype(code)


def _viewed(kind: type) -> Callable[[Plain], Any]:
    return lambda a: a.copy().view(kind)


def _unaligned(a: Plain) -> Plain:
    memory = np.zeros(a.nbytes + 1, np.uint8)
    result = memory[1:].view(np.float64).reshape(a.shape)
    result[...] = a
    return result


def _record(a: Plain) -> Plain:
    records = np.zeros(a.shape, [("tag", "u1"), ("x", ">f8")])
    records["x"] = a
    return records["x"]


def _gappy(a: Plain) -> Plain:
    wide = np.full(tuple(3 * n for n in a.shape), np.nan)
    result = wide[(..., *(slice(1, None, 3),) * a.ndim)]
    result[...] = a
    return result


def _backwards(a: Plain) -> Plain:
    flipped = (slice(None, None, -1),) * a.ndim
    return a[(..., *flipped)].copy()[(..., *flipped)]


def _repeated(a: Plain) -> Plain:
    """Give the last leading axis stride 0 if its rows are equal."""
    return np.broadcast_to(a[:1], a.shape) if a.ndim and a.shape[0] and (a == a[:1]).all() else a


def _read_only(a: Plain) -> Plain:
    result = a.copy()
    result.flags.writeable = False
    return result


def _nested(make: Callable[[Any], Any], item: Callable[[float], Any] = float) -> Callable[[Plain], Any]:
    def convert(part: Any) -> Any:
        return make(map(convert, part)) if isinstance(part, list) else item(part)

    return lambda a: convert(a.tolist())


ANY_SHAPE: dict[str, Callable[[Plain], Any]] = {
    "float32": _cast("f4"),
    "float32 swapped": _cast(">f4"),
    "float16": _cast("f2"),
    "long double": _cast("g"),
    "swapped": _cast(">f8"),
    "Fortran": lambda a: a.copy("F"),
    "transposed twice": lambda a: a.T.copy().T,
    "gappy": _gappy,
    "backwards": _backwards,
    "repeated": _repeated,
    "unaligned": _unaligned,
    "records": _record,
    "read-only": _read_only,
    "subclass": _viewed(OwnArray),
    "jealous": _viewed(Jealous),
    "lying": _viewed(Liar),
    "foreign": Foreign,
}
# Empty lists have no shape.
NESTED = {
    "list": _nested(list),
    "tuple": _nested(tuple),
    "Fractions": _nested(list, Fraction),
    "Decimals": _nested(tuple, Decimal),
    "NumPy scalars": _nested(list, np.float32),
}
WHOLE = {"int64": _cast("i8"), "int32 swapped": _cast(">i4"), "int8": _cast("i1"), "Python integers": _nested(list, int)}
ONE_AXIS = {"Series": pd.Series, "array.array": lambda a: array.array("d", a.tolist()), "memoryview": memoryview}
TWO_AXES = {"matrix": _viewed(np.matrix), "DataFrame": pd.DataFrame}


def dressings(a: Plain) -> dict[str, Callable[[Plain], Any]]:
    """Return every form that can hold an array of small multiples of 1/8."""
    if not a.size:
        return ANY_SHAPE
    whole = WHOLE if (a == np.floor(a)).all() else {}
    return ANY_SHAPE | NESTED | whole | {1: ONE_AXIS, 2: TWO_AXES}.get(a.ndim, {})
