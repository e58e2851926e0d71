"""Pictures of a mechanism; Matplotlib is loaded when a picture is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stairnoise._parameters import RealLike
from stairnoise.registry import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stairnoise.rng import Rng


class Plotting:
    """A mechanism that can draw its density or probabilities."""

    __slots__ = ()

    if TYPE_CHECKING:
        _integers: ClassVar[bool]

        def std(self) -> Any: ...

    def plot(
        self,
        ax: Axes | None = None,
        *,
        samples: int | RealLike | None = None,
        rng: Rng | None = None,
        laplace: bool = True,
        bins: int = 100,
    ) -> Axes:
        """Draw the density, or the probabilities of the integers, where 99 % of the noise falls.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Where to draw; None: a new figure of ``matplotlib.pyplot``.
        samples : int, array or None
            Values to show as a histogram behind the curve, or how many values to draw for it. Values outside the
            picture still count in the heights of the bars.
        rng : SecureRng, SeededRng or None
            Generator of the values, if `samples` is a number. None: one secure generator for the process.
        laplace : bool, default True
            Whether to draw `Laplace` (or `DiscreteLaplace`) of the same ``eps`` and ``sensitivity`` for comparison. A
            mechanism without both has no comparison.
        bins : int, default 100
            Number of bars of the histogram. On the integers it is an upper limit, and each bar covers a whole number of
            integers.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ParameterError, ParameterTypeError
            The mechanism has array parameters, or an argument is not allowed.
        ModuleNotFoundError
            Matplotlib is not installed: ``pip install matplotlib``.

        Examples
        --------
        >>> import matplotlib.figure
        >>> import stairnoise as sn
        >>> ax = matplotlib.figure.Figure().subplots()
        >>> sn.Staircase(eps=4).plot(ax, samples=1000).get_ylabel()
        'probability density'
        """
        from stairnoise.figures.mechanism import plot_mechanism

        return plot_mechanism(self, ax, samples, rng, laplace, bins)

    def _visible(self, limit: float) -> float:
        """Return how far from 0 to draw a mechanism whose noise nearly always stays within `limit`."""
        if self._integers:
            return max(limit, float(self._width or 1))
        # The noise of a share may nearly always be 0; the limit is then 0.
        return limit or float(self.std())

    def _edges(self, limit: float) -> NDArray[np.float64] | None:
        """Return the jumps of the density between -limit and limit, with both ends; None for a density without jumps."""
        del limit
        return None

    def _laplace(self) -> Any:
        """Return the Laplace mechanism of the same kind, ε and sensitivity; None for a share or a mechanism without both."""
        eps, width = self._pure_eps, self._width
        if eps is None or width is None:
            return None
        return load("discrete_laplace" if self._integers else "laplace")(eps, width)

    @property
    def _pure_eps(self) -> float | None:
        """ε of the Laplace mechanism to compare with."""
        eps: float | None = getattr(self, "eps", None)
        return eps

    @property
    def _width(self) -> float | None:
        """Sensitivity of the mechanism, if it has one."""
        width: float | None = getattr(self, "sensitivity", None)
        return width
