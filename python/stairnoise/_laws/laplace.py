"""The Laplace law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stairnoise import _theory
from stairnoise._law import ContinuousLaw
from stairnoise._parameters import RealLike
from stairnoise._theory import exponential
from stairnoise._theory.symmetric import Line


class Laplace(ContinuousLaw):
    r"""Laplace noise of scale Δ/ε: the classic ε-differentially private noise.

    .. math:: f(x) = \frac{ε}{2Δ}\, e^{-ε|x|/Δ}

    Draws are exact on the lattice of multiples of ``granularity``: they are the two-sided
    geometric law whose probabilities fall by :math:`e^{-ε/D}` per lattice point,
    :math:`D = ⌈Δ/g⌉`, for the float64 parameters as they are. Moments and bounds are those of the
    density above. For ε from 2**-20 to 2**20, E|X| and E X² of what is drawn differ from them by less
    than 1e-9 relative, and bounds by less than 1e-9 of Δ and of themselves. Below, the lattice is
    coarser: Δ is rounded up to D steps, by 2**-12 at most.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : float or array of float, default 1.0
        Largest change Δ > 0 of the value that one person can cause.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is out of range, float64 does not hold it exactly, the shapes do not broadcast,
        or ε is so small that the lattice would not fit 64-bit integers.

    References
    ----------
    .. [1] Dwork, McSherry, Nissim and Smith, "Calibrating Noise to Sensitivity in Private Data
       Analysis", TCC 2006.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.Laplace(eps=0.5, sensitivity=1)
    >>> d
    Laplace(eps=0.5, sensitivity=1.0)
    >>> d.var()
    8.0
    >>> round(d.error_bound(0.05), 4)
    5.9915
    >>> d.sample((2, 3), rng=sn.SeededRng(1)).shape
    (2, 3)
    """

    __slots__ = ()
    __module__ = "stairnoise"
    _kind = "laplace"
    _formulas = Line(exponential)

    def __init__(self, eps: RealLike, sensitivity: RealLike = 1.0) -> None:
        self._validate(eps, sensitivity)

    def _make_constants(self) -> exponential.Exponential:
        return exponential.laplace(self._eps, self._sensitivity)

    def _abs_moment(self, p: int) -> NDArray[np.float64]:
        return _theory.laplace_abs_moment(p, self._eps, self._sensitivity)

    def _real_abs_moment(self, p: float) -> NDArray[np.float64]:
        from stairnoise._theory import real_moments

        return real_moments.laplace_abs_moment(p, self._eps, self._sensitivity)
