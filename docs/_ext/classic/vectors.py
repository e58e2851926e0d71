"""Figure: the density of two-dimensional staircase noise, for three norms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from docs._ext.classic.style import legend_below
from stairnoise._parameters import Cost
from stairnoise.figures.style import house_style, load, new_figure
from stairnoise.mechanisms.multivariate_staircase.mechanism import MultivariateStaircase, Norm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES: dict[Norm, str] = {"l1": "l1: |x| + |y|", "l2": "l2: √(x² + y²)", "linf": "linf: max(|x|, |y|)"}
_STAIRS = 6


def multivariate_density(eps: float = 1.0, sensitivity: float = 1.0, gamma: Cost | float = "l1") -> Figure:
    """Density of two-dimensional staircase noise for three norms: its stairs are balls of the norm.

    Parameters
    ----------
    eps, sensitivity, gamma : float
        Parameters of `stairnoise.MultivariateStaircase`.
    """
    mechanisms = [MultivariateStaircase(eps, sensitivity, 2, gamma, norm) for norm in _NAMES]
    first = mechanisms[0]
    with house_style():
        title = f"Noise in two dimensions: ε = {first.eps:g}, Δ = {first.sensitivity:g}, γ = {first.gamma:.4g}"
        figure, axes = new_figure(title, 3, height=3.0, sharey=True)
        colors = load("matplotlib").colormaps["cividis"].resampled(_STAIRS)
        for axis, mechanism in zip(axes, mechanisms, strict=True):
            _draw(axis, mechanism, colors)
        axes[0].set_ylabel("y")
        legend_below(
            figure, axes[0], columns=_STAIRS, title="density, divided by that at the centre", handlelength=1.0, handletextpad=0.5
        )
    return figure


def _draw(axis: Any, mechanism: MultivariateStaircase, colors: Any) -> None:
    """Draw the stairs from the outermost to the central one."""
    gamma = mechanism.gamma or 1.0
    limit = 1.03 * (_STAIRS - 1 + gamma) * mechanism.sensitivity
    for stair in reversed(range(_STAIRS)):
        ball = _ball(mechanism.norm, (stair + gamma) * mechanism.sensitivity)
        ball.set(
            facecolor=colors(_STAIRS - 1 - stair),
            edgecolor="white",
            linewidth=0.6,
            label=f"{math.exp(-mechanism.eps * stair):.2g}",
        )
        axis.add_patch(ball)
    axis.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal", xlabel="x", title=_NAMES[mechanism.norm])
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
