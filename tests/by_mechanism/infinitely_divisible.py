"""Oracles of the infinitely divisible laws: probabilities in 40 digits, and losses by brute force."""

from __future__ import annotations

import mpmath as mp
import numpy as np

import stairnoise as sn


def points(law, k):
    return np.asarray(k) * law.granularity


def probabilities(law, k):
    """P(X = k·g)."""
    x = points(law, k)
    return law.pdf(x) * law.granularity if isinstance(law, sn.Arete) else law.pmf(x)


def hypergeometric(beta, a, k):
    """P(k) of the generalized discrete Laplace law in 40 digits."""
    with mp.workdps(40):
        b, x = mp.mpf(beta), mp.exp(-mp.mpf(a))
        return x**k * (1 - x) ** (2 * b) * mp.rf(b, k) / mp.factorial(k) * mp.hyp2f1(b, b + k, 1 + k, x * x)


def largest_loss(law, most, reach):
    """Over every shift up to `most` and every point up to `reach`, both in steps of the lattice."""
    k = np.arange(-reach, reach + 1)
    log_p = np.log(probabilities(law, k))
    return max(float(np.max(np.abs(log_p[shift:] - log_p[:-shift]))) for shift in range(1, most + 1))
