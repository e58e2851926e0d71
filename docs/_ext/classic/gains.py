"""Figure: Laplace's cost divided by the best staircase's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from docs._ext.classic.style import label_line, whole_ticks
from stairnoise._parameters import single
from stairnoise.figures.style import STAIRCASE, THIRD, house_style, log_scale, new_figure
from stairnoise.mechanisms.laplace.mechanism import Laplace
from stairnoise.mechanisms.staircase.mechanism import Staircase

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOW, _HIGH = 0.1, 20.0
# ε at which the curves are far apart.
_NAMED = 14.0


def gain(eps: float = 10.0) -> Figure:
    """Laplace's E|X| and E X² divided by those of the best staircase for each, 0.1 <= ε <= 20.

    Parameters
    ----------
    eps : float, default 10
        ε at which the figure writes the two gains as numbers; it may be outside the range.
    """
    mark = Laplace(single(eps, "eps")).eps
    grid = np.geomspace(min(_LOW, float(mark)), max(_HIGH, float(mark)), 200)
    with house_style():
        figure, (axis,) = new_figure("Laplace's cost divided by the best staircase's")
        for cost, p, look, name, side in (
            ("l2", 2, THIRD, "power: E X²", "bottom"),
            ("l1", 1, STAIRCASE, "amplitude: E|X|", "top"),
        ):
            (line,) = axis.plot(grid, _gain(grid, cost, p), label=name, **look._asdict())
            label_line(axis, line, _NAMED, above=side == "bottom")
            there = float(_gain(mark, cost, p))
            axis.plot(mark, there, "o", color=look.color, markersize=6)
            # The upper curve's number stands above it on the left, the lower curve's below it on the right.
            left = side == "bottom"
            axis.annotate(
                f"{there:.4g}",
                (mark, there),
                xytext=(-8, 4) if left else (8, -4),
                textcoords="offset points",
                ha="right" if left else "left",
                va=side,
                color=look.color,
            )
        axis.axhline(1, color="black", linewidth=0.8)
        log_scale(axis)
        axis.set_xlim(0, grid[-1])
        whole_ticks(axis)
        axis.set_xlabel("ε of one release")
        axis.set_ylabel("gain")
        axis.set_title(f"The numbers hold at ε = {mark:g}.")
    return figure


def _gain(eps: Any, cost: Any, p: int) -> Any:
    return Laplace(eps).abs_moment(p) / Staircase(eps, 1.0, cost).abs_moment(p)
