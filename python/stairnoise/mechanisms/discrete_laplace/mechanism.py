"""The discrete Laplace mechanism."""

from __future__ import annotations

from typing import Any, overload

from stairnoise._parameters import RealLike
from stairnoise._types import Float, Floats, Ints, Number, Numeric, Whole
from stairnoise.mechanism.array_parameters import LAPLACE
from stairnoise.mechanism.discrete_stairs import DiscreteStairs
from stairnoise.mechanism.eps_for_error import least_eps_of_integers
from stairnoise.mechanisms.staircase import least_eps as staircase_least_eps


class DiscreteLaplace(DiscreteStairs[Whole, Float]):
    r"""Discrete Laplace noise, also called two-sided geometric.

    .. math:: P(X = i) = \frac{1 - λ}{1 + λ}\, λ^{|i|}, \qquad λ = e^{-ε/Δ}

    Draws are exact: every integer has the probability above, for the float64 ε as it is.
    Magnitudes above 2**63 - 1 saturate there.

    ``release`` first rounds a true value that is not an integer to the nearest one, halves upwards.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : int, array of int or None
        Largest change Δ >= 1 of the value that one person can cause. None is 1: `release` then takes integers only.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is out of range, is not an integer where one is required, or float64 does not hold
        it exactly. Or the shapes do not broadcast, or the noise would not fit 64-bit integers.

    References
    ----------
    .. [1] Ghosh, Roughgarden and Sundararajan, "Universally Utility-Maximizing Privacy
       Mechanisms", SIAM Journal on Computing 41(6), 2012.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.DiscreteLaplace(eps=1)
    >>> d
    DiscreteLaplace(eps=1.0)
    >>> round(d.var(), 6), d.error_bound(0.95)
    (1.841347, 3)
    >>> counts = d.release([12, 40, 7])
    >>> counts.dtype.name
    'int64'
    """

    __slots__ = ()
    _native_name = "discrete_laplace"
    _family = LAPLACE

    @overload
    def __init__(self: DiscreteLaplace[int, float], eps: Number, sensitivity: Number | None = None) -> None: ...
    @overload
    def __init__(self: DiscreteLaplace[Ints, Floats], eps: Numeric, sensitivity: Numeric | None = None) -> None: ...
    def __init__(self, eps: RealLike, sensitivity: RealLike | None = None) -> None:
        self._validate(eps, sensitivity)

    @property
    def _stairs(self) -> tuple[Any, Any, Any]:
        # Stairs of one integer, each lower by this ε.
        return self._eps / self._sensitivity, 1.0, 1.0

    @classmethod
    def _least_eps(cls, t: float, alpha: float, D: float, spec: Any) -> float | None:
        del spec
        return staircase_least_eps.discrete_laplace(t, alpha, D, least_eps_of_integers(D))
