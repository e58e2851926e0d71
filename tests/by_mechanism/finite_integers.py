"""Checks of every mechanism with finitely many integers, from the list of its probabilities."""

import math

import numpy as np
from scipy import stats

import stairnoise as sn

LEAST_EXPECTED = 20


def check_quantiles(mechanism):
    """Require that quantiles are the smallest integers whose tails are small enough, and `error_bound` the smallest magnitude."""
    i = np.arange(mechanism.lower, mechanism.upper + 1)
    cdf, sf = mechanism.cdf(i), mechanism.sf(i)
    q = np.concatenate([np.linspace(0.001, 0.999, 301), np.logspace(-9, -3, 50)])
    assert mechanism.ppf(q).tolist() == [int(i[np.argmax(cdf >= one)]) for one in q]
    assert mechanism.isf(q).tolist() == [int(i[np.argmax(sf <= one)]) for one in q]
    assert mechanism.ppf([0, 1]).tolist() == [mechanism.lower, mechanism.upper]
    assert mechanism.isf([1, 0]).tolist() == [mechanism.lower, mechanism.upper]
    assert np.isnan(mechanism.ppf([-0.1, 1.1, math.nan])).all()
    p, size = mechanism.pmf(i), np.abs(i)
    for alpha in (1e-3, 0.05, 0.5, 0.999):
        assert mechanism._tail_bound(alpha) == next(t for t in range(int(size.max()) + 1) if p[size > t].sum() <= alpha)


def check_samples(mechanism):
    """Chi-square with 200 000 values; seed 21; false alarms 1e-6 for each mechanism."""
    noise = mechanism.sample(200_000, rng=sn.SeededRng(21))
    assert noise.min() >= mechanism.lower
    assert noise.max() <= mechanism.upper
    expected = mechanism.pmf(np.arange(mechanism.lower, mechanism.upper + 1)) * noise.size
    counts = np.bincount(noise - mechanism.lower, minlength=expected.size)
    order = np.argsort(expected)
    # The rarest integers are joined until enough values are expected.
    groups = np.floor(np.cumsum(expected[order]) / LEAST_EXPECTED).astype(int)
    starts = np.flatnonzero(np.append(True, np.diff(groups) > 0))
    joined = [np.add.reduceat(values[order], starts) for values in (counts, expected)]
    statistic = ((joined[0] - joined[1]) ** 2 / joined[1]).sum()
    assert stats.chi2.sf(statistic, max(starts.size - 1, 1)) > 1e-6
