"""True answers, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class Answers:
    """True answers, cell by cell: never printed, never in an error.

    Attributes
    ----------
    cells : list of tuple
        Values of the columns of `by`. If all groups are listed, their cross product in the order of the lists, zeros
        included. Otherwise the cells that the data have, in an order of their values.
    counts : ndarray of int64
        People in each cell; of sums and means those with a number there.
    sums : ndarray of int64 or None
        Whole multiples of `unit`: people's totals, each of them clipped to the bounds.
    unit : float
        A power of two that the question and the types of its columns decide.
    """

    cells: list[tuple[object, ...]]
    counts: NDArray[np.int64]
    sums: NDArray[np.int64] | None
    unit: float = 1.0
