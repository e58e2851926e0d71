"""The discrete Laplace law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stairnoise import _theory
from stairnoise._law import DiscreteLaw
from stairnoise._parameters import RealLike
from stairnoise._theory import stairs
from stairnoise._theory.symmetric import Lattice


class DiscreteLaplace(DiscreteLaw):
    r"""Discrete Laplace noise, also called two-sided geometric.

    .. math:: P(X = i) = \frac{1 - λ}{1 + λ}\, λ^{|i|}, \qquad λ = e^{-ε/Δ}

    Draws are exact: every integer has the probability above, for the float64 ε as it is.
    Magnitudes above 2**63 - 1 saturate there.

    ``release`` rounds a true value that is no integer to the nearest one first, a half upwards.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : int or array of int, default 1
        Largest change Δ >= 1 of the value that one person can cause.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is out of range or not an integer where one is due, float64 does not hold it
        exactly, the shapes do not broadcast, or the noise would not fit 64-bit integers.

    References
    ----------
    .. [1] Ghosh, Roughgarden and Sundararajan, "Universally Utility-Maximizing Privacy
       Mechanisms", SIAM Journal on Computing 41(6), 2012.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.DiscreteLaplace(eps=1)
    >>> d
    DiscreteLaplace(eps=1.0, sensitivity=1)
    >>> round(d.var(), 6), d.error_bound(0.05)
    (1.841347, 3)
    >>> counts = d.release([12, 40, 7])
    >>> counts.dtype.name
    'int64'
    """

    __slots__ = ()
    __module__ = "stairnoise"
    _kind = "discrete_laplace"
    _formulas = Lattice(stairs)

    def __init__(self, eps: RealLike, sensitivity: RealLike = 1) -> None:
        self._validate(eps, sensitivity)

    # A geometric law falls by the same factor at every integer: a staircase whose stairs have
    # one integer each, with eps per integer.

    def _make_constants(self) -> stairs.Stairs:
        return stairs.lattice(self._eps / self._sensitivity, 1.0, 1.0)

    def _abs_moment(self, p: int) -> NDArray[np.float64]:
        return _theory.lattice_abs_moment(p, self._eps / self._sensitivity, 1.0, 1.0)

    def _real_abs_moment(self, p: float) -> NDArray[np.float64]:
        from stairnoise._theory import real_moments

        return real_moments.lattice_abs_moment(p, self._eps / self._sensitivity, 1.0, 1.0)
