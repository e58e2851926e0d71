"""The truncated Laplace distribution: its bounds, its functions, and its exact δ.

Distances are in units of the scale λ = Δ/ε: the density falls by a factor of e per unit, and the sensitivity is ε.

References
----------
.. [1] Geng, Ding, Guo and Kumar, "Tight Analysis of Privacy and Utility Tradeoff in Approximate Differential
   Privacy", AISTATS 2020.
.. [2] Mugunthan, Xiao and Kagal, "Utility-Enhancing Flexible Mechanisms for Differential Privacy", PSD 2020.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from stairnoise._types import Floats
from stairnoise.distributions.piecewise_exponential import Pieces, Side

_DIGITS = 60


def symmetric_bound(eps: float, delta: float) -> float:
    """Return ``ln(1 + (e^eps - 1)/(2 delta))`` ([1]_, definition 3)."""
    if eps < 1:
        return math.log1p(math.expm1(eps) / (2 * delta))
    return eps + math.log1p((2 * delta - 1) * math.exp(-eps)) - math.log(2 * delta)


def other_bound(eps: float, delta: float, bound: float) -> float:
    """Least bound for the side opposite to `bound`, at least the sensitivity; inf where there is none.

    For the larger of both, exp(-other) is ``2 + (1-delta)/delta exp(-bound) - exp(eps-bound)/delta`` ([2]_, theorem 1).
    It is computed relative to the symmetric distribution, without the difference of large numbers.
    """
    symmetric = symmetric_bound(eps, delta)
    if bound < symmetric:
        y = math.exp(-symmetric)
        left = y - (2 - y) * math.expm1(symmetric - bound)
        return -math.log(left) if left > 0 else math.inf
    growth = math.log(math.expm1(eps) + delta) if eps < 1 else eps + math.log1p((delta - 1) * math.exp(-eps))
    return max(eps, growth - math.log(delta * (2 - math.exp(-bound))))


class Truncated(Pieces):
    """Functions of the density, with bounds below and above 0."""

    def __init__(self, lower: float, upper: float, scale: float) -> None:
        right = Side([1.0], [], upper / scale)
        super().__init__(right if -lower == upper else Side([1.0], [], -lower / scale), right, scale)
        self._bounds = lower, upper

    def support(self) -> tuple[float, float]:
        """Return the bounds as they were passed."""
        return self._bounds

    def ppf(self, q: Floats) -> Floats:
        """Return the x with P(X <= x) = q; NaN outside [0, 1]."""
        return np.clip(super().ppf(q), *self._bounds)

    def isf(self, q: Floats) -> Floats:
        """Return the x with P(X > x) = q; NaN outside [0, 1]."""
        return np.clip(super().isf(q), *self._bounds)

    def error_bound(self, alpha: Floats) -> Floats:
        """Least t with P(|X| > t) <= alpha."""
        if self._left is self._right:
            return super().error_bound(alpha)
        near, far = sorted((self._left.end, self._right.end))
        outside = alpha * self._mass
        both = -np.log((outside + math.exp(-near) + math.exp(-far)) / 2)
        one = -np.log(outside + math.exp(-far))
        return np.maximum(np.where(both <= near, both, one), 0.0) * self.unit


def achieved_delta(eps: float, steps: int, below: int, above: int) -> Fraction:
    """δ of the distribution on the integers from -below to above: the mass of the `steps` outermost integers of the nearer end.

    The relative error is below 1e-50: the terms of the quotient have 60 digits and lose 10 at most.
    """
    near, far = sorted((below, above))
    with localcontext() as context:
        context.prec = _DIGITS
        exact = Decimal(eps)

        def power(count: int) -> Decimal:
            return (-exact * count / steps).exp()

        outermost = power(near + 1 - steps) - power(near + 1)
        return Fraction(outermost / (1 + power(1) - power(near + 1) - power(far + 1)))
