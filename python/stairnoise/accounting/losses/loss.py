"""What every part of a privacy loss answers: the loss of one release, by itself and on a lattice."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from stairnoise._types import Floats

# Most nodes of a composed loss that is kept on its own lattice.
EXACT_NODES = 2**18


class Model(NamedTuple):
    """A loss on the nodes top, top - step, …: their probabilities, and that of an infinite loss."""

    top: float
    masses: Floats
    infinite: float


class Part(ABC):
    """The loss of one release for the worst pair of neighbours.

    Measures take arrays that broadcast with the parameters. The lattice of a composed loss is asked for only where all
    parameters are numbers.
    """

    __slots__ = ("_key", "top")

    symmetric = False
    """Whether the lower model is symmetric about 0, as the loss is. Its lattice begins at a multiple of half a step."""
    composes_in_closed_form = False
    """Whether `powers` has the loss of any number of releases."""

    eps: Floats
    """The largest loss, inf where it has no bound."""
    infinite: float
    """Probability of an infinite loss."""
    top: float
    """The largest finite loss that counts, of scalar parameters."""

    _key: tuple[Any, ...]

    def key(self) -> tuple[Any, ...]:
        """Return what two equal releases have in common."""
        return self._key

    # Measures

    @abstractmethod
    def profile(self, t: Floats) -> Floats:
        """δ at t >= 0."""

    def profile_scalar(self, t: float) -> float:
        """δ at one t >= 0, for scalar parameters."""
        with np.errstate(all="ignore"):
            return float(self.profile(np.array(t)))

    @abstractmethod
    def eps_for_delta(self, delta: Floats) -> Floats:
        """Least t >= 0 with δ(t) <= delta, inf where the infinite loss alone is more."""

    @abstractmethod
    def tradeoff(self, alpha: Floats) -> Floats:
        """Least probability of a missed detection."""

    @abstractmethod
    def mean(self) -> Floats:
        """Kullback-Leibler divergence."""

    @abstractmethod
    def var(self) -> Floats:
        """Variance of the loss."""

    @abstractmethod
    def rdp(self, alpha: Floats) -> Floats:
        """Rényi divergence at a finite order other than 1."""

    # Composition, of scalar parameters

    def upper_model(self, step: float, *, aligned: bool = False) -> Model:
        """Return a loss on a lattice that dominates this one. `aligned`: `step` is a multiple of `steps_to_keep`."""
        raise ArithmeticError("a loss of array parameters is not composed")

    def lower_model(self, step: float) -> Model:
        """Return a loss on a lattice that this one dominates."""
        raise ArithmeticError("a loss of array parameters is not composed")

    @property
    def steps_to_keep(self) -> float:
        """Distance of two losses that an upper model's step should be a multiple of; 0 where any step will do."""
        return 0.0

    def suitable_step(self, step: float) -> float:
        """Return a step for a loss of this part alone: at most the one given, or one with which every loss is on a node."""
        return step

    def own_step(self) -> Fraction | None:
        """Step of the lattice that holds the loss exactly, None where it has none or one with too many nodes."""
        return None

    def on_lattice(self, step: Fraction) -> Floats:
        """Probabilities of the loss on a lattice whose step divides `own_step`."""
        raise ArithmeticError("a loss without a lattice of its own must be bracketed")

    def together(self, k: int) -> Part | None:
        """Return the loss of k releases as the loss of one, None where it is not of this kind."""
        return self if k == 1 else None

    def powers(self, k: int) -> Floats:
        """Probabilities of the loss of k releases, on its own lattice, from the largest one down to 0."""
        raise ArithmeticError("a loss that composes in closed form is asked for its powers, and no other")


def spaced(masses: Floats, stride: int) -> Floats:
    """Put probabilities on every `stride`-th node."""
    distribution = np.zeros((masses.size - 1) * stride + 1)
    distribution[::stride] = masses
    return distribution


def split(offsets: Floats, masses: Floats, step: float) -> Floats:
    """Put each mass on the two nodes beside its loss, keeping the probability under the other centre."""
    place = offsets / step
    index = np.floor(place)
    below = masses * np.expm1((place - index) * step) / math.expm1(step)
    distribution = np.zeros(int(index[-1]) + 2)
    np.add.at(distribution, index.astype(np.int64), masses - below)
    np.add.at(distribution, index.astype(np.int64) + 1, below)
    return distribution


def steps_within(length: float, step: float) -> int:
    """How many whole steps a length has, a quotient that is whole but for rounding counting as such."""
    return math.floor(length / step * (1 + 1e-12))
