"""Pictures of a mechanism; Matplotlib is loaded when a picture is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stairnoise._parameters import RealLike
from stairnoise.figures import mechanism as picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stairnoise.mechanism.additive import AdditiveMechanism
    from stairnoise.rng import Rng


def plot(
    self: AdditiveMechanism,
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
    return picture.plot_mechanism(self, ax, samples, rng, laplace, bins)
