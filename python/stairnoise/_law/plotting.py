"""Pictures of a law; Matplotlib is loaded when one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stairnoise._parameters import RealLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stairnoise.rng import Rng


class Plotting:
    """A law that can be looked at."""

    __slots__ = ()

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

        law: Any = self
        return plot_law(law, ax, samples, rng, laplace, bins)
