"""Figure: densities of the staircase and of Laplace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs._ext.classic.style import legend_below
from stairnoise._parameters import Cost
from stairnoise.figures.mechanism import draw, require_scalars, visible
from stairnoise.figures.style import LAPLACE, STAIRCASE, house_style, log_scale, new_figure
from stairnoise.mechanisms.laplace.mechanism import Laplace
from stairnoise.mechanisms.staircase.mechanism import Staircase

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def densities(eps: float = 1.0, sensitivity: float = 1.0, gamma: Cost | float = "l1") -> Figure:
    """Densities of the staircase and of Laplace, on a linear and on a logarithmic scale.

    Parameters
    ----------
    eps, sensitivity, gamma : float
        Scalar parameters of `stairnoise.Staircase`.
    """
    staircase, laplace = Staircase(eps, sensitivity, gamma), Laplace(eps, sensitivity)
    require_scalars(staircase, "densities")
    limit = visible(staircase)
    with house_style():
        title = f"Densities at ε = {staircase.eps:g} and Δ = {staircase.sensitivity:g}"
        figure, (linear, log) = new_figure(title, 2, height=3.2)
        for axes, name in ((linear, "linear scale"), (log, "logarithmic scale")):
            draw(axes, laplace, limit, LAPLACE, "Laplace")
            draw(axes, staircase, limit, STAIRCASE, f"staircase, γ = {staircase.gamma:.4g}")
            axes.set_title(name)
            axes.set_xlabel("noise x")
        log_scale(log)
        linear.set_ylabel("probability density")
        linear.set_ylim(bottom=0)
        legend_below(figure, linear, columns=2)
    return figure
