"""Contract, partitions, Gaussian noise: from ε, δ and k to σ² and τ, and to the release of a count.

Every divergence is a sum over all outcomes, with the probabilities of the sum of m draws convolved in integers.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from mpmath import mp

from tests.oracles import partitions
from tests.oracles.partition_selection import LARGEST

LEAST_SIGMA2 = 4
MOST_EPS = 2.0**20


class Rule(NamedTuple):
    sigma2: float
    threshold: int


def rule(eps: float, delta: float, k: int, below: int) -> Rule | None:
    """Return the noise and the smallest threshold; None unless it is less than `below`, the threshold of geometric noise."""
    sigma2 = max(float(LEAST_SIGMA2), partitions.gaussian_sigma2(min(eps, MOST_EPS), delta, 1, k))
    with mp.workdps(partitions.DIGITS):
        limit = mp.mpf(delta) / (1 + mp.mpf(2) ** -32)
        low, high = 1, below
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if largest(eps, k, sigma2, middle) <= limit else (middle, high)
    return Rule(sigma2, high) if high < below else None


def largest(eps: float, k: int, sigma2: float, threshold: int) -> mp.mpf:
    """D(τ)."""
    return max(max(divergences(eps, k, sigma2, threshold, alone)) for alone in range(k + 1))


def divergences(eps: float, k: int, sigma2: float, threshold: int, alone: int) -> tuple[mp.mpf, mp.mpf]:
    """Return the divergences of adding and of removing a person who is alone in this many groups."""
    hidden = (1 - mp.fsum(p for s, p in sums(1, sigma2).items() if s >= threshold - 1)) ** alone
    growth = mp.exp(mp.mpf(eps))
    gone = 1 - hidden + hidden * hockey_stick(k - alone, sigma2, growth / hidden)
    return gone, hockey_stick(k - alone, sigma2, growth * hidden)


def hockey_stick(m: int, sigma2: float, growth: mp.mpf) -> mp.mpf:
    p, zero = sums(m, sigma2), mp.mpf(0)
    return mp.fsum(max(chance - growth * p.get(s + m, zero), zero) for s, chance in p.items())


@cache
def sums(m: int, sigma2: float) -> dict[int, mp.mpf]:
    """Probabilities of the sum of m draws."""
    return partitions.sum_probabilities(m, Fraction(sigma2)) if m else {0: mp.mpf(1)}


def released(threshold: int, count: int, noise: int) -> int:
    """Return the released count, 0 if it is not shown."""
    return min(count + noise, LARGEST) if count > 0 and count + noise >= threshold else 0


def counts_at_the_edge(threshold: int, noise: Callable[[int], int], places: range) -> list[int]:
    """Return counts that reach the threshold exactly or miss it by one, alternately; at least 1."""
    return [max(threshold - noise(place) - place % 2, 1) for place in places]
