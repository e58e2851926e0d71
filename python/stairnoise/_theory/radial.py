r"""The law of the norm of multivariate staircase noise, in units of the sensitivity.

In d dimensions the density is a·b^J, with J = 0 where ‖x‖ < γ and J = ⌊‖x‖ − γ⌋ + 1 beyond (Geng, Kairouz, Oh and Viswanath
2015). It is a mixture of uniform laws on balls of radius m + γ, m = 0, 1, …, with weights w(m) = b^m (m + γ)^d, whatever the norm
is: so ‖X‖ has the same law for all norms. With Lerch's Φ(b, −s, γ) = Σ b^m (m + γ)^s the weights add up to Φ(b, −d, γ).

All sums are of positive terms, relative to the largest weight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Weights below e^-300 of the largest are left out, which is below 1e-130 of the probability.
_NATS = 300.0


def log_unit_volume(norm: str, dim: int) -> float:
    """Logarithm of the volume of the unit ball of the norm "l1", "l2" or "linf"."""
    if norm == "l1":
        return dim * math.log(2) - math.lgamma(dim + 1)
    if norm == "l2":
        return dim / 2 * math.log(math.pi) - math.lgamma(dim / 2 + 1)
    return dim * math.log(2)


def squared_coordinate_share(norm: str, dim: int) -> float:
    """E X_i² / E ‖X‖² of a law that depends on the norm alone."""
    if norm == "l1":
        return 2 / (dim * (dim + 1))
    if norm == "l2":
        return 1 / dim
    return (dim + 2) / (3 * dim)


def last_ball(eps: float, dim: int, gamma: float, nats: float) -> int:
    """Least n, or a few more, beyond which no weight is above e^-nats of the largest."""
    mode = largest_ball(eps, dim, gamma)
    n = mode + (2 * nats + 2 * dim) / eps + 1
    for _ in range(40):
        n = mode + (nats + dim * math.log((n + gamma) / (mode + gamma))) / eps
    return math.ceil(n) + 1


def largest_ball(eps: float, dim: int, gamma: float) -> int:
    """Return the ball of the largest weight, or a neighbour."""
    return max(0, round(dim / eps - gamma))


class Radial:
    """The law of R = ‖X‖/Δ for ε, the dimension and γ in (0, 1]."""

    def __init__(self, eps: float, dim: int, gamma: float) -> None:
        self._eps, self._dim, self._gamma = eps, dim, gamma
        mode = largest_ball(eps, dim, gamma)
        index = np.arange(last_ball(eps, dim, gamma, _NATS) + 1, dtype=np.float64)
        self._radii = index + gamma
        relative = -eps * (index - mode) + dim * np.log1p((index - mode) / (mode + gamma))
        self._weights: Floats = np.exp(relative)
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
        # The same sum from either end, so that probabilities of everything are 1.
        self._from_inside, self._from_outside = self._inside[-1], outside[0]

    def moment(self, p: float) -> float:
        """E R^p = d/(d + p) Φ(b, −d−p, γ)/Φ(b, −d, γ), for p > −d."""
        dim = self._dim
        with np.errstate(over="ignore"):
            return float(dim / (dim + p) * (self._weights * self._radii**p).sum() / self._total)

    def stair(self, r: Any) -> Floats:
        """J at the radius r."""
        return np.where(r < self._gamma, 0.0, np.floor(r - self._gamma) + 1)

    def log_height(self) -> float:
        """Logarithm of the density in the first stair, where the unit ball has volume 1: 1/((1 − b) Φ(b, −d, γ))."""
        return -math.log(-math.expm1(-self._eps)) - math.log(self._total) - self._log_unit

    def entropy(self) -> float:
        """Entropy in nats where the unit ball has volume 1: −ln a + ε E J."""
        stairs = np.arange(self._shells.size)
        return -self.log_height() + self._eps * float((stairs * self._shells).sum() / self._shells.sum())

    def cdf(self, r: Floats) -> Floats:
        """P(R <= r)."""
        with np.errstate(all="ignore"):
            shell, inner, outer, width = self._place(r)
            before = np.where(shell > 0, self._inside[shell - 1], 0.0)
            # Part of the shell within r: (r^d - inner^d)/(outer^d - inner^d).
            grown = (1 - width) * np.expm1(self._dim * np.log(np.maximum(r / inner, 1)))
            part = np.where(inner > 0, grown / width, (np.maximum(r, 0) / outer) ** self._dim)
            mass = np.where(r < self._radii[-1], before + np.minimum(part, 1) * self._shells[shell], self._from_inside)
        return np.where(np.isnan(r), np.nan, mass / self._from_inside)

    def sf(self, r: Floats) -> Floats:
        """P(R > r), without a subtraction from 1."""
        with np.errstate(all="ignore"):
            shell, _, outer, width = self._place(r)
            # Part of the shell beyond r: (outer^d - r^d)/(outer^d - inner^d).
            part = -np.expm1(self._dim * np.log(np.clip(r / outer, 0, 1))) / width
            mass = np.where(r < self._radii[-1], self._outside[shell] + np.minimum(part, 1) * self._shells[shell], 0.0)
        return np.where(np.isnan(r), np.nan, mass / self._from_outside)

    def _place(self, r: Floats) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
        """Return the shell that r is in, its inner and outer radius, and 1 - (inner/outer)^d."""
        stair = self.stair(np.where(np.isnan(r), 0, np.maximum(r, 0)))
        shell = np.minimum(stair, self._inside.size - 1).astype(np.int64)
        outer = self._radii[shell]
        inner = np.where(shell > 0, outer - 1, 0.0)
        return shell, inner, outer, np.where(inner > 0, -np.expm1(self._dim * np.log1p(-1 / outer)), 1.0)

    def ppf(self, q: Floats) -> Floats:
        """Return the r with P(R <= r) = q; NaN outside [0, 1]."""
        mass = np.asarray(q) * self._from_inside
        last = self._inside.size - 1
        shell = np.minimum(np.searchsorted(self._inside, mass), last)
        before = np.where(shell > 0, self._inside[shell - 1], 0.0)
        radius = self._within(shell, (mass - before) / self._shells[shell])
        return np.where((q >= 0) & (q <= 1), np.where(q == 1, np.inf, radius), np.nan)

    def isf(self, q: Floats) -> Floats:
        """Return the r with P(R > r) = q; NaN outside [0, 1]."""
        mass = np.asarray(q) * self._from_outside
        last = self._inside.size - 1
        shell = np.minimum(np.searchsorted(-self._outside, -mass), last)
        radius = self._within(shell, 1 - (mass - self._outside[shell]) / self._shells[shell])
        return np.where((q >= 0) & (q <= 1), np.where(q == 0, np.inf, radius), np.nan)

    def _within(self, shell: NDArray[np.int64], share: Any) -> Floats:
        """Return the radius that has this share of a shell's mass inside it; the mass is proportional to r^d."""
        outer = self._radii[shell]
        inner = np.where(shell > 0, outer - 1, 0.0)
        # (r/outer)^d = share + (1 - share) (inner/outer)^d.
        with np.errstate(all="ignore"):
            hollow = np.where(inner > 0, np.exp(self._dim * np.log1p(-1 / outer)), 0.0)
            share = np.clip(share, 0, 1)
            return np.asarray(outer * (share + (1 - share) * hollow) ** (1 / self._dim))
