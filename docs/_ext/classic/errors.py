"""Figure: the mean absolute error for good and bad shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from docs._ext.classic.style import label_line, whole_ticks
from stairnoise.figures.style import FIFTH, FOURTH, LAPLACE, SIXTH, STAIRCASE, THIRD, house_style, log_scale, new_figure
from stairnoise.mechanisms.laplace.mechanism import Laplace
from stairnoise.mechanisms.staircase.mechanism import Staircase

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# ε at which the curves are far apart.
_ABOVE, _BELOW = 15.0, 17.0
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
        figure, (axis,) = new_figure("Mean absolute error of the staircase, by its shape γ", height=3.8)
        for gamma, look in zip(gammas, _LOOKS, strict=False):
            name = "γ = 1 or γ → 0" if gamma == 1 else f"γ = {gamma:g}"
            (line,) = axis.plot(eps, Staircase(eps, 1.0, gamma).abs_moment(1), label=name, **look._asdict())
            label_line(axis, line, _ABOVE if gamma == 1 else _BELOW, above=gamma == 1)
        (line,) = axis.plot(eps, Laplace(eps).abs_moment(1), label="Laplace", **LAPLACE._asdict())
        label_line(axis, line, _BELOW, above=False)
        (line,) = axis.plot(eps, Staircase(eps, 1.0, "l1").abs_moment(1), label="best γ", **STAIRCASE._asdict())
        label_line(axis, line, _ABOVE, above=True)
        log_scale(axis)
        axis.set_xlim(0, eps[-1])
        whole_ticks(axis)
        axis.set_xlabel("ε of one release")
        axis.set_ylabel("E|X| in units of Δ")
    return figure
