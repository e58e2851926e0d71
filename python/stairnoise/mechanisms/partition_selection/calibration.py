r"""Groups that are shown if their count with discrete Gaussian noise reaches a threshold τ: the least τ, and the exact δ.

One person adds 1 to k groups. Suppose that j of them have nobody else, and the other k - j are large. With the person, each of
the j groups is hidden with probability ``q = P(1 + Z < τ)``; without the person, all of them are hidden. The noisy counts of the
large groups have the δ of k - j values of ``DiscreteGaussian(σ²)``: ``δ_m(t)`` for m values at ε = t. So the divergences are

    1 - q^j + q^j δ_{k-j}(ε - j ln q)    with the person against without
    δ_{k-j}(ε + j ln q)                  without against with

and δ is the largest of them over j from 0 to k. Other counts have no larger δ: the output for a group that has other people is a
function of its noisy count. Fewer groups have no larger δ either, because both divergences grow with j and with k - j.

δ_m depends on the sum of m values of noise alone. Its distribution is the discrete Gaussian of mσ², to a relative
``10 m exp(-π²σ²)`` (see `discrete_gaussian.sums`): below 1e-11 for the σ² here.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from stairnoise._parameters import REMEMBERED
from stairnoise.mechanisms.discrete_gaussian.calibration import Tail, log_profile, partitions_sigma2
from stairnoise.numerics.roots import least_integer

_LEAST_SIGMA2 = 4.0
# A larger ε does not reduce the noise.
_MOST_EPS = 2.0**20
# More than the relative error of a divergence, and more than a range of j may exceed the largest divergence.
_MARGIN = 2.0**-32
_SAME = 2.0**-34


class Found(NamedTuple):
    """The noise, the least noisy count that is shown, and their δ: exact, plus the margin."""

    sigma2: float
    threshold: int
    delta: float


class Worst(NamedTuple):
    """The largest divergence, and ranges (first, last) of j whose divergences do not exceed it by more than `_SAME`."""

    delta: float
    ranges: list[tuple[int, int]]


def least_threshold(eps: float, delta: float, k: int, below: int) -> Found | None:
    """Return the least noise with (ε, δ) by itself, and its least threshold; None if the threshold is not less than `below`."""
    with np.errstate(all="ignore"):
        # Above 1/2 the noise alone could use up so much of δ that the margin exceeds the rest.
        of_noise = delta if delta <= 0.5 else delta * (1 - 4 * _MARGIN)
        sigma2 = max(partitions_sigma2(min(eps, _MOST_EPS), of_noise, 1, k), _LEAST_SIGMA2)
        # δ is at least 1 - q^k, which is that of k groups of this person alone.
        first = _least_hiding(sigma2, delta, k)

        @cache
        def reached(threshold: int) -> float:
            return _reached(eps, sigma2, threshold, k)

        if first >= below or reached(first) <= delta:
            threshold = first
        else:
            threshold = least_integer(lambda candidate: reached(candidate) <= delta, first, below, first + 1)
        return Found(sigma2, threshold, reached(threshold)) if threshold < below else None


def of_sigma2(sigma2: float, delta: float, k: int) -> Found:
    """Return the least threshold with which k groups of this person alone are hidden with a probability of at least 1 - δ."""
    with np.errstate(all="ignore"):
        threshold = _least_hiding(sigma2, delta, k)
        return Found(sigma2, threshold, min(-math.expm1(k * log_hidden(sigma2, threshold)) * (1 + _MARGIN), delta))


@lru_cache(maxsize=REMEMBERED)
def is_private(eps: float, delta: float, k: int, found: Found) -> bool:
    """Return whether this noise and threshold, as from a pickle, certainly have this (ε, δ)."""
    sigma2, threshold, reached = found
    return _LEAST_SIGMA2 <= sigma2 < math.inf and _reached(eps, sigma2, threshold, k) <= min(reached, delta)


def _reached(eps: float, sigma2: float, threshold: int, k: int) -> float:
    """Return δ, and the margin."""
    with np.errstate(all="ignore"):
        return worst(eps, sigma2, threshold, k).delta * (1 + _MARGIN)


def _least_hiding(sigma2: float, delta: float, k: int) -> int:
    """Return the least threshold with which one of k groups of one person is shown with at most the probability δ."""
    appears = -math.expm1(math.log1p(-delta / (1 + _MARGIN)) / k)
    # z² = y - ln y is nearly right, and y is too large.
    y = max(-2 * math.log(appears) - math.log(2 * math.pi), 1.0)
    guess, most = (2 + math.ceil(math.sqrt(sigma2 * square)) for square in (y - math.log(y), -2 * math.log(appears)))
    return least_integer(lambda threshold: Tail(sigma2, threshold - 1).log_sum() <= math.log(appears), 1, most, guess)


def worst(eps: float, sigma2: float, threshold: int, k: int) -> Worst:
    """Find the largest divergence. A range of j has at most the divergence of its largest j with its largest k - j."""
    log_q = log_hidden(sigma2, threshold)
    of_large = _divergence(eps, sigma2, log_q, 0, k)
    largest = max(of_large, _divergence(eps, sigma2, log_q, k, 0))
    ranges, rest = [], [(0, k)]
    while rest:
        first, last = rest.pop()
        if first == 0 and of_large == largest:
            # 1 - q^j grows faster with j than δ at ε - j ln q falls: no range from 0 to j has a bound this small.
            bound = of_large if last == 0 else math.inf
        else:
            bound = _divergence(eps, sigma2, log_q, last, k - first)
        if first < last and bound > largest * (1 + _SAME):
            middle = (first + last) // 2
            rest += [(middle + 1, last), (first, middle)]
            continue
        largest = max(largest, bound) if first == last else largest
        ranges.append((first, last))
    return Worst(largest, ranges)


def log_hidden(sigma2: float, threshold: int) -> float:
    """Return ln q, where q is the probability that a group of one person is hidden."""
    return math.log1p(-math.exp(Tail(sigma2, threshold - 1).log_sum()))


def _divergence(eps: float, sigma2: float, log_q: float, alone: int, large: int) -> float:
    """Return the larger divergence for a person who is in `alone` groups alone and in `large` large groups."""
    rise = -alone * log_q
    if large == 0:
        return -math.expm1(-rise)
    gone = math.exp(log_profile(eps + rise, sigma2, 1, large))
    against = -math.expm1(-rise) + math.exp(-rise) * gone
    # δ(ε - r) - δ(ε + r) <= 2r P(L > ε - r) <= 2r exp(-z²/2), where z is that of `log_profile`; r(1 - δ)/2 covers this.
    z = ((eps - rise) * sigma2 - large / 2) / math.sqrt(large * sigma2)
    if alone == 0 or (z > 2.5 and rise < 0.5 and gone < 0.5):
        return against
    back = math.exp(log_profile(abs(eps - rise), sigma2, 1, large))
    if rise > eps:
        back = -math.expm1(eps - rise) + math.exp(eps - rise) * back
    return max(against, back)
