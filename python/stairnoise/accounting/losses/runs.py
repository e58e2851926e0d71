r"""One release of noise whose log-probability is piecewise linear, on a fine lattice: geometric sums over runs of outcomes.

Under a shift both log-probabilities are linear on finitely many runs of integers, and so is the loss: on a run

    ln P = a - β j,    L = l - d j,    j = 0 … n - 1,    d >= 0

(runs on which the loss rises are taken from their other end). Positions are integers and losses rational numbers until the
last step, however many integers there are to a shift.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.general import General
from stairnoise.accounting.losses.listed import Listed
from stairnoise.distributions.slopes import Slopes, log_sum
from stairnoise.numerics.quadrature import gauss_legendre
from stairnoise.numerics.roots import bisections

# Where a loss is nearer to t than this, over a run this flat, the difference of two sums is integrated.
_NEAR, _FLAT = 0.5, 1.0
# A sum over steps as fine as these is an integral, up to their square.
_FINE = 2.0**-26
# In nepers: the part of a run that is lower than its beginning by more is left out.
_SPAN = 800.0
# In nepers, and points on each: a polynomial of degree 31 leaves less than 1e-17 of an exponential.
_PIECE, _POINTS = 2.0, 16
_HALVINGS = 128
# The logarithm of a moment nearer to 0 has lost digits.
_NEAR_ONE = 2.0**-10


class Runs(General):
    """The loss of a distribution given by its slopes, under a shift of `steps` integers, which can be negative."""

    __slots__ = ("_beta", "_d", "_log_p", "_loss", "_moments", "_n", "beyond", "eps", "infinite")

    def __init__(self, key: tuple[Any, ...], distribution: Slopes, steps: int) -> None:
        self._key = (*key, steps)
        runs, alone = _runs(distribution, steps)
        self._log_p, self._beta, self._loss, self._d, self._n = (np.array(one, np.float64) for one in zip(*runs, strict=True))
        log_alone = np.array([a + log_sum(b, n) for a, b, n in alone])
        logs = np.concatenate([self._log_p + log_sum(self._beta, self._n), log_alone])
        total = np.logaddexp.reduce(logs)
        self._log_p = self._log_p - total
        self.infinite = float(np.sum(np.exp(log_alone - total)))
        self.beyond = 0.0
        self.top = float(self._loss.max())
        with np.errstate(invalid="ignore"):
            fall = np.where(self._d > 0, self._d * (self._n - 1), 0.0)
        self.bottom = float((self._loss - fall).min())
        self.eps = np.array(math.inf if self.infinite > 0 else self.top)
        self._moments: Listed | None = None

    # Measures

    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0."""
        t = np.asarray(t, np.float64)
        m = self._count(t)
        rest = self._loss - t[..., None]
        constant = -np.expm1(np.minimum(-rest, 0.0)) * np.exp(self._log_p + log_sum(self._beta, self._n))
        log_p, log_q = self._logs(np.zeros(m.shape), m)
        apart = np.where(m > 0, np.exp(log_p) - np.exp(log_q + t[..., None]), 0.0)
        flat = np.where(m > 0, np.abs(self._beta) * m, 0.0)
        near = (rest < _NEAR) & (flat < _FLAT) & (m > 0) & (self._d > 0) & (self._d < _FINE)
        parts = np.where(self._d == 0, np.where(m > 0, constant, 0.0), np.maximum(apart, 0.0))
        if near.any():
            parts[near] = self._integrated(m, rest)[near]
        return np.asarray(self.infinite + parts.sum(axis=-1))

    def _integrated(self, m: Floats, rest: Floats) -> Floats:
        """Sum of P (1 - exp(t - L)) over the first m, as the integral over the unit intervals about them."""
        x, weights = gauss_legendre(_POINTS)
        m = np.where(np.isfinite(m), m, 0.0)
        j = m[..., None] * x - 0.5
        values = np.exp(self._log_p[:, None] - self._beta[:, None] * j) * -np.expm1(self._d[:, None] * j - rest[..., None])
        return np.asarray(m * (values @ weights))

    def tradeoff(self, alpha: Floats) -> Floats:
        """Least probability of a missed detection: an alarm where the loss is above the least threshold that α allows."""
        flat = np.ravel(alpha)
        low, high = np.full(flat.shape, self.bottom - 1.0), np.full(flat.shape, self.top)
        t = bisections(lambda t: self._alarms(t)[1] <= flat, low, high, _HALVINGS)
        missed, false = self._alarms(t)
        lines = missed - np.exp(np.minimum(t, 0.0)) * np.exp(np.maximum(t, 0.0)) * (flat - false)
        return np.asarray(np.maximum(lines, 0.0).reshape(np.shape(alpha)))

    def _alarms(self, t: Floats) -> tuple[Floats, Floats]:
        """P(L <= t) under the true centre and P(L > t) under the other one."""
        m = self._count(t)
        first = np.where(m < self._n, m, 0.0)
        left = np.where(m < self._n, self._n - first, 0.0)
        below, _ = self._logs(first, left)
        _, above = self._logs(np.zeros(m.shape), m)
        return np.where(left > 0, np.exp(below), 0.0).sum(axis=-1), np.where(m > 0, np.exp(above), 0.0).sum(axis=-1)

    def mean(self) -> Floats:
        """Kullback-Leibler divergence."""
        return np.array(math.inf) if self.infinite > 0 else self._listed().mean()

    def var(self) -> Floats:
        """Variance of the loss."""
        return np.array(math.inf) if self.infinite > 0 else self._listed().var()

    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1."""
        orders = np.asarray(alpha, np.float64)
        return np.array([self._rdp(order) for order in orders.ravel().tolist()], np.float64).reshape(orders.shape)

    def _rdp(self, order: float) -> float:
        """By geometric sums, and where the moment is near 1 by what it differs from 1 by."""
        if order > 1 and self.infinite > 0:
            return math.inf
        terms = self._log_p + (order - 1) * self._loss + log_sum(self._beta + (order - 1) * self._d, self._n)
        logarithm = float(np.logaddexp.reduce(terms))
        if abs(logarithm) > _NEAR_ONE or self.infinite > 0:
            return logarithm / (order - 1)
        return float(self._listed().rdp(np.array(order)))

    def masses(self, nodes: Floats) -> tuple[Floats, Floats, float]:
        """Logarithms of the probabilities, under both centres, of a loss in (nodes[i+1], nodes[i]], -inf for none.

        And the probability, under the true centre, of a finite loss above the first node.
        """
        m = self._count(nodes)
        lengths = np.where(m[1:] > m[:-1], m[1:] - np.where(m[1:] > m[:-1], m[:-1], 0.0), 0.0)
        log_p, log_q = self._logs(np.where(lengths > 0, m[:-1], 0.0), lengths)
        first, _ = self._logs(np.zeros(m[0].shape), m[0])
        above = float(np.sum(np.where(m[0] > 0, np.exp(first), 0.0)))
        p, q = (np.logaddexp.reduce(np.where(lengths > 0, part, -np.inf), axis=-1) for part in (log_p, log_q))
        return p, q, above

    # Sums over runs

    def _count(self, t: Floats) -> Floats:
        """How many outcomes of each run have a loss above t."""
        rest = self._loss - np.asarray(t)[..., None]
        slope = np.where(self._d > 0, self._d, 1.0)
        falling = np.clip(np.ceil(rest / slope), 0.0, self._n)
        return np.asarray(np.where(self._d > 0, falling, np.where(rest > 0, self._n, 0.0)))

    def _logs(self, first: Floats, count: Floats) -> tuple[Floats, Floats]:
        """Logarithms of the probabilities, under both centres, of `count` outcomes of each run from the `first` on."""
        beta_q = self._beta - self._d
        log_p = self._log_p - self._beta * first + log_sum(self._beta, count)
        log_q = self._log_p - self._loss - beta_q * first + log_sum(beta_q, count)
        return log_p, log_q

    def _listed(self) -> Listed:
        """Outcomes that stand for all in every integral of a smooth function of the loss: Gauss's points on every run."""
        if self._moments is None:
            p, q = zip(*(self._points(i) for i in range(self._n.size)), strict=True)
            self._moments = Listed(self._key, np.concatenate(p), np.concatenate(q), math.inf)
        return self._moments

    def _points(self, i: int) -> tuple[Floats, Floats]:
        a, beta, loss, d, n = (float(column[i]) for column in (self._log_p, self._beta, self._loss, self._d, self._n))
        if d == 0:
            whole = a + log_sum(np.array(beta), np.array(n))
            return np.atleast_1d(whole), np.atleast_1d(whole - loss)
        steepest = max(abs(beta), abs(beta - d))
        gentlest = min(abs(beta), abs(beta - d)) if beta * (beta - d) > 0 else 0.0
        length = min(n, _SPAN / gentlest) if gentlest > 0 else n
        start = n - length if beta < 0 else 0.0
        edges = start - 0.5 + length * np.linspace(0.0, 1.0, math.ceil(steepest * length / _PIECE) + 1)
        x, weights = gauss_legendre(_POINTS)
        widths = np.diff(edges)
        j = (edges[:-1, None] + widths[:, None] * x).ravel()
        log_p = a - beta * j + np.log(np.outer(widths, weights).ravel())
        return log_p, log_p - (loss - d * j)


