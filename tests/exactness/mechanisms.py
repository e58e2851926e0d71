"""The package's mechanisms and generators, built from the words of the vector files."""

from typing import Any

import stairnoise as sn
from tests.oracles.lattice import Shape

NAMES: dict[str, Any] = {
    "laplace": sn.Laplace,
    "discrete_laplace": sn.DiscreteLaplace,
    "staircase": sn.Staircase,
    "discrete_staircase": sn.DiscreteStaircase,
}


def build(kind: str, eps: float, sensitivity: float, shape: Shape = None) -> Any:
    """Return the mechanism; discrete mechanisms get integers for their integer parameters."""
    discrete = kind.startswith("discrete")
    arguments: list[Any] = [int(sensitivity) if discrete else sensitivity]
    if shape is not None:
        arguments.append(int(shape) if discrete and not isinstance(shape, str) else shape)
    return NAMES[kind](eps, *arguments)


def rng_before(fill: int, seed: int) -> sn.SeededRng:
    """Return a generator whose next fill has the given number; empty fills count."""
    rng = sn.SeededRng(seed, allow_release=True)
    nothing = sn.DiscreteLaplace(1.0)
    for _ in range(fill):
        nothing.sample(0, rng=rng)
    return rng
