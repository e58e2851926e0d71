"""Laws with scalar parameters only: one at a time."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._law.accuracy import Intervals
from stairnoise._law.distribution import ContinuousDistribution, DiscreteDistribution
from stairnoise._law.drawing import Drawing
from stairnoise._law.interop import Interop
from stairnoise._law.parameters import plain
from stairnoise._law.plotting import Plotting
from stairnoise._parameters import Real, argument, count

_Default = TypeVar("_Default", bound=np.generic)

_MOST_POWER = 64
# More than the relative errors of the probabilities.
_MARGIN = 1 - 2.0**-37


class Alone(Drawing[_Default], Intervals, Plotting, Interop):
    """A law that stands alone: its parameters are scalars, and its functions its own.

    What a law adds: its constructor, which ends in `_store`, and `_make_functions`.
    """

    __slots__ = ("_constants", "_draw", "_given", "_parameter_shape", "_scalar_law")

    _given: dict[str, Any]

    def _store(self, noise: _native.Law, given: dict[str, Any]) -> None:
        """Keep the law that draws and the arguments by name, in the constructor's order; the end of every constructor."""
        store = object.__setattr__
        store(self, "_given", given)
        store(self, "_scalar_law", noise)
        store(self, "_draw", noise.draw_int if self._dtypes[0] == "int64" else noise.draw_float)
        store(self, "_parameter_shape", ())
        store(self, "_constants", None)

    def _named_arguments(self) -> dict[str, Any]:
        return self._given

    def _make_functions(self) -> Any:
        """Return the law's array functions, as `stairnoise._theory.tabulated.Tabulated` has them."""
        raise NotImplementedError

    @property
    def _formulas(self) -> Any:
        if self._constants is None:
            object.__setattr__(self, "_constants", self._make_functions())
        return self._constants

    def _apply(self, formula: Any, value: object, name: str) -> Real:
        with np.errstate(all="ignore"):
            return plain(formula(np.asarray(argument(value, name), np.float64)))

    def _sum_bound(self, k: int, alpha: float) -> int:
        """Return t in lattice steps with P(|S| > t) <= alpha for the sum S of k draws."""
        raise NotImplementedError

    def _bounds_on_lattice(self, alpha: NDArray[np.float64], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        bounds = np.empty(alpha.shape, object)
        for index in np.ndindex(bounds.shape):
            bounds[index] = self._sum_bound(k, float(alpha[index]) * _MARGIN)
        noise: Any = self._scalar_law
        return np.array(float(noise.granularity)), bounds

    def mean(self) -> Real:
        """E X."""
        return float(self._formulas.mean())

    def median(self) -> Real:
        """Return the least x with P(X <= x) >= 1/2."""
        return self.ppf(0.5)

    def var(self) -> Real:
        """E (X - E X)²."""
        return float(self._formulas.var())

    def std(self) -> Real:
        """Square root of the variance."""
        return float(np.sqrt(self._formulas.var()))

    def support(self) -> tuple[Real, Real]:
        """Return the ends of the support."""
        low, high = self._formulas.support()
        return float(low), float(high)

    def entropy(self) -> Real:
        """Entropy in nats: differential for a continuous law, Shannon's for a discrete one."""
        return float(self._formulas.entropy())

    def moment(self, order: int) -> Real:
        """E X**order, for an integer order from 0 to 64."""
        power = count(order, "order", least=0, most=_MOST_POWER)
        return float(self._formulas.moment(power))

    def _abs_moment(self, p: float) -> NDArray[np.float64]:
        return np.asarray(self._formulas.abs_moment(p))

    _real_abs_moment = _abs_moment

    def _stat(self, letter: str) -> Real:
        if letter in "mv":
            return self.mean() if letter == "m" else self.var()
        mean, std = float(self._formulas.mean()), float(np.sqrt(self._formulas.var()))
        first, second, third, fourth = (float(self._formulas.moment(order)) for order in range(1, 5))
        if letter == "s":
            return (third - 3 * mean * second + 3 * mean**2 * first - mean**3) / std**3
        return (fourth - 4 * mean * third + 6 * mean**2 * second - 4 * mean**3 * first + mean**4) / std**4 - 3


class AloneContinuous(Alone[np.float64], ContinuousDistribution):
    """A law of real numbers with scalar parameters, drawn on the lattice of multiples of its granularity."""

    __slots__ = ()
    _dtypes = ("float64", "float32")
    _release_dtypes = ("float64", "float32")

    @property
    def granularity(self) -> float:
        """Power of two of which every draw is a multiple."""
        noise: Any = self._scalar_law
        return float(noise.granularity)


class AloneDiscrete(Alone[np.int64], DiscreteDistribution):
    """A law of integers with scalar parameters."""

    __slots__ = ()
    _dtypes = ("int64", "int32", "float64")
    _release_dtypes = ("int64", "int32", "float64", "float32")

    @property
    def granularity(self) -> int:
        """Every draw is a multiple of 1."""
        return 1
