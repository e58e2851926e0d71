"""The base classes of truncated mechanisms, and of both truncated staircases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stairnoise import _native
from stairnoise._parameters import single, stair_shape
from stairnoise.mechanism.immutable import Parameter
from stairnoise.mechanisms.truncated_staircase import calibration, distribution, loss
from stairnoise.numerics.rounding import rounded_up

COSTS = {"l1": 1, "l2": 2}


def checked(eps: Any, delta: Any, sensitivity: Any, lower: Any, upper: Any, bound: Any = single, **shape: Any) -> dict[str, Any]:
    """Check the parameters, and return them in the constructor's order; `shape` has the first stair by its name."""
    parameters: dict[str, Any] = {"eps": single(eps, "eps"), "delta": single(delta, "delta")}
    parameters["sensitivity"] = 1.0 if sensitivity is None else single(sensitivity, "sensitivity")
    for name, value in shape.items():
        parameters[name] = stair_shape(value, name)
    parameters["lower"] = None if lower is None else bound(lower, "lower")
    parameters["upper"] = None if upper is None else bound(upper, "upper")
    return parameters


def best(staircase: Any, eps: float, delta: float, sensitivity: float, cost: str) -> calibration.First:
    """Return the first stair of least cost; `staircase` makes the mechanism without ends."""
    endless = staircase(eps, sensitivity, cost)
    # This call checks δ first.
    _native.truncated_staircase_ends(eps, delta, endless.sensitivity_steps, [1])
    return calibration.best(eps, delta, endless.sensitivity_steps, endless.lengths[0], COSTS[cost])


class Truncated:
    """Parameters and guarantee of noise for (ε, δ) between two bounds, on a lattice of D steps to a sensitivity."""

    __slots__ = ()
    _partitions_rule = "leave an eps and a delta that the mechanism can have"

    if TYPE_CHECKING:
        _parameters: dict[str, Any]
        _sampler: Any
        _sensitivity_steps: int

    eps = Parameter[float]("Privacy parameter ε of one draw.")
    delta = Parameter[float]("Privacy parameter δ of one draw.")


class TruncatedStairs(Truncated):
    """Lengths, privacy loss and sums of truncated staircases."""

    __slots__ = ()

    @property
    def _steps(self) -> tuple[int, int, int]:
        """r, A, and the middle of the distribution."""
        r, end, above, below = self._sampler.lengths
        return r, end, above - below

    @property
    def achieved_delta(self) -> float:
        """δ of the distribution that is drawn, rounded up; at most `delta`."""
        r, end, _ = self._steps
        return rounded_up(distribution.achieved_delta(self.eps, self._sensitivity_steps, r, end))

    def _loss(self, sensitivity: Any) -> Any:
        r, end, _ = self._steps
        return loss.ended_atoms(self.eps, self._sensitivity_steps, r, end)

    def _sum_bound(self, k: int, alpha: float) -> int:
        return distribution.error_bound(self.eps, self._sensitivity_steps, *self._steps, k, alpha)

    def _exact_parameters(self) -> dict[str, Any]:
        r, end, centre = self._steps
        given = {name: self._parameters[name] for name in ("eps", "delta", "sensitivity")}
        return {**given, "r": r, "end": end, "centre": centre}
