"""Cells and numbers as text, for files and for screens."""

from __future__ import annotations

import datetime
import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

_DIGITS_OF_A_BOUND = 3
_MOST_DECIMALS = 15


def text(value: object) -> str:
    """Return the text of a cell; None is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def csv_field(value: object) -> str:
    """Return a field of CSV; an empty text is quoted, so that it is not None."""
    written = text(value)
    if isinstance(value, str) and (not written or written != written.strip() or any(mark in written for mark in ',"\r\n#')):
        return '"' + written.replace('"', '""') + '"'
    return written


def decimals(bound: float) -> int:
    """Return how many decimals show three digits of a bound; integers have none."""
    if isinstance(bound, int) or not 0 < bound < math.inf:
        return 0
    return min(max(0, _DIGITS_OF_A_BOUND - 1 - math.floor(math.log10(bound))), _MOST_DECIMALS)


def number(value: float, places: int, *, of: str = "") -> str:
    """Write a number with some decimals; a bound is rounded up, and the ends of an interval outwards."""
    if isinstance(value, bool):
        return text(value)
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return "–"
    rounding = {"error_bound": ROUND_CEILING, "high": ROUND_CEILING, "low": ROUND_FLOOR}.get(of, ROUND_HALF_EVEN)
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-places), rounding)
    return str(rounded if rounded else abs(rounded))  # no minus sign before a zero
