r"""The privacy loss of staircase noise, which has three values.

At the worst shift, which is the whole sensitivity, the loss is +ε, 0 or -ε, with probabilities p, 1 - p(1+b) and b p under the
true centre, :math:`b = e^{-ε}`. With h = 2γ for the density and h = (2r-1)/D on a lattice of D steps to the sensitivity, and
c = b/(1-b),

.. math:: p = \frac{\min(1, h) + c}{h + 2c}

for both, because the density is the limit of the lattice. All probabilities are sums and products of positive numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.convolution import trinomial
from stairnoise.accounting.losses.loss import Model, Part, spaced, split, steps_within
from stairnoise.distributions.moments import staircase_abs_moment
from stairnoise.mechanisms.staircase.calibration import gamma_l2
from stairnoise.numerics.roots import bisection

# For a larger exponent, float64 rounds the other terms of a sum away.
_LARGE = 40.0


class Atoms(Part):
    """Loss +ε, 0, -ε with probabilities `p`, `zero`, ``exp(-ε) p``; `lost` is 1 - p."""

    __slots__ = ("eps", "lost", "p", "zero")

    infinite = 0.0

    def __init__(self, eps: Floats, width: Floats, width_less_one: Floats) -> None:
        """`width` is h, and `width_less_one` is h - 1 without its rounding."""
        b = np.exp(-eps)
        w = -np.expm1(-eps)
        t = width * w + 2 * b
        narrow = width_less_one <= 0
        gap = np.abs(width_less_one)
        self.eps, self.top = eps, float(np.max(eps, initial=0.0))
        self.p = np.where(narrow, width * w + b, 1.0) / t
        self.lost = np.where(narrow, b, gap * w + b) / t
        self.zero = np.where(narrow, b, 1.0) * gap * w / t

    def key(self) -> tuple[Any, ...]:
        """Return what two equal releases have in common."""
        return ("atoms", self.eps.tobytes(), self.p.tobytes(), self.zero.tobytes(), self.eps.shape)

    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0: ``p (1 - exp(t - ε))``."""
        return np.asarray(self.p * (0.0 - np.expm1(np.minimum(t - self.eps, 0.0))))

    def profile_scalar(self, t: float) -> float:
        """δ at one t >= 0, for scalar parameters."""
        return float(self.p) * (0.0 - math.expm1(min(t - float(self.eps), 0.0)))

    def eps_for_delta(self, delta: Floats) -> Floats:
        """Least t >= 0 with δ(t) <= delta."""
        return np.asarray(np.maximum(self.eps + np.log1p(-np.minimum(delta / self.p, 1.0)), 0.0))

    def tradeoff(self, alpha: Floats) -> Floats:
        """Least miss probability: the largest of three lines, of slopes -exp(ε), -1 and -exp(-ε)."""
        b = np.exp(-self.eps)
        steep = self.lost + (self.p - np.exp(self.eps + np.log(alpha)))
        middle = (b * self.p - alpha) + self.lost
        return np.asarray(np.maximum(np.maximum(steep, middle), b * (1 - alpha)))

    def mean(self) -> Floats:
        """Kullback-Leibler divergence, ``p ε (1 - b)``."""
        return np.asarray(self.p * self.eps * -np.expm1(-self.eps))

    def var(self) -> Floats:
        """``ε² (p (1+b) - p² (1-b)²)``, rewritten without the difference."""
        b = np.exp(-self.eps)
        return np.asarray(self.eps * (self.eps * (self.p * (self.lost + b + self.p * b * (2 - b)))))

    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1.

        The moment is ``1 + p (exp((α-1)ε) - 1) (1 - exp(-αε))``.
        """
        x = (alpha - 1) * self.eps
        far = -np.expm1(-alpha * self.eps)
        near = np.minimum(x, _LARGE)
        change = self.p * np.expm1(near) * far
        direct = np.log1p(np.maximum(change, -0.5)) / (alpha - 1)
        # For a large x: ε + ln(p F + (1 - p F) exp(-x))/(α-1).
        large = self.eps + np.log(self.p * far + (self.lost + self.p * (1 - far)) * np.exp(-np.maximum(x, 0))) / (alpha - 1)
        # For a moment near 0, with α < 1: its positive terms.
        below = np.exp(np.minimum(x, 0))
        moment = self.lost + self.p * (below + np.exp(-alpha * self.eps) * (1 - below))
        small = np.log(moment) / (alpha - 1)
        return np.asarray(np.where(x > _LARGE, large, np.where(change < -0.5, small, direct)))

    # Composition

    symmetric = True
    composes_in_closed_form = True

    def own_step(self) -> Fraction:
        """ε."""
        return Fraction(float(self.eps))

    def on_lattice(self, step: Fraction) -> Floats:
        """Probabilities of the loss on a lattice whose step divides ε."""
        return spaced(_masses(float(self.eps), float(self.p), float(self.zero)), int(self.own_step() / step))

    def powers(self, k: int) -> Floats:
        """Probabilities of the losses k ε, (k - 1) ε, …, 0 of k releases."""
        return trinomial(k, float(self.p), float(self.zero), float(self.p) * math.exp(-float(self.eps)))

    def upper_model(self, step: float, *, aligned: bool = False) -> Model:
        """Split each loss between its two neighbouring nodes."""
        eps = float(self.eps)
        return Model(eps, split(eps * np.arange(3.0), _masses(eps, float(self.p), float(self.zero)), step), 0.0)

    def lower_model(self, step: float) -> Model:
        """Round ε down to n steps by flipping the sign of a loss at random: ``p' (1 + exp(-ε')) = p (1 + exp(-ε))``."""
        eps = float(self.eps)
        n = steps_within(eps, step)
        rounded = n * step
        if n == 0:
            return Model(0.0, np.ones(1), 0.0)
        p = float(self.p) * (1 + math.exp(-eps)) / (1 + math.exp(-rounded))
        return Model(min(rounded, eps), spaced(_masses(rounded, p, float(self.zero)), n), 0.0)


def _masses(eps: float, p: float, zero: float) -> Floats:
    return np.array([p, zero, p * math.exp(-eps)])


# A staircase with Laplace's variance has more than (ln ε)/ε times Laplace's ε.
_LEAST_SHARE = 2.0**-40


def mean_losses(eps: float) -> tuple[float, float]:
    """Return the mean privacy losses of the staircase of least variance and of Laplace noise, both of the variance 2/eps².

    At the same ε a staircase has the larger privacy loss and the smaller variance. The loss of k releases tends to k times the
    mean loss of one.
    """

    def narrow(log_eps: float) -> bool:
        one = math.exp(log_eps)
        return float(staircase_abs_moment(2, one, 1.0, gamma_l2(one))) <= 2 / eps**2

    most = math.log(eps)
    same = math.exp(bisection(narrow, most + math.log(_LEAST_SHARE), most))
    width = 2 * gamma_l2(same)
    staircase = Atoms(np.array(same), width, width - 1)
    return float(staircase.mean()), eps + math.expm1(-eps)
