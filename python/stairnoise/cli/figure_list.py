"""List of ``stairnoise plot`` without a name: the figures and their options."""

from __future__ import annotations

import inspect

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from stairnoise.figures import FIGURES, options_of


def print_figures(console: Console) -> None:
    """Print every figure's name and options, with a summary below."""
    for name, figure in FIGURES.items():
        summary = (inspect.getdoc(figure) or "").partition("\n\n")[0]
        console.print(Text(name, style="bold").append(f" {_options(name)}", style="not bold"))
        console.print(Padding(Text(" ".join(summary.split())), (0, 0, 0, 4), expand=False))
    console.print()
    console.print("Draw one with stairnoise plot NAME -o FILE.png, or .svg.")


def _options(name: str) -> str:
    return " ".join(f"--{option}" for option in options_of(name) if option in ("eps", "sensitivity", "gamma", "r"))
