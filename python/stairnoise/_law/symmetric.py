"""The functions of a symmetric law whose parameters may be arrays: formulas with their constants, and moments."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._output import Shape
from stairnoise._parameters import Real
from stairnoise._theory.numerics.elementwise import evaluate

Floats = NDArray[np.float64]

# Up to this order the closed forms are quicker.
_MOST_CLOSED_POWER = 16


class Symmetric:
    """Distribution functions and moments; `_functions` of a symmetric law returns one.

    Parameters
    ----------
    formulas : stairnoise._theory.laws.symmetric.Line or Lattice
    constants : callable
        Returns the constants that the formulas take.
    shape : tuple of int
        Common shape of the parameters.
    closed_moment, real_moment : callable
        E|X|**p for an integer p from 0 on, and for real p, which may be an array.
    """

    def __init__(
        self,
        formulas: Any,
        constants: Callable[[], Any],
        shape: Shape,
        closed_moment: Callable[[int], Floats],
        real_moment: Callable[[Real], Floats],
    ) -> None:
        self._formulas, self._make_constants, self._shape = formulas, constants, shape
        self.closed_moment, self.real_moment = closed_moment, real_moment

    @cached_property
    def _constants(self) -> Any:
        with np.errstate(all="ignore"):
            return self._make_constants()

    def at(self, function: str, x: Real) -> Real:
        """Evaluate a formula by its name, for every x and all parameters."""
        return evaluate(getattr(self._formulas, function), x, self._constants, self._shape == ())

    def entropy(self) -> Real:
        """Entropy in nats."""
        entropy = self._formulas.entropy
        return evaluate(lambda xp, _, constants: entropy(xp, constants), 0.0, self._constants, self._shape == ())

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


def real_moments() -> Any:
    """Load and return the moments of real order, which are seldom used and take time to load."""
    from stairnoise._theory.laws import real_moments as loaded

    return loaded
