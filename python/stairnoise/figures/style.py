"""One look for all figures: colours, lines, sizes, and files that do not change from run to run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from stairnoise._optional import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Look(NamedTuple):
    """How a curve is drawn: told apart by its colour, and without colours by its line."""

    color: str
    linestyle: Any
    linewidth: float = 1.8


# Okabe and Ito's colours, which people with any common kind of colour blindness tell apart.
STAIRCASE = Look("#0072B2", "-")
LAPLACE = Look("#D55E00", "--")
THIRD = Look("#009E73", "-.")
FOURTH = Look("#CC79A7", ":", 2.4)
FIFTH = Look("#000000", (0, (10, 2, 2, 2, 2, 2)), 1.2)
SIXTH = Look("#E69F00", (0, (1, 1)), 1.8)
SAMPLES = "#BBBBBB"
GRID = "#DDDDDD"

_HOUSE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "font.size": 10,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: small files, searchable
    "svg.hashsalt": "stairnoise",
}


def load(module: str) -> Any:
    """Import a module of Matplotlib, or say how to install it."""
    return require(module, "plots need", "matplotlib")


def house_style() -> AbstractContextManager[None]:
    """Return a context in which Matplotlib draws and saves in this style, whatever the user's own settings."""
    return cast("AbstractContextManager[None]", load("matplotlib.style").context(["default", _HOUSE]))


def new_figure(columns: int = 1, *, width: float = 7.2, height: float = 4.0, **shared: Any) -> tuple[Figure, list[Any]]:
    """Make a figure with one row of axes, to be called inside `house_style`."""
    figure = load("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False, **shared)[0])


def whole_ticks(axes: Any) -> None:
    """Label a linear horizontal axis at whole numbers."""
    axes.locator_params(axis="x", integer=True, nbins=8)
    axes.xaxis.set_major_formatter("{x:g}")


def legend_below(figure: Figure, axes: Any, *, columns: int) -> None:
    """Place the legend of one of the axes under all of them, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
