"""What the laws have in common.

`immutable` makes them values, `parameters` validates, `drawing` samples and releases, `partitions` is for people who change
several values, `distribution` is the theory, `accuracy` the error bars, `privacy` what a release reveals, `plotting` shows it
all, `interop` serves other libraries; `alone` is the base of the laws with scalar parameters only, `alone_privacy` what those
reveal.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from stairnoise._law.accuracy import Accuracy
from stairnoise._law.distribution import ContinuousDistribution, DiscreteDistribution
from stairnoise._law.drawing import Drawing
from stairnoise._law.interop import Interop
from stairnoise._law.parameters import Cost, Spec, integers, plain
from stairnoise._law.plotting import Plotting
from stairnoise._law.privacy import Privacy
from stairnoise._parameters import Real

__all__ = ["ContinuousLaw", "Cost", "DiscreteLaw", "Law", "Spec", "integers", "plain"]

_Default = TypeVar("_Default", bound=np.generic)


class Law(Drawing[_Default], Accuracy, Privacy, Plotting, Interop):
    """A noise law."""

    __slots__ = ()


class ContinuousLaw(Law[np.float64], ContinuousDistribution):
    """A law of real numbers, drawn on the lattice of multiples of its granularity."""

    __slots__ = ()
    _dtypes = ("float64", "float32")
    _release_dtypes = ("float64", "float32")

    @property
    def sensitivity(self) -> Real:
        """Largest change Δ of one value that one person can cause."""
        return self._sensitivity

    @property
    def granularity(self) -> Real:
        """Power of two of which every draw is a multiple."""
        granularity: Real = self._place()[0]
        return granularity

    def _excess_kurtosis(self) -> Real:
        # It does not depend on the scale, at which the moments may leave float64.
        eps, _, *shape = self._arguments()
        unit = type(self)(eps, 1.0, *shape)  # type: ignore[call-arg]
        return plain(np.broadcast_to(super(ContinuousLaw, unit)._excess_kurtosis(), self._parameter_shape).copy())


class DiscreteLaw(Law[np.int64], DiscreteDistribution):
    """A law of integers."""

    __slots__ = ()
    _dtypes = ("int64", "int32", "float64")
    _release_dtypes = ("int64", "int32", "float64", "float32")

    @property
    def sensitivity(self) -> int | NDArray[np.int64]:
        """Largest change Δ of one value that one person can cause, an integer."""
        sensitivity: int | NDArray[np.int64] = integers(self._sensitivity)
        return sensitivity

    @property
    def granularity(self) -> int:
        """Every draw is a multiple of 1."""
        return 1

    def _arguments(self) -> tuple[Any, ...]:
        eps, *others = super()._arguments()
        return eps, *map(integers, others)
