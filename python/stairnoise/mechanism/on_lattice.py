"""The two families of mechanisms that draw a value from one random word, on a lattice of D = ⌈Δ/g⌉ steps to a sensitivity.

A family has the constants of its distribution functions, the tail of a sum of draws, and the privacy loss of one draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stairnoise.mechanisms.laplace import loss as laplace_loss
from stairnoise.mechanisms.laplace import sums as laplace_sums
from stairnoise.mechanisms.staircase import distribution as staircase
from stairnoise.mechanisms.staircase import loss as staircase_loss
from stairnoise.mechanisms.staircase import sums as staircase_sums


class Family(NamedTuple):
    """Functions of ε, D and the number r of points before the first fall."""

    constants: Callable[[Any, Any, Any], staircase.Stairs]
    """Constants of the distribution functions: those of a staircase."""
    sum_bound: Callable[[float, int, int, int, float], int]
    """With k and alpha: t in lattice steps with P(|S| > t) <= alpha for the sum S of k draws."""
    loss: Callable[[Any, Any, Any], Any]
    """The loss of one release at a difference of D steps."""


def _sum_bound(eps: float, steps: int, r: int, k: int, alpha: float) -> int:
    if steps == 1:
        return LAPLACE.sum_bound(eps, steps, r, k, alpha)
    return staircase_sums.error_bound(eps, steps, r, k, alpha)


def _loss(eps: Any, steps: Any, r: Any) -> Any:
    stair = np.asarray(r, np.int64)
    # The central stair is (2r - 1)/D wide. The difference from 1 is computed in integers, which loses no digits.
    gap = 2 * stair - 1 - np.asarray(steps, np.int64)
    return staircase_loss.Atoms(eps, (2 * stair - 1) / steps, gap / steps)


# Probabilities fall by e^(-ε/D) from one lattice point to the next: stairs of one point each.
LAPLACE = Family(
    lambda eps, steps, r: staircase.lattice(eps / steps, 1.0, 1.0),
    lambda eps, steps, r, k, alpha: laplace_sums.error_bound(eps / steps, k, alpha),
    lambda eps, steps, r: laplace_loss.Steps(eps, steps),
)
# Probabilities fall by e^(-ε) every D lattice points, the first time after r points.
STAIRCASE = Family(lambda eps, steps, r: staircase.lattice(eps, steps, r), _sum_bound, _loss)
