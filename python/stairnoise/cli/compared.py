"""Output of ``stairnoise compare``: the recommendation and the table, or the rows as JSON or CSV."""

from __future__ import annotations

import csv
import sys
from json import dumps
from math import isnan
from typing import Any

from rich.console import Console
from rich.text import Text

from stairnoise.cli.screen import print_rows
from stairnoise.comparison import Comparison

_ASKED = ("eps", "sensitivity", "delta", "releases", "max_partitions_contributed", "cost")


def print_comparison(screen: Console, compared: Comparison) -> None:
    """Print the recommendation, then what it follows from."""
    people_in = compared.max_partitions_contributed
    asked = {"eps": compared.eps, "sensitivity": compared.sensitivity, "releases": compared.releases}
    asked |= {"people in": people_in} if people_in > 1 else {}
    if compared.recommendation:
        screen.print(compared.recommendation)
        screen.print()
    screen.print(", ".join(f"{name} = {number:g}" for name, number in asked.items() if number is not None), style="bold")
    screen.print()
    print_rows(screen, compared.headings, [[*map(Text, row)] for row in compared.texts()], texts=1)
    for note in compared.notes:
        screen.print()
        screen.print(note)


def print_json(compared: Comparison) -> None:
    """Print everything as one JSON object; a ratio that does not exist is null."""
    about: dict[str, Any] = {name: getattr(compared, name) for name in (*_ASKED, "recommendation", "notes")}
    rows = [row | {"ratio": None if isnan(row["ratio"]) else row["ratio"]} for row in compared.to_dicts()]  # type: ignore[arg-type]
    print(dumps(about | {"rows": rows}, ensure_ascii=False, indent=2))


def print_csv(compared: Comparison) -> None:
    """Print the rows as CSV with a header line."""
    rows = compared.to_dicts()
    writer = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
