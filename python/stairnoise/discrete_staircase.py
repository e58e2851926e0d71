"""The discrete staircase law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stairnoise import _theory
from stairnoise._law import Cost, DiscreteLaw, integers
from stairnoise._parameters import RealLike
from stairnoise._theory import stairs
from stairnoise._theory.symmetric import Lattice


class DiscreteStaircase(DiscreteLaw):
    r"""Staircase noise on the integers: the least noise for one ε-differentially private count.

    The probabilities fall in steps of Δ integers, each by the factor :math:`b = e^{-ε}`:

    .. math:: P(X = i) = \frac{1 - b}{2r + 2b(Δ - r) - (1 - b)}\, b^{J(i)}, \qquad
              J(i) = 0 \text{ for } |i| < r, \quad ⌊(|i| - r)/Δ⌋ + 1 \text{ otherwise.}

    Draws are exact: every integer has the probability above, for the float64 ε as it is.
    Magnitudes above 2**63 - 1 saturate there.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : int or array of int, default 1
        Largest change Δ >= 1 of the value that one person can cause.
    r : {"l1", "l2"}, int or array of int, default "l1"
        The central stair is -(r-1)..r-1, with r in 1..Δ. "l1" is the exact minimiser of E|X|,
        "l2" that of E X².

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is out of range or not an integer where one is due, float64 does not hold it
        exactly, the shapes do not broadcast, or the noise would not fit 64-bit integers.

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
    __module__ = "stairnoise"
    _kind = "discrete_staircase"
    _formulas = Lattice(stairs)
    _spec_name = "r"

    def __init__(
        self,
        eps: RealLike,
        sensitivity: RealLike = 1,
        r: Cost | RealLike = "l1",
    ) -> None:
        self._validate(eps, sensitivity, r)

    @property
    def r(self) -> int | NDArray[np.int64]:
        """Where the second stair begins: the integer given, or the optimum asked for."""
        r: int | NDArray[np.int64] = self._place()[1] if isinstance(self._spec, str) else integers(self._spec)
        return r

    def _make_constants(self) -> stairs.Stairs:
        r = self._place()[1]
        return stairs.lattice(self._eps, self._sensitivity, float(r) if isinstance(r, int) else r.astype(np.float64))

    def _abs_moment(self, p: int) -> NDArray[np.float64]:
        return _theory.lattice_abs_moment(p, self._eps, self._sensitivity, self._place()[1])
