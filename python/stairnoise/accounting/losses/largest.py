"""One release whose worst pair of neighbours is not the same for every measure: the worst of several pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.general import General, nodes
from stairnoise.accounting.losses.loss import Model, Part


class Largest(Part):
    """The largest of the losses of several pairs, which are all there are with their mirror images.

    The largest of their profiles is a profile itself: it is convex in exp(t), and its own mirror image.
    """

    __slots__ = ("eps", "infinite", "pairs", "top")

    eps: Floats
    infinite: float
    top: float

    def __init__(self, pairs: Sequence[General]) -> None:
        self.pairs = tuple(pairs)
        self.eps = np.array(max(float(pair.eps) for pair in pairs))
        self.infinite = max(pair.infinite for pair in pairs)
        self.top = max(pair.top for pair in pairs)

    def key(self) -> tuple[Any, ...]:
        """Return what two equal releases have in common."""
        return ("largest", *(pair.key() for pair in self.pairs))

    def _of_all(self, method: str, *arguments: Floats) -> list[Floats]:
        return [getattr(pair, method)(*arguments) for pair in self.pairs]

    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0."""
        return np.asarray(np.max(self._of_all("profile", t), axis=0))

    def profile_scalar(self, t: float) -> float:
        """δ at one t >= 0."""
        return max(float(pair.profile_scalar(t)) for pair in self.pairs)

    def eps_for_delta(self, delta: Floats) -> Floats:
        """Least t >= 0 with δ(t) <= delta."""
        return np.asarray(np.max(self._of_all("eps_for_delta", delta), axis=0))

    def tradeoff(self, alpha: Floats) -> Floats:
        """Least probability of a missed detection."""
        return np.asarray(np.min(self._of_all("tradeoff", alpha), axis=0))

    def mean(self) -> Floats:
        """Kullback-Leibler divergence."""
        return np.asarray(np.max(self._of_all("mean"), axis=0))

    def var(self) -> Floats:
        """Variance of the loss."""
        return np.asarray(np.max(self._of_all("var"), axis=0))

    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1."""
        return np.asarray(np.max(self._of_all("rdp", alpha), axis=0))

    def worst_at_zero(self) -> General:
        """Return the pair with the largest total variation."""
        return max(self.pairs, key=lambda pair: float(pair.profile_scalar(0.0)))

    def both_signs(self, t: Floats) -> Floats:
        """δ at any t."""
        size = np.abs(t)
        positive = self.profile(size)
        return np.where(t < 0, -np.expm1(-size) + np.exp(-size) * positive, positive)

    def upper_model(self, step: float, *, aligned: bool = False) -> Model:
        """Replace the profile by its chords."""
        delta = self.both_signs(nodes(self.top, -self.top, step))
        # A chord's slope is what lies above it, under the other centre and times exp(t).
        B = np.append(np.diff(delta) / -math.expm1(-step), 0.0)
        p = np.maximum(B - math.exp(-step) * np.append(0.0, B[:-1]), 0.0)
        p[-1] = max(1 - float(delta[0]) - float(p[:-1].sum()), 0.0)
        return Model(self.top, p, float(delta[0]))

    def lower_model(self, step: float) -> Model:
        """Return the lower model of the pair with the largest total variation."""
        return self.worst_at_zero().lower_model(step)
