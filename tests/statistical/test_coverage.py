"""Released values, their sums and means: the share of intervals that cover the truth. Seeds are fixed.

Evidence: coverage is a count, compared with the confidence by the Chernoff bound of `checks`, and with the exact probability
of the interval where there is one. False alarms: at most one in a million for each check (ALPHA), 1e-4 for the whole module
when the seeds change; none while they stay.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stairnoise as sn
from tests.statistical import checks

ALPHA = 1e-6
RELEASES = 400_000

MECHANISMS: dict[str, tuple[Callable[[float], Any], float]] = {
    "discrete laplace": (sn.DiscreteLaplace, 0.4),
    "discrete staircase": (lambda eps: sn.DiscreteStaircase(eps, 6), 1.5),
    "laplace": (lambda eps: sn.Laplace(eps, 3.0), 0.7),
    "staircase": (lambda eps: sn.Staircase(eps, 3.0), 4.0),
}


def releases(mechanism: Any, terms: int, partitions: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return true values, which are off a continuous mechanism's lattice, and their releases, one row for each release."""
    rng = sn.SeededRng(5 + terms, allow_release=True)
    integers = np.arange(terms) * 7
    true = integers if mechanism.granularity == 1 else integers / 3
    rows = np.tile(true, (RELEASES // terms, 1))
    return rows, mechanism.release(rows, rng=rng, max_partitions_contributed=partitions)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("of", "terms", "partitions"), [("value", 1, 1), ("value", 1, 3), ("sum", 4, 1), ("mean", 25, 1), ("sum", 25, 2)]
)
@pytest.mark.parametrize("case", MECHANISMS)
def test_coverage(case: str, of: str, terms: int, partitions: int, confidence: float) -> None:
    make, eps = MECHANISMS[case]
    mechanism = make(eps)
    true, released = releases(mechanism, terms, partitions)
    combine = {"value": np.ravel, "sum": lambda x: x.sum(axis=1), "mean": lambda x: x.mean(axis=1)}[of]
    low, high = mechanism.confidence_interval(
        combine(released), confidence, of=of, terms=terms, max_partitions_contributed=partitions
    )
    # Both sums are exact or rounded in the last place, which is negligible beside the noise.
    covered = int(np.count_nonzero((low <= combine(true)) & (combine(true) <= high)))
    probability = mechanism_of_interval(make(eps / partitions), terms, confidence)
    assert probability is None or probability >= confidence
    if probability is None:
        if covered < confidence * low.size:
            checks.check_share(covered, low.size, confidence, 2 * ALPHA)
    else:
        checks.check_share(covered, low.size, probability, ALPHA)
    if mechanism.granularity != 1:
        checks.check_share(covered, low.size, confidence, ALPHA)


def mechanism_of_interval(mechanism: Any, terms: int, confidence: float) -> float | None:
    """Return the probability that one draw of a discrete mechanism is within the interval."""
    if terms > 1 or mechanism.granularity != 1:
        return None
    _, t = mechanism.confidence_interval(0, confidence)
    return float(1 - 2 * mechanism.sf(t))


def test_a_narrower_interval_is_noticed() -> None:
    """The power of the checks: intervals one unit narrower on both sides do not cover enough."""
    mechanism = sn.DiscreteLaplace(0.4)
    true, released = releases(mechanism, 4, 1)
    low, high = mechanism.confidence_interval(released.sum(axis=1), of="sum", terms=4)
    covered = int(np.count_nonzero((low < true.sum(axis=1)) & (true.sum(axis=1) < high)))
    with pytest.raises(AssertionError):
        checks.check_share(covered, low.size, 0.95, ALPHA)
