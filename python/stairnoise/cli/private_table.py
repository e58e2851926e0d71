"""Table of ``stairnoise release``: true values, private values, bounds, and the guarantee.

Errors about a file name the line and the column; no message shows its header or its cells.
"""

from __future__ import annotations

import csv
import io
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stairnoise._errors import ParameterError

_CONFIDENCE = 0.95


class KeyedValues(NamedTuple):
    """A table: one numeric column, and the columns that label its numbers."""

    key_names: list[str]
    keys: list[list[str]]
    column: str
    values: list[int] | list[float]

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return all(float(value).is_integer() for value in self.values)


def read_table(path: Path | None, column: str) -> KeyedValues:
    """Read a CSV file with a header line; for None, read the bundled census counts."""
    source = files("stairnoise") / "data" / "marital_race.csv" if path is None else path
    records = _records(source.read_bytes(), path)
    if not records:
        raise ParameterError(f"{path} must be a CSV file with a header line, got none")
    (_, header), *rows = records
    if column not in header:
        raise ParameterError(f"column must be in the header, which has {len(header)} names, got {column!r}")
    for line, row in rows:
        if len(row) != len(header):
            raise ParameterError(f"line {line} must have {len(header)} fields, as the header has, got {len(row)}")
    place = header.index(column)
    values = _numbers([(line, row.pop(place)) for line, row in rows], column)
    header.pop(place)
    return KeyedValues(header, [row for _, row in rows], column, values)


def _records(content: bytes, path: Path | None) -> list[tuple[int, list[str]]]:
    """Return the nonempty records, each with the number of its last line."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParameterError(f"{path} must be UTF-8, got other bytes in line {line}") from None
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        return [(reader.line_num, record) for record in reader if record]
    except csv.Error:
        raise ParameterError(f"{path} must be a CSV file, got one that cannot be read in line {reader.line_num}") from None


def print_private_table(console: Console, table: KeyedValues, laws: dict[str, Any], max_partitions_contributed: int) -> None:
    """Release the values once for each mechanism and print them beside the true ones."""
    partitions = max_partitions_contributed
    released = {name: law.release(table.values, max_partitions_contributed=partitions) for name, law in laws.items()}
    grid = Table(box=None, padding=(0, 2, 0, 0), show_footer=True)
    for name in table.key_names:
        grid.add_column(Text(name), overflow="fold")
    grid.add_column(Text(f"true\n{table.column}"), justify="right", style="dim", footer="±95 %")
    for name, law in laws.items():
        heading = name.replace("_", "\n") if "_" in name else f"\n{name}"
        bound = _bound(law, released[name], partitions, rounded=_is_discrete(law) and not table.whole)
        grid.add_column(heading, justify="right", footer=f"±{_rounded_up(bound)}")
    for row, key in enumerate(table.keys):
        private = (_number(values[row].item()) for values in released.values())
        grid.add_row(*map(Text, key), _number(table.values[row]), *private)
    console.print(grid)
    console.print()
    _print_guarantee(console, laws, partitions, rounded=any(map(_is_discrete, laws.values())) and not table.whole)


def _is_discrete(law: Any) -> bool:
    integers: bool = law._integers
    return integers


def _bound(law: Any, released: NDArray[Any], partitions: int, *, rounded: bool) -> float:
    """Return a bound on the error of each private value, which holds with a probability of 95 % or more.

    It includes noise and all rounding. The half-width of a confidence interval lacks only one part: a discrete law rounds
    true values to integers.
    """
    centres = np.append(released, released.dtype.type(0))  # the table may be empty
    _, high = law.confidence_interval(centres, _CONFIDENCE, max_partitions_contributed=partitions)
    half: float = (high - centres).max().item()
    return half + 0.5 if rounded else half


def _print_guarantee(console: Console, laws: dict[str, Any], partitions: int, *, rounded: bool) -> None:
    law = next(iter(laws.values()))
    eps, sensitivity = f"{law.eps:g}", f"{law.sensitivity:g}"
    values = "one value" if partitions == 1 else f"{partitions} values"
    console.print(
        f"Protected: each private column is {eps}-differentially private for people who change at "
        f"most {values}, by at most {sensitivity}. Each private value is within the ± of the true one with a "
        "probability of 95 % or more."
        + (" Discrete mechanisms round true values to whole numbers first; their ± includes this half." if rounded else "")
    )
    together = (
        f"; the {len(laws)} columns together, which cost eps = {len(laws) * law.eps:g}: publish one" if len(laws) > 1 else ""
    )
    console.print("Not protected: the true column, shown for comparison; the choice of rows" + together + ".")


def _numbers(texts: list[tuple[int, str]], column: str) -> list[int] | list[float]:
    try:
        return [int(text) for _, text in texts]
    except ValueError:
        return [_float(text, line, column) for line, text in texts]


def _float(text: str, line: int, column: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{column} in line {line} must be a number, got a text that is not") from None


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def _rounded_up(bound: float) -> str:
    """Write a bound with two decimals, rounded up."""
    text = _number(bound)
    return text if float(text) >= bound else _number(bound + 0.01)
