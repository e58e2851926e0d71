"""Pictures of a law; Matplotlib is loaded when one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stairnoise._parameters import RealLike
from stairnoise._registry import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stairnoise.rng import Rng


class Plotting:
    """A law that can be looked at."""

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
            Values to draw as a histogram behind the law, or how many to draw from it. Those out of sight
            count in its heights.
        rng : SecureRng, SeededRng or None
            For a number of samples: where they come from. None: one secure generator for the process.
        laplace : bool, default True
            Whether to draw the Laplace law of the same kind, ``eps`` and ``sensitivity`` for comparison; none for a law
            that has not both.
        bins : int, default 100
            Bars of the histogram; on the integers at most this many, each a whole number of them wide.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ParameterError, ParameterTypeError
            The law has array parameters, or an argument is not allowed.
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
        from stairnoise.figures.law import plot_law

        return plot_law(self, ax, samples, rng, laplace, bins)

    def _visible(self, limit: float) -> float:
        """Return how far to draw a law that keeps within `limit` nearly always."""
        if self._integers:
            return max(limit, float(self._width or 1))
        # A share may be 0 nearly always.
        return limit or float(self.std())

    def _edges(self, limit: float) -> NDArray[np.float64] | None:
        """Return where the density jumps between -limit and limit, and these two; None for one that does not."""
        del limit
        return None

    def _laplace(self) -> Any:
        """Return the Laplace law of the same kind, ε and sensitivity; None for a law that has not both, or is a share."""
        eps, width = self._pure_eps, self._width
        if eps is None or width is None:
            return None
        return load("discrete_laplace" if self._integers else "laplace")(eps, width)

    @property
    def _pure_eps(self) -> float | None:
        """ε of a Laplace law that may stand beside this one."""
        eps: float | None = getattr(self, "eps", None)
        return eps

    @property
    def _width(self) -> float | None:
        """Sensitivity of the law, if it has one."""
        width: float | None = getattr(self, "sensitivity", None)
        return width
