"""One style for all figures: colours, lines, sizes, and files that are the same in every run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from stairnoise._errors import ParameterError, received
from stairnoise._optional import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Look(NamedTuple):
    """The style of a curve: colour distinguishes curves, and dashes and marks do so in grey."""

    color: str
    linestyle: Any
    linewidth: float = 1.8


# Okabe and Ito's colours: people with any common kind of colour blindness can distinguish them.
STAIRCASE = Look("#0072B2", "-", 2.0)
LAPLACE = Look("#D55E00", (0, (5, 2)), 1.6)
SAMPLES = "#BBBBBB"
GRID = "#DDDDDD"

SUFFIXES = (".png", ".svg")

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
    """Import a module of Matplotlib; the error of a missing one has the install command."""
    return require(module, "plots need", "matplotlib")


def house_style() -> AbstractContextManager[None]:
    """Return a context in which Matplotlib draws and saves in this style and ignores the user's settings."""
    return cast("AbstractContextManager[None]", load("matplotlib.style").context(["default", _HOUSE]))


def new_figure(title: str, columns: int = 1, *, rows: int = 1, height: float = 3.6, **shared: Any) -> tuple[Figure, list[Any]]:
    """Make a figure with a title, and return it with its axes, row by row; call this inside `house_style`."""
    figure = load("matplotlib.figure").Figure(figsize=(_WIDTH, height), layout="constrained")
    figure.suptitle(title, x=0.01, horizontalalignment="left", fontsize=11)
    return figure, list(figure.subplots(rows, columns, squeeze=False, **shared).flat)


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure without dates and random names: a given figure always gives an identical file.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : str or Path
        The suffix, ``.png`` or ``.svg``, decides the format.

    Raises
    ------
    ParameterError
        `path` has another suffix.
    """
    path = require_suffix(path)
    metadata: dict[str, str | None] | None = None
    if path.suffix == ".svg":
        metadata = {"Date": None}
        if title := figure.get_suptitle():
            metadata["Title"] = title  # screen readers read it aloud
    with house_style():
        figure.savefig(path, metadata=metadata, facecolor="white", dpi=150)


def require_suffix(path: str | Path) -> Path:
    """Return `path` as a Path if `save` writes its suffix, otherwise raise ParameterError."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise ParameterError(f"output must end in {' or '.join(SUFFIXES)}, got {received(str(path))}")
    return path
