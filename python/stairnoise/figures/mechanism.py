"""One mechanism on one pair of axes: its density or probabilities, Laplace for comparison, and samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, got, received
from stairnoise._parameters import count, number_array
from stairnoise.figures.style import LAPLACE, SAMPLES, STAIRCASE, Look, load
from stairnoise.rng import Rng

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 0.99
_POINTS = 1001
# A picture cannot show more integers than this one by one.
_MOST_STEMS = 200
_MOST_SAMPLES = 10**9
# A picture of the default width has room for this many characters.
_LONG_TITLE = 60
# The dashed line is drawn above the stairs: if the two coincide, the gaps show the stairs.
_ABOVE = 3


def plot_mechanism(mechanism: Any, ax: Axes | None, samples: object, rng: Rng | None, laplace: bool, bins: int) -> Axes:
    """Draw a mechanism; the method ``plot`` documents the arguments."""
    require_scalars(mechanism, "plot")
    bars = count(bins, "bins", least=1, most=10**6)
    noise = _noise(mechanism, samples, rng)
    if ax is None:
        _, ax = load("matplotlib.pyplot").subplots()
    limit = visible(mechanism)
    if noise is not None:
        _draw_samples(ax, mechanism, noise, limit, bars)
    other = mechanism._laplace()
    if laplace and other is not None and other != mechanism:
        draw(ax, other, limit, LAPLACE, type(other).__name__)
    draw(ax, mechanism, limit, STAIRCASE, type(mechanism).__name__)
    title = repr(mechanism)
    ax.set_title(title, fontsize="medium" if len(title) < _LONG_TITLE else "x-small")
    ax.set_xlabel("noise")
    ax.set_ylabel("probability" if _has_steps(mechanism) else "probability density")
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper right")
    return ax


def require_scalars(mechanism: Any, name: str) -> None:
    """Refuse a mechanism of array parameters, because every element would need its own picture."""
    if mechanism._parameter_shape != ():
        raise ParameterError(f"{name} must have scalar parameters, got parameters of shape {mechanism._parameter_shape}")


def visible(mechanism: Any) -> float:
    """Return the largest magnitude to draw: 99 % of the noise, in whole stairs, at least one besides the central one."""
    limit: float = mechanism._visible(float(mechanism.error_bound(_SHOWN)))
    return limit


def draw(ax: Axes, mechanism: Any, limit: float, look: Look, label: str) -> None:
    """Draw the mechanism between -limit and limit: stairs, a curve, or stems on the integers, or on other steps."""
    edges = mechanism._edges(limit)
    if _has_steps(mechanism):
        _draw_pmf(ax, mechanism, limit, look, label)
    elif edges is not None:
        heights = mechanism.pdf((edges[1:] + edges[:-1]) / 2)
        ax.stairs(heights, edges, baseline=None, label=label, **look._asdict())
    else:
        x = np.linspace(-limit, limit, _POINTS)
        ax.plot(x, mechanism.pdf(x), label=label, zorder=_ABOVE, **look._asdict())


def _has_steps(mechanism: Any) -> bool:
    """Return whether a mechanism has probabilities, on the integers or on a coarser or finer lattice, and no density."""
    return hasattr(mechanism, "pmf")


def _draw_pmf(ax: Axes, mechanism: Any, limit: float, look: Look, label: str) -> None:
    """Draw stems with dots for the mechanism itself, hollow diamonds for the mechanism behind it, and a line for many
    integers.
    """
    step = mechanism.granularity
    last = int(limit / step)
    if 2 * last + 1 > _MOST_STEMS:
        k = step * np.unique(np.floor(np.linspace(-last, last, 2 * _POINTS)))
        ax.plot(k, mechanism.pmf(k), label=label, zorder=2 if look is STAIRCASE else _ABOVE, **look._asdict())
        return
    k = step * np.arange(-last, last + 1)
    if look is STAIRCASE:
        ax.vlines(k, 0, mechanism.pmf(k), colors=look.color, linewidth=look.linewidth)
        ax.plot(k, mechanism.pmf(k), "o", color=look.color, markersize=5, label=label)
    else:
        ax.plot(k, mechanism.pmf(k), "D", color=look.color, markersize=5, markerfacecolor="white", label=label)


def _noise(mechanism: Any, samples: object, rng: Rng | None) -> NDArray[Any] | None:
    """Draw this many samples if `samples` is an integer, or take the values of an array."""
    if isinstance(samples, (int, np.integer)) and not isinstance(samples, bool):
        drawn: NDArray[Any] = mechanism.sample(count(samples, "samples", least=1, most=_MOST_SAMPLES), rng=rng)
        return drawn
    if rng is not None:
        raise ParameterError(f"rng must be left out unless samples is a number of values to draw, got {received(rng)}")
    if samples is None:
        return None
    values = number_array(samples, "samples").ravel()
    if values.size == 0:
        raise ParameterError(f"samples must have at least one value, got {got('samples', samples)}")
    return values


def _draw_samples(ax: Axes, mechanism: Any, noise: NDArray[Any], limit: float, bins: int) -> None:
    """Draw a histogram on the scale of the mechanism. Values beyond the limit are not drawn, but lower the heights."""
    step = mechanism.granularity if _has_steps(mechanism) else 1.0
    if _has_steps(mechanism):
        last = int(limit / step)
        width = -(-(2 * last + 1) // bins)
        edges = (-last + width * np.arange(-(-(2 * last + 1) // width) + 1.0) - 0.5) * step
    else:
        edges = np.linspace(-limit, limit, bins + 1)
    shares = np.histogram(noise, edges)[0] / (noise.size * np.diff(edges) / step)
    ax.stairs(shares, edges, fill=True, color=SAMPLES, label=f"{noise.size:,} samples")
