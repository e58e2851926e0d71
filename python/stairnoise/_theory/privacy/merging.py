"""Lattices that enclose the losses of laws without a lattice of their own, however these are given.

A loss says how probable it is, under both centres, between two nodes. From above, what lies between two nodes is split
between them, which keeps both probabilities: these are the chords of the profile [1]_. From below, outcomes are merged, which
hides something: falling in loss, one after another, until the ratio of what was merged is that of a node. Both differ
from the truth by the square of the step.

References
----------
.. [1] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the Dots: Tighter Discrete
   Approximations of Privacy Loss Distributions", PoPETs 2022(4).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._theory.privacy.parts.largest import Largest
from stairnoise._theory.privacy.parts.lattice_gaussian import LatticeGaussian
from stairnoise._theory.privacy.parts.listed import Listed
from stairnoise._theory.privacy.parts.runs import Runs

Array = NDArray[np.float64]
General = Listed | LatticeGaussian | Runs | Largest
GENERAL = (Listed, LatticeGaussian, Runs, Largest)

# Cells to a step from which the lower model merges.
_FINER = 4
# In steps: rounding, and a thousand times less than what a step costs.
_SAME = 1e-7


class Model(NamedTuple):
    """A loss on the nodes top, top - step, …: their probabilities, and that of an infinite loss."""

    top: float
    masses: Array
    infinite: float


def upper(part: General, step: float) -> Model:
    """Split the loss between the nodes beside it."""
    nodes = _nodes(part, step)
    if isinstance(part, Largest):
        masses, infinite = part.chord_masses(nodes, step)
        return Model(part.top, masses, infinite)
    log_p, log_q, above = part.masses(nodes)
    with np.errstate(all="ignore"):
        depth = np.clip(np.nan_to_num(nodes[:-1] + log_q - log_p), 0.0, step)
        p = np.exp(log_p)
        lower_node = p * np.expm1(depth) / math.expm1(step)
    masses = np.append(p - lower_node, 0.0)
    masses[1:] += lower_node
    infinite = part.infinite if isinstance(part, Runs) else 0.0
    # What the list and the nodes leave out counts as the worst.
    return Model(part.top, masses, infinite + above + part.beyond)


def lower(part: General, step: float) -> Model:
    """Merge outcomes until their ratio is that of a node."""
    pair = part.worst_at_zero() if isinstance(part, Largest) else part
    fine = step / _FINER
    nodes = _nodes(pair, fine)
    log_p, log_q, above = pair.masses(nodes)
    listed = np.isfinite(log_p) & np.isfinite(log_q)
    loss = (log_p - log_q)[listed]
    on_node = pair.top - step * np.round((pair.top - loss) / step)
    # A loss that is on a node, but for rounding, stays there.
    loss = np.where(np.abs(loss - on_node) < _SAME * step, on_node, loss)
    first = pair.top - step * math.ceil((pair.top - float(loss[0])) / step - _SAME)
    places, masses = _merged(np.exp(log_p[listed]), loss, first, step)
    top = places[0][0]
    law = np.zeros(places[-1][1] + 1)
    for (_, index), mass in zip(places, masses, strict=True):
        law[index] += mass
    law[0] += above
    return Model(top, law, pair.infinite if isinstance(pair, Runs) else 0.0)


def _nodes(part: General, step: float) -> Array:
    """Nodes from the largest loss down to one below the least."""
    return np.asarray(part.top - step * np.arange(math.ceil((part.top - part.bottom) / step) + 2), np.float64)


def _merged(p: Array, loss: Array, top: float, step: float) -> tuple[list[tuple[float, int]], list[float]]:
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
