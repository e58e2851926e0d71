"""Oracles for the infinitely divisible mechanisms: probabilities in 40 digits, and losses by brute force."""

from __future__ import annotations

import mpmath as mp
import numpy as np

import stairnoise as sn


def points(mechanism, k):
    return np.asarray(k) * mechanism.granularity


def probabilities(mechanism, k):
    """Return P(X = k·g)."""
    x = points(mechanism, k)
    return mechanism.pdf(x) * mechanism.granularity if isinstance(mechanism, sn.Arete) else mechanism.pmf(x)


def hypergeometric(beta, a, k):
    """P(k) of the generalized discrete Laplace distribution in 40 digits."""
    with mp.workdps(40):
        b, x = mp.mpf(beta), mp.exp(-mp.mpf(a))
        return x**k * (1 - x) ** (2 * b) * mp.rf(b, k) / mp.factorial(k) * mp.hyp2f1(b, b + k, 1 + k, x * x)


def largest_loss(mechanism, most, reach):
    """Return the largest loss over every shift up to `most` and every point up to `reach`, both in lattice steps."""
    k = np.arange(-reach, reach + 1)
    log_p = np.log(probabilities(mechanism, k))
    return max(float(np.max(np.abs(log_p[shift:] - log_p[:-shift]))) for shift in range(1, most + 1))
