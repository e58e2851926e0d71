"""Figure: the cost of infinite divisibility, in variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from docs._ext.classic.style import legend_below, marked, whole_ticks
from stairnoise._parameters import count
from stairnoise.figures.style import FIFTH, FOURTH, LAPLACE, STAIRCASE, THIRD, house_style, log_scale, new_figure
from stairnoise.mechanisms.discrete_laplace.mechanism import DiscreteLaplace
from stairnoise.mechanisms.discrete_staircase.mechanism import DiscreteStaircase
from stairnoise.mechanisms.generalized_discrete_laplace.mechanism import GeneralizedDiscreteLaplace
from stairnoise.mechanisms.multi_scale_discrete_laplace.mechanism import MultiScaleDiscreteLaplace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOW, _HIGH, _POINTS = 1.0, 16.0, 31
_MOST_PANELS = 6


def infinitely_divisible_variance(sensitivities: tuple[int, ...] = (1, 3, 10, 100)) -> Figure:
    """Variance against ε of the mechanisms that can be drawn in shares, and of those that cannot, divided by discrete Laplace's.

    Shares are possible with generalized discrete Laplace (with the best β and a), multi-scale discrete Laplace, and
    discrete Laplace. They are compared with the discrete staircase with r = 1 and with the best r.

    Parameters
    ----------
    sensitivities : tuple of int, default (1, 3, 10, 100)
        Each sensitivity has a panel; at most six.
    """
    panels = [count(value, "sensitivities", least=1, most=1000) for value in sensitivities[:_MOST_PANELS]]
    with house_style():
        columns = min(2, len(panels))
        rows = -(-len(panels) // columns)
        title = "Variance of integer noise, divided by discrete Laplace's"
        figure, axes = new_figure(title, columns, rows=rows, height=1.4 + 2.6 * rows, sharex=True, sharey=True)
        for axis, sensitivity in zip(axes, panels, strict=False):
            _draw(axis, sensitivity)
            axis.set_title(f"Δ = {sensitivity}")
            axis.set_xlabel("ε of the sum")
            axis.set_ylabel("ratio of variances")
            axis.label_outer()
        for unused in axes[len(panels) :]:
            unused.remove()
        legend_below(figure, axes[0], columns=2)
    return figure


def _draw(axis: Any, sensitivity: int) -> None:
    eps = np.linspace(_LOW, _HIGH, _POINTS)
    generalized = [GeneralizedDiscreteLaplace.from_eps(e, sensitivity).var() for e in eps.tolist()]
    multi_scale = [MultiScaleDiscreteLaplace(e, sensitivity).var() for e in eps.tolist()]
    laplace = DiscreteLaplace(eps, sensitivity).var()
    # Curves that may coincide with others are drawn later; their gaps and hollow marks leave the others visible.
    curves = (
        ("discrete Laplace", laplace, LAPLACE, "D"),
        ("staircase, best r", DiscreteStaircase(eps, sensitivity, "l2").var(), STAIRCASE, "o"),
        ("generalized, best β and a", generalized, THIRD, "s"),
        ("multi-scale", multi_scale, FOURTH, ""),
        ("staircase, r = 1", DiscreteStaircase(eps, sensitivity, 1).var(), FIFTH, ""),
    )
    for name, variance, look, marker in curves:
        axis.plot(eps, variance / laplace, label=name, markevery=6, **marked(look, marker))
    if sensitivity == 1:
        axis.text(
            0.95, 0.5, "The five coincide:\nat Δ = 1 they are\none distribution.", ha="right", va="top", transform=axis.transAxes
        )
    log_scale(axis)
    whole_ticks(axis)
