"""Mechanisms that can be made from the scale of their noise alone, on a lattice that the scale determines.

Such a mechanism has no sensitivity of its own: every method that states privacy takes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._parameters import Real, positive, real, refuse

# Of a change; more than that is no privacy, and would need numbers beyond float64.
_MOST_SCALES = 2.0**20


class MadeFromNoise:
    """Methods take a sensitivity if the mechanism has none."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def sensitivity(self) -> Any: ...
        def _named_arguments(self) -> dict[str, Any]: ...

    else:

        @property
        def _any_sensitivity(self) -> bool:
            return self.sensitivity is None

    def _checked_sensitivity(self, sensitivity: Any) -> float:
        width = positive(sensitivity, "sensitivity")
        name, scale = next(iter(self._named_arguments().items()))
        refuse("sensitivity", width, np.all(width / _MOST_SCALES <= scale), f"at most 2**20 times the {name}", sensitivity)
        return width


def require_alone(name: str, sensitivity: object, **others: object) -> None:
    """Raise if other parameters are given beside the one that is the scale of the noise."""
    for other, value in others.items():
        refuse(other, value, value is None, f"left out beside {name}")
    refuse("sensitivity", sensitivity, sensitivity is None, f"left out beside {name}, which determines the noise")


def scale_of_noise(value: object, name: str, least: float, beyond: float, rule: str) -> Real:
    """Convert the scale of noise, which must be at least the first limit and below the second."""
    found = real(value, name)
    refuse(name, found, (found >= least) & (found < beyond), rule, value)
    return found
