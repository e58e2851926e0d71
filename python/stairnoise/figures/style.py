"""One style for all figures: colours, lines, sizes, and files that are the same in every run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from stairnoise._errors import ParameterError, received
from stairnoise._optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Look(NamedTuple):
    """The style of a curve: colour distinguishes curves, and dashes and marks do so in grey."""

    color: str
    linestyle: Any
    linewidth: float = 1.8


# Okabe and Ito's colours: people with any common kind of colour blindness can distinguish them.
STAIRCASE = Look("#0072B2", "-", 2.0)
LAPLACE = Look("#D55E00", (0, (5, 2)), 1.6)
THIRD = Look("#009E73", (0, (7, 1.5, 1, 1.5)), 1.6)
FOURTH = Look("#CC79A7", (0, (1, 1.2)), 2.6)
FIFTH = Look("#000000", "-", 0.8)
SIXTH = Look("#E69F00", (0, (2, 1, 1, 1)), 1.8)
_OWN = (STAIRCASE, THIRD, FOURTH, FIFTH, SIXTH)
SAMPLES = "#BBBBBB"
GRID = "#DDDDDD"

SUFFIXES = (".png", ".svg")

# A picture of the default width has room for this many characters.
_LONG_TITLE = 60
# Smaller numbers are written as powers of ten.
_LEAST_WRITTEN = 0.9e-4
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Inches. At 375 pixels, the width of a telephone screen, a letter of 10 points is 10 pixels high.
_WIDTH, _HEIGHT = 5.2, 3.6
# A row needs the height of a letter and of a gap.
_ROW, _FRAME = 0.28, 1.2
# Characters of a row's name: half the width.
_LONGEST = 24

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


@contextmanager
def axes_for(ax: Axes | None, rows: int | None = None) -> Iterator[Axes]:
    """Give the caller's axes, in the caller's style, or new ones in this style, whose figure pyplot shows.

    The new ones are as high as this number of rows of text.
    """
    if ax is not None:
        yield ax
        return
    height = _HEIGHT if rows is None else _FRAME + _ROW * max(rows, 1)
    with house_style():
        yield load("matplotlib.pyplot").subplots(figsize=(_WIDTH, height), layout="constrained")[1]


def free_look(ax: Axes) -> Look:
    """Return the first look whose colour no curve on these axes has; the first of all if every colour is there."""
    to_hex = load("matplotlib.colors").to_hex
    colors = [line.get_color() for line in ax.lines] + [patch.get_edgecolor() for patch in ax.patches]
    used = {to_hex(color).upper() for color in colors}
    return next((look for look in _OWN if look.color not in used), STAIRCASE)


def normalized(options: dict[str, Any]) -> dict[str, Any]:
    """Return Matplotlib's keywords of a line by their long names, such as linewidth for lw."""
    named: dict[str, Any] = load("matplotlib.cbook").normalize_kwargs(options, load("matplotlib.lines").Line2D)
    return named


def set_texts(ax: Axes, title: str, **texts: str) -> None:
    """Write a title and the names of the axes where there are none yet."""
    if not any(ax.get_title(place) for place in ("left", "center", "right")):
        ax.set_title(title, fontsize="medium" if len(title) < _LONG_TITLE else "x-small")
    ax.set(**{name: text for name, text in texts.items() if not getattr(ax, f"get_{name}")()})


def draw_bars(ax: Axes, at: Any, values: Any, bars: Any, names: list[str] | None, meaning: str, **style: Any) -> None:
    """Draw a dot and a bar for each value: in rows with these names, the first at the top, or side by side by their index.

    `at` are the places of the values.
    """
    look: dict[str, Any] = {"fmt": "o", "markersize": 5, "capsize": 3, "color": free_look(ax).color} | style
    if names is None:
        ax.errorbar(at, values, yerr=bars, **look)
        ax.locator_params(axis="x", integer=True)
        set_texts(ax, "", xlabel="index", ylabel=meaning)
    else:
        ax.errorbar(values, at, xerr=bars, **look)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
        set_texts(ax, "", xlabel=meaning)
    # A name with two dollar signs is no formula.
    for text in (*ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label):
        text.set_parse_math(False)
    ax.grid(axis="y" if names is None else "x", color=GRID)
    ax.set_axisbelow(True)
    if "label" in style:
        update_legend(ax)


def shortened(name: str) -> str:
    """Return the name of a row, cut off where it would take more than half the width."""
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"


def log_scale(axes: Any, which: str = "y") -> None:
    """Give axes a logarithmic scale with ticks such as 0.01 and 10⁻⁶."""
    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    axis.set_major_formatter(lambda value, _: written_out(value))
    axis.set_minor_formatter(load("matplotlib.ticker").NullFormatter())


def written_out(value: float) -> str:
    """Write a number with one digit of weight: small ones as 0.01, very small ones as 10⁻⁶."""
    if value >= _LEAST_WRITTEN:
        return f"{value:,.4f}".rstrip("0").rstrip(".")
    digit, power = f"{value:.0e}".split("e")
    return ("" if digit == "1" else f"{digit} · ") + f"10{str(int(power)).translate(_RAISED)}"


def update_legend(ax: Axes) -> None:
    """Show the labels of all curves; a legend that is there keeps its frame."""
    frame = {} if (old := ax.get_legend()) is None else {"frameon": old.get_frame_on()}
    ax.legend(loc="best", **frame)


def new_figure(
    title: str, columns: int = 1, *, rows: int = 1, height: float = _HEIGHT, **shared: Any
) -> tuple[Figure, list[Any]]:
    """Make a figure with a title, and return it with its axes, row by row; call this inside `house_style`."""
    figure = load("matplotlib.figure").Figure(figsize=(_WIDTH, height), layout="constrained")
    figure.suptitle(title, x=0.01, horizontalalignment="left", fontsize=11, fontweight="bold")
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
    title = figure.get_suptitle()  # screen readers read it aloud
    metadata = {"Date": None, **({"Title": title} if title else {})} if path.suffix == ".svg" else None
    with house_style():
        figure.savefig(path, metadata=metadata, facecolor="white", dpi=150)


def require_suffix(path: str | Path) -> Path:
    """Return `path` as a Path if `save` writes its suffix, otherwise raise ParameterError."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise ParameterError(f"output must end in {' or '.join(SUFFIXES)}, got {received(str(path))}")
    return path
