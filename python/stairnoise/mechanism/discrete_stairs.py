"""The base of staircase and Laplace noise on the integers, whose distributions are discrete staircases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._types import Float, Whole
from stairnoise.distributions.symmetric import Lattice, Symmetric
from stairnoise.mechanism.array_parameters import ArrayParameters, integers
from stairnoise.mechanism.cost import CostFunction, check_function, elementwise
from stairnoise.mechanism.discrete import DiscreteMechanism
from stairnoise.mechanisms.staircase import cost, distribution

_FORMULAS = Lattice(distribution)


class DiscreteStairs(ArrayParameters[np.int64, Whole, Float], DiscreteMechanism[Whole, Float]):
    """A mechanism whose distribution is a discrete staircase."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def _stairs(self) -> tuple[Any, Any, Any]:
            """ε, the length of a stair, and the integer at which the second stair begins."""

    @property
    def sensitivity(self) -> Whole | int:
        """Largest change Δ of one value that one person can cause, an integer."""
        return integers(self._sensitivity)  # type: ignore[no-any-return]

    def _functions(self) -> Symmetric:
        return Symmetric(_FORMULAS, distribution.lattice, self._parameter_shape, "lattice_abs_moment", self._stairs)

    def _expected_cost(self, function: CostFunction) -> Any:
        check_function(self._eps, self._sensitivity)

        def expected(eps: float, D: float, r: float) -> float:
            return cost.discrete_fold(function, eps, int(D)).cost(int(r))

        return elementwise(expected, self._parameter_shape, *self._stairs)
