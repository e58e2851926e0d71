"""One mechanism on one pair of axes: its density or probabilities, Laplace for comparison, and samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, got
from stairnoise._parameters import confidence_level, count, number_array, refuse, single
from stairnoise.figures.style import LAPLACE, SAMPLES, Look, axes_for, free_look, log_scale, normalized, set_texts, update_legend
from stairnoise.rng import Rng

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 0.99
_POINTS = 1001
# A picture cannot show more integers than this one by one.
_MOST_STEMS = 200
_MOST_SAMPLES = 10**9
# ε of `plot_error`: from the mechanism's own, divided by this factor, to its multiple.
_FACTOR, _POINTS_OF_ERROR = 5, 81
# A legend with longer names would cover the peak: it stands above, and each of its rows takes this part of the height.
_WIDE_NAME, _ROW_OF_LEGEND = 20, 0.1
# The dashed line is drawn above the stairs: if the two coincide, the gaps show the stairs.
_ABOVE = 3


def plot_mechanism(
    mechanism: Any, ax: Axes | None, samples: object, rng: Rng | None, laplace: bool | None, bins: int, options: dict[str, Any]
) -> Axes:
    """Draw a mechanism; the method ``plot`` documents the arguments."""
    require_scalars(mechanism, "plot")
    bars = count(bins, "bins", least=1, most=10**6)
    noise = _noise(mechanism, samples, rng)
    options = normalized(options)
    with axes_for(ax) as axes:
        alone = not axes.get_legend_handles_labels()[1]
        limit, look = visible(mechanism), free_look(axes)
        if noise is not None:
            _draw_samples(axes, mechanism, noise, limit, bars)
        other = mechanism._laplace()
        if (alone if laplace is None else laplace) and other is not None and type(other) is not type(mechanism):
            draw(axes, other, limit, LAPLACE, type(other).__name__)
        draw(axes, mechanism, limit, look, options.pop("label", _label(mechanism, alone)), **options)
        density = "probability" if _has_steps(mechanism) else "probability density"
        set_texts(axes, repr(mechanism), xlabel="noise", ylabel=density)
        names = axes.get_legend_handles_labels()[1]
        if max(map(len, names)) > _WIDE_NAME:
            axes.margins(y=_ROW_OF_LEGEND * (len(names) + 1))
        if axes.get_yscale() == "linear":
            axes.set_ylim(bottom=0, auto=True)
        update_legend(axes)
    return axes


def _label(mechanism: Any, alone: bool) -> str:
    """Return the name of the class, and beside other curves ε too."""
    name, eps = type(mechanism).__name__, mechanism._pure_eps
    return name if alone or eps is None else f"{name}, ε = {eps:g}"


def plot_error(mechanism: Any, ax: Axes | None, eps: object, confidence: object, options: dict[str, Any]) -> Axes:
    """Draw the error against ε; the method ``plot_error`` documents the arguments."""
    require_scalars(mechanism, "plot_error")
    make, own = _by_eps(mechanism), float(mechanism.eps)
    grid = np.geomspace(own / _FACTOR, own * _FACTOR, _POINTS_OF_ERROR) if eps is None else number_array(eps, "eps").ravel()
    level = None if confidence is None else single(confidence_level(confidence), "confidence")

    def error(one: Any) -> float:
        return float(one.abs_moment(1) if level is None else one.error_bound(level))

    errors = [error(make(value)) for value in grid.tolist()]
    options = {"label": type(mechanism).__name__} | normalized(options)
    with axes_for(ax) as axes:
        style = free_look(axes)._asdict() | options
        axes.plot(grid, errors, **style)
        axes.plot(own, error(mechanism), "o", color=style["color"], markersize=5)
        for scaled in "xy" if min(errors) > 0 else "x":
            log_scale(axes, scaled)
        measure = "E|X|" if level is None else f"{100 * level:.15g} % bound of |X|"
        set_texts(axes, "Error against ε", xlabel="ε of one release", ylabel=measure)
        update_legend(axes)
    return axes


def _by_eps(mechanism: Any) -> Any:
    """Return a function that makes the mechanism for another ε, with everything else as it is."""
    kind, given = type(mechanism), mechanism._named_arguments()
    if np.ndim(given.get("eps", [])) == 0:
        return lambda eps: kind(**given | {"eps": eps})
    if getattr(mechanism, "delta", None) is None:
        raise ParameterError(f"plot_error must be called on a mechanism made from one eps, got {mechanism!r}")
    return lambda eps: kind.from_eps(eps, mechanism.delta, mechanism.sensitivity)


def require_scalars(mechanism: Any, name: str) -> None:
    """Refuse a mechanism of array parameters, because every element would need its own picture."""
    if mechanism._parameter_shape != ():
        raise ParameterError(f"{name} must have scalar parameters, got parameters of shape {mechanism._parameter_shape}")


def visible(mechanism: Any) -> float:
    """Return the largest magnitude to draw: 99 % of the noise, in whole stairs, at least one besides the central one."""
    return mechanism._visible(float(mechanism.error_bound(_SHOWN)))  # type: ignore[no-any-return]


def draw(ax: Axes, mechanism: Any, limit: float, look: Look, label: str, **options: Any) -> None:
    """Draw the mechanism between -limit and limit: stairs, a curve, or stems on the integers, or on other steps."""
    edges = mechanism._edges(limit)
    style: dict[str, Any] = look._asdict() | {"label": label} | options
    if _has_steps(mechanism):
        _draw_pmf(ax, mechanism, limit, style, behind=look is LAPLACE)
    elif edges is not None:
        heights = mechanism.pdf((edges[1:] + edges[:-1]) / 2)
        ax.stairs(heights, edges, baseline=None, **style)
    else:
        x = np.linspace(-limit, limit, _POINTS)
        ax.plot(x, mechanism.pdf(x), **({"zorder": _ABOVE} | style))


def _has_steps(mechanism: Any) -> bool:
    """Return whether a mechanism has probabilities, on the integers or on a coarser or finer lattice, and no density."""
    return hasattr(mechanism, "pmf")


def _draw_pmf(ax: Axes, mechanism: Any, limit: float, style: dict[str, Any], *, behind: bool) -> None:
    """Draw stems with dots for the mechanism itself, hollow diamonds for the mechanism behind it, and a line for many
    integers.
    """
    step = mechanism.granularity
    last = int(limit / step)
    if 2 * last + 1 > _MOST_STEMS:
        k = step * np.unique(np.floor(np.linspace(-last, last, 2 * _POINTS)))
        ax.plot(k, mechanism.pmf(k), **({"zorder": _ABOVE if behind else 2} | style))
        return
    k = step * np.arange(-last, last + 1)
    if behind:
        dots: dict[str, Any] = {"marker": "D", "markerfacecolor": "white", "markersize": 5}
    else:
        dots = {"marker": "o", "markersize": 5}
        stems = {name: style[name] for name in ("alpha", "linewidth", "zorder") if name in style}
        ax.vlines(k, 0, mechanism.pmf(k), colors=style["color"], **stems)
    ax.plot(k, mechanism.pmf(k), **dots | style | {"linestyle": ""})


def _noise(mechanism: Any, samples: object, rng: Rng | None) -> NDArray[Any] | None:
    """Draw this many samples if `samples` is an integer, or take the values of an array."""
    if isinstance(samples, (int, np.integer)) and not isinstance(samples, bool):
        return mechanism.sample(count(samples, "samples", least=1, most=_MOST_SAMPLES), rng=rng)  # type: ignore[no-any-return]
    refuse("rng", rng, rng is None, "left out unless samples is a number of values to draw")
    if samples is None:
        return None
    values = number_array(samples, "samples").ravel()
    if values.size == 0:
        raise ParameterError(f"samples must have at least one value, got {got('samples', samples)}")
    return values


def _draw_samples(ax: Axes, mechanism: Any, noise: NDArray[Any], limit: float, bins: int) -> None:
    """Draw a histogram on the scale of the mechanism. Values beyond the limit are not drawn, but lower the heights."""
    step, edges = 1.0, np.linspace(-limit, limit, bins + 1)
    if _has_steps(mechanism):
        step = mechanism.granularity
        last = int(limit / step)
        width = -(-(2 * last + 1) // bins)
        edges = (-last + width * np.arange(-(-(2 * last + 1) // width) + 1.0) - 0.5) * step
    shares = np.histogram(noise, edges)[0] / (noise.size * np.diff(edges) / step)
    ax.stairs(shares, edges, fill=True, color=SAMPLES, label=f"{noise.size:,} samples")
