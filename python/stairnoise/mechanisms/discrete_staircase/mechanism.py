"""The discrete staircase mechanism."""

from __future__ import annotations

import math
from typing import Any, overload

from stairnoise._parameters import Cost, RealLike
from stairnoise._types import Float, Floats, Ints, Number, Numeric, Whole
from stairnoise.mechanism.array_parameters import STAIRCASE, integers
from stairnoise.mechanism.discrete_stairs import DiscreteStairs
from stairnoise.mechanism.eps_for_error import least_eps_for_error, least_eps_of_integers
from stairnoise.mechanisms.staircase import least_eps as staircase_least_eps


class DiscreteStaircase(DiscreteStairs[Whole, Float]):
    r"""Staircase noise on the integers: the least noise for one ε-differentially private count.

    The probabilities fall in steps of Δ integers, each by the factor :math:`b = e^{-ε}`:

    .. math:: P(X = i) = \frac{1 - b}{2r + 2b(Δ - r) - (1 - b)}\, b^{J(i)}, \qquad
              J(i) = 0 \text{ for } |i| < r, \quad ⌊(|i| - r)/Δ⌋ + 1 \text{ otherwise.}

    Draws are exact: every integer has the probability above, for the float64 ε as it is.
    Magnitudes above 2**63 - 1 saturate there.

    ``release`` first rounds a true value that is not an integer to the nearest one, halves upwards.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : int, array of int or None
        Largest change Δ >= 1 of the value that one person can cause. None is 1: `release` then takes integers only.
    r : {"l1", "l2"}, int or array of int, default "l1"
        The central stair is -(r-1)..r-1, with r in 1..Δ. "l1" is the exact minimiser of E|X|,
        "l2" the exact minimiser of E X².

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is out of range, is not an integer where one is required, or float64 does not hold
        it exactly. Or the shapes do not broadcast, or the noise would not fit 64-bit integers.

    References
    ----------
    .. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186,
       discrete setting.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.DiscreteStaircase(eps=2, sensitivity=5)
    >>> d
    DiscreteStaircase(eps=2.0, sensitivity=5, r='l1')
    >>> d.r, round(d.var(), 6)
    (2, 10.517424)
    >>> d.sample(4, rng=sn.SeededRng(1)).dtype.name
    'int64'
    >>> type(d.release(120))
    <class 'int'>
    """

    __slots__ = ()
    _native_name = "discrete_staircase"
    _spec_name = "r"
    _family = STAIRCASE

    @overload
    def __init__(
        self: DiscreteStaircase[int, float], eps: Number, sensitivity: Number | None = None, r: Cost | Number = "l1"
    ) -> None: ...
    @overload
    def __init__(
        self: DiscreteStaircase[Ints, Floats],
        eps: Numeric,
        sensitivity: Numeric | None = None,
        r: Cost | Numeric = "l1",
    ) -> None: ...
    def __init__(self, eps: RealLike, sensitivity: RealLike | None = None, r: Cost | RealLike = "l1") -> None:
        self._validate(eps, sensitivity, r)

    @property
    def r(self) -> Whole | int:
        """Integer at which the second stair begins."""
        r: Whole | int = self._granularity_and_r()[1] if isinstance(self._spec, str) else integers(self._spec)
        return r

    @overload
    @classmethod
    def eps_for_error(cls, t: Number, confidence: Number = 0.95, sensitivity: Number = 1, r: Cost | Number = "l1") -> float: ...  # type: ignore[overload-overlap]
    @overload
    @classmethod
    def eps_for_error(
        cls, t: Numeric, confidence: Numeric = 0.95, sensitivity: Numeric = 1, r: Cost | Numeric = "l1"
    ) -> Floats: ...
    @classmethod
    def eps_for_error(cls, t: RealLike, confidence: RealLike = 0.95, sensitivity: Any = 1, r: Any = "l1") -> Any:
        """Least ε for which P(|X| <= t) >= confidence: the best privacy at a wanted accuracy.

        If `r` is a number, the inequality holds for every larger ε too. An optimal r falls by 1 at certain ε, where
        P(|X| > t) may rise. The inequality then fails for some larger ε.

        Parameters
        ----------
        t : float or array of float
            Largest error, 0 or more; only its integer part counts.
        confidence : float or array of float, default 0.95
            Probability of no larger error, at least 0.5 and less than 1.
        sensitivity : int or array of int, default 1
            Largest change of the value that one person can cause.
        r : {"l1", "l2"}, int or array of int, default "l1"
            As in the constructor. With a number, no ε brings P(|X| > t) below 1 - (2t + 1)/(2r - 1).

        Returns
        -------
        float or ndarray of float64
            Rounded up, so that the inequality holds for this float64; a smaller ε has P(|X| > t) > (1 - confidence)(1 - 2e-12).
            Never less than the least ε that the mechanism accepts.

        Raises
        ------
        ParameterError
            `t` or `confidence` is out of range, no ε is large enough, or the shapes do not broadcast.

        Examples
        --------
        >>> import stairnoise as sn
        >>> eps = sn.DiscreteStaircase.eps_for_error(t=10, confidence=0.95, sensitivity=5)
        >>> round(eps, 4), sn.DiscreteStaircase(eps, 5).error_bound(0.95)
        (1.4104, 10)
        """
        return least_eps_for_error(t, confidence, cls(1.0, sensitivity, r))

    @property
    def _stairs(self) -> tuple[Any, Any, Any]:
        return self._eps, self._sensitivity, self._granularity_and_r()[1] * 1.0

    @classmethod
    def _least_eps(cls, t: float, alpha: float, D: float, spec: Any) -> float | None:
        def optimal(eps: float) -> int:
            return cls._make_sampler(eps, D, spec).lengths[0]

        shape: Any = optimal if isinstance(spec, str) else spec
        return staircase_least_eps.discrete_staircase(t, alpha, D, shape, least_eps_of_integers(D))

    def _visible(self, limit: float) -> float:
        """Return the end of a stair after the central one."""
        r, width = int(self.r), int(self.sensitivity)
        return float(r - 1 + max(1, math.ceil((limit - r + 1) / width)) * width)
