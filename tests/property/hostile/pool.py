"""Hostile values that a caller could pass for a number, an array, a size, a dtype, a name or a generator.

Every entry makes a new value, so no call sees another call's changes.
"""

import array
import ctypes
import datetime
import enum
import numbers
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

import stairnoise as sn

Pool = dict[str, Callable[[], Any]]

# No machine has this much memory, because its address space is smaller.
BEYOND_MEMORY = 2**50

# NumPy 1 has at most 32 dimensions, and some functions add one.
_MANY = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 31
_MAX = np.finfo(np.float64).max
_TINY = np.finfo(np.float64).tiny


class Whole(enum.IntEnum):
    """An integer that prints as something else."""

    THREE = 3


class OwnFloat(float):
    """A float of a subclass."""


class OwnArray(np.ndarray):
    """A subclass that changes what NumPy's functions return."""

    def __array_finalize__(self, parent):
        self.note = getattr(parent, "note", "new")

    def __array_wrap__(self, result, context=None, return_scalar=False):
        return np.ndarray.__array_wrap__(self, result, context, return_scalar)


class Jealous(np.ndarray):
    """A subclass that refuses every ufunc."""

    __array_ufunc__ = None


class Liar(np.ndarray):
    """A subclass whose ufuncs return wrong results."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "no"


class Number(numbers.Number):
    """A number that no function converts."""


class Raises:
    """An object that raises at every access, even for its text."""

    def _refuse(self, *_, **__):
        raise RuntimeError("never")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __bool__ = __eq__ = __array__ = __repr__ = __str__ = _refuse
    __hash__ = _refuse


class Endless:
    """A sequence that claims a wrong length."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return 1.0 if index < 2 else self.missing


