"""The Laplace mechanism."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from stairnoise._parameters import RealLike
from stairnoise._types import Float, Floats, Number, Numeric
from stairnoise.distributions.symmetric import Line
from stairnoise.mechanism.array_parameters import ArrayParameters
from stairnoise.mechanism.continuous import ContinuousMechanism
from stairnoise.mechanism.cost import CostFunction, elementwise
from stairnoise.mechanism.eps_for_error import LEAST_EPS, raised_for_lattice
from stairnoise.mechanism.on_lattice import LAPLACE
from stairnoise.mechanism.symmetric import Symmetric
from stairnoise.mechanisms.laplace import distribution as laplace
from stairnoise.mechanisms.laplace import loss
from stairnoise.mechanisms.staircase import cost as staircase_cost
from stairnoise.mechanisms.staircase import least_eps as staircase_least_eps

_FORMULAS = Line(laplace)


class Laplace(ArrayParameters[np.float64, Float, Float], ContinuousMechanism[Float]):
    r"""Laplace noise of scale Δ/ε: the classic ε-differentially private noise.

    .. math:: f(x) = \frac{ε}{2Δ}\, e^{-ε|x|/Δ}

    Draws are exact on the lattice of multiples of ``granularity`` g. Their distribution is two-sided
    geometric: probabilities fall by :math:`e^{-ε/D}` per lattice point, with :math:`D = ⌈Δ/g⌉`, for the
    float64 parameters as they are. Moments and bounds are those of the density above.

    For ε from 2**-20 to 2**20, E|X| and E X² of the noise drawn differ by less than 1e-9
    relative. Bounds differ by less than 1e-9 of Δ and of themselves. For smaller ε the lattice is
    coarser: Δ is rounded up to D steps, by 2**-12 at most.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : float, array of float or None
        Largest change Δ > 0 of the value that one person can cause. None is 1, for study: `release` requires that you state
        it.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is out of range, or float64 does not hold it exactly. Or the shapes do not
        broadcast, or ε is so small that the lattice would not fit 64-bit integers.

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
    >>> round(d.error_bound(0.95), 4)
    5.9915
    >>> d.sample((2, 3), rng=sn.SeededRng(1)).shape
    (2, 3)
    """

    __slots__ = ()
    _native_name = "laplace"
    _family = LAPLACE

    @overload
    def __init__(self: Laplace[float], eps: Number, sensitivity: Number | None = None) -> None: ...
    @overload
    def __init__(self: Laplace[Floats], eps: Numeric, sensitivity: Numeric | None = None) -> None: ...
    def __init__(self, eps: RealLike, sensitivity: RealLike | None = None) -> None:
        self._validate(eps, sensitivity)

    def _functions(self) -> Symmetric:
        eps, D = self._eps, self._sensitivity
        return Symmetric(_FORMULAS, lambda: laplace.constants(eps, D), self._parameter_shape, "laplace_abs_moment", (eps, D))

    def _density_loss(self) -> Any:
        return loss.Steps(self._broadcast(self._parameter_shape)[0], np.full(np.shape(self._sensitivity), np.inf))

    @classmethod
    def _least_eps(cls, t: float, alpha: float, D: float, spec: Any) -> float | None:
        del spec
        found = max(staircase_least_eps.laplace(t, alpha, D), LEAST_EPS)
        return raised_for_lattice(cls, t, alpha, D, None, found)

    def _expected_cost(self, function: CostFunction) -> Any:
        return elementwise(
            lambda eps, D: staircase_cost.laplace_cost(function, D / eps), self._parameter_shape, self._eps, self._sensitivity
        )

    def _frozen(self, scipy: Any) -> Any:
        return scipy.shaped("laplace", self.eps, scale=self.sensitivity)
