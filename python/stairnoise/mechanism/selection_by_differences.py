"""Selections to which only differences of costs matter."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stairnoise import _native
from stairnoise._parameters import RealLike, flag, single
from stairnoise._types import Floats
from stairnoise.mechanism.selection import SelectionMechanism


class SelectionByDifferences(SelectionMechanism):
    """A mechanism to which only differences of costs matter."""

    __slots__ = ()
    _rules = {1: "finite or inf", -1: "finite or -inf"}  # noqa: RUF012 - never changed
    _make: Callable[[float, float, bool], _native.Selection]

    def __init__(self, eps: RealLike, sensitivity: RealLike | None = None, monotonic: bool = False) -> None:
        rate, change, promise = single(eps, "eps"), stated_change(sensitivity), flag(monotonic, "monotonic")
        self._store(
            self._make(rate, 1.0 if change is None else change, promise),
            {"eps": rate, "sensitivity": change, "monotonic": promise},
        )

    def _exponents(self, rows: Floats, infinite: bool) -> Floats:
        """Return ε(c − least)/(2Δ), from significands and exponents, so that only the result can leave its range."""
        # Allocated first, so that a view that repeats rows beyond all memory fails at once.
        above = np.empty(rows.shape)
        least = rows.min(axis=-1, keepdims=True)
        # Halving is inexact only for subnormal numbers, which are negligible beside a difference that would overflow.
        finite = np.where(rows < np.inf, rows, least) if infinite else rows
        halved = bool(np.abs(finite).max(initial=0.0) >= 2.0**1022)
        if halved:
            rows, least = rows / 2, least / 2
        above, exponent = np.frexp(np.subtract(rows, least, out=above))
        eps, unit = math.frexp(self.eps), math.frexp(self.sensitivity)
        shift = eps[1] - unit[1] + halved - (not self.monotonic)
        with np.errstate(over="ignore", under="ignore"):
            above *= eps[0]
            if unit[0] == 0.5:
                shift += 1  # a sensitivity of 1 or another power of two needs no division
            else:
                above /= unit[0]
            return np.asarray(np.ldexp(above, exponent + shift))


def stated_change(sensitivity: RealLike | None) -> float | None:
    """Check a sensitivity; None means that it was not stated."""
    return None if sensitivity is None else single(sensitivity, "sensitivity")
