"""Figure: how often the best candidate is selected, and a group is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from docs._ext.classic.style import whole_ticks
from stairnoise.figures.style import FOURTH, LAPLACE, STAIRCASE, THIRD, house_style, new_figure, written_out
from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.mechanisms.partition_selection.mechanism import PartitionSelection
from stairnoise.mechanisms.permute_and_flip.mechanism import PermuteAndFlip
from stairnoise.mechanisms.staircase_selection.mechanism import StaircaseSelection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RIVALS = 9
# The maximum number of dots or stairs that a picture can show separately.
_POINTS = 301


def selection(eps: float = 1.0, sensitivity: float = 1.0, gamma: float = 0.5, delta: float = 1e-3) -> Figure:
    """Probability of the best candidate against the cost of the others, and of showing a group against its people.

    In the left panel, the best of ten candidates has the cost 0, and the nine others have the cost on the axis.

    Parameters
    ----------
    eps, sensitivity, gamma : float
        Parameters of `stairnoise.StaircaseSelection`; ε and Δ are those of all three mechanisms.
    delta : float
        δ of `stairnoise.PartitionSelection`.
    """
    stairs = StaircaseSelection(eps, sensitivity, gamma)
    groups = PartitionSelection(eps, delta)
    with house_style():
        title = (
            f"Selection: ε = {stairs.eps:g}, Δ = {stairs.sensitivity:g}, γ = {stairs.gamma:.4g}, δ = {written_out(groups.delta)}"
        )
        figure, (left, right) = new_figure(title, 2, height=3.4, sharey=True)
        _draw_candidates(left, stairs)
        assert groups.always_shown is not None
        n = np.unique(np.linspace(0, groups.always_shown, _POINTS).astype(int))
        right.plot(n, groups.probability(n), "o", color=FOURTH.color, markersize=5, clip_on=False)
        right.set(xlabel="people in the group", title="The group is shown")
        left.set(ylim=(0, 1.03), ylabel="probability", xlabel="cost of the nine others", title="The best of ten is selected")
        for axis in (left, right):
            axis.set_xlim(left=0)
            whole_ticks(axis)
        left.legend(loc="lower right", handlelength=1.8, borderaxespad=0.2)
    return figure


def _draw_candidates(axis: Any, stairs: StaircaseSelection) -> None:
    """Draw the curves up to where the exponential mechanism selects the best candidate in 95 % of the cases."""
    eps, sensitivity, gamma = stairs.eps, stairs.sensitivity, stairs.gamma
    steps = np.ceil(2 / eps * np.log(19 * _RIVALS))
    cost = np.linspace(0, steps * sensitivity, _POINTS)
    for mechanism, look, name in (
        (PermuteAndFlip(eps, sensitivity), THIRD, "permute-and-flip"),
        (ExponentialMechanism(eps, sensitivity), LAPLACE, "exponential"),
    ):
        axis.plot(cost, _best(mechanism, cost), label=name, **look._asdict())
    if steps >= _POINTS:
        axis.plot(cost, _best(stairs, cost), label="staircase", **STAIRCASE._asdict())
        return
    edges = np.append(np.append(0, (np.arange(steps) + gamma) * sensitivity), cost[-1])
    heights = _best(stairs, (edges[:-1] + edges[1:]) / 2)
    axis.stairs(heights, edges, baseline=None, label="staircase", **STAIRCASE._asdict())


def _best(mechanism: Any, cost: Any) -> Any:
    """Return the probability of the best candidate, for each cost of the others."""
    rows = np.append(np.zeros((cost.size, 1)), np.repeat(cost[:, None], _RIVALS, axis=1), axis=1)
    return mechanism.probabilities(rows)[:, 0]
