"""Table of ``stairnoise release``: true values, private values, bounds, and the guarantee."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from stairnoise.cli.csv_table import KeyedValues
from stairnoise.cli.screen import cell, plain, print_rows

_CONFIDENCE = 0.95


def print_private_table(console: Console, table: KeyedValues, laws: dict[str, Any], max_partitions_contributed: int) -> None:
    """Release the values once for each mechanism and print them beside the true ones."""
    partitions = max_partitions_contributed
    released = {name: law.release(table.values, max_partitions_contributed=partitions) for name, law in laws.items()}
    headings, footer = [*map(plain, table.key_names), f"true\n{plain(table.column)}"], [*[""] * len(table.key_names), "±95 %"]
    for name, law in laws.items():
        headings.append(name.replace("_", "\n") if "_" in name else f"\n{name}")
        bound = _bound(law, released[name], partitions, rounded=_is_discrete(law) and not table.whole)
        footer.append(f"±{_rounded_up(bound)}")
    rows = [
        [*map(cell, key), Text(_number(table.values[row])), *(Text(_number(values[row].item())) for values in released.values())]
        for row, key in enumerate(table.keys)
    ]
    print_rows(console, headings, rows, texts=len(table.key_names), footer=footer, dim=len(table.key_names))
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
        f"Protected: {'each' if len(laws) > 1 else 'the'} private column is {eps}-differentially private for people who change "
        f"at most {values}, by at most {sensitivity}. Each private value is within the ± of the true one with a "
        "probability of 95 % or more."
        + (" Discrete mechanisms round true values to whole numbers first; their ± includes this half." if rounded else "")
    )
    together = (
        f"; the {len(laws)} columns together, which cost eps = {len(laws) * law.eps:g}: publish one" if len(laws) > 1 else ""
    )
    console.print("Not protected: the true column, shown for comparison; the choice of rows" + together + ".")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def _rounded_up(bound: float) -> str:
    """Write a bound with two decimals, rounded up."""
    text = _number(bound)
    return text if float(text) >= bound else _number(bound + 0.01)
