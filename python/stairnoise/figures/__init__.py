"""The classic figures about staircase noise, computed by the library; they need the extra ``plot``.

Each function returns a Matplotlib figure, drawn without pyplot and without a display. `FIGURES` lists
the functions by name, and `draw` calls one by its name. `save` writes a figure to a file, which is the
same in every run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stairnoise._errors import ParameterError, ParameterTypeError, meant, received
from stairnoise.figures.bounded import bounded
from stairnoise.figures.density import densities
from stairnoise.figures.divisible import infinitely_divisible_variance
from stairnoise.figures.errors import mean_error
from stairnoise.figures.gains import gain
from stairnoise.figures.pmf import discrete_pmf
from stairnoise.figures.selecting import selection
from stairnoise.figures.shape import optimal_gamma
from stairnoise.figures.style import house_style
from stairnoise.figures.variance import discrete_variance
from stairnoise.figures.vectors import multivariate_density

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FIGURES",
    "bounded",
    "check",
    "densities",
    "discrete_pmf",
    "discrete_variance",
    "draw",
    "gain",
    "infinitely_divisible_variance",
    "mean_error",
    "multivariate_density",
    "optimal_gamma",
    "options_of",
    "require_suffix",
    "save",
    "selection",
]

FIGURES: dict[str, Callable[..., Figure]] = {
    figure.__name__: figure
    for figure in (
        densities,
        optimal_gamma,
        gain,
        mean_error,
        discrete_pmf,
        discrete_variance,
        bounded,
        infinitely_divisible_variance,
        multivariate_density,
        selection,
    )
}

SUFFIXES = (".png", ".svg")


def draw(name: str, **options: Any) -> Figure:
    """Draw a figure by its name.

    Parameters
    ----------
    name : str
        A key of `FIGURES`.
    **options
        Arguments of that figure's function; None counts as not given.

    Raises
    ------
    ParameterTypeError
        `name` is not a string.
    ParameterError
        No figure has this name, or it has no such option.
    ModuleNotFoundError
        Matplotlib is not installed.
    """
    given = check(name, options)
    return FIGURES[name](**given)


def check(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are not None, or raise as `draw` does for a wrong name or option."""
    if not isinstance(name, str):
        raise ParameterTypeError(f"name must be one of {', '.join(FIGURES)}, got {received(name)}")
    if name not in FIGURES:
        raise ParameterError(f"name must be one of {', '.join(FIGURES)}, got {received(name)}{meant(name, FIGURES)}")
    given = {option: value for option, value in options.items() if value is not None}
    for option, value in given.items():
        if option not in options_of(name):
            raise ParameterError(f"{option} must be left out for the figure {name!r}, got {received(value)}")
    return given


def options_of(name: str) -> tuple[str, ...]:
    """Return the names of the arguments of a figure."""
    return tuple(inspect.signature(FIGURES[name]).parameters)


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure without dates and random names, so that the same figure gives the same file.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : str or Path
        The suffix, ``.png`` or ``.svg``, decides the format.

    Raises
    ------
    ParameterError
        `path` has another suffix.
    """
    path = require_suffix(path)
    metadata: dict[str, str | None] | None = None
    if path.suffix == ".svg":
        metadata = {"Date": None}
        if title := figure.get_suptitle():
            metadata["Title"] = title  # screen readers read it aloud
    with house_style():
        figure.savefig(path, metadata=metadata, facecolor="white", dpi=150)


def require_suffix(path: str | Path) -> Path:
    """Return `path` as a Path if `save` writes its suffix, otherwise raise ParameterError."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise ParameterError(f"output must end in {' or '.join(SUFFIXES)}, got {received(str(path))}")
    return path
