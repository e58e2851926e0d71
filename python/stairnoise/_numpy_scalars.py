"""NumPy scalars as Python values."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

# NumPy's numbers that `item` makes an equal Python int or float.
NUMBERS = frozenset(np.dtype(code).type for code in "bhilqBHILQefd")


def python_value(value: Any) -> Any:
    """Return the Python value of a NumPy number, bool, text, bytes or date; return everything else unchanged.

    For other scalars `item` would return an integer of nanoseconds, or a tuple.
    """
    if not isinstance(value, np.generic) or type(value).__module__ != "numpy":
        return value
    if value.dtype.kind in "biufcSU":
        return value.item()
    if value.dtype.kind == "M" and np.datetime_data(value.dtype) == ("D", 1):
        day = value.item()
        return day if isinstance(day, datetime.date) else value
    return value
