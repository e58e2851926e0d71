"""The two families of laws that one word draws, on their lattice of D = ⌈Δ/g⌉ steps to a sensitivity.

Each has the constants of its distribution functions, the tail of a sum of draws, and the privacy loss of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise._theory.laws import staircase


class Geometric:
    """Probabilities that fall by e^(-ε/D) from one lattice point to the next: the Laplace laws."""

    @staticmethod
    def constants(eps: Any, cells: Any, r: Any) -> staircase.Stairs:
        """Return those of a staircase whose stairs have one point each."""
        del r
        return staircase.lattice(eps / cells, 1.0, 1.0)

    @staticmethod
    def sum_bound(eps: float, cells: int, r: int, k: int, alpha: float) -> int:
        """Return t in lattice steps with P(|S| > t) <= alpha for the sum S of k draws."""
        from stairnoise._theory.sums import laplace as laplace_sums

        del r
        return laplace_sums.error_bound(eps / cells, k, alpha)

    @staticmethod
    def loss(eps: Any, cells: Any, r: Any) -> Any:
        """Return the loss of one release at a difference of D steps."""
        from stairnoise._theory.privacy.parts.steps import Steps

        del r
        return Steps(eps, cells)


class OfStairs:
    """Probabilities that fall by e^(-ε) every D lattice points, first after r: the staircase laws."""

    @staticmethod
    def constants(eps: Any, cells: Any, r: Any) -> staircase.Stairs:
        """Return those of the stairs."""
        return staircase.lattice(eps, cells, r)

    @staticmethod
    def sum_bound(eps: float, cells: int, r: int, k: int, alpha: float) -> int:
        """Return t in lattice steps with P(|S| > t) <= alpha for the sum S of k draws."""
        if cells == 1:
            return Geometric.sum_bound(eps, cells, r, k, alpha)
        from stairnoise._theory.sums import staircase as staircase_sums

        return staircase_sums.error_bound(eps, cells, r, k, alpha)

    @staticmethod
    def loss(eps: Any, cells: Any, r: Any) -> Any:
        """Return the loss of one release at a difference of D steps."""
        from stairnoise._theory.privacy.parts.atoms import Atoms

        stair = np.asarray(r, np.int64)
        # The width of the central stair, (2r - 1)/D; what it exceeds 1 by is computed in integers.
        gap = 2 * stair - 1 - np.asarray(cells, np.int64)
        return Atoms(eps, (2 * stair - 1) / cells, gap / cells)


Family = type[Geometric] | type[OfStairs]