def _runs(distribution: Slopes, steps: int) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    """Return the runs that both centres have, as (ln P, β, L, d, n), and that only the true one has, as (ln P, β, n)."""
    cuts = sorted({*distribution.corners(), *(c + steps for c in distribution.corners())})
    spans: list[tuple[int, Any, int]] = [(low, high, 1) for low, high in pairwise(cuts)]
    # Runs without end are taken outwards.
    spans += [(cuts[-1], None, 1)] if distribution.above is None else []
    spans += [(cuts[0] - 1, None, -1)] if distribution.below is None else []
    both: list[tuple[float, ...]] = []
    alone: list[tuple[float, ...]] = []
    for start, stop, step in spans:
        n = math.inf if stop is None else float(stop - start)
        if not distribution.holds(start):
            continue
        here, there = distribution.height(start), distribution.height(start + step)
        beta = there - here if n > 1 else Fraction(0)
        if not distribution.holds(start - steps):
            alone.append((-float(here), float(beta), n))
            continue
        loss = distribution.height(start - steps) - here
        fall = loss - (distribution.height(start + step - steps) - there) if n > 1 else Fraction(0)
        if fall < 0:
            last = stop - 1
            here, loss = distribution.height(last), distribution.height(last - steps) - distribution.height(last)
            beta, fall = -beta, -fall
        both.append((-float(here), float(beta), float(loss), float(fall), n))
    return both, alone
