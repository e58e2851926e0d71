"""The truncated discrete staircase mechanism: staircase noise on the integers, between two bounds."""

from __future__ import annotations

from functools import partial
from typing import SupportsFloat, SupportsIndex

from stairnoise import _native
from stairnoise._parameters import Cost, count, refuse
from stairnoise.mechanism.discrete import DiscreteMechanism
from stairnoise.mechanism.immutable import Parameter
from stairnoise.mechanisms.truncated_staircase.distribution import Truncated, on_integers
from stairnoise.mechanisms.truncated_staircase.shared import COSTS, TruncatedStairs, best, checked

_MOST_SENSITIVITY = 2**53
_BOUND = partial(count, least=-(2**53), most=2**53)


class TruncatedDiscreteStaircase(TruncatedStairs, DiscreteMechanism):
    r"""Staircase noise on the integers between two bounds: nearly the least (ε, δ)-private noise for one count.

    .. math:: P(X = i) ∝ b^{J(i)}, \quad |i| ≤ A, \qquad b = e^{-ε}, \quad
              J(i) = 0 \text{ for } |i| < r, \quad ⌊(|i| - r)/Δ⌋ + 1 \text{ otherwise.}

    Where the distributions around two answers overlap, the ratio of their probabilities is at most :math:`e^ε`. They do not
    overlap on the outermost Δ integers at each end, and δ is the probability of these Δ integers. A is the least integer from
    Δ on for which that probability is at most `delta`; the comparison is exact. Draws are exact too, and a value takes one.

    A bound moves the middle of the distribution as little as it must: with ``lower=0`` the noise is from 0 to 2A, so that a
    released count is never below the true count. Noise with a moved middle is biased: its mean is the middle, A for
    ``lower=0``. Its shape, ε and δ are those of the noise without bounds.

    Parameters
    ----------
    eps : float
        Privacy parameter ε > 0 of one draw.
    delta : float
        Privacy parameter δ of one draw, from 2**-128 to 1/2.
    sensitivity : int or None
        Largest change Δ >= 1 of the value that one person can cause. None is 1: `release` then takes integers only.
    r : {"l1", "l2"} or int, default "l1"
        The central stair is -(r-1)..r-1, with r in 1..Δ. "l1" has the least E|X| for these ε and δ, "l2" the least E X², both
        for noise with its middle at 0. Above Δ = 512, among r of 8 significant bits: within 1e-5 of the least.
    lower, upper : int or None
        Bounds of the noise, at most 2**53 from 0. None: no bound except A. 2A + 1 integers must fit between both bounds.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or a bound or the sensitivity is not an integer.
    ParameterError
        A parameter is an array, is out of range, or float64 does not hold it exactly. Or the noise would not fit 64-bit
        integers, or it does not fit between both bounds.

    References
    ----------
    .. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186, discrete setting: the shape.
    .. [2] Geng, Ding, Guo and Kumar, "Tight Analysis of Privacy and Utility Tradeoff in Approximate Differential
       Privacy", AISTATS 2020: truncation.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.TruncatedDiscreteStaircase(eps=1, delta=1e-6, sensitivity=10, r="l2")
    >>> d
    TruncatedDiscreteStaircase(eps=1.0, delta=1e-06, sensitivity=10, r='l2', lower=None, upper=None)
    >>> d.r, d.lower, d.upper, round(d.var(), 3)
    (5, -136, 136, 191.811)
    >>> d.achieved_delta <= d.delta
    True
    >>> above = sn.TruncatedDiscreteStaircase(eps=1, delta=1e-6, lower=0)
    >>> above.lower, above.upper, above.mean()
    (0, 28, 14.0)
    >>> above.release(120) >= 120
    True
    """

    __slots__ = ()

    def __init__(
        self,
        eps: SupportsFloat,
        delta: SupportsFloat,
        sensitivity: SupportsIndex | SupportsFloat | None = None,
        r: Cost | SupportsFloat = "l1",
        lower: SupportsIndex | None = None,
        upper: SupportsIndex | None = None,
    ) -> None:
        parameters = checked(eps, delta, sensitivity, lower, upper, _BOUND, r=r)
        parameters["sensitivity"] = 1 if sensitivity is None else _whole(parameters["sensitivity"], "sensitivity")
        found = parameters["r"]
        if found in COSTS:
            found = best(_native.discrete_staircase, *list(parameters.values())[:4]).r
        else:
            found = parameters["r"] = _whole(found, "r")
        native = _native.truncated_discrete_staircase(*(parameters | {"r": found}).values())
        self._store(native, parameters, stated=sensitivity is not None)

    sensitivity = Parameter[int]("Largest change Δ of one value that one person can cause.")

    @property
    def r(self) -> int:
        """Integer at which the second stair begins."""
        return self._steps[0]

    @property
    def lower(self) -> int:
        """Least integer that can be drawn."""
        _, end, centre = self._steps
        return centre - end

    @property
    def upper(self) -> int:
        """Largest integer that can be drawn."""
        _, end, centre = self._steps
        return centre + end

    def _functions(self) -> Truncated:
        r, end, centre = self._steps
        return on_integers(self.eps, self._sensitivity_steps, r, end, float(centre))


def _whole(value: float, name: str) -> int:
    """Return a whole number as an int."""
    refuse(name, value, 1 <= value <= _MOST_SENSITIVITY and value == int(value), "a whole number from 1 to 2**53")
    return int(value)
