"""The two families of mechanisms that draw a value from one random word, on a lattice of D = ⌈Δ/g⌉ steps to a sensitivity.

A family has the constants of its distribution functions, the tail of a sum of draws, and the privacy loss of one draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise.mechanisms.laplace import loss as laplace_loss
from stairnoise.mechanisms.laplace import sums as laplace_sums
from stairnoise.mechanisms.staircase import distribution as staircase
from stairnoise.mechanisms.staircase import loss as staircase_loss
from stairnoise.mechanisms.staircase import sums as staircase_sums


class LaplaceFamily:
    """Laplace: probabilities fall by e^(-ε/D) from one lattice point to the next."""

    @staticmethod
    def constants(eps: Any, steps: Any, r: Any) -> staircase.Stairs:
        """Return the constants of a staircase whose stairs have one point each."""
        del r
        return staircase.lattice(eps / steps, 1.0, 1.0)

    @staticmethod
    def sum_bound(eps: float, steps: int, r: int, k: int, alpha: float) -> int:
        """Return t in lattice steps with P(|S| > t) <= alpha for the sum S of k draws."""
        del r
        return laplace_sums.error_bound(eps / steps, k, alpha)

    @staticmethod
    def loss(eps: Any, steps: Any, r: Any) -> Any:
        """Return the loss of one release at a difference of D steps."""
        del r
        return laplace_loss.Steps(eps, steps)


class StaircaseFamily:
    """Staircases: probabilities fall by e^(-ε) every D lattice points, the first time after r points."""

    @staticmethod
    def constants(eps: Any, steps: Any, r: Any) -> staircase.Stairs:
        """Return the constants of the staircase."""
        return staircase.lattice(eps, steps, r)

    @staticmethod
    def sum_bound(eps: float, steps: int, r: int, k: int, alpha: float) -> int:
        """Return t in lattice steps with P(|S| > t) <= alpha for the sum S of k draws."""
        if steps == 1:
            return LaplaceFamily.sum_bound(eps, steps, r, k, alpha)
        return staircase_sums.error_bound(eps, steps, r, k, alpha)

    @staticmethod
    def loss(eps: Any, steps: Any, r: Any) -> Any:
        """Return the loss of one release at a difference of D steps."""
        stair = np.asarray(r, np.int64)
        # The central stair is (2r - 1)/D wide. The difference from 1 is computed in integers, which loses no digits.
        gap = 2 * stair - 1 - np.asarray(steps, np.int64)
        return staircase_loss.Atoms(eps, (2 * stair - 1) / steps, gap / steps)


Family = type[LaplaceFamily] | type[StaircaseFamily]
