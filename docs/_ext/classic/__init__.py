"""The classic figures about staircase noise, for docs/figures.md; `make figures` writes them.

Each function returns a Matplotlib figure, drawn without pyplot and without a display.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from docs._ext.classic.bounded import bounded
from docs._ext.classic.counts import private_histogram
from docs._ext.classic.density import densities
from docs._ext.classic.divisible import infinitely_divisible_variance
from docs._ext.classic.errors import mean_error
from docs._ext.classic.gains import gain
from docs._ext.classic.pmf import discrete_pmf
from docs._ext.classic.selecting import selection
from docs._ext.classic.shape import optimal_gamma
from docs._ext.classic.variance import discrete_variance
from docs._ext.classic.vectors import multivariate_density

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES: dict[str, Callable[..., Figure]] = {
    figure.__name__: figure
    for figure in (
        private_histogram,
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
