r"""The distribution of the norm of multivariate staircase noise, in units of the sensitivity.

In d dimensions the density is a·b^J, with J = 0 where ‖x‖ < γ and J = ⌊‖x‖ − γ⌋ + 1 beyond (Geng, Kairouz, Oh and Viswanath
2015). For every norm it is a mixture of uniform distributions on balls of radius m + γ, m = 0, 1, …, with weights
w(m) = b^m (m + γ)^d. So ‖X‖ has the same distribution for all norms. The weights add up to Φ(b, −d, γ), where
Φ(b, −s, γ) = Σ b^m (m + γ)^s is Lerch's function.

All sums have positive terms only, relative to the largest weight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stairnoise._types import Floats, Ints

# Weights below e^-300 of the largest are left out: less than 1e-130 of the probability.
_NATS = 300.0


def log_unit_volume(norm: str, dim: int) -> float:
    """Logarithm of the volume of the unit ball of the norm "l1", "l2" or "linf"."""
    if norm == "l1":
        return dim * math.log(2) - math.lgamma(dim + 1)
    if norm == "l2":
        return dim / 2 * math.log(math.pi) - math.lgamma(dim / 2 + 1)
    return dim * math.log(2)


def squared_coordinate_share(norm: str, dim: int) -> float:
    """E X_i² / E ‖X‖² of a distribution whose density depends on the norm alone."""
    if norm == "l1":
        return 2 / (dim * (dim + 1))
    if norm == "l2":
        return 1 / dim
    return (dim + 2) / (3 * dim)


def last_ball(eps: float, dim: int, gamma: float, nats: float) -> int:
    """Return an n, at most a few above the least, with all later weights below e^-nats times the largest."""
    mode = largest_ball(eps, dim, gamma)
    n = mode + (2 * nats + 2 * dim) / eps + 1
    for _ in range(40):
        n = mode + (nats + dim * (math.log(n + gamma) - math.log(mode + gamma))) / eps
    return math.ceil(n) + 1


def largest_ball(eps: float, dim: int, gamma: float) -> int:
    """Return the index of the ball with the largest weight, up to rounding errors."""
    ball = max(0, math.floor(dim / eps - gamma))
    # (m + γ)^d b^m has one maximum; for a tiny γ rounding may hide that a neighbour is larger.
    return ball + (dim * (math.log(ball + 1 + gamma) - math.log(ball + gamma)) > eps)


class Radial:
    """The distribution of R = ‖X‖/Δ for ε, the dimension and γ in (0, 1]."""

    def __init__(self, eps: float, dim: int, gamma: float) -> None:
        self._eps, self._dim, self._gamma = eps, dim, gamma
        mode = largest_ball(eps, dim, gamma)
        index = np.arange(last_ball(eps, dim, gamma, _NATS) + 1, dtype=np.float64)
        self._radii = index + gamma
        with np.errstate(divide="ignore", over="ignore"):
            ratio = (index - mode) / (mode + gamma)
            growth = np.where(np.isinf(ratio), np.log(index) - math.log(mode + gamma), np.log1p(ratio))
            self._log_weights: Floats = -eps * (index - mode) + dim * growth
        # Directly from ln γ, because for a mode of 1 the line above computes ln(1 − (1 − γ)).
        self._log_weights[0] = eps * mode + dim * (math.log(gamma) - math.log(mode + gamma))
        self._weights: Floats = np.exp(self._log_weights)
        self._total = float(self._weights.sum())
        # Φ(b, -d, γ) = total · e^log_unit.
        self._log_unit = -eps * mode + dim * math.log(mode + gamma)
        # Mass of the shell between the balls j - 1 and j: b^j/(1 - b) ((j + γ)^d - (j - 1 + γ)^d).
        with np.errstate(divide="ignore"):
            growth = -np.expm1(dim * np.log1p(-1 / self._radii[1:]))
        self._shells: Floats = self._weights.copy()
        self._shells[1:] *= growth
        self._shells /= -math.expm1(-eps)
        self._inside = np.cumsum(self._shells)
        outside = np.cumsum(self._shells[::-1])[::-1]
        self._outside = np.append(outside[1:], 0.0)
        # The total, summed from either end, so that total probabilities are exactly 1.
        self._from_inside, self._from_outside = self._inside[-1], outside[0]

    def moment(self, p: float) -> float:
        """E R^p = d/(d + p) Φ(b, −d−p, γ)/Φ(b, −d, γ), for p > −d."""
        dim = self._dim
        with np.errstate(over="ignore"):
            weights = self._weights * self._radii**p if p >= 0 else np.exp(self._log_weights + p * np.log(self._radii))
            return float(dim / (dim + p) * weights.sum() / self._total)

    def stair(self, r: Any) -> Floats:
        """J at the radius r."""
        return np.where(r < self._gamma, 0.0, np.floor(r - self._gamma) + 1)

    def log_height(self) -> float:
        """Logarithm of the density in the first stair if the unit ball had volume 1: ln 1/((1 − b) Φ(b, −d, γ))."""
        return -math.log(-math.expm1(-self._eps)) - math.log(self._total) - self._log_unit

    def entropy(self) -> float:
        """Entropy in nats if the unit ball had volume 1: −ln a + ε E J."""
        stairs = np.arange(self._shells.size)
        return -self.log_height() + self._eps * float((stairs * self._shells).sum() / self._shells.sum())

    def cdf(self, r: Floats) -> Floats:
        """P(R <= r)."""
        with np.errstate(all="ignore"):
            shell, inner, outer, log_hollow = self._shell_of(r)
            before = np.where(shell > 0, self._inside[shell - 1], 0.0)
            # Part of the shell within r: (r^d - inner^d)/(outer^d - inner^d).
            growth = self._dim * np.log(np.maximum(r / inner, 1))
            filled = (np.maximum(r, 0) / outer) ** self._dim
            hollow = np.exp(log_hollow)
            part = np.where(growth < 1, hollow * np.expm1(growth), filled - hollow) / -np.expm1(log_hollow)
            mass = np.where(r < self._radii[-1], before + np.minimum(part, 1) * self._shells[shell], self._from_inside)
        return np.where(np.isnan(r), np.nan, mass / self._from_inside)

    def sf(self, r: Floats) -> Floats:
        """P(R > r), without a subtraction from 1."""
        with np.errstate(all="ignore"):
            shell, _, outer, log_hollow = self._shell_of(r)
            # Part of the shell beyond r: (outer^d - r^d)/(outer^d - inner^d).
            part = -np.expm1(self._dim * np.log(np.clip(r / outer, 0, 1))) / -np.expm1(log_hollow)
            mass = np.where(r < self._radii[-1], self._outside[shell] + np.minimum(part, 1) * self._shells[shell], 0.0)
        return np.where(np.isnan(r), np.nan, mass / self._from_outside)

    def _shell_of(self, r: Floats) -> tuple[Ints, Floats, Floats, Floats]:
        """Return the shell that r is in, its inner and outer radius, and ln (inner/outer)^d."""
        stair = self.stair(np.where(np.isnan(r), 0, np.maximum(r, 0)))
        shell = np.minimum(stair, self._inside.size - 1).astype(np.int64)
        return shell, np.where(shell > 0, self._radii[shell - 1], 0.0), self._radii[shell], self._log_hollow(shell)

    def _log_hollow(self, shell: Ints) -> Floats:
        """Return ln (inner/outer)^d of shells; -inf for the ball at the centre."""
        outer = self._radii[shell]
        # For a tiny γ the first shell's outer radius, 1 + γ, has rounded the inner radius γ away.
        log_ratio = np.where(shell > 1, np.log1p(-1 / outer), np.log(self._radii[0]) - np.log(outer))
        return np.where(shell > 0, self._dim * log_ratio, -np.inf)

    def ppf(self, q: Floats) -> Floats:
        """Return the r with P(R <= r) = q; NaN outside [0, 1]."""
        mass = np.clip(q, 0, 1) * self._from_inside
        shell = np.minimum(np.searchsorted(self._inside, mass), self._inside.size - 1)
        before = np.where(shell > 0, self._inside[shell - 1], 0.0)
        return _of_probability(q, 1, self._within(shell, mass - before))

    def isf(self, q: Floats) -> Floats:
        """Return the r with P(R > r) = q; NaN outside [0, 1]."""
        mass = np.clip(q, 0, 1) * self._from_outside
        shell = np.minimum(np.searchsorted(-self._outside, -mass), self._inside.size - 1)
        return _of_probability(q, 0, self._within(shell, self._shells[shell] - (mass - self._outside[shell])))

    def _within(self, shell: Ints, mass: Any) -> Floats:
        """Return the radius with this mass of the shell inside it: mass grows as r^d."""
        with np.errstate(all="ignore"):
            hollow = np.exp(self._log_hollow(shell))
            share = np.clip(np.where(self._shells[shell] > 0, mass / self._shells[shell], 0.0), 0, 1)
            # (r/outer)^d = share + (1 - share) (inner/outer)^d.
            return np.asarray(self._radii[shell] * (share + (1 - share) * hollow) ** (1 / self._dim))


def _of_probability(q: Floats, end: int, radius: Floats) -> Floats:
    """Return the radius of a probability q: inf at its end, NaN outside [0, 1]."""
    return np.where((q >= 0) & (q <= 1), np.where(q == end, np.inf, radius), np.nan)
