"""Losses without a lattice of their own: each returns its probabilities between two nodes, under both centres.

From above, what lies between two nodes is split between them, which keeps both probabilities: these are the chords of the
profile [1]_. From below, outcomes are merged, which hides something: falling in loss, one after another, until the ratio of
what was merged is that of a node. Both differ from the truth by the square of the step.

References
----------
.. [1] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the Dots: Tighter Discrete
   Approximations of Privacy Loss Distributions", PoPETs 2022(4).
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from stairnoise._types import Floats
from stairnoise.accounting.losses.loss import Model, Part
from stairnoise.numerics.roots import bisections

# Bins to a step from which the lower model merges.
_FINER = 4
# Halvings of a bracket of ε from 0 to a power of two: the rest is below rounding.
_HALVINGS = 64
_LARGEST = 2.0**1000
# In steps: rounding, and a thousand times less than what a step costs.
_SAME = 1e-7


class General(Part):
    """A loss from `bottom` to `top`, given by its masses between nodes."""

    __slots__ = ("bottom",)

    beyond: float
    """Probability of what the masses leave out, which counts as the worst."""
    bottom: float

    @property
    def infinite_mass(self) -> float:
        """Probability of an infinite loss that is no part of `beyond`."""
        return 0.0 if self.beyond else self.infinite

    @abstractmethod
    def masses(self, nodes: Floats) -> tuple[Floats, Floats, float]:
        """Logarithms of the probabilities, under both centres, of a loss in (nodes[i+1], nodes[i]], -inf for none.

        And the probability, under the true centre, of a finite loss above the first node.
        """

    def eps_for_delta(self, delta: Floats) -> Floats:
        """Least t >= 0 with δ(t) <= delta, to rounding and from above; inf where the infinite loss alone is more."""
        level = np.ravel(np.asarray(delta, np.float64))
        found = np.zeros(level.shape)
        open_ = np.flatnonzero(~(self.profile(np.zeros(1)) <= level) & ~(level < self.infinite))
        high = np.full(open_.size, max(self.top, 2.0**-1000))
        while (short := ~(self.profile(high) <= level[open_]) & (high < _LARGEST)).any():
            high = np.where(short, 2 * high, high)
        high = bisections(lambda t: self.profile(t) <= level[open_], np.zeros(open_.size), high, _HALVINGS)
        found[open_] = np.where(high >= _LARGEST / 2, math.inf, high)
        return np.where(level < self.infinite, math.inf, found).reshape(np.shape(delta))

    def upper_model(self, step: float, *, aligned: bool = False) -> Model:
        """Split the loss between the nodes beside it."""
        places = nodes(self.top, self.bottom, step)
        log_p, log_q, above = self.masses(places)
        with np.errstate(all="ignore"):
            depth = np.clip(np.nan_to_num(places[:-1] + log_q - log_p), 0.0, step)
            p = np.exp(log_p)
            # Two functions named expm1 may differ in the last place: no mass is below 0.
            lower_node = p * np.minimum(np.expm1(depth) / math.expm1(step), 1.0)
        masses = np.append(p - lower_node, 0.0)
        masses[1:] += lower_node
        return Model(self.top, masses, self.infinite_mass + above + self.beyond)

    def lower_model(self, step: float) -> Model:
        """Merge outcomes until their ratio is that of a node."""
        log_p, log_q, above = self.masses(nodes(self.top, self.bottom, step / _FINER))
        listed = np.isfinite(log_p) & np.isfinite(log_q)
        loss = (log_p - log_q)[listed]
        first = self.top - step * math.ceil((self.top - float(loss[0])) / step - _SAME)
        on_node = first - step * np.round((first - loss) / step)
        # A loss that is on a node, but for rounding, stays there.
        loss = np.where(np.abs(loss - on_node) < _SAME * step, on_node, loss)
        places, masses = _merged(np.exp(log_p[listed]), loss, first, step)
        top = places[0][0]
        distribution = np.zeros(places[-1][1] + 1)
        for (_, index), mass in zip(places, masses, strict=True):
            distribution[index] += mass
        distribution[0] += above
        return Model(top, distribution, self.infinite_mass)


def nodes(top: float, bottom: float, step: float) -> Floats:
    """Nodes from the largest loss down to one below the least."""
    return np.asarray(top - step * np.arange(math.ceil((top - bottom) / step) + 2), np.float64)


def _merged(p: Floats, loss: Floats, top: float, step: float) -> tuple[list[tuple[float, int]], list[float]]:
    """Nodes, as (loss, index from the top), and their masses.

    `excess` is what was merged beyond the ratio of the node: P - exp(node) Q.
    """
    index, node, mass, excess = 0, top, 0.0, 0.0
    places, masses = [], []
    for here, at in zip(p.tolist(), loss.tolist(), strict=True):
        left = here
        while left > 0:
            gain = -math.expm1(node - at) * left
            if excess + gain >= 0:
                mass, excess, left = mass + left, excess + gain, 0.0
                continue
            share = excess / -gain
            places.append((node, index))
            masses.append(mass + share * left)
            left *= 1 - share
            index = max(index + 1, math.ceil((top - at) / step - _SAME))
            node, mass, excess = top - step * index, 0.0, 0.0
    # The rest is nearer to the true centre than the node says.
    places.append((node, index))
    masses.append(mass)
    return places, masses
