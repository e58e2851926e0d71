"""Selecting candidates: permute-and-flip beside the exponential mechanism, from one row and from a table of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stairnoise as sn
from benches.mechanisms import STANDARD_ERRORS
from benches.timing import Run, fill, side_by_side

EPS, DEAREST = 1.0, 10.0
SELECTIONS = 10_000
CLASSES = {"stairnoise": sn.PermuteAndFlip, "ExponentialMechanism": sn.ExponentialMechanism}
CANDIDATES, ROWS = (10, 1000), {"one row": 1, "a table of rows": SELECTIONS}


def costs(candidates: int) -> NDArray[np.float64]:
    """Return costs from 0 to the maximum."""
    return np.linspace(0, DEAREST, candidates)


def probability_of_the_best(contender: str, candidates: int) -> float:
    """Return its share of the weights, or the integral of Π(1 − a·t) over t from 0 to 1, with the others' coins a."""
    weights = np.exp(-EPS / 2 * costs(candidates))
    if contender == "ExponentialMechanism":
        return float(1 / weights.sum())
    x, w = np.polynomial.legendre.leggauss(candidates // 2 + 1)
    products = np.prod(1 - np.outer((x + 1) / 2, weights[1:]), axis=1)
    return float(products @ w / 2)


def check(contender: str, candidates: int, selected: NDArray[np.int64]) -> None:
    """Check how often the best one is selected."""
    p = probability_of_the_best(contender, candidates)
    spread = np.sqrt(p * (1 - p) / selected.size)
    errors = (np.mean(selected == 0) - p) / spread
    assert abs(errors) <= STANDARD_ERRORS, f"{contender}: the best of {candidates} is {errors:+.1f} standard errors off"


def selecting(contender: str, candidates: int, rows: int) -> Run:
    """Return selections into an existing array, on one thread."""
    mechanism = CLASSES[contender](EPS, sensitivity=1)
    table, out = np.tile(costs(candidates), (rows, 1)), np.zeros(SELECTIONS, np.int64)
    return Run(lambda: mechanism.select(table, out=out, threads=1), SELECTIONS)


@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("contender", CLASSES)
def bench_selection(benchmark: Any, candidates: int, rows: str, contender: str) -> None:
    """Time selections of one candidate."""
    work = f"PermuteAndFlip, {rows} of {candidates} candidates"
    beside = {"fill": fill()}
    if contender != "stairnoise":
        beside[work] = selecting("stairnoise", candidates, ROWS[rows])
    drawn = side_by_side(benchmark, "family", work, contender, selecting(contender, candidates, ROWS[rows]), beside)
    check(contender, candidates, np.asarray(drawn))
