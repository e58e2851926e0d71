"""Figure: the probabilities of the discrete staircase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs._ext.classic.style import legend_below
from stairnoise._parameters import Cost
from stairnoise.figures.mechanism import draw, require_scalars, visible
from stairnoise.figures.style import LAPLACE, STAIRCASE, house_style, log_scale, new_figure
from stairnoise.mechanisms.discrete_laplace.mechanism import DiscreteLaplace
from stairnoise.mechanisms.discrete_staircase.mechanism import DiscreteStaircase

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def discrete_pmf(eps: float = 1.0, sensitivity: int = 5, r: Cost | int = 3) -> Figure:
    """Probabilities of the discrete staircase and of discrete Laplace.

    Parameters
    ----------
    eps, sensitivity, r
        Scalar parameters of `stairnoise.DiscreteStaircase`.
    """
    staircase, laplace = DiscreteStaircase(eps, sensitivity, r), DiscreteLaplace(eps, sensitivity)
    require_scalars(staircase, "discrete_pmf")
    with house_style():
        title = f"Probabilities at ε = {staircase.eps:g} and Δ = {staircase.sensitivity}"
        figure, (linear, log) = new_figure(title, rows=2, height=5.4, sharex=True)
        limit = visible(staircase)
        for axes, name in ((linear, "linear scale"), (log, "logarithmic scale")):
            draw(axes, laplace, limit, LAPLACE, "discrete Laplace")
            draw(axes, staircase, limit, STAIRCASE, f"discrete staircase, r = {staircase.r}")
            axes.set_title(name)
            axes.set_ylabel("probability")
        linear.set_ylim(bottom=0)
        log_scale(log)
        log.set_xlabel("noise, an integer")
        legend_below(figure, linear, columns=2)
    return figure
