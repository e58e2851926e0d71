"""The classic figures' additions to the library's style: more curves, marks, ticks and legends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stairnoise.figures.style import STAIRCASE, Look, load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THIRD = Look("#009E73", (0, (7, 1.5, 1, 1.5)), 1.6)
FOURTH = Look("#CC79A7", (0, (1, 1.2)), 2.6)
FIFTH = Look("#000000", "-", 0.8)
SIXTH = Look("#E69F00", (0, (2, 1, 1, 1)), 1.8)


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
