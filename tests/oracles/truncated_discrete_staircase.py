"""Contract, truncated staircases: the mechanism on the integers. truncated_staircase has the code that both mechanisms share."""

from fractions import Fraction

from tests.oracles.lattice import Lattice, lattice
from tests.oracles.truncated_staircase import STAGES, Truncated, on_lattice, value
from tests.oracles.truncated_staircase import lengths as all_lengths

__all__ = ["CASES", "SEED", "STAGES", "lengths", "mechanism", "value"]

SEED = 5153
CASES: tuple[tuple[float, float, int, int | str, int | None, int | None], ...] = (
    (1.0, 1e-6, 1, "l1", None, None),
    (1.0, 1e-6, 10, "l2", None, None),
    (2.0, 0.05, 10, "l2", 0, None),
    (0.05, 1e-6, 10, 5, None, 0),
    (4.0, 1e-4, 10, "l1", -5, 100),
    (0.3, 0.5, 3, 2, None, None),
    (1.0, 1e-3, 1000, "l1", None, -10),
    (2.0**-20, 0.4, 7, 7, 3, None),
    (1e-6, 2.0**-128, 2**30, 2**20 + 1, None, None),
    (0.5, 1e-9, 300, "l2", None, None),
    (650.0, 1e-9, 5, 1, None, None),
)


def mechanism(
    eps: float, delta: float, sensitivity: int, shape: int | str, lower: int | None, upper: int | None
) -> tuple[Lattice, Truncated]:
    """The lattice, and the mechanism on it."""
    where = lattice("discrete_staircase", eps, sensitivity, 1)
    return where, on_lattice(Fraction(eps), Fraction(delta), where, shape, lower, upper)


def lengths(mechanism: Truncated) -> dict[str, int | str]:
    """Return the mechanism's own numbers except γ."""
    return {name: own for name, own in all_lengths(mechanism).items() if name != "gamma"}
