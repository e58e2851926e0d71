"""Figure: the probabilities of the discrete staircase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stairnoise._laws.discrete_laplace import DiscreteLaplace
from stairnoise._laws.discrete_staircase import DiscreteStaircase
from stairnoise._parameters import Cost
from stairnoise.figures.law import draw, require_scalars, visible
from stairnoise.figures.style import LAPLACE, STAIRCASE, house_style, legend_below, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def discrete_pmf(eps: float = 1.0, sensitivity: int = 5, r: Cost | int = 3) -> Figure:
    """Probabilities of the discrete staircase and of the discrete Laplace law.

    Parameters
    ----------
    eps, sensitivity, r
        Of `stairnoise.DiscreteStaircase`, scalars.
    """
    staircase, laplace = DiscreteStaircase(eps, sensitivity, r), DiscreteLaplace(eps, sensitivity)
    require_scalars(staircase, "discrete_pmf")
    with house_style():
        figure, (axis,) = new_figure()
        limit = visible(staircase)
        draw(axis, laplace, limit, LAPLACE, "discrete Laplace")
        draw(axis, staircase, limit, STAIRCASE, f"discrete staircase, r = {staircase.r}")
        axis.set_ylim(bottom=0)
        axis.set_xlabel("noise, an integer")
        axis.set_ylabel("probability")
        axis.set_title(f"ε = {staircase.eps:g}, Δ = {staircase.sensitivity}")
        legend_below(figure, axis, columns=2)
    return figure
