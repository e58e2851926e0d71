"""The seven counts that a thesis adds noise to, and ways to add it.

'Comparing the Performance of the Laplace and Staircase Mechanisms in Differential Privacy' (2018) times NumPy's Laplace noise
against a staircase in plain Python and a compiled one, on the number of White people by marital status in the Adult data set
(Becker and Kohavi, 1996; CC BY 4.0).
"""

from __future__ import annotations

import importlib
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches import ours, peers
from benches.mechanisms import CoreMechanism, laplace, staircase
from benches.timing import Draw

COUNTS = np.array([3797, 22, 13410, 291, 8757, 717, 822])
"""Divorced, Married-AF-spouse, Married-civ-spouse, Married-spouse-absent, Never-married, Separated, Widowed."""

EPS = 1.0


@dataclass(frozen=True)
class Way:
    """A way to make the seven noisy counts; `make` returns a draw of all seven."""

    name: str
    mechanism: CoreMechanism
    make: Callable[[CoreMechanism], Draw]
    package: str = "numpy"


def noise_of(draw: Draw, repeats: int = 1500) -> NDArray[np.float64]:
    """Return the noise of many draws of the seven counts."""
    return np.concatenate([np.asarray(draw(), dtype=np.float64) - COUNTS for _ in range(repeats)])


def _numpy_vector(mechanism: CoreMechanism) -> Draw:
    rng, scale = np.random.default_rng(1), mechanism.sensitivity / mechanism.eps
    return lambda: COUNTS + rng.laplace(0, scale, len(COUNTS))


def _numpy_scalars(mechanism: CoreMechanism) -> Draw:
    rng, scale, counts = np.random.default_rng(1), mechanism.sensitivity / mechanism.eps, COUNTS.tolist()
    return lambda: [count + rng.laplace(0, scale) for count in counts]


def staircase_in_python(rng: random.Random, eps: float, sensitivity: float, gamma: float) -> float:
    """Draw once by Algorithm 1 of Geng & Viswanath, as packages in plain Python do."""
    sign = 1 if rng.random() < 0.5 else -1
    stairs = math.floor(-math.log(1 - rng.random()) / eps)  # geometric: P(G >= m) = e^(-eps m)
    u = rng.random()
    if rng.random() < gamma / (gamma + (1 - gamma) * math.exp(-eps)):
        return sign * (stairs + gamma * u) * sensitivity
    return sign * (stairs + gamma + (1 - gamma) * u) * sensitivity


def _python(mechanism: CoreMechanism) -> Draw:
    rng, counts, gamma = random.Random(1), COUNTS.tolist(), mechanism.shape or 0.0
    return lambda: [count + staircase_in_python(rng, mechanism.eps, mechanism.sensitivity, gamma) for count in counts]


def _diffprivlib(made: CoreMechanism) -> Draw:
    mechanisms = importlib.import_module("diffprivlib.mechanisms")
    mechanism: Any = mechanisms.Staircase(epsilon=made.eps, sensitivity=made.sensitivity, random_state=1)
    counts = COUNTS.tolist()
    return lambda: [mechanism.randomise(count) for count in counts]


def _compiled(mechanism: CoreMechanism) -> Draw:
    noise = peers.numba_algorithm_1(mechanism, len(COUNTS))
    return lambda: COUNTS + noise()


def _ours_scalars(mechanism: CoreMechanism) -> Draw:
    d, counts = ours.distribution(mechanism), COUNTS.tolist()
    return lambda: [count + d.sample() for count in counts]


def _ours_release(mechanism: CoreMechanism) -> Draw:
    d = ours.distribution(mechanism)
    return lambda: d.release(COUNTS)


WAYS = (
    Way("NumPy Laplace, one call for the seven", laplace(EPS), _numpy_vector),
    Way("NumPy Laplace, one call a count", laplace(EPS), _numpy_scalars),
    Way("staircase in plain Python", staircase(EPS), _python),
    Way("staircase of diffprivlib", staircase(EPS), _diffprivlib, "diffprivlib"),
    Way("staircase compiled by numba", staircase(EPS), _compiled, "numba"),
    Way("stairnoise, d.sample() a count", staircase(EPS), _ours_scalars),
    Way("stairnoise, d.release of the seven", staircase(EPS), _ours_release),
)

UNFAIR = (
    "Unfair: only the last row is a release (rounded to the lattice, added in integers, drawn with a secure generator); the "
    "others add 64-bit floats, whose low-order bits can reveal the true count. Seven values are too few for compiled code to "
    "show its speed, so the times are mostly those of a call."
)