class ArrayLike:
    """An array of another library."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0, 3.0], dtype)


class NoArray(ArrayLike):
    """An object whose `__array__` returns no array."""

    def __array__(self, dtype=None, copy=None):
        return "no"


def _circular():
    items: list[Any] = [1.0]
    items.append(items)
    return items


def _deep(levels):
    items: Any = 1.0
    for _ in range(levels):
        items = [items]
    return items


def _unaligned():
    return np.frombuffer(b"\0" * 25, np.uint8)[1:].view(np.float64)


def _read_only():
    values = np.array([1.0, 2.0, 3.0])
    values.flags.writeable = False
    return values


def _records():
    return np.zeros(3, np.dtype([("a", "u1"), ("x", "f8")]))["x"]


def _constant(value):
    return lambda: value


def _of(make, *arguments, **options):
    return lambda: make(*arguments, **options)


FLOATS: Pool = {
    repr(x): _constant(x)
    for x in [
        *(0.0, -0.0, 5e-324, -5e-324, _TINY, 1e-300, 2.0**-128, 2.0**-41, 2.0**-40, 1e-9, 0.1, 0.5, 0.95),
        *(1.0, np.nextafter(1.0, 2.0).item(), -1.0, 1.5, 3.0, 64.0, 700.0, 1e4, 1e6, 2.0**31, 2.0**53, 2.0**63, 1e300),
        *(_MAX, -_MAX, float("inf"), float("-inf"), float("nan")),
    ]
}

INTEGERS: Pool = {
    text: _constant(n)
    for text, n in {
        **{str(n): n for n in [0, 1, -1, 2, 3, 7, 64, 4096, 2**20, 2**31, 2**32, 2**53 + 1, -(2**63), 2**63 - 1, 2**63]},
        "2**64": 2**64,
        "2**128": 2**128,
        "2**1024": 2**1024,
        "-2**1024": -(2**1024),
        "10**5000": 10**5000,
        "True": True,
        "False": False,
        "IntEnum": Whole.THREE,
    }.items()
}

OTHER_NUMBERS: Pool = {
    "own float": _of(OwnFloat, 1.5),
    "Decimal": _of(Decimal, "1.5"),
    "Decimal tenth": _of(Decimal, "0.1"),
    "Decimal huge": _of(Decimal, "1e999999"),
    "Decimal tiny": _of(Decimal, "1e-999999"),
    "Decimal NaN": _of(Decimal, "NaN"),
    "Decimal sNaN": _of(Decimal, "sNaN"),
    "Decimal -inf": _of(Decimal, "-inf"),
    "Fraction": _of(Fraction, 3, 2),
    "Fraction third": _of(Fraction, 1, 3),
    "Fraction huge": _of(Fraction, 10**5000, 3),
    "Fraction tiny": _of(Fraction, 1, 10**5000),
    "complex": _constant(1.5 + 0j),
    "number of nothing": Number,
    **{f"{code}(1)": _of(np.dtype(code).type, 1) for code in "?bBhHiIlLqQefdgFDG"},
    **{f"{code}(nan)": _of(np.dtype(code).type, "nan") for code in "efdg"},
    "longdouble 1e4000": _of(np.longdouble, "1e4000"),
    "longdouble third": lambda: np.longdouble(1) / 3,
    "uint64 2**64-1": _of(np.uint64, 2**64 - 1),
    "timedelta64": _of(np.timedelta64, 3, "s"),
    "datetime64": _of(np.datetime64, "2020-01-01"),
    "timedelta": _of(datetime.timedelta, 1),
    "c_double": _of(ctypes.c_double, 1.5),
}

JUNK: Pool = {
    "None": _constant(None),
    **{repr(text): _constant(text) for text in ["", "l1", "l2", "linf", "1.5", "nan", "all", "staircase", "f8", "\0", "é" * 200]},
    "surrogate": _constant("\ud800"),
    "bytes": _constant(b"1.5"),
    "32 bytes": _constant(bytes(32)),
    "bytearray": _of(bytearray, 32),
    "memoryview": lambda: memoryview(np.zeros((2, 3))),
    "str_": _of(np.str_, "l1"),
    "object": object,
    "type": _constant(int),
    "function": _constant(len),
    "Ellipsis": _constant(...),
    "slice": _of(slice, 3),
    "dict": lambda: {"a": 1},
    "set": lambda: {1.5},
    "generator": lambda: (x for x in [1.0, 2.0]),
    "range": _of(range, 3),
    "raises": Raises,
    "endless": Endless,
    "foreign array": ArrayLike,
    "no array": NoArray,
    "NumPy generator": lambda: np.random.default_rng(1),
    "seeded generator": _of(sn.SeededRng, 1),
    "a mechanism": _of(sn.Laplace, 1.0),
    "exception": _of(ValueError, "x"),
}

NESTED: Pool = {
    "[]": list,
    "()": tuple,
    "[[]]": lambda: [[]],
    "[1, 2, 3]": lambda: [1, 2, 3],
    "(1.5, 2)": lambda: (1.5, 2),
    "(2, 3)": lambda: (2, 3),
    "(2, -3)": lambda: (2, -3),
    "(2, 3.0)": lambda: (2, 3.0),
    "(True,)": lambda: (True,),
    "(None,)": lambda: (None,),
    "[[1], [2, 3]]": lambda: [[1], [2, 3]],
    "[True, 2.5]": lambda: [True, 2.5],
    "[1, 'x']": lambda: [1, "x"],
    "['l1']": lambda: ["l1"],
    "[[]] in names": lambda: ["Laplace", []],
    "[nan]": lambda: [1.0, float("nan")],
    "[2**53+1, .5]": lambda: [2**53 + 1, 0.5],
    "[2**70]": lambda: [2**70],
    "[10**5000]": lambda: [10**5000, 1.5],
    "[Decimal, Fraction]": lambda: [Decimal("0.5"), Fraction(1, 4)],
    "[masked]": lambda: [1.0, np.ma.masked],
    "[masked array]": lambda: [np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])],
    "[arrays]": lambda: [np.array([1.0, 2.0, 3.0]), np.array([1, 2, 3], np.int8)],
    "circular": _circular,
    "40 deep": _of(_deep, 40),
    "100 deep": _of(_deep, 100),
}

DTYPES: Pool = {
    f"dtype {text}": _of(np.dtype, text)
    for text in ["f8", ">f8", "f4", "f2", "i8", ">i8", "i4", "?", "O", "S3", "M8[s]", "(2,)f8"]
} | {
    "dtype with metadata": lambda: np.dtype("f8", metadata={"a": 1}),
    "float32": _constant(np.float32),
    "broken dtype": _constant("f8,("),
    "dtype dict": lambda: {"names": ["a"], "formats": ["f8"]},
    "strange dtype dict": lambda: {1: 2, 3: 4},
}

ARRAYS: Pool = {
    **{f"{code} 0-d": _of(np.ones, (), code) for code in ["f8", ">f8", "f4", "g", "i8", "u8", "?", "c16", "O", "m8[s]", "U1"]},
    **{
        f"{code} array": _of(np.ones, 3, code)
        for code in [
            "f8",
            ">f8",
            "f4",
            ">f4",
            "f2",
            "g",
            "i8",
            ">i8",
            "i4",
            "i1",
            "u8",
            "?",
            "c16",
            "O",
            "S1",
            "U1",
            "m8[s]",
            "V3",
        ]
    },
    **{f"zeros {shape}": _of(np.zeros, shape) for shape in [(0,), (1,), (0, 3), (3, 0), (2, 3), (1, 1, 1), (2, 1, 0)]},
    "records": lambda: np.zeros(2, [("a", "f8")]),
    "many dimensions": lambda: np.ones((1,) * _MANY),
    "nan array": lambda: np.array([1.0, np.nan, 2.0]),
    "inf array": lambda: np.array([1.0, np.inf, 2.0]),
    "extreme array": lambda: np.array([_MAX, -_MAX, 5e-324]),
    "object nan": lambda: np.array([1.5, float("nan"), None], object),
    "object ints": lambda: np.array([1, 2**70, 3], object),
    "uint64 large": lambda: np.array([1, 2**64 - 1, 3], np.uint64),
    "longdouble large": lambda: np.array(["1e4000", "1", "2"], np.longdouble),
    "read-only": _read_only,
    "unaligned": _unaligned,
    "field of records": _records,
    "reversed": lambda: np.arange(1.0, 4.0)[::-1],
    "strided": lambda: np.arange(1.0, 7.0)[::2],
    "Fortran": lambda: np.asfortranarray(np.arange(1.0, 7.0).reshape(2, 3)),
    "broadcast": lambda: np.broadcast_to(1.5, (2, 3)),
    "overlapping": lambda: np.lib.stride_tricks.as_strided(np.arange(1.0, 5.0), (2, 3), (8, 8)),
    "beyond memory": lambda: np.broadcast_to(1.5, BEYOND_MEMORY),
    "beyond memory, int": lambda: np.broadcast_to(np.int64(3), (BEYOND_MEMORY, 3)),
    "masked": lambda: np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    "matrix": lambda: np.arange(1.0, 4.0).reshape(1, 3).view(np.matrix),
    "own subclass": lambda: np.arange(1.0, 4.0).view(OwnArray),
    "jealous subclass": lambda: np.arange(1.0, 4.0).view(Jealous),
    "lying subclass": lambda: np.arange(1.0, 4.0).view(Liar),
    "array.array": lambda: array.array("d", [1.0, 2.0, 3.0]),
    "ctypes array": lambda: (ctypes.c_double * 3)(1, 2, 3),
    "Series": lambda: pd.Series([1.0, 2.0, 3.0], index=[2, 1, 0]),
    "Series Int64 NA": lambda: pd.Series([1, None, 3], dtype="Int64"),
    "Series bool": lambda: pd.Series([True, False, True]),
    "Series text": lambda: pd.Series(["a", "b", "c"]),
    "Series category": lambda: pd.Series([1, 2, 3], dtype="category"),
    "Series dates": lambda: pd.Series(pd.to_datetime(["2020-01-01"] * 3)),
    "DataFrame": lambda: pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}),
    "Index": lambda: pd.RangeIndex(3),
    "NA": _constant(pd.NA),
    "NaT": _constant(pd.NaT),
}

POOL: Pool = {**FLOATS, **INTEGERS, **OTHER_NUMBERS, **JUNK, **NESTED, **DTYPES, **ARRAYS}
