"""One release whose worst pair of neighbours is not the same for every measure: the worst of several pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.general import General, nodes
from stairnoise.accounting.losses.loss import Model, Part


def _worst(measure: str, of_all: Callable[..., Any] = np.max) -> Any:
    def worst(self: Largest, *arguments: Floats) -> Floats:
        return np.asarray(of_all([getattr(pair, measure)(*arguments) for pair in self.pairs], axis=0))

    return worst


class Largest(Part):
    """The largest of the losses of several pairs, which are all there are with their mirror images.

    The largest of their profiles is a profile itself: it is convex in exp(t), and its own mirror image.
    """

    __slots__ = ("eps", "infinite", "pairs")

    def __init__(self, pairs: Sequence[General]) -> None:
        self.pairs = tuple(pairs)
        self._key = ("largest", *(pair.key() for pair in pairs))
        self.eps = np.array(max(float(pair.eps) for pair in pairs))
        self.infinite = max(pair.infinite for pair in pairs)
        self.top = max(pair.top for pair in pairs)

    profile, eps_for_delta, rdp, mean, var = map(_worst, ("profile", "eps_for_delta", "rdp", "mean", "var"))
    tradeoff = _worst("tradeoff", np.min)

    def worst_at_zero(self) -> General:
        """Return the pair with the largest total variation."""
        return max(self.pairs, key=lambda pair: float(pair.profile_scalar(0.0)))

    def both_signs(self, t: Floats) -> Floats:
        """δ at any t."""
        size = np.abs(t)
        positive = self.profile(size)
        return np.asarray(np.where(t < 0, -np.expm1(-size) + np.exp(-size) * positive, positive))

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
