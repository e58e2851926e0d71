"""The base class of mechanisms of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise._parameters import RealLike
from stairnoise._types import Float, Floats, number_or_array
from stairnoise.mechanism.additive import AdditiveMechanism


class ContinuousMechanism(AdditiveMechanism[np.float64, Float, Float]):
    """A mechanism of real numbers, drawn on the lattice of multiples of its granularity."""

    __slots__ = ()

    @number_or_array
    def pdf(self, x: RealLike) -> Float | Floats:
        """Probability density at x; at the edge of a stair, the lower of the two densities.

        Parameters
        ----------
        x : float or array of float
            Any number; broadcasts against the parameters.

        Returns
        -------
        float or ndarray of float64
            Per unit of x.
        """
        return self._apply("pdf", x, "x")

    @number_or_array
    def logpdf(self, x: RealLike) -> Float | Floats:
        """Natural logarithm of `pdf`, finite where `pdf` underflows."""
        return self._apply("logpdf", x, "x")

    @property
    def granularity(self) -> Float:
        """Lattice step g, a power of two: every draw is a multiple of it."""
        return self._lattice_step()  # type: ignore[no-any-return]

    def _lattice_step(self) -> Any:
        return self._sampler.granularity

    @property
    def _unit(self) -> Any:
        return self._distribution.unit

    def _in_units(self) -> Any:
        return self._distribution.in_units()
