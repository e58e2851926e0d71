"""The truncated staircase mechanism: staircase noise between two bounds."""

from __future__ import annotations

import math
from typing import Any, SupportsFloat

import numpy as np

from stairnoise import _native
from stairnoise._parameters import Cost
from stairnoise._types import Floats
from stairnoise.mechanism.continuous import ContinuousMechanism
from stairnoise.mechanism.cost import CostFunction, check_function
from stairnoise.mechanism.immutable import Parameter
from stairnoise.mechanisms.staircase import distribution as staircase
from stairnoise.mechanisms.truncated_staircase import stairs as truncated_stairs
from stairnoise.mechanisms.truncated_staircase.distribution import Truncated
from stairnoise.mechanisms.truncated_staircase.shared import COSTS, TruncatedStairs, best, checked

# As in `Staircase`.
_MOST_STAIRS = 500
_GRID = 2002


class TruncatedStaircase(TruncatedStairs, ContinuousMechanism):
    r"""Staircase noise between two bounds: nearly the least (ε, δ)-private noise for one real number.

    .. math:: f(x) ∝ b^{J(x)}, \quad |x| ≤ A, \qquad b = e^{-ε}, \quad
              J(x) = 0 \text{ for } |x| < γΔ, \quad ⌊|x|/Δ - γ⌋ + 1 \text{ otherwise.}

    Where the densities around two answers overlap, their ratio is at most :math:`e^ε`. They do not overlap on the outermost Δ
    at each end, and δ is the mass there. The variance is 4 % below that of `TruncatedLaplace` at ε = 1, half of it at ε = 4,
    and a tenth at ε = 8.

    Draws are exact on the lattice of multiples of ``granularity`` g, which is that of `Staircase`. Their distribution is that of
    `TruncatedDiscreteStaircase` with :math:`D = ⌈Δ/g⌉` and :math:`r = ⌈γD⌉`. A is a whole number of steps, the least from D on
    for which the outermost D points of an end have at most `delta`; the comparison is exact. A value takes one draw.

    A bound is rounded inwards to the lattice, and moves the middle of the distribution as little as it must: with ``lower=0``
    the noise is from 0 to 2A. Noise with a moved middle is biased: its mean is the middle, A for ``lower=0``. Its
    shape, ε and δ are those of the noise without bounds.

    The distribution functions are those of the density between `lower` and `upper`. Its moments differ from those of the noise
    drawn as stated for `Staircase`.

    Parameters
    ----------
    eps : float
        Privacy parameter ε > 0 of one draw.
    delta : float
        Privacy parameter δ of one draw, from 2**-128 to 1/2.
    sensitivity : float or None
        Largest change Δ > 0 of the value that one person can cause. None is 1, for study: `release` requires that you state
        it.
    gamma : {"l1", "l2"} or float, default "l1"
        Half-width of the central stair in units of Δ, in (0, 1]. "l1" has the least E|X| for these ε and δ among γ of 8
        significant bits, "l2" the least E X², both for noise with its middle at 0: within 1e-5 of the least of all.
    lower, upper : float or None
        Bounds of the noise. None: no bound except A. 2A must fit between both bounds.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is an array, is out of range, or float64 does not hold it exactly. Or the lattice would not fit 64-bit
        integers, or noise does not fit between both bounds.

    References
    ----------
    .. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186: the shape.
    .. [2] Geng, Ding, Guo and Kumar, "Tight Analysis of Privacy and Utility Tradeoff in Approximate Differential
       Privacy", AISTATS 2020: truncation.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.TruncatedStaircase(eps=4, delta=1e-6, gamma="l2")
    >>> d
    TruncatedStaircase(eps=4.0, delta=1e-06, gamma='l2', lower=None, upper=None)
    >>> round(d.gamma, 4), round(d.upper, 4), round(d.var(), 5)
    (0.1953, 4.143, 0.06498)
    >>> d.achieved_delta <= d.delta
    True
    >>> above = sn.TruncatedStaircase(eps=4, delta=1e-6, lower=0)
    >>> above.lower, above.mean() == above.upper / 2
    (0.0, True)
    """

    __slots__ = ("_gamma",)
    _gamma: float

    def __init__(
        self,
        eps: SupportsFloat,
        delta: SupportsFloat,
        sensitivity: SupportsFloat | None = None,
        gamma: Cost | SupportsFloat = "l1",
        lower: SupportsFloat | None = None,
        upper: SupportsFloat | None = None,
    ) -> None:
        parameters = checked(eps, delta, sensitivity, lower, upper, gamma=gamma)
        found = parameters["gamma"]
        if found in COSTS:
            found = best(_native.staircase, *list(parameters.values())[:4]).gamma
        native = _native.truncated_staircase(*(parameters | {"gamma": found}).values())
        self._store(native, parameters, stated=sensitivity is not None)
        object.__setattr__(self, "_gamma", found)

    sensitivity = Parameter[float]("Largest change Δ of one value that one person can cause.")

    @property
    def gamma(self) -> float:
        """Half-width of the central stair in units of Δ."""
        return self._gamma

    @property
    def lower(self) -> float:
        """Lower bound of the density."""
        return self._middle - self._end

    @property
    def upper(self) -> float:
        """Upper bound of the density."""
        return self._middle + self._end

    @property
    def lattice_bounds(self) -> tuple[float, float]:
        """Least and largest value that can be drawn."""
        _, end, centre = self._steps
        return (centre - end) * self.granularity, (centre + end) * self.granularity

    @property
    def _middle(self) -> float:
        return float(self._steps[2] * self.granularity)

    @property
    def _end(self) -> float:
        """A."""
        return float(self._steps[1] * self.granularity)

    def _functions(self) -> Truncated:
        width, gamma = self.sensitivity, self._gamma
        past = self._end / width - gamma
        last = max(1.0, float(int(past)) + 1)
        part = (past - (last - 1)) * width
        stairs = staircase.continuous(self.eps, width, gamma)
        return Truncated(truncated_stairs.ended(stairs, self._end, last, part), self._middle, whole=False)

    def _expected_cost(self, function: CostFunction) -> Any:
        check_function(self.eps)
        return super()._expected_cost(function)

    def _jumps(self, most: int) -> Floats:
        """Return up to `most` jumps of the density on one side, as distances from the middle, and the end."""
        edges = (self._gamma + np.arange(most)) * self.sensitivity
        return np.append(edges[edges < self._end], self._end)

    def _kinks(self) -> tuple[float, ...]:
        jumps = self._jumps(math.ceil(self._end / self.sensitivity) + 1)
        both = np.abs(np.concatenate([self._middle - jumps, self._middle + jumps]))
        # Panels end on both sides of a jump, farther from it than the rounding errors of x minus the middle.
        apart = (abs(self._middle) + self._end) * 2.0**-50
        return tuple(np.unique(np.concatenate([both - apart, both + apart])).tolist())

    def _edges(self, limit: float) -> Floats:
        """Return the edges of the stairs within the limit, or an even grid if there are too many stairs to see."""
        if self._end / self.sensitivity > _MOST_STAIRS:
            return np.linspace(-limit, limit, _GRID)
        jumps = self._jumps(_MOST_STAIRS + 1)
        both = np.concatenate([self._middle - jumps[::-1], self._middle + jumps])
        return np.concatenate([[-limit], both[np.abs(both) < limit], [limit]])
