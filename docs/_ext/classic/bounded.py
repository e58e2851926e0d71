"""Figure: bounded noise, the truncated staircase and truncated Laplace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from docs._ext.classic.style import legend_below, whole_ticks
from stairnoise._parameters import single
from stairnoise.figures.mechanism import draw
from stairnoise.figures.style import LAPLACE, STAIRCASE, THIRD, house_style, log_scale, new_figure, written_out
from stairnoise.mechanisms.truncated_laplace.mechanism import TruncatedLaplace
from stairnoise.mechanisms.truncated_staircase.mechanism import TruncatedStaircase

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GRID = np.concatenate([np.linspace(0.25, 8, 32), np.linspace(8.5, 10, 4)])
_MARKS = (1.0, 2.0, 4.0, 8.0)
_BEYOND = 1.06


def bounded(eps: float = 4.0, delta: float = 1e-6) -> Figure:
    """Densities of truncated staircase and truncated Laplace noise, one-sided forms, and the ratio of variances for 0 < ε <= 10.

    Parameters
    ----------
    eps : float, default 4
        ε of the densities.
    delta : float, default 1e-6
        δ of all panels.
    """
    chosen = (single(eps, "eps"), single(delta, "delta"))
    staircase, laplace = TruncatedStaircase(*chosen, gamma="l2"), TruncatedLaplace(*chosen)
    with house_style():
        title = "Bounded noise for one release, Δ = 1"
        figure, (linear, log, sides, ratio) = new_figure(title, 2, rows=2, height=6.4)
        for axes, name in ((linear, "linear scale"), (log, "logarithmic scale")):
            limit = _BEYOND * max(staircase.upper, laplace.upper) if axes is log else 1.5
            draw(axes, laplace, limit, LAPLACE, "truncated Laplace")
            draw(axes, staircase, limit, STAIRCASE, "truncated staircase")
            axes.set_title(name)
            axes.set_xlabel(f"noise at ε = {staircase.eps:g}, δ = {written_out(staircase.delta)}")
            axes.set_ylabel("probability density")
            whole_ticks(axes)
        log_scale(log)
        linear.set_ylim(bottom=0)
        _draw_sides(sides, chosen)
        _draw_ratio(ratio, chosen[1])
        legend_below(figure, linear, columns=2)
    return figure


def _draw_sides(axes: Any, chosen: tuple[float, float]) -> None:
    """Draw the staircases of a bound at 0."""
    below, above = (TruncatedStaircase(*chosen, 1.0, "l2", *bounds) for bounds in ((None, 0), (0, None)))
    limit = _BEYOND * above.upper
    for mechanism, look, name, x in ((below, THIRD, "upper=0", -0.5), (above, STAIRCASE, "lower=0", 0.5)):
        draw(axes, mechanism, limit, look, name)
        axes.text(x * above.upper, 2 * mechanism.pdf(mechanism.mean()), name, ha="center", va="bottom", color=look.color)
    axes.axvline(0, color="black", linewidth=0.8)
    log_scale(axes)
    axes.set_ylim(top=100 * above.pdf(above.mean()))
    axes.set_title("a bound at 0")
    axes.set_xlabel("noise")
    axes.set_ylabel("probability density")
    whole_ticks(axes)


def _draw_ratio(axes: Any, delta: float) -> None:
    axes.plot(_GRID, [_ratio(eps, delta) for eps in _GRID.tolist()], **STAIRCASE._asdict())
    for eps in _MARKS:
        there = _ratio(eps, delta)
        axes.plot(eps, there, "o", color=STAIRCASE.color, markersize=5)
        axes.annotate(f"{there:.3f}", (eps, there), xytext=(4, 3), textcoords="offset points", ha="left", va="bottom")
    axes.set_xlim(0, 1.15 * _GRID[-1])
    axes.set_ylim(0, 1.1)
    axes.set_title("ratio of variances")
    axes.set_xlabel("ε of one release")
    axes.set_ylabel("staircase / Laplace")
    whole_ticks(axes)


def _ratio(eps: float, delta: float) -> float:
    return float(TruncatedStaircase(eps, delta, gamma="l2").var() / TruncatedLaplace(eps, delta).var())
