"""Released values as a picture: a dot for each value, and a bar that holds the true one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._parameters import confidence_level, number_array, single
from stairnoise._plain import plain
from stairnoise._types import Number
from stairnoise.figures.style import axes_for, draw_bars, normalized, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stairnoise._parameters import RealLike
    from stairnoise.mechanism.additive import AdditiveMechanism


def plot_release(
    values: RealLike,
    mechanism: AdditiveMechanism[Any, Any, Any],
    labels: Sequence[object] | None = None,
    *,
    confidence: Number = 0.95,
    max_partitions_contributed: int = 1,
    ax: Axes | None = None,
    **style: Any,
) -> Axes:
    """Draw released values: a dot for each, and a bar that holds the true value with the given probability.

    Parameters
    ----------
    values : array of int or float
        The values that ``mechanism.release`` returned, in one dimension.
    mechanism : AdditiveMechanism
        The mechanism that released them.
    labels : sequence or None
        Names of the values, one row for each. None: the values stand side by side, by their index.
    confidence : float, default 0.95
        Of the bars, which are `AdditiveMechanism.confidence_interval`.
    max_partitions_contributed : int, default 1
        The value that `release` was called with.
    ax : matplotlib.axes.Axes or None
        Where to draw; None: a new figure of ``matplotlib.pyplot``.
    **style
        Keywords of Matplotlib's ``errorbar``, such as ``label`` and ``color``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed, or `labels` has another length than `values`.
    ModuleNotFoundError
        Matplotlib is not installed: ``pip install matplotlib``.

    Examples
    --------
    >>> import matplotlib.figure
    >>> import stairnoise as sn
    >>> mechanism = sn.DiscreteLaplace(eps=1)
    >>> private = mechanism.release([120, 45, 3])
    >>> ax = matplotlib.figure.Figure().subplots()
    >>> sn.plot_release(private, mechanism, ["Paris", "Rome", "Oslo"], ax=ax).get_xlabel()
    'bars: 95 % for the true value'
    """
    if not hasattr(type(mechanism), "confidence_interval"):
        raise ParameterTypeError(f"mechanism must be one that adds noise to numbers, got {received(mechanism)}")
    released, level = number_array(values, "values"), single(confidence_level(confidence), "confidence")
    if released.ndim != 1:
        raise ParameterError(f"values must have one dimension, got {released.ndim}")
    if labels is not None and (isinstance(labels, str) or len(labels) != released.size):
        raise ParameterError(f"labels must be one for each value, of which there are {released.size}")
    low, high = mechanism.confidence_interval(released, level, max_partitions_contributed=max_partitions_contributed)
    bars = np.array([released - low, high - released], float)
    names = None if labels is None else [shortened(plain(str(label))) for label in labels]
    meaning = f"bars: {100 * level:.15g} % for the true value"
    with axes_for(ax, None if names is None else len(names)) as axes:
        draw_bars(axes, range(released.size), released, bars, names, meaning, **normalized(style))
    return axes


plot_release.__module__ = "stairnoise"
