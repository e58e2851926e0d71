"""The sum of k copies of a sum of differences of negative binomial variables, from the list of its probabilities."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from stairnoise.distributions.infinitely_divisible import Term, log_pmf
from stairnoise.numerics import sums as listed

# Relative errors of probabilities, many times what tests find, down to about e^(-50).
_ERROR, _ERROR_OF_TRANSFORM = 1e-12, 1e-9


@lru_cache(maxsize=64)
def sum_bound(terms: tuple[Term, ...], k: int, alpha: float, *, peaked: bool) -> int:
    """Return t in lattice steps with P(|S| > t) <= alpha for the sum S of k copies of the sum of all terms.

    `peaked`: the distribution falls from its mode.
    """
    logs = log_pmf(terms, listed.LISTED)
    logs = logs[np.isfinite(logs)]
    error = k * (_ERROR if sum(term.shape != 1 for term in terms) <= 1 else _ERROR_OF_TRANSFORM)
    weights = np.exp(np.concatenate([logs[:0:-1], logs]))
    decay = min(rate / m for m, _, rate in terms)
    variable = listed.Summand(1 - logs.size, weights, decay, k)
    join = listed.widened if peaked else listed.rounded_up
    return listed.bound(lambda h: join(variable, h), None, alpha * math.exp(-error))
