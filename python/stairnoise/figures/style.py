"""One style for all figures: colours, lines, sizes, and files that are the same in every run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from stairnoise._optional import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Look(NamedTuple):
    """The style of a curve: its colour distinguishes it, and in grey its dashes and marks do."""

    color: str
    linestyle: Any
    linewidth: float = 1.8

    def marked(self, marker: str) -> dict[str, Any]:
        """Return the style with marks: full marks for the staircase, larger hollow marks for the others."""
        full = self is STAIRCASE
        return self._asdict() | {
            "marker": marker,
            "markersize": 4.5 if full else 6,
            "markerfacecolor": self.color if full else "none",
            "markeredgewidth": 1.2,
        }


# Okabe and Ito's colours: people with any common kind of colour blindness can distinguish them.
STAIRCASE = Look("#0072B2", "-", 2.0)
LAPLACE = Look("#D55E00", (0, (5, 2)), 1.6)
THIRD = Look("#009E73", (0, (7, 1.5, 1, 1.5)), 1.6)
FOURTH = Look("#CC79A7", (0, (1, 1.2)), 2.6)
FIFTH = Look("#000000", "-", 0.8)
SIXTH = Look("#E69F00", (0, (2, 1, 1, 1)), 1.8)
SAMPLES = "#BBBBBB"
GRID = "#DDDDDD"

# Inches. At 375 pixels, the width of a telephone screen, a letter of 10 points is 10 pixels high.
_WIDTH = 5.2

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
    "legend.columnspacing": 1.2,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.labelspacing": 0.3,
    "svg.fonttype": "none",  # text stays text, so files are small and searchable
    "svg.hashsalt": "stairnoise",
}


def load(module: str) -> Any:
    """Import a module of Matplotlib, or say how to install it."""
    return require(module, "plots need", "matplotlib")


def house_style() -> AbstractContextManager[None]:
    """Return a context in which Matplotlib draws and saves in this style and ignores the user's settings."""
    return cast("AbstractContextManager[None]", load("matplotlib.style").context(["default", _HOUSE]))


def new_figure(title: str, columns: int = 1, *, rows: int = 1, height: float = 3.6, **shared: Any) -> tuple[Figure, list[Any]]:
    """Make a figure with a title, and return it with its axes, row by row; call this inside `house_style`."""
    figure = load("matplotlib.figure").Figure(figsize=(_WIDTH, height), layout="constrained")
    figure.suptitle(title, x=0.01, horizontalalignment="left", fontsize=11)
    return figure, list(figure.subplots(rows, columns, squeeze=False, **shared).flat)


def whole_ticks(axes: Any) -> None:
    """Label a linear horizontal axis at whole numbers."""
    axes.locator_params(axis="x", integer=True, nbins=6)
    axes.xaxis.set_major_formatter("{x:g}")


def log_scale(axes: Any, which: str = "y") -> None:
    """Give axes a logarithmic scale with ticks written as decimals: 0.01, not a power of ten."""
    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    axis.set_major_formatter(_written_out)
    axis.set_minor_formatter(load("matplotlib.ticker").NullFormatter())


def _written_out(value: float, _: object) -> str:
    return f"{value:,.12f}".rstrip("0").rstrip(".")


def legend_below(figure: Figure, axes: Any, *, columns: int, **look: Any) -> None:
    """Place the legend of one of the axes below all axes, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, **look)
