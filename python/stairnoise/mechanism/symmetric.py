"""The distribution functions and moments of a symmetric mechanism, whose parameters may be arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stairnoise._output import Shape
from stairnoise._parameters import Real
from stairnoise._types import Floats
from stairnoise.distributions import moments, real_moments
from stairnoise.numerics.elementwise import Formula, Scalars, evaluate

# Up to this order the closed forms are quicker.
_MOST_CLOSED_POWER = 16


class Symmetric:
    """Distribution functions and moments; `_functions` of a symmetric mechanism returns one.

    Parameters
    ----------
    formulas : stairnoise.distributions.symmetric.Line or Lattice
    constants : callable
        Returns the constants of the formulas.
    shape : tuple of int
        Common shape of the parameters.
    moment : str
        Name of the function of absolute moments in `distributions.moments` and `distributions.real_moments`.
    parameters : tuple
        Its arguments after the order.
    """

    def __init__(
        self, formulas: Any, constants: Callable[[], Any], shape: Shape, moment: str, parameters: tuple[Any, ...]
    ) -> None:
        self._formulas: dict[str, Formula] = vars(formulas)
        self._make_constants, self._shape, self._scalar = constants, shape, shape == ()
        # Not a cached property, which takes 30 ns more at each access.
        self._constants: Any = None
        self._moment, self._parameters = moment, parameters

    def at(self, function: str, x: Real) -> Real:
        """Evaluate a formula by its name, for every x and all parameters."""
        constants = self._constants
        if constants is None:
            with np.errstate(all="ignore"):
                constants = self._constants = self._make_constants()
        if type(x) is float and self._scalar:
            return self._formulas[function](Scalars, x, constants)  # type: ignore[no-any-return]
        return evaluate(self._formulas[function], x, constants)

    def closed_moment(self, p: int) -> Floats:
        """E|X|**p for an integer p from 0 on."""
        return np.asarray(getattr(moments, self._moment)(p, *self._parameters))

    def real_moment(self, p: Real) -> Floats:
        """E|X|**p for real p, which may be an array."""
        return np.asarray(getattr(real_moments, self._moment)(p, *self._parameters))

    def entropy(self) -> Real:
        """Entropy in nats."""
        return self.at("entropy", 0.0)

    def mean(self) -> Floats:
        """E X, which is 0 by symmetry."""
        return np.zeros(self._shape)

    def var(self) -> Floats:
        """E X²."""
        return self.closed_moment(2)

    def moment(self, order: int) -> Floats:
        """E X**order."""
        return self.mean() if order % 2 else self.abs_moment(order if order <= _MOST_CLOSED_POWER else float(order))

    def abs_moment(self, p: float) -> Floats:
        """E|X|**p; an int p uses the closed form."""
        return self.closed_moment(p) if isinstance(p, int) else self.real_moment(p)

    def support(self) -> tuple[Floats, Floats]:
        """Return -inf and inf."""
        infinite = np.full(self._shape, np.inf)
        return -infinite, infinite
