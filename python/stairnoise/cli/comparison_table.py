"""Table of ``stairnoise compare``: the mechanisms, those left out, and a recommendation."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from stairnoise.comparison import Comparison


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print the rows, the notes and the recommendation."""
    name, *numbers = comparison.headings
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(name, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", overflow="fold")
    for cells in comparison.texts():
        table.add_row(*cells)
    console.print(f"[bold]eps = {comparison.eps:g}, sensitivity = {comparison.sensitivity:g}[/bold]")
    console.print()
    console.print(table)
    for text in filter(None, (*comparison.notes, comparison.recommendation)):
        console.print()
        console.print(text)
