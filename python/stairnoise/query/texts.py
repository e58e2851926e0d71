"""Values and numbers as text, for files and for screens."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from stairnoise._digits import decimals, fixed


def text(value: object) -> str:
    """Return the text of a value; None is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def csv_field(value: object) -> str:
    """Return a field of CSV; an empty text is quoted, so that it differs from None."""
    written = text(value)
    if isinstance(value, str) and (not written or written != written.strip() or any(mark in written for mark in ',"\r\n#')):
        return '"' + written.replace('"', '""') + '"'
    return written


def places(row: Iterable[object]) -> int:
    """Return how many decimals show every digit of the numbers of a row."""
    return decimals(*(value for value in row if isinstance(value, float)))


def number(value: float, places: int) -> str:
    """Write a number with some decimals; integers have none."""
    return text(value) if isinstance(value, int) else fixed(value, places)
