"""Screen and file of ``stairnoise release``: private values, their bounds, and the guarantee."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from stairnoise._digits import decimals, fixed, last_digit, private_value
from stairnoise._errors import ParameterError, check
from stairnoise.cli.csv_table import KeyedValues
from stairnoise.cli.screen import NOT_PRIVATE, cell, plain, print_rows
from stairnoise.query.private_table import NewFiles

_CONFIDENCE = 0.95


class PrivateColumn(NamedTuple):
    """Released values with the digits that their bound justifies, and that bound, as texts."""

    mechanism: Any
    values: list[str]
    bound: str


def private_column(mechanism: Any, table: KeyedValues, partitions: int, *, all_digits: bool) -> PrivateColumn:
    """Release the values of a table once."""
    released = mechanism.release(table.values, max_partitions_contributed=partitions)
    bound = Fraction(_bound(mechanism, released, partitions, rounded=mechanism._integers and not table.whole))
    step, digit = Fraction(mechanism.granularity), Fraction(0) if all_digits else last_digit(bound)
    shown = [private_value(Fraction(value), step, bound, digit) for value in released.tolist()]
    _, limit = max([*shown, private_value(Fraction(0), step, bound, digit)], key=lambda pair: pair[1])
    places = decimals(limit, *(value for value, _ in shown))
    texts = [str(value) if step == 1 else fixed(value, places) for value, _ in shown]
    return PrivateColumn(mechanism, texts, fixed(limit, places))


def print_private_table(
    console: Console, table: KeyedValues, columns: dict[str, PrivateColumn], partitions: int, *, show_true: bool
) -> None:
    """Print private values, the bound below each column, and the true values if requested."""
    if show_true:
        console.print(cell(NOT_PRIVATE, "bold red"))
    keys = len(table.key_names)
    headings, footer = [*map(plain, table.key_names)], [*[""] * (keys - 1), *["±95 %"] * (keys > 0)]
    numbers = [column.values for column in columns.values()]
    if show_true:
        headings.append(f"true\n{plain(table.column)}")
        footer[:] = [*[""] * keys, "±95 %"]
        numbers.insert(0, [*map(repr, table.values)])
    for name, column in columns.items():
        heading = name.replace("_", "\n") if "_" in name else f"\n{name}"
        headings.append(heading if show_true or len(columns) > 1 else f"private\n{plain(table.column)}")
        footer.append(f"±{column.bound}")
    rows = [[*map(cell, key), *map(Text, texts)] for key, *texts in zip(table.keys, *numbers, strict=True)]
    print_rows(console, headings, rows, texts=keys, footer=footer, dim=keys if show_true else None)
    console.print()
    _print_guarantee(console, table, columns, partitions)


def new_file(path: Path, source: Path | None, *, overwrite: bool) -> NewFiles:
    """Check a CSV file to write, before anything is drawn."""
    check(path.suffix.lower() == ".csv", f"output must be a file named *.csv, got {str(path)!r}")
    if path.exists() and source is not None and source.exists() and path.samefile(source):
        raise ParameterError(f"output must not be the table itself, got {str(path)!r}")
    return NewFiles(path, overwrite=overwrite)


def written(table: KeyedValues, column: PrivateColumn) -> bytes:
    """Return the kept columns, and the private one under the name of the true one, as a CSV file."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([*table.key_names, table.column])
    lines.writerows([*key, value] for key, value in zip(table.keys, column.values, strict=True))
    return text.getvalue().encode()


def print_written(console: Console, path: Path, table: KeyedValues, column: PrivateColumn, partitions: int) -> None:
    """Print what was written, and what is protected."""
    rows = len(table.keys)
    console.print(plain(f"written to {path}: {rows} {'row' if rows == 1 else 'rows'}, each ±{column.bound}"), soft_wrap=True)
    console.print()
    _print_guarantee(console, table, {"": column}, partitions)


def _bound(mechanism: Any, released: NDArray[Any], partitions: int, *, rounded: bool) -> float:
    """Return a bound on the error of each private value that holds with a probability of at least 95 %.

    It covers noise and all rounding. The half-width of a confidence interval lacks one part: a discrete mechanism rounds true
    values to integers.
    """
    centres = np.append(released, released.dtype.type(0))  # the table may be empty
    _, high = mechanism.confidence_interval(centres, _CONFIDENCE, max_partitions_contributed=partitions)
    half: float = (high - centres).max().item()
    return half + 0.5 if rounded else half


def _print_guarantee(console: Console, table: KeyedValues, columns: dict[str, PrivateColumn], partitions: int) -> None:
    mechanisms = [column.mechanism for column in columns.values()]
    eps, sensitivity = mechanisms[0].eps, mechanisms[0].sensitivity
    values = "one value" if partitions == 1 else f"{partitions} values"
    people = f"people who change at most {values}, by at most {sensitivity:g}"
    if len(mechanisms) > 1:
        total = f"The {len(mechanisms)} columns together cost eps = {len(mechanisms) * eps:g}: publish one."
        console.print(f"Protected by each column at eps = {eps:g}: {people}. {total}")
    else:
        console.print(f"Protected at eps = {eps:g}: {people}.")
    rounded = any(mechanism._integers for mechanism in mechanisms) and not table.whole
    also = " The ± includes rounding to whole numbers." if rounded else ""
    console.print(f"Each true value is within its ± in at least 95 % of releases.{also}")
    kept = "".join(f"{plain(name)}, " for name in table.key_names)
    console.print(f"Not protected: {kept}the number of rows and their order.")
