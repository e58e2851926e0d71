"""How a file is read: public facts, which do not depend on its rows."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stairnoise._errors import ParameterError, ParameterTypeError, check, meant, outline, received
from stairnoise._parameters import flag, mapping

# In these every byte is one character, so an invalid byte concerns only its own line. UTF-8 is checked separately.
_ENCODINGS = re.compile(r"utf-8|ascii|iso8859-\d+|cp125\d|koi8-[ru]|mac-roman")
# A line ends with the first two. A line with one of the others is not a record (`sources/csv_file`).
_NEVER = "\n\r\0\x01"

TypeName = Literal["text", "integer", "real", "boolean", "date", "timestamp"]
TYPES = ("text", "integer", "real", "boolean", "date", "timestamp")
_ISO = "%Y-%m-%d"
# DuckDB's directives for parts of a date, each with one meaning.
_DIRECTIVES = frozenset("%aAbBdHIjmMpSyYf")


@dataclass(frozen=True, slots=True)
class Declared:
    """The type that a caller declares for a column: its name, and the format of dates."""

    name: TypeName
    format: str | None = None

    def __str__(self) -> str:
        return self.name if self.format in (None, _ISO) else f"{self.name}:{self.format}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CSV:
    """How the lines of a CSV file become values. None of this depends on the rows.

    A line is a row: a line break ends it, even between quotes. A line is left out if it does not have as many fields as the
    header, has an unclosed quote or invalid bytes, or is 1 MiB or longer.

    Parameters
    ----------
    delimiter : str or None, default None
        The character between fields. None: whichever of comma, semicolon, tab and bar the header has most often.
    quote : str or None, default '"'
        The character around fields that hold the delimiter. None: no field is quoted.
    escape : str, default '"'
        The character before a quote within quotes.
    encoding : str, default "utf-8"
        ``"utf-8"``, or an encoding with one byte for each character, such as ``"latin-1"`` or ``"cp1252"``.
    decimal : {".", ","}
        The decimal mark of real numbers.
    nulls : sequence of str, default ("",)
        Unquoted texts that mean null.
    strip : bool, default True
        Whether blanks around names and values are removed; blanks within quotes stay.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed, or two of them are the same character.

    Examples
    --------
    >>> from stairnoise import query
    >>> query.CSV(delimiter=";", decimal=",", nulls=("", "NA"))
    CSV(delimiter=';', quote='"', escape='"', encoding='utf-8', decimal=',', nulls=('', 'NA'), strip=True)
    """

    __module__ = "stairnoise.query"

    delimiter: str | None = None
    quote: str | None = '"'
    escape: str = '"'
    encoding: str = "utf-8"
    decimal: str = "."
    nulls: Sequence[str] = ("",)
    strip: bool = True

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "escape"):
            _require_character(getattr(self, name), name, optional=name != "escape")
        if self.delimiter is not None and self.delimiter in (self.quote, self.escape):
            raise ParameterError(f"delimiter must differ from quote and escape, got {received(self.delimiter)}")
        check(self.decimal in (".", ","), "decimal must be '.' or ','", self.decimal)
        object.__setattr__(self, "encoding", _encoding(self.encoding))
        object.__setattr__(self, "nulls", _nulls(self.nulls, self.quote))
        object.__setattr__(self, "strip", flag(self.strip, "strip"))


def _require_character(value: object, name: str, *, optional: bool) -> None:
    if optional and value is None:
        return
    if not isinstance(value, str):
        raise ParameterTypeError(f"{name} must be one character, got {received(value)}")
    if len(value) != 1 or value in _NEVER or value == " ":
        raise ParameterError(f"{name} must be one character other than a blank or a line break, got {received(value)}")


def _encoding(name: object) -> str:
    if not isinstance(name, str):
        raise ParameterTypeError(f"encoding must be the name of an encoding, got {received(name)}")
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        found = ""
    if not _ENCODINGS.fullmatch(found):
        raise ParameterError(f"encoding must be 'utf-8', or have one byte a character as 'latin-1', got {received(name)}")
    return found


def _nulls(texts: object, quote: str | None) -> tuple[str, ...]:
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise ParameterTypeError(f"nulls must be a list of texts, got {outline(texts)}")
    for text in texts:
        if not isinstance(text, str):
            raise ParameterTypeError(f"nulls must be texts, got {received(text)}")
        check(quote is None or not text.startswith(quote), "nulls must be texts without quotes", text)
    return tuple(dict.fromkeys(texts))


@dataclass(frozen=True, slots=True)
class Reading:
    """What the caller declares about a file: types of columns, and the format of CSV."""

    types: Mapping[str, Declared] = field(default_factory=dict)
    csv: CSV | None = None


def reading(types: object, csv: object) -> Reading:
    """Check what the caller declares about a file, as far as that is possible without the file."""
    if csv is not None and not isinstance(csv, CSV):
        raise ParameterTypeError(f"csv must be a query.CSV or None, got {received(csv)}")
    found = mapping(types, "types", "names of columns to types", of_columns=True)
    return Reading({name: declared(name, type_) for name, type_ in found.items()}, csv)


def declared(name: str, value: object) -> Declared:
    """Return the type that a text such as "date" or "date:%d.%m.%Y" declares for a column."""
    if not isinstance(value, str):
        raise ParameterTypeError(f"types of {name!r} must be a text, got {received(value)}")
    kind, colon, form = value.partition(":")
    if kind not in TYPES or (colon and kind != "date"):
        listed = f"{', '.join(map(repr, TYPES))} or such as 'date:%d.%m.%Y'"
        raise ParameterError(f"types of {name!r} must be {listed}, got {received(value)}{meant(kind, TYPES)}")
    if kind != "date":
        return Declared(kind)  # type: ignore[arg-type]
    return Declared("date", _format(name, form) if colon else _ISO)


def _format(name: str, form: str) -> str:
    """Check the format of dates: it must have a year, and a day of the year."""
    used = re.findall(r"%(-?.?)", form)
    letters = {directive.lstrip("-") for directive in used}
    day = "j" in letters or ("d" in letters and letters & {"m", "b", "B"})
    if not (day and letters & {"y", "Y"}) or not letters <= _DIRECTIVES or not form.isprintable():
        raise ParameterError(
            f"types of {name!r} must be a date with a year, month and day, such as 'date:%d.%m.%Y', got 'date:{form}'"
        )
    return form
