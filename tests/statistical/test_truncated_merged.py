"""Four million draws of each mechanism through the public API, seeds fixed, against probabilities by mpmath.

Evidence: distribution (chi-square), symmetry or bias, mass of the outermost sensitivity, E|X| and E X^2. That zero counts
once shows on a coarse lattice only: draw/segments.rs and mechanisms/truncated_laplace.rs in rust/core/src. False alarms: at most
one in a million for each check of each case (ALPHA), 3e-5 for the whole module when the seeds change; none while they stay.
"""

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from numpy.typing import NDArray

import stairnoise as sn
from tests.combinations import in_full, rest_long
from tests.statistical import checks

ALPHA = 1e-6
TOTAL = in_full(4_000_000, 10_000_000)
CHUNK = 2_000_000
BINS = in_full(30, 60)

CASES: dict[str, Any] = {
    "truncated, small delta": sn.TruncatedLaplace(1.0, 1e-4),
    "truncated, large delta": sn.TruncatedLaplace(0.3, 0.4, 2.0),
    "truncated, asymmetric": sn.TruncatedLaplace(0.5, 0.1, upper=2.75),
    "merged, flat centre": sn.MergedLaplace([0.2, 0.25, 0.5], [1, 3]),
    "merged, steep centre": sn.MergedLaplace([16, 2, 4], [0.25, 1.5], 1.0),
}


def height(mechanism: Any, x: Any) -> Any:
    """Return -ln of the density at |x|, up to a constant; inf outside."""
    rates = mechanism.eps if isinstance(mechanism.eps, tuple) else (mechanism.eps,)
    breaks = getattr(mechanism, "breakpoints", ())
    if not mechanism.support()[0] <= x <= mechanism.support()[1]:
        return mp.inf
    parts = zip(rates, [0, *breaks], [*breaks, mp.inf], strict=True)
    return sum(rate * (min(abs(x), end) - start) for rate, start, end in parts if abs(x) > start) / mp.mpf(mechanism.sensitivity)


def integral(mechanism: Any, power: int, low: float, high: float) -> Any:
    """Return the integral of |x|^power exp(-height) from low to high."""
    kinks = [0.0, *getattr(mechanism, "breakpoints", ()), *(-c for c in getattr(mechanism, "breakpoints", ()))]
    inner = sorted({low, high, *(c for c in kinks if low < c < high)})
    return mp.quad(lambda x: abs(x) ** power * mp.exp(-height(mechanism, x)), inner)


def ends(mechanism: Any) -> tuple[float, float]:
    low, high = mechanism.support()
    far = 60 * mechanism.sensitivity / np.min(mechanism.eps)
    return max(low, -far), min(high, far)


@cache
def probabilities(case: str) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[int, float]]:
    """Return edges of bins, the bins' probabilities, and moments of |X|."""
    mechanism = CASES[case]
    low, high = ends(mechanism)
    inner = np.linspace(max(low, -4 * mechanism.error_bound(0.5)), min(high, 4 * mechanism.error_bound(0.5)), BINS + 1)[1:-1]
    edges = np.array([low, *inner, high])
    with mp.workdps(20):
        parts = [integral(mechanism, 0, float(a), float(b)) for a, b in pairwise(edges)]
        total = mp.fsum(parts)
        spread = [float(a) for a in np.linspace(low, high, 9)]
        pairs = list(pairwise(spread))
        moments = {p: float(mp.fsum(integral(mechanism, p, *pair) for pair in pairs) / total) for p in (1, 2, 4)}
    return edges, np.array([float(part / total) for part in parts]), moments


@cache
def summary(case: str) -> tuple[NDArray[np.int64], dict[int, float], int, float]:
    """Return counts of the bins, means of |X|^p, the count in the outermost sensitivity of the nearer end, and the mean."""
    mechanism = CASES[case]
    edges = probabilities(case)[0]
    counts, sums, outermost, mean = np.zeros(edges.size - 1, np.int64), {1: 0.0, 2: 0.0}, 0, 0.0
    near = min(map(abs, mechanism.support()))
    rng = sn.SeededRng(list(CASES).index(case) + 77)
    for _ in range(TOTAL // CHUNK):
        noise = mechanism.sample(CHUNK, rng=rng)
        counts += np.bincount(np.searchsorted(edges[1:-1], noise, side="right"), minlength=counts.size)
        for p in sums:
            sums[p] += float(np.sum(np.abs(noise) ** p)) / TOTAL
        nearer = noise if near == mechanism.support()[1] else -noise
        outermost += int(np.sum(nearer > near - mechanism.sensitivity))
        mean += float(np.sum(noise)) / TOTAL
    return counts, sums, outermost, mean


cases = pytest.mark.parametrize("case", rest_long([*CASES][::2], CASES))


@cases
def test_distribution(case: str) -> None:
    checks.check_distribution(summary(case)[0], probabilities(case)[1], ALPHA)


@cases
def test_symmetry_and_bias(case: str) -> None:
    mechanism, counts, mean = CASES[case], summary(case)[0], summary(case)[3]
    if mechanism.support()[0] == -mechanism.support()[1]:
        checks.check_symmetry(counts, ALPHA)
    checks.check_mean(mean, mechanism.mean(), mechanism.std() / math.sqrt(TOTAL), ALPHA)


@cases
def test_moments(case: str) -> None:
    moments, found = probabilities(case)[2], summary(case)[1]
    for p in (1, 2):
        error = math.sqrt((moments[2 * p] - moments[p] ** 2) / TOTAL)
        checks.check_mean(found[p], moments[p], error, ALPHA / 2)


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("truncated")])
def test_delta_is_the_mass_of_the_outermost_sensitivity(case: str) -> None:
    checks.check_share(summary(case)[2], TOTAL, CASES[case].achieved_delta, ALPHA)
