"""The classic figures' additions to the library's style: more curves, marks, ticks and legends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stairnoise.figures.style import STAIRCASE, Look

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def marked(look: Look, marker: str) -> dict[str, Any]:
    """Return the style with marks: full marks for the staircase, larger hollow marks for the others."""
    full = look is STAIRCASE
    return look._asdict() | {
        "marker": marker,
        "markersize": 4.5 if full else 6,
        "markerfacecolor": look.color if full else "none",
        "markeredgewidth": 1.2,
    }


def whole_ticks(axes: Any) -> None:
    """Label a linear horizontal axis at whole numbers."""
    axes.locator_params(axis="x", integer=True, nbins=6)
    axes.xaxis.set_major_formatter("{x:g}")


def label_line(axes: Any, line: Any, at: float, *, above: bool) -> None:
    """Write a line's name in its colour, above or below the line, on the side of `at` where the line goes away from it."""
    x, y = line.get_data()
    point = at, float(y[int(abs(x - at).argmin())])
    left = above == (y[-1] > y[0])
    look = {"color": line.get_color(), "ha": "right" if left else "left", "va": "bottom" if above else "top"}
    offset = (-4 if left else 4, 3 if above else -3)
    axes.annotate(line.get_label(), point, xytext=offset, textcoords="offset points", **look)


def legend_below(figure: Figure, axes: Any, *, columns: int, **look: Any) -> None:
    """Place the legend of one of the axes below all axes, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, **look)
