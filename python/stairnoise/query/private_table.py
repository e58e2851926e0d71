"""The private table: its rows, the notes about it, its conversion to other formats, and its files.

A file appears complete or not at all, and replaces another one only on request.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import secrets
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from stairnoise._errors import ParameterError, check
from stairnoise._optional import require
from stairnoise._plain import aligned, plain
from stairnoise.figures import table as picture
from stairnoise.query.types import Type, csv_field, number, places, text, to_arrow, to_pandas, to_polars


class NewFiles:
    """Files to write. The constructor checks that they can be written; `write` makes them appear complete or not at all."""

    def __init__(self, *paths: Path, overwrite: bool) -> None:
        self._paths, self._overwrite = paths, overwrite
        for path in paths:
            self._require_free(path)
        # Fails now if nothing can be written there.
        _remove(_temporary(paths[-1], b""))

    def _require_free(self, path: Path) -> None:
        if path.is_dir() or (path.exists() and not path.is_file()):
            raise ParameterError(f"output must be a file, got {str(path)!r}, which is something else")
        check(self._overwrite or not os.path.lexists(path), f"{path} exists; pass --force or overwrite=True to overwrite it")

    def write(self, *contents: bytes) -> None:
        """Write the files, in their order."""
        parts: list[Path] = []
        with contextlib.ExitStack() as temporary, contextlib.ExitStack() as made:
            for path, content in zip(self._paths, contents, strict=True):
                parts.append(_temporary(path, content))
                temporary.callback(_remove, parts[-1])
            for path, part in zip(self._paths, parts, strict=True):
                self._place(part, path)
                if not self._overwrite:
                    made.callback(_remove, path)
            made.pop_all()

    def _place(self, part: Path, path: Path) -> None:
        """Give a finished file its name."""
        if self._overwrite:
            part.replace(path)
            return
        try:
            path.hardlink_to(part)
        except FileExistsError:
            self._require_free(path)
            raise
        except OSError:
            # A file system without links: another process could still write between this check and the replacement.
            self._require_free(path)
            part.replace(path)


class Output:
    """A file for a private table, which was checked before anything is asked or spent."""

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        self._suffix = path.suffix.lower()
        check(self._suffix in _CONTENTS, f"output must be a file named *.csv, *.parquet or *.json, got {str(path)!r}")
        self.path = path
        # The file with the notes about the rows, if the format has no place for them.
        self.notes = path.with_name(path.name + ".json") if self._suffix == ".csv" else None
        if self._suffix == ".parquet":
            require("pyarrow", "Parquet files need", "pyarrow")
        self._new = NewFiles(*self.files(), overwrite=overwrite)

    def files(self) -> list[Path]:
        """Return the files to write. The notes come first, so that no table appears without them."""
        return [*([self.notes] if self.notes else []), self.path]

    def write(self, table: Any) -> None:
        """Write the table."""
        contents: list[bytes] = [_CONTENTS[self._suffix](table)]
        if self.notes:
            about = table.about | {"file": self.path.name, "sha256": hashlib.sha256(*contents).hexdigest()}
            contents.insert(0, (json.dumps(about, ensure_ascii=False, indent=2) + "\n").encode())
        self._new.write(*contents)


def _parquet(table: Any) -> Any:
    sink = require("pyarrow", "Parquet files need", "pyarrow").BufferOutputStream()
    require("pyarrow.parquet", "Parquet files need", "pyarrow").write_table(table.to_arrow(), sink)
    return sink.getvalue().to_pybytes()


_CONTENTS: dict[str, Callable[[Any], Any]] = {
    ".csv": lambda table: table.to_csv().encode(),
    ".parquet": _parquet,
    ".json": lambda table: table.to_json().encode(),
}


def _temporary(path: Path, content: bytes) -> Path:
    """Write a file beside its final place, where it will be renamed."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        _remove(part)
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        _remove(part)
        raise
    return part


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = tuple[Any, ...]

