"""Figure: a histogram and its private release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from docs._ext.classic.style import legend_below
from stairnoise.figures.style import FIFTH, LAPLACE, STAIRCASE, house_style, new_figure
from stairnoise.mechanisms.discrete_laplace.mechanism import DiscreteLaplace
from stairnoise.rng import SeededRng

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# People by age, in tens of years; one is over ninety.
AGES = (17, 21, 26, 31, 27, 24, 19, 13, 6, 1)


def private_histogram(counts: Sequence[int] = AGES, eps: float = 1.0, seed: int = 2467) -> Figure:
    """Draw true counts beside private ones with their error bounds.

    Parameters
    ----------
    counts
        People in each group of ten years.
    eps
        Scalar parameter of `stairnoise.DiscreteLaplace`.
    seed
        A seed, so that the picture repeats; a release has none.
    """
    mechanism = DiscreteLaplace(eps)
    private = np.maximum(np.array(counts) + mechanism.sample(len(counts), rng=SeededRng(seed)), 0)
    bound = mechanism.error_bound(confidence=0.95)
    left = 10 * np.arange(len(counts)) + 5
    with house_style():
        figure, (true, released) = new_figure("Publish a histogram; reveal nobody", 2, height=2.9, sharey=True)
        true.bar(left, counts, 8.5, color=LAPLACE.color)
        true.set_title("true counts: secret")
        true.set_ylabel("people")
        released.bar(left, private, 8.5, color=STAIRCASE.color)
        error = f"±{bound}, in 95 % of releases"
        released.errorbar(left, private, bound, fmt="none", ecolor=FIFTH.color, elinewidth=1.2, capsize=2.5, label=error)
        released.set_title("private counts: public")
        for axes in (true, released):
            axes.set_xlabel("age")
            axes.set_xlim(0, 10 * len(counts))
            axes.grid(visible=False, axis="x")
        true.set_ylim(bottom=0)
        legend_below(figure, released, columns=1)
    return figure
