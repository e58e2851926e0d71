"""Figure: what infinite divisibility costs, in variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._laws.discrete_laplace import DiscreteLaplace
from stairnoise._laws.discrete_staircase import DiscreteStaircase
from stairnoise._parameters import count
from stairnoise.figures.style import (
    FOURTH,
    LAPLACE,
    STAIRCASE,
    THIRD,
    Look,
    house_style,
    legend_below,
    new_figure,
    whole_ticks,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOW, _HIGH, _POINTS = 1.0, 16.0, 31
_MOST_PANELS = 6
_ONE = Look("#000000", (0, (1, 1.5)), 1.4)


def infinitely_divisible_variance(sensitivities: tuple[int, ...] = (1, 3, 10, 100)) -> Figure:
    """Variance against ε of the laws that can be drawn in shares, and of those that cannot.

    The generalized discrete Laplace law with the best β and a, the multi-scale discrete Laplace law, the discrete
    staircase with r = 1 and with the best r, and the discrete Laplace law, which can be drawn in shares too.

    Parameters
    ----------
    sensitivities : tuple of int, default (1, 3, 10, 100)
        One panel each, up to six.
    """
    panels = [count(value, "sensitivities", least=1, most=1000) for value in sensitivities[:_MOST_PANELS]]
    with house_style():
        figure, axes = new_figure(len(panels), width=2.4 * max(len(panels), 3), height=4.2)
        for axis, sensitivity in zip(axes, panels, strict=True):
            _draw(axis, sensitivity)
            axis.set_title(f"Δ = {sensitivity}")
            axis.set_xlabel("ε of the sum")
        axes[0].set_ylabel("variance of the noise")
        legend_below(figure, axes[0], columns=3)
    return figure


def _draw(axis: Any, sensitivity: int) -> None:
    from stairnoise._laws.generalized_discrete_laplace import GeneralizedDiscreteLaplace
    from stairnoise._laws.multi_scale_discrete_laplace import MultiScaleDiscreteLaplace

    eps = np.linspace(_LOW, _HIGH, _POINTS)
    generalized = [GeneralizedDiscreteLaplace.from_eps(e, sensitivity).var() for e in eps.tolist()]
    multi_scale = [MultiScaleDiscreteLaplace(e, sensitivity).var() for e in eps.tolist()]
    # What may coincide comes later: the gaps of its line show the one below.
    curves = (
        ("discrete Laplace", DiscreteLaplace(eps, sensitivity).var(), LAPLACE),
        ("generalized discrete Laplace, best β and a", generalized, THIRD),
        ("multi-scale discrete Laplace", multi_scale, FOURTH),
        ("discrete staircase, best r", DiscreteStaircase(eps, sensitivity, "l2").var(), STAIRCASE),
        ("discrete staircase, r = 1", DiscreteStaircase(eps, sensitivity, 1).var(), _ONE),
    )
    for name, variance, look in curves:
        axis.plot(eps, variance, label=name, **look._asdict())
    axis.set_yscale("log")
    whole_ticks(axis)