_WIDTH = 80
_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True, repr=False)
class PrivateTable(Sequence[Row]):
    """A table that can be published: one row for each group, and notes about all of them.

    The functions of ``stairnoise.query`` return it. It holds released numbers only, and is immutable. It is a sequence of tuples:
    the groups, the private value, and the bound of its error, which quantiles have in the notes.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns: those of `by`, the statistic, "error_bound", and for means "low", "high" and "may_be_empty". A
        name that is also in `by` gets the prefix ``"private_"``.
    eps, delta : float
        The whole table is (ε, δ)-differentially private for one person; `about` says what counts as one.

    Examples
    --------
    >>> import sqlite3
    >>> from stairnoise import query
    >>> con = sqlite3.connect(":memory:")
    >>> _ = con.execute("create table visits (city text)")
    >>> _ = con.executemany("insert into visits values (?)",
    ...                     [("Paris",)] * 120 + [("Rome",)] * 45)
    >>> table = query.count(con, "visits", by="city",
    ...                     groups=["Paris", "Rome", "Oslo"], row_is_person=True, eps=1)
    >>> table.columns
    ('city', 'count', 'error_bound')
    >>> [row[0] for row in table]
    ['Paris', 'Rome', 'Oslo']
    """

    __module__ = "stairnoise.query"

    columns: tuple[str, ...]
    _rows: tuple[Row, ...]
    eps: float
    delta: float
    _about: dict[str, Any] = field(hash=False)
    _types: tuple[Type, ...] = field(hash=False)

    @property
    def about(self) -> dict[str, Any]:
        """The notes, as values that JSON can hold: question, mechanisms, budget, guarantee, and how to check the bounds."""
        return copy.deepcopy(self._about)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the printed table."""
        roles = {name: role for one in self._about["statistics"] for role, name in one["columns"].items()}
        short = {"error_bound": "±", "low": "low", "high": "high"}
        return tuple(short.get(roles.get(name, ""), plain(name)) for name in self.columns)

    def texts(self) -> list[tuple[str, ...]]:
        """Return the fields of the printed table, row by row."""
        return [self._texts(row) for row in self]

    def _texts(self, row: Row) -> tuple[str, ...]:
        labels, numbers = row[: self._groups], row[self._groups :]
        return (
            *("NULL" if label is None else plain(text(label)) for label in labels),
            *(number(value, self.places(row, name)) for value, name in zip(numbers, self.columns[self._groups :], strict=True)),
        )

    def places(self, row: Row, column: str) -> int:
        """Return how many decimals show every digit of a row's numbers of one statistic."""
        names, one = next((names, one) for one in self._about["statistics"] if column in (names := one["columns"].values()))
        numbers = [value for value, name in zip(row, self.columns, strict=True) if name in names]
        # Of a quantile all candidates have the same decimals.
        return places([*numbers, *([one["step"], one["bounds"][0]] if "step" in one else [])])

    @property
    def _groups(self) -> int:
        """How many columns name the group."""
        return len(self._about["by"])

    def __repr__(self) -> str:
        rows = [self._texts(row) for row in self[:_MOST_SHOWN]]
        rest = [f"... and {len(self) - _MOST_SHOWN} more rows"] if len(self) > _MOST_SHOWN else []
        said = [textwrap.fill(sentence, _WIDTH) for sentence in self._said()]
        return "\n\n".join([aligned([self.headings, *rows], left=self._groups), *rest, *said])

    def _said(self) -> tuple[str, str]:
        return self._about["protected"], self._about["error_bound"].replace("error_bound", "±")

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in self.headings)
        body = "".join(f"<tr>{self._html_of(row)}</tr>" for row in self[:_MOST_SHOWN])
        rest = [f"... and {len(self) - _MOST_SHOWN} more rows"] if len(self) > _MOST_SHOWN else []
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in (*rest, *self._said()))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"

    def _html_of(self, row: Row) -> str:
        fields = [escape(field) for field in self._texts(row)]
        groups = "".join(f'<th scope="row">{field}</th>' for field in fields[: self._groups])
        return groups + "".join(f"<td>{field}</td>" for field in fields[self._groups :])

    def plot(self, statistic: str | None = None, *, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw a statistic: a dot for each group's private value, and a bar that holds the true one.

        The bar is the interval that `about` describes: for means from ``low`` to ``high``, otherwise ± ``error_bound``. A group
        that may be empty has no mean, so no dot. A quantile has a bound in rank, so no bar.

        Parameters
        ----------
        statistic : str or None
            The column with the values, such as "count"; None: the first one.
        ax : matplotlib.axes.Axes or None
            Where to draw; None: a new figure of ``matplotlib.pyplot``.
        **style
            Keywords of Matplotlib's ``errorbar``, such as ``label`` and ``color``.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ParameterError
            The table has no such statistic.
        ModuleNotFoundError
            Matplotlib is not installed: ``pip install matplotlib``.
        """
        return picture.plot_table(self, statistic, ax, style)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary for each row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame of the rows, with `about` in its ``attrs``."""
        pandas = require("pandas", "to_pandas needs", "pandas")
        frame = to_pandas(pandas, self._in_columns(), self._types, self._groups)
        frame.attrs["stairnoise"] = self.about
        return frame

    def to_polars(self) -> Any:
        """Return a Polars DataFrame of the rows."""
        return to_polars(require("polars", "to_polars needs", "polars"), self._in_columns(), self._types)

    def to_arrow(self) -> Any:
        """Return a PyArrow Table of the rows, with `about` as JSON in the metadata of its schema."""
        arrow = require("pyarrow", "to_arrow needs", "pyarrow")
        about = json.dumps(self._about, ensure_ascii=False)
        return to_arrow(arrow, self._in_columns(), self._types, {"stairnoise": about})

    def to_json(self) -> str:
        """Return `about` and the rows as JSON: an object with the keys "about" and "rows"."""
        rows = [dict(zip(self.columns, map(_plain, row), strict=True)) for row in self]
        return json.dumps({"about": self._about, "rows": rows}, ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    def to_csv(self) -> str:
        """Return the rows as CSV, with a header line: text with commas, quotes or line breaks is quoted, None is empty."""
        return "".join(",".join(map(csv_field, row)) + "\n" for row in (self.columns, *self))

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the rows and the notes about them to a file: .csv, .parquet or .json.

        A CSV file holds the header line and the rows, and the notes go to a second file, whose name ends in ``.csv.json``. A
        Parquet file has the notes in the metadata of its schema, under the key "stairnoise".

        The files appear complete or not at all.

        Parameters
        ----------
        path : str or path
            The file.
        overwrite : bool, default False
            Whether it replaces files that exist.

        Raises
        ------
        ParameterError
            `path` has another suffix, or the file exists.
        OSError
            The file cannot be written.
        """
        Output(Path(path), overwrite=overwrite).write(self)

    def _in_columns(self) -> dict[str, list[Any]]:
        typed = enumerate(zip(self.columns, self._types, strict=True))
        return {name: [type_.value(row[place]) for row in self] for place, (name, type_) in typed}


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    return value if isinstance(value, (str, int, float, type(None))) else text(value)
