r"""The privacy loss of Laplace noise: on equal steps, or continuous.

Two-sided geometric noise that falls by :math:`λ = e^{-θ}`, θ = ε/D, from one integer to the next,
at the worst shift D, has the loss (D-2M)θ, M = 0..D, with probabilities 1/(1+λ),
λ^M (1-λ)/(1+λ) and λ^D/(1+λ). The Laplace density is the limit θ = 0. At the losses of
the lattice both have the same profile, :math:`δ(t) = 1 - e^{(t-ε)/2}`. Between them the lattice has the chord
in :math:`e^t`. So a coarse lattice dominates a fine lattice whose steps divide the coarse ones.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from stairnoise._types import Bools, Floats
from stairnoise.accounting.losses.loss import EXACT_NODES, Model, Part, spaced, split, steps_within
from stairnoise.numerics.elementary import affinity_integral, below_linear, exp_beyond_linear, sinh_beyond_linear

_LARGE = 30.0
# Up to this ε the affinity's complement is integrated. Beyond, the affinity is below 1/2, so the closed form does not cancel.
_SMALL_EPS = 4.0
# Even functions of s have the same float64 value here as at 0.
_LEAST_S = 1e-9
# Up to this many losses are split, or moved, one by one.
_LISTED_STEPS = 2**12


class Steps(Part):
    """Loss (D-2M)θ for `steps` D = ε/θ; infinitely many for the density."""

    __slots__ = ("eps", "steps", "theta")

    infinite = 0.0

    def __init__(self, eps: Floats, steps: Floats) -> None:
        self.eps, self.top = eps, float(eps.max(initial=0.0))
        self.steps = steps
        self.theta = eps / steps

    def key(self) -> tuple[Any, ...]:
        """Return what two equal releases have in common."""
        return ("steps", self.eps.tobytes(), self.steps.tobytes(), self.eps.shape, self.steps.shape)

    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0: ``1 - exp(-m) + exp(-m) (1 - exp(-y))/(1+λ)``, with m = Mθ and t = ε - 2m - y."""
        depth = np.maximum(self.eps - t, 0.0)
        m = self._steps_below(depth / 2)
        y = np.maximum(depth - 2 * m, 0.0)
        return np.asarray(0.0 - np.expm1(-m) - np.exp(-m) * np.expm1(-y) / (1 + np.exp(-self.theta)))

    def profile_scalar(self, t: float) -> float:
        """δ at one t >= 0, for scalar parameters."""
        eps, theta = float(self.eps), float(self.theta)
        depth = max(eps - t, 0.0)
        m = depth / 2
        if theta > 0:
            m = theta * min(math.floor(m / theta), float(self.steps))
        return 0.0 - math.expm1(-m) - math.exp(-m) * math.expm1(min(2 * m - depth, 0.0)) / (1 + math.exp(-theta))

    def eps_for_delta(self, delta: Floats) -> Floats:
        """Least t >= 0 with δ(t) <= delta."""
        depth = np.minimum(-np.log1p(-delta), self.eps)
        m = self._steps_below(depth)
        left = (1 + np.exp(-self.theta)) * -np.expm1(np.minimum(m - depth, 0.0))
        return np.asarray(np.maximum(self.eps - 2 * m + np.log1p(-np.minimum(left, 1.0)), 0.0))

    def _steps_below(self, depth: Floats) -> Floats:
        """Round down to a multiple of θ. (An edge may get either neighbour: the results are equal.)"""
        lattice, theta = self._lattice()
        return np.where(lattice, theta * np.minimum(np.floor(depth / theta), self.steps), depth)

    def _lattice(self) -> tuple[Bools, Floats]:
        """Return where the loss is on a lattice, and θ there."""
        lattice = self.theta > 0
        return lattice, np.where(lattice, self.theta, 1.0)

    def tradeoff(self, alpha: Floats) -> Floats:
        """``exp(-m) - alpha exp(ε - 2m)`` with the multiple m of θ that gives the highest line."""
        lattice, theta = self._lattice()
        level = np.log(alpha)
        depth = np.maximum(self.eps + level + np.log1p(np.exp(-self.theta)), 0.0)
        m = np.minimum(np.where(lattice, theta * np.ceil(depth / theta), depth), self.eps)
        steep = np.exp(-m) - np.exp(np.minimum(self.eps - 2 * m + level, 0.0))
        flat = np.exp(np.minimum(self.eps - 2 * m, 0.0)) * (np.exp(m - self.eps) - alpha)
        return np.asarray(np.maximum(np.where(alpha < 0.5, steep, flat), 0.0))

    def mean(self) -> Floats:
        """Kullback-Leibler divergence."""
        loss = exp_beyond_linear(-self.eps)
        theta = np.minimum(self.theta, 700.0)
        beyond = sinh_beyond_linear(theta) / np.where(theta > 0, np.sinh(theta), 1.0)
        return np.asarray(loss - np.expm1(-self.eps) * beyond)

    def var(self) -> Floats:
        """Variance of ε - loss = 2θ min(G, D), where G is the noise, or 0 if that is negative."""
        half = np.minimum(self.theta / 2, 350.0)
        lattice = self.theta > 0
        ratio = np.where(lattice, 2 * half / np.where(lattice, np.sinh(half), 1.0), 2.0)
        first = np.where(lattice, 2 * half / np.where(lattice, np.sinh(2 * half), 1.0), 1.0) * -np.expm1(-self.eps)
        steps = np.where(lattice, self.steps, 0.0)
        # exp(-ε) (exp(ε) - 1 - ε), without its overflow
        tail = np.where(
            self.eps < 1, np.exp(-self.eps) * exp_beyond_linear(np.minimum(self.eps, 1.0)), 1 - np.exp(-self.eps) * (1 + self.eps)
        )
        second = ratio**2 * (tail + np.exp(-self.eps) * 2 * steps * below_linear(half))
        return np.asarray(second - first**2)

    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1.

        The moment is ``exp(-ε/2) (cosh sε + R sinh sε)`` with s = α - 1/2 and
        R = tanh(θ/2)/tanh(sθ), or 1/(2s) for the density. The lattice adds to the density's moment a
        number with the sign of α - 1, so both are computed separately.
        """
        above = alpha > 1
        if above.all():
            return self._above_one(alpha)
        below = self._below_one(np.where(above, 0.5, alpha))
        return below if not above.any() else np.where(above, self._above_one(np.where(above, alpha, 2.0)), below)

    def _above_one(self, order: Floats) -> Floats:
        """Rényi divergence at an order above 1."""
        x = (order - 1) * self.eps
        near = np.minimum(x, _LARGE)
        excess = (order * exp_beyond_linear(near) + (order - 1) * exp_beyond_linear(-order * self.eps)) / (2 * order - 1)
        excess = excess + self._kernel(order - 0.5, near) * self._lattice_excess(order - 0.5)
        direct = np.log1p(excess) / (order - 1)
        weight = (1 + self._scaled_ratio(order - 0.5) / (order - 0.5)) / 2
        large = self.eps + np.log(weight + (1 - weight) * np.exp(-(2 * order - 1) * self.eps)) / (order - 1)
        return np.where(x > _LARGE, large, direct)

    def _below_one(self, alpha: Floats) -> Floats:
        """Rényi divergence at an order in (0, 1)."""
        s = np.maximum(np.abs(alpha - 0.5), _LEAST_S)
        x = (s - 0.5) * self.eps
        kernel = self._kernel(s, x)
        moment = (np.exp(x) + np.exp(-(s + 0.5) * self.eps)) / 2 + kernel * self._scaled_ratio(s)
        one_less = self._density_complement(alpha, s) - kernel * self._lattice_excess(s)
        logarithm = np.where(moment < 0.5, np.log(moment), np.log1p(-np.minimum(one_less, 0.75)))
        return np.asarray(logarithm / (alpha - 1))

    def _density_complement(self, alpha: Floats, s: Floats) -> Floats:
        """1 minus the density's moment, at an order in (0, 1)."""
        eps = np.broadcast_to(self.eps, np.broadcast(self.eps, alpha).shape)
        order = np.broadcast_to(alpha, eps.shape)
        integrated = eps**2 * affinity_integral(np.minimum(eps, _SMALL_EPS), np.broadcast_to(s, eps.shape))
        apart = np.where(np.abs(2 * order - 1) < 1e-3, 0.5, 2 * order - 1)
        larger, smaller = _mean_beyond(order * eps), _mean_beyond((1 - order) * eps)
        subtracted = eps * (larger - smaller) / apart
        return np.asarray(order * (1 - order) * np.where(eps <= _SMALL_EPS, integrated, subtracted))

    def _kernel(self, s: Floats, x: Floats) -> Floats:
        """``exp(-ε/2) sinh(sε)/s`` for s > 0, with x = (s - 1/2)ε."""
        return np.asarray(np.exp(x) * -np.expm1(-2 * s * self.eps) / (2 * s))

    def _scaled_ratio(self, s: Floats) -> Floats:
        """``s R`` for s > 0."""
        lattice, theta = self._lattice()
        return np.where(lattice, s * np.tanh(theta / 2) / np.tanh(s * theta), 0.5)

    def _lattice_excess(self, s: Floats) -> Floats:
        """``s R - 1/2`` for s > 0, which has the sign of s - 1/2, and is 0 for the density."""
        lattice, theta = self._lattice()
        half = np.tanh(theta / 2)
        beside = np.tanh((s - 0.5) * theta)
        # tanh(sθ) by the addition theorem where s is near 1/2
        near = (_line_less_tanh(s - 0.5, theta) + 2 * s * half**2 * beside) / (1 + half * beside)
        top = np.where(np.abs(s - 0.5) < 0.25, near, _line_less_tanh(s, theta))
        return np.where(lattice, top / (2 * np.tanh(s * theta)), 0.0)

    # Composition

    symmetric = True

    @property
    def steps_to_keep(self) -> float:
        """The distribution's own step, if there are too many to list."""
        return 2 * float(self.theta) if _LISTED_STEPS < float(self.steps) < math.inf else 0.0

    def own_step(self) -> Fraction | None:
        """2θ."""
        steps = float(self.steps)
        return 2 * Fraction(float(self.eps)) / Fraction(steps) if steps < EXACT_NODES else None

    def on_lattice(self, step: Fraction) -> Floats:
        """Probabilities of the loss on a lattice whose step divides 2θ."""
        steps = int(self.steps)
        return spaced(geometric_masses(float(self.theta), steps), int(2 * Fraction(float(self.eps)) / steps / step))

    def upper_model(self, step: float, *, aligned: bool = False) -> Model:
        """Replace the profile by its chords between the nodes, or split few losses one by one."""
        eps, steps, theta = float(self.eps), float(self.steps), float(self.theta)
        if steps <= _LISTED_STEPS:
            losses = np.asarray(2 * theta * np.arange(steps + 1))
            return Model(eps, split(losses, geometric_masses(theta, int(steps)), step), 0.0)
        chords = _chord_masses(eps, step)
        if aligned or math.isinf(steps):
            return Model(eps, chords, 0.0)
        # δ of the lattice is at most η + (1 - η) δ of the density, with η = 1 - 1/cosh(θ/2)
        return Model(eps, chords * (1 / math.cosh(theta / 2)), 2 * math.sinh(theta / 4) ** 2)

    def lower_model(self, step: float) -> Model:
        """Merge neighbouring losses, or round θ down for few losses."""
        eps, theta = float(self.eps), float(self.theta)
        if float(self.steps) <= _LISTED_STEPS and 2 * theta >= step:
            stride = steps_within(2 * theta, step)
            masses = spaced(geometric_masses(stride * step / 2, int(self.steps)), stride)
        else:
            masses = _merged_masses(steps_within(eps, step), step)
        return Model(min((masses.size - 1) / 2 * step, eps), masses, 0.0)


