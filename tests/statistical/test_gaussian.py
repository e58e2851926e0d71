"""Four million draws of the discrete Gaussian distribution, seeds fixed, against exact probabilities.

Evidence: distribution (chi-square of single integers, or of cells of equal probability where σ is large), symmetry, mass beyond
4.5 σ, E X². False alarms: at most one in a million for each check of each case, 2.4e-5 for the whole module when the seeds
change; none while they stay.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from numpy.typing import NDArray

import stairnoise as sn
from tests.combinations import in_full, rest_long
from tests.oracles import gaussian
from tests.statistical import checks

ALPHA = 1e-6
TOTAL = in_full(4_000_000, 10_000_000)
# σ² with the proposal's scale exact, rounded down and rounded up; the last two are too wide for single integers.
SIGMA2 = (0.3, 1.0, 2.2, 100.0, 1e6, 2.0**50)
SINGLE = 1000.0
CELLS = in_full(500, 2000)
variances = pytest.mark.parametrize("sigma2", rest_long(SIGMA2[::2], SIGMA2))


@cache
def drawn(sigma2: float) -> NDArray[np.int64]:
    return sn.DiscreteGaussian(sigma2).sample(TOTAL, rng=sn.SeededRng(SIGMA2.index(sigma2)))


def edges(sigma2: float) -> NDArray[np.int64]:
    """Return the first integers of bins: single integers, or bins of about equal probability; symmetric about zero."""
    if sigma2 < SINGLE:
        last = int(np.ceil(6 * np.sqrt(sigma2)))
        return np.arange(-last, last + 2)
    with mp.workdps(30):
        z = [float(mp.erfinv(1 - 2 * (mp.mpf(j) + 1) / CELLS)) for j in range(CELLS // 2 - 1)]
    positive = np.rint(np.sqrt(2 * sigma2) * np.array(z[::-1])).astype(np.int64)
    return np.concatenate([1 - positive[::-1], positive])


def probabilities(sigma2: float) -> NDArray[np.float64]:
    """Return probabilities of bins and both tails, by summation or from the normal distribution, which is near enough for σ >=
    1000.
    """
    begin = edges(sigma2)
    with mp.workdps(30):
        if sigma2 < SINGLE:
            inside = [float(gaussian.pmf(sigma2, int(k))) for k in begin[:-1]]
            return np.array([(1 - sum(inside)) / 2, *inside, (1 - sum(inside)) / 2])
        below = [mp.ncdf((mp.mpf(int(k)) - 0.5) / mp.sqrt(sigma2)) for k in begin]
        return np.array([float(b - a) for a, b in zip([mp.mpf(0), *below], [*below, mp.mpf(1)], strict=True)])


@cache
def counts(sigma2: float) -> Any:
    return np.bincount(np.searchsorted(edges(sigma2), drawn(sigma2), side="right"), minlength=len(edges(sigma2)) + 1)


@variances
def test_distribution(sigma2: float) -> None:
    checks.check_distribution(counts(sigma2), probabilities(sigma2), ALPHA)


@variances
def test_symmetry(sigma2: float) -> None:
    checks.check_symmetry(counts(sigma2), ALPHA)


@variances
def test_far_tail(sigma2: float) -> None:
    last = int(np.floor(4.5 * np.sqrt(sigma2)))
    with mp.workdps(30):
        if sigma2 < SINGLE:
            share = 1 - mp.fsum(gaussian.pmf(sigma2, k) for k in range(-last, last + 1))
        else:
            share = mp.erfc((last + 0.5) / mp.sqrt(2 * sigma2))
    checks.check_share(int(np.count_nonzero(np.abs(drawn(sigma2)) > last)), TOTAL, float(share), ALPHA)


@variances
def test_variance(sigma2: float) -> None:
    mechanism = sn.DiscreteGaussian(sigma2)
    variance, fourth = float(mechanism.var()), float(mechanism.abs_moment(4))
    error = np.sqrt((fourth - variance**2) / TOTAL)
    checks.check_mean(float(np.mean(drawn(sigma2).astype(float) ** 2)), variance, float(error), ALPHA)
