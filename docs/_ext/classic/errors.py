"""Figure: the mean absolute error for good and bad shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from docs._ext.classic.style import FIFTH, FOURTH, SIXTH, THIRD, legend_below, log_scale, whole_ticks
from stairnoise.figures.style import LAPLACE, STAIRCASE, house_style, new_figure
from stairnoise.mechanisms.laplace.mechanism import Laplace
from stairnoise.mechanisms.staircase.mechanism import Staircase

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = (THIRD, FOURTH, FIFTH, SIXTH)


def mean_error(gammas: tuple[float, ...] = (0.01, 0.5, 1.0)) -> Figure:
    """E|X| against ε: the staircase with the best γ, with fixed ones, and Laplace.

    γ = 1 and the limit γ → 0 give the same distribution. All its stairs have the width Δ, and two of them meet at 0.

    Parameters
    ----------
    gammas : tuple of float, default (0.01, 0.5, 1)
        Up to four shapes in (0, 1].
    """
    eps = np.linspace(0.1, 20, 200)
    with house_style():
        figure, (axis,) = new_figure("Mean absolute error of the staircase, by its shape γ", height=4.2)
        for gamma, look in zip(gammas, _LOOKS, strict=False):
            name = "staircase, γ = 1 or γ → 0" if gamma == 1 else f"staircase, γ = {gamma:g}"
            axis.plot(eps, Staircase(eps, 1.0, gamma).abs_moment(1), label=name, **look._asdict())
        axis.plot(eps, Laplace(eps).abs_moment(1), label="Laplace", **LAPLACE._asdict())
        axis.plot(eps, Staircase(eps, 1.0, "l1").abs_moment(1), label="staircase, γ* for E|X|", **STAIRCASE._asdict())
        log_scale(axis)
        axis.set_xlim(0, eps[-1])
        whole_ticks(axis)
        axis.set_xlabel("ε of one release")
        axis.set_ylabel("E|X| in units of Δ")
        legend_below(figure, axis, columns=2)
    return figure
