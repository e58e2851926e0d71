"""Figure: the variance of the discrete staircase, and the parameters at which the choice of r matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docs._ext.classic.style import legend_below, marked, whole_ticks
from stairnoise.figures.mechanism import require_scalars
from stairnoise.figures.style import FOURTH, LAPLACE, STAIRCASE, THIRD, house_style, log_scale, new_figure
from stairnoise.mechanisms.discrete_laplace.mechanism import DiscreteLaplace
from stairnoise.mechanisms.discrete_staircase.mechanism import DiscreteStaircase

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Integers whose dots stay apart on a logarithmic scale. No sensitivity lies between two integers, so no line joins the dots.
_SENSITIVITIES = np.array([1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 57, 80, 100])
_LOW, _HIGH = 0.1, 15.0


def discrete_variance(eps: float = 6.0, sensitivity: int = 5) -> Figure:
    """Variance of the discrete staircase, divided by discrete Laplace's, against Δ and against ε, with r = 1 and with the best r.

    For r = 1 the variance approaches Δ(1+Δ)(1+2Δ)/3·exp(−ε) as ε grows; the figure shows this limit too.

    Parameters
    ----------
    eps : float, default 6
        ε of the panel with the sensitivity on its axis.
    sensitivity : int, default 5
        Sensitivity of the panel with ε on its axis.
    """
    fixed = DiscreteStaircase(eps, sensitivity)
    require_scalars(fixed, "discrete_variance")
    with house_style():
        figure, (left, right) = new_figure("Variance, divided by discrete Laplace's", 2, height=4.2, sharey=True)
        _draw(left, _SENSITIVITIES, fixed.eps, _SENSITIVITIES)
        grid = np.linspace(_LOW, _HIGH, 150)
        _draw(right, grid, grid, fixed.sensitivity)
        log_scale(left, "x")
        left.set_xlabel("sensitivity Δ, an integer")
        left.set_title(f"ε = {fixed.eps:g}")
        whole_ticks(right)
        right.set_xlabel("ε of one release")
        right.set_title(f"Δ = {fixed.sensitivity}")
        left.set_ylabel("ratio of variances")
        legend_below(figure, right, columns=2)
    return figure


def _draw(axes: Any, x: NDArray[Any], eps: Any, sensitivity: Any) -> None:
    laplace = DiscreteLaplace(eps, sensitivity).var()
    # Curves that may coincide with others are drawn later; their gaps and hollow marks leave the others visible.
    curves = (
        ("discrete Laplace", laplace, LAPLACE, "D"),
        ("discrete staircase, best r", DiscreteStaircase(eps, sensitivity, "l2").var(), STAIRCASE, "o"),
        ("discrete staircase, r = 1", DiscreteStaircase(eps, sensitivity, 1).var(), THIRD, "s"),
        ("limit of r = 1 as ε grows", limit(eps, sensitivity), FOURTH, ""),
    )
    whole = x is _SENSITIVITIES
    for name, variance, look, marker in curves:
        dots_only = {"linestyle": ""} if whole and marker else {}
        axes.plot(x, variance / laplace, label=name, markevery=1 if whole else 25, **marked(look, marker) | dots_only)
    log_scale(axes)


def limit(eps: Any, sensitivity: Any) -> Any:
    """Return the variance of the discrete staircase with r = 1, to leading order at large ε."""
    return sensitivity * (1 + sensitivity) * (1 + 2 * sensitivity) / 3 * np.exp(-np.asarray(eps))
