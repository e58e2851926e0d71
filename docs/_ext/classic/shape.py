"""Figure: the best half-width of the central stair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from docs._ext.classic.style import legend_below, whole_ticks
from stairnoise import optimal
from stairnoise._parameters import Cost
from stairnoise.figures.style import FIFTH, FOURTH, STAIRCASE, THIRD, house_style, log_scale, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = (STAIRCASE, THIRD, FOURTH, FIFTH)


def optimal_gamma(costs: tuple[Cost | float, ...] = ("l1", "l2", 3.0)) -> Figure:
    """Best shape γ*(ε), which minimises E|X|**p, for several p.

    Parameters
    ----------
    costs : tuple of {"l1", "l2"} or float, default ("l1", "l2", 3.0)
        Up to four costs of `stairnoise.optimal.optimal_gamma`.
    """
    eps = np.linspace(0.1, 20, 100)
    with house_style():
        figure, (axis,) = new_figure("Best γ: half the width of the central stair, divided by Δ")
        for cost, look in zip(costs, _LOOKS, strict=False):
            axis.plot(eps, optimal.optimal_gamma(eps, cost), label=f"least {_moment(cost)}", **look._asdict())
        log_scale(axis)
        axis.set_xlim(0, eps[-1])
        whole_ticks(axis)
        axis.set_xlabel("ε of one release")
        axis.set_ylabel("best γ")
        legend_below(figure, axis, columns=len(costs))
    return figure


def _moment(cost: str | float) -> str:
    """Write E|X|**p, with a raised p if it is a digit."""
    power = {"l1": 1.0, "l2": 2.0}.get(cost, cost) if isinstance(cost, str) else cost
    if power == 1:
        return "E|X|"
    text = f"{power:g}"
    return "E|X|" + ("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(text)] if text.isdigit() and len(text) == 1 else f"^{text}")
