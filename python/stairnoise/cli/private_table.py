"""Table of ``stairnoise release``: true values, private values, bounds, and what they protect."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from stairnoise._errors import ParameterError
from stairnoise._law import Law

_CONFIDENCE = 0.95


class KeyedValues(NamedTuple):
    """A table: one numeric column and the columns that say what each number is."""

    key_names: list[str]
    keys: list[list[str]]
    column: str
    values: list[int] | list[float]


def read_table(path: Path | None, column: str) -> KeyedValues:
    """Read a CSV file with a header line, the bundled census counts when `path` is None."""
    source = files("stairnoise") / "data" / "marital_race.csv" if path is None else path
    try:
        lines = source.read_text(encoding="utf-8-sig").splitlines(keepends=True)
        header, *rows = [row for row in csv.reader(lines) if row]
    except (ValueError, csv.Error) as error:  # no header line; not UTF-8; not CSV
        raise ParameterError(f"{path} must be a CSV file with a header line: {error}") from None
    if column not in header:
        raise ParameterError(f"column must be one of {', '.join(header)}, got {column!r}")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ParameterError(f"line {number} must have {len(header)} fields, as the header has, got {len(row)}")
    place = header.index(column)
    texts = [row.pop(place) for row in rows]
    header.pop(place)
    return KeyedValues(header, rows, column, _numbers(texts, column))


def print_private_table(console: Console, table: KeyedValues, laws: dict[str, Law[Any]], max_partitions_contributed: int) -> None:
    """Release the values once per law and print them beside the true ones."""
    released = {
        name: law.release(table.values, max_partitions_contributed=max_partitions_contributed) for name, law in laws.items()
    }
    bounds = {name: law._divided_among(max_partitions_contributed).error_bound(1 - _CONFIDENCE) for name, law in laws.items()}
    grid = Table(box=None, padding=(0, 2, 0, 0), show_footer=True)
    for name in table.key_names:
        grid.add_column(name, overflow="fold")
    grid.add_column(f"true\n{table.column}", justify="right", style="dim", footer="±95 %")
    for name in laws:
        heading = name.replace("_", "\n") if "_" in name else f"\n{name}"
        grid.add_column(heading, justify="right", footer=f"±{_number(bounds[name])}")
    for row, key in enumerate(table.keys):
        private = (_number(values[row].item()) for values in released.values())
        grid.add_row(*key, _number(table.values[row]), *private)
    console.print(grid)
    console.print()
    _print_guarantee(console, laws, max_partitions_contributed)


def _print_guarantee(console: Console, laws: dict[str, Law[Any]], partitions: int) -> None:
    law = next(iter(laws.values()))
    eps, sensitivity = f"{law.eps:g}", f"{law.sensitivity:g}"  # type: ignore[attr-defined]
    values = "one value" if partitions == 1 else f"{partitions} values"
    console.print(
        f"Protected: each private column is {eps}-differentially private for people who change at "
        f"most {values}, by at most {sensitivity}. 95 % of private values are within the "
        "± of the true one."
    )
    together = (
        f"; the {len(laws)} columns together, which cost eps = {len(laws) * law.eps:g}: publish one" if len(laws) > 1 else ""
    )
    console.print("Not protected: the true column, shown for comparison; the choice of rows" + together + ".")


def _numbers(texts: list[str], column: str) -> list[int] | list[float]:
    try:
        return [int(text) for text in texts]
    except ValueError:
        return [_float(text, line, column) for line, text in enumerate(texts, start=2)]


def _float(text: str, line: int, column: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{column} in line {line} must be a number, got {text!r}") from None


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.2f}"
