"""Figure: the density of two-dimensional staircase noise, for three norms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from stairnoise._laws.multivariate_staircase import MultivariateStaircase, Norm
from stairnoise._parameters import Cost
from stairnoise.figures.style import house_style, legend_below, load, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES: dict[Norm, str] = {"l1": "sum of magnitudes", "l2": "Euclidean norm", "linf": "largest magnitude"}
_STAIRS = 6


def multivariate_density(eps: float = 1.0, sensitivity: float = 1.0, gamma: Cost | float = "l1") -> Figure:
    """Density of two-dimensional staircase noise for three norms: its stairs are the norm's balls.

    Parameters
    ----------
    eps, sensitivity, gamma : float
        Of `stairnoise.MultivariateStaircase`.
    """
    laws = [MultivariateStaircase(eps, sensitivity, 2, gamma, norm) for norm in _NAMES]
    first = laws[0]
    with house_style():
        figure, axes = new_figure(3, height=3.3)
        colors = load("matplotlib").colormaps["cividis"].resampled(_STAIRS)
        for axis, law in zip(axes, laws, strict=True):
            _draw(axis, law, colors)
        axes[0].set_ylabel("second coordinate")
        title = f"density, as a part of that at 0;  ε = {first.eps:g}, Δ = {first.sensitivity:g}, γ = {first.gamma:.4g}"
        figure.suptitle(title, fontsize=11)
        legend_below(figure, axes[0], columns=_STAIRS)
    return figure


def _draw(axis: Any, law: MultivariateStaircase, colors: Any) -> None:
    """Draw the stairs from the outermost to the central one."""
    gamma = law.gamma or 1.0
    limit = 1.03 * (_STAIRS - 1 + gamma) * law.sensitivity
    for stair in reversed(range(_STAIRS)):
        ball = _ball(law.norm, (stair + gamma) * law.sensitivity)
        ball.set(
            facecolor=colors(_STAIRS - 1 - stair), edgecolor="white", linewidth=0.6, label=f"{math.exp(-law.eps * stair):.2g}"
        )
        axis.add_patch(ball)
    axis.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal", xlabel="first coordinate", title=_NAMES[law.norm])
    axis.locator_params(nbins=4)
    axis.grid(False)


def _ball(norm: Norm, radius: float) -> Any:
    patches = load("matplotlib.patches")
    if norm == "l2":
        return patches.Circle((0, 0), radius)
    corners = [(radius, 0), (0, radius), (-radius, 0), (0, -radius)]
    if norm == "linf":
        corners = [(radius, radius), (-radius, radius), (-radius, -radius), (radius, -radius)]
    return patches.Polygon(corners)
