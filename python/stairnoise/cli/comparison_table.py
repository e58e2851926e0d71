"""Table of ``stairnoise compare``: the mechanisms, those left out, and a recommendation."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from stairnoise.cli.screen import print_rows
from stairnoise.comparison import Comparison


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print the rows, the notes and the recommendation."""
    together = "" if comparison.releases is None else f", releases = {comparison.releases}"
    console.print(f"eps = {comparison.eps:g}, sensitivity = {comparison.sensitivity:g}{together}", style="bold")
    console.print()
    print_rows(console, comparison.headings, [[*map(Text, row)] for row in comparison.texts()], texts=1)
    for text in filter(None, (*comparison.notes, comparison.recommendation)):
        console.print()
        console.print(text)
