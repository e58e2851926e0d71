"""What ``stairnoise plot`` prints without a name: the figures and their options."""

from __future__ import annotations

import inspect

from rich.console import Console
from rich.table import Table

from stairnoise.figures import FIGURES, options_of


def print_figures(console: Console) -> None:
    """Print the name of every figure, its options and its first sentence."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    # Names and options are there to be typed: only the last column is broken.
    table.add_column("name", min_width=max(map(len, FIGURES)))
    table.add_column("options", min_width=max(len(_options(name)) for name in FIGURES))
    table.add_column("what it shows")
    for name, figure in FIGURES.items():
        summary = (inspect.getdoc(figure) or "").partition("\n\n")[0]
        table.add_row(f"[bold]{name}[/bold]", _options(name), " ".join(summary.split()))
    console.print(table)
    console.print()
    console.print("Draw one with stairnoise plot NAME -o FILE.png, or .svg.")


def _options(name: str) -> str:
    return " ".join(f"--{option}" for option in options_of(name) if option in ("eps", "sensitivity", "gamma", "r"))
