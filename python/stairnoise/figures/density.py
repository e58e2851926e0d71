"""Figure: the density of the staircase beside Laplace's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stairnoise._laws.laplace import Laplace
from stairnoise._laws.staircase import Staircase
from stairnoise._parameters import Cost
from stairnoise.figures.law import draw, require_scalars, visible
from stairnoise.figures.style import LAPLACE, STAIRCASE, house_style, legend_below, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def densities(eps: float = 1.0, sensitivity: float = 1.0, gamma: Cost | float = "l1") -> Figure:
    """Densities of the staircase and of Laplace, on a linear and on a logarithmic scale.

    Parameters
    ----------
    eps, sensitivity, gamma : float
        Of `stairnoise.Staircase`, scalars.
    """
    staircase, laplace = Staircase(eps, sensitivity, gamma), Laplace(eps, sensitivity)
    require_scalars(staircase, "densities")
    limit = visible(staircase)
    with house_style():
        figure, axes = new_figure(2, height=3.8)
        for axis, scale in zip(axes, ("linear", "log"), strict=True):
            draw(axis, laplace, limit, LAPLACE, "Laplace")
            draw(axis, staircase, limit, STAIRCASE, f"staircase, γ = {staircase.gamma:.4g}")
            axis.set_yscale(scale)
            axis.set_xlabel("noise x, in the units of the value")
            axis.set_title("linear scale" if scale == "linear" else "logarithmic scale")
        axes[0].set_ylabel("probability density per unit of x")
        axes[0].set_ylim(bottom=0)
        figure.suptitle(f"ε = {staircase.eps:g}, Δ = {staircase.sensitivity:g}", fontsize=11)
        legend_below(figure, axes[0], columns=2)
    return figure