def _line_less_tanh(q: Floats, theta: Floats) -> Floats:
    """``2q tanh(θ/2) - tanh(qθ)``."""
    series = below_linear(q * theta) - 2 * q * below_linear(theta / 2)
    return np.where(theta < 1, series, 2 * q * np.tanh(theta / 2) - np.tanh(q * theta))


def _mean_beyond(x: Floats) -> Floats:
    """``(exp(-x) - 1 + x)/x`` for x > 0."""
    return np.asarray(exp_beyond_linear(-x) / x)


def geometric_masses(theta: float, steps: int) -> Floats:
    """Probabilities of the losses (steps - 2M) θ, M = 0, …, steps."""
    masses: Floats = np.exp(-theta * np.arange(steps + 1)) * math.tanh(theta / 2)
    ratio = math.exp(-theta)
    masses[0] = 1 / (1 + ratio)
    masses[-1] = math.exp(-theta * steps) / (1 + ratio)
    return masses


def _chord_masses(eps: float, step: float) -> Floats:
    """Masses of the profile ``1 - exp((t-ε)/2)`` with chords between the nodes ε - i step."""
    u = step / 2
    count = 2 * eps / step
    n = round(count)
    if abs(count - n) < 1e-14 * count:
        return geometric_masses(u, n)
    n = math.floor(count)
    if n == 0:
        # One chord, from ε to a node below -ε: two losses, whose probabilities add up to 1 under both centres.
        rise, fall = math.expm1(step - eps), -math.expm1(-eps)
        return np.array([rise, fall]) / (rise + fall)
    masses = np.empty(n + 2)
    masses[: n + 1] = geometric_masses(u, n + 1)[:-1]
    # The last chord crosses -ε, below which the profile is 1 - exp(t). Mirrored, the chord ends where the profile ends.
    end = step * (n + 1) - eps
    v = eps - step * n / 2
    share = -math.expm1(-v)
    masses[n] = math.exp(step - end) * (math.exp(-v) / (1 + math.exp(-u)) - share / math.expm1(step))
    masses[n + 1] = math.exp(-end) * share / -math.expm1(-step)
    return np.maximum(masses, 0.0)


def _merged_masses(n: int, step: float) -> Floats:
    """Merge the loss of the Laplace density, for ε = n steps, in bins of two steps: atoms at both ends and at midpoints."""
    if n == 0:
        return np.ones(1)
    masses = np.zeros(2 * n + 1)
    middle = np.arange(1, 2 * n, 2)
    masses[middle] = np.exp(-step / 2 * middle) * math.sinh(step / 2)
    masses[0], masses[-1] = 0.5, 0.5 * math.exp(-n * step)
    return masses
