r"""The rules by which `PartitionSelection` shows groups, by the names of PipelineDP's strategies, and the choice between them.

k mechanisms that are (ε/k, δ')-differentially private each are (ε, 1 - (1 - δ')^k)-differentially private together (Kairouz, Oh
and Viswanath 2015, theorem 3.3). So the rules of one group have ε/k and

    δ' = 1 - (1 - δ)^(1/k)

which is more than δ/k. With two-sided geometric noise Z of ε/k, one person more or less changes the likelihood of every noisy
count by at most e^(ε/k). A group of one person is shown with the probability p = P(1 + Z >= τ), and is never shown without this
person: the divergences are p, and 1 - e^(ε/k) (1 - p) <= p. So the rule of one group is (ε/k, p)-differentially private.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._parameters import Real, refuse, require
from stairnoise._types import Bools, Floats, Ints
from stairnoise.accounting.losses import largest as largest_loss
from stairnoise.accounting.losses import listed
from stairnoise.distributions.symmetric import ByName
from stairnoise.mechanism.distribution import plain
from stairnoise.mechanisms.discrete_gaussian import distribution as discrete_gaussian
from stairnoise.mechanisms.discrete_gaussian import loss as discrete_gaussian_loss
from stairnoise.mechanisms.discrete_gaussian import mechanism as discrete_gaussian_mechanism
from stairnoise.mechanisms.discrete_laplace import mechanism as discrete_laplace
from stairnoise.mechanisms.partition_selection import calibration, distribution
from stairnoise.mechanisms.partition_selection import loss as partition_selection_loss

# At most this many values of noise are listed. The margin exceeds the rounding errors of probabilities and of their sums.
_MOST_LISTED = 2**22
_MARGIN = 1 - 2.0**-20


class TruncatedGeometric:
    """The best rule for people in one group each; for k groups it uses ε/k, and δ/k or the given share of δ.

    Noise ``threshold - N``, where N is the least n whose π(n) is above a random number.
    """

    __slots__ = ("_constants", "_native", "achieved_delta", "always_shown", "pieces", "threshold")

    sigma2 = None

    def __init__(self, eps: float, delta: float, k: int, share: float | None = None) -> None:
        if share is None:
            native = self._native = _native.PartitionSelection(eps, delta, k)
        else:
            native = self._native = _native.PartitionSelection(_native.largest_quotient(eps, k), share, 1)
        self._constants = native.eps, native.delta, native.rising, native.certain
        # The least n with π(n) > 1/2, and with π(n) = 1.
        self.threshold, self.always_shown = native.median, native.certain
        self.achieved_delta, self.pieces = delta, k
        if share is not None:
            self.achieved_delta = min(delta, -math.expm1(k * math.log1p(-share)) * (1 + 2.0**-40))

    def probability(self, people: Real) -> Real:
        """π(n)."""
        return distribution.shown(*self._constants, people)

    def noise_mean(self) -> float:
        """Return the mean of the noise in a count of at least `always_shown`."""
        chances, noise = self._listed()
        return float(np.sum(chances * noise))

    def noise_std(self) -> float:
        """Return the standard deviation of the noise in a count of at least `always_shown`."""
        chances, noise = self._listed()
        return float(np.sqrt(np.sum(chances * (noise - np.sum(chances * noise)) ** 2)))

    def _listed(self) -> tuple[Floats, Ints]:
        """Return the probabilities of N = 1, 2, …, and the noise for these N."""
        if self.always_shown > _MOST_LISTED:
            raise ParameterError(
                "eps/max_partitions_contributed must leave at most 2**22 values of noise to list them, "
                f"got {self._native.eps!r} for each partition"
            )
        return np.exp(distribution.log_steps(*self._constants)), self.threshold - np.arange(1, self.always_shown + 1)

    def half_widths(self, values: Ints, confidence: float) -> Ints:
        """Bounds of the noise in shown values.

        Small groups that are shown have other noise than large groups: a group of one person always has the largest noise. A
        value of threshold + always_shown - 1 or more cannot come from a group that may be hidden.
        """
        largest = max(self.threshold - 1, self.always_shown - self.threshold)
        of_large = self._half_width_of_large(confidence, largest)
        return np.where(values >= self.threshold + self.always_shown - 1, of_large, largest).astype(np.int64)

    def _half_width_of_large(self, confidence: float, largest: int) -> int:
        """Return the least t with P(|noise| > t) <= 1 - confidence for a group that is always shown."""
        if self.always_shown > _MOST_LISTED:
            return largest
        chances, noise = self._listed()
        beyond = np.cumsum(np.bincount(np.abs(noise), chances)[::-1])[::-1]
        # Entry t is P(|noise| >= t).
        return int(np.argmax(np.append(beyond[1:], 0.0) <= (1 - confidence) * _MARGIN))

    def loss(self) -> Any:
        """Loss of one group."""
        worst: list[Any] = []
        for chances, loss, infinite in distribution.losses(*self._constants):
            there = np.array(chances) > 0
            log_p, known = np.log(np.array(chances)[there]), np.array(loss)[there]
            key = ("partition selection", self._native.eps, self._native.delta, len(worst))
            worst.append(listed.Listed(key, log_p, log_p - known, np.inf, infinite, known))
        return largest_loss.Largest(worst)

    def select(self, stream: _native.Stream, people: Ints, threads: int) -> Bools:
        """Compare each group's random number with its π(n)."""
        shown = np.empty(people.shape, np.bool_)
        self._native.select(stream, people, shown, threads)
        return shown

    def release_one(self, stream: _native.Stream, count: object) -> int | None:
        """Return what `release` returns for one Python integer; None for all else, and for a negative one."""
        return self._native.release_one(stream, count)

    def release(self, stream: _native.Stream, people: Ints, threads: int) -> Ints:
        """Return n - N + threshold where n >= N."""
        values = np.empty(people.shape, np.int64)
        self._native.release(stream, people, values, threads)
        return values


class Threshold:
    """A rule for people in several groups.

    Every group has noise Z, and is shown if it has people and n + Z >= threshold.
    """

    always_shown = None
    sigma2: float | None = None
    pieces: int
    threshold: int
    achieved_delta: float
    _mechanism: _native.Mechanism
    # The distribution of Z.
    _noise: Any
    # Returns the loss of all groups of a person, or of one of `pieces` groups.
    loss: Any

    def probability(self, people: Real) -> Real:
        """P(Z >= threshold - n), and 0 for nobody."""
        with np.errstate(all="ignore"):
            return plain(np.where(people > 0, np.exp(self._noise.logsf(np.asarray(self.threshold - 1 - people))), 0.0))

    def noise_mean(self) -> float:
        """Return 0.0."""
        return 0.0

    def noise_std(self) -> float:
        """Return the standard deviation of Z."""
        return math.sqrt(self._noise.var())

    def half_widths(self, values: Ints, confidence: float) -> Ints:
        """Bounds of the noise in shown values, and v - 1 for a smaller value v, whose group has a person.

        t is the least number with P(|Z| > t) <= (1 - confidence)·P(Z > -threshold). A group of 2·threshold - 1 people or more
        is shown with at least the probability P(Z > -threshold). A smaller group has a value of 2·threshold + t - 1 or more
        only if Z is above t, which is as improbable among the Z that show the group, because the tail of Z is log-concave.
        The noise of a shown value v is at least 1 - v.
        """
        rare = (1 - confidence) * _MARGIN * -math.expm1(float(self._noise.logsf(np.array([self.threshold - 1.0]))[0]))
        t = int(self._noise.error_bound(np.array([rare]))[0])
        return np.where(values >= 2 * self.threshold + t - 1, t, np.maximum(values - 1, t)).astype(np.int64)

    def select(self, stream: _native.Stream, people: Ints, threads: int) -> Bools:
        """Return which groups `release` would show."""
        return np.asarray(self.release(stream, people, threads) != 0)

    def release_one(self, stream: _native.Stream, count: object) -> int | None:
        """Return what `release` returns for one Python integer; None for all else, and for a negative one."""
        if type(count) is not int or count < 0:
            return None
        noisy: Any = self._mechanism.fast_release_integers(stream, count, None)
        return noisy if noisy is None or (count > 0 and noisy >= self.threshold) else 0

    def release(self, stream: _native.Stream, people: Ints, threads: int) -> Ints:
        """Return n + Z for the groups that are shown."""
        # Counts are read several times, and another thread may write to the caller's memory.
        counts = np.array(people, order="C")
        require("counts", counts >= 0, "at least 0")
        noisy = np.empty(counts.shape, np.int64)
        self._mechanism.release(stream, counts, noisy, threads)
        return np.where((counts > 0) & (noisy >= self.threshold), noisy, 0)


class GaussianThreshold(Threshold):
    """The rule with discrete Gaussian noise; ε is None if the caller chose the noise."""

    pieces = 1
    sigma2: float

    def __init__(self, eps: float | None, k: int, found: calibration.Found) -> None:
        self._eps, self._k, self.found = eps, k, found
        self.sigma2, self.threshold, self.achieved_delta = found
        self._mechanism = _native.discrete_gaussian(self.sigma2)

    @cached_property
    def _noise(self) -> discrete_gaussian.DiscreteGaussianDistribution:
        return discrete_gaussian.DiscreteGaussianDistribution(self.sigma2)

    def loss(self) -> Any:
        """Loss of all groups of a person: the worst over the ranges that `worst` returns, or over one range without ε."""
        log_q = calibration.log_hidden(self.sigma2, self.threshold)
        pairs: list[Any] = []
        ranges = [(0, self._k)]
        if self._eps is not None:
            ranges = calibration.worst(self._eps, self.sigma2, self.threshold, self._k).ranges
        for first, last in ranges:
            if self._k == first == 1:
                pairs += partition_selection_loss.alone(log_q)
                continue
            # A person without a large group is covered by a person with one.
            large = max(self._k - first, 1)
            noise = discrete_gaussian_loss.LatticeGaussian(large * self.sigma2, float(large))
            pairs += [partition_selection_loss.Appearing(noise, last * log_q, added=added) for added in (True, False)]
        return largest_loss.Largest(pairs)


Rule = TruncatedGeometric | Threshold


def gaussian(eps: float, delta: float, k: int, below: int) -> GaussianThreshold | None:
    """Return the rule with the least discrete Gaussian noise; None if its threshold is not below this one."""
    found = calibration.least_threshold(eps, delta, k, below)
    return None if found is None else GaussianThreshold(eps, k, found)


# Keys are floats and an int. A rule that draws keeps up to 2**22 thresholds, so few rules are kept.
@lru_cache(maxsize=16)
def best_rule(eps: float, delta: float, k: int) -> Rule:
    """Return the rule with the smaller threshold; if both are equal, the truncated geometric rule."""
    geometric = TruncatedGeometric(eps, delta, k)
    # For one group per person this rule is the best of all.
    return geometric if k == 1 else gaussian(eps, delta, k, geometric.threshold) or geometric


# The strategies

Strategy = Literal["truncated_geometric", "laplace", "gaussian", "best"]
STRATEGIES = ("truncated_geometric", "laplace", "gaussian", "best")
# The strategy with the caller's noise.
OF_SIGMA = "gaussian"

_LEAST_EPS, _LEAST_DELTA = 2.0**-40, 2.0**-128
# Thresholds are smaller for these ε and δ.
_MOST_THRESHOLD = 2**50
# Above the relative errors of probabilities, and the absolute ones of their logarithms.
_ERROR = 2.0**-40


def share(delta: float, k: int) -> float:
    """Return at most 1 - (1 - δ)^(1/k), which is δ for k = 1."""
    return delta if k == 1 else -math.expm1(math.log1p(-delta) / k) * (1 - _ERROR)


class LaplaceThreshold(Threshold):
    """The rule with two-sided geometric noise of ε/k, which is Laplace noise on the integers."""

    def __init__(self, eps: float, delta: float, k: int) -> None:
        self.pieces, self._eps = k, _native.largest_quotient(eps, k)
        noise = discrete_laplace.DiscreteLaplace(self._eps)
        self._mechanism, self._noise = noise._sampler, ByName(noise._functions())
        # Logarithm of 1 + e^-ε. The margin covers the rounding of the quotient.
        self._log_total = math.log1p(math.exp(-self._eps))
        over = -self._log_total - math.log(share(delta, k)) + _ERROR
        self.threshold = 1 + max(math.ceil(over / self._eps), 0)
        # Logarithm of the probability that a group of one person is hidden.
        self._log_hidden = math.log1p(-math.exp(-self._eps * (self.threshold - 1) - self._log_total))
        self.achieved_delta = min(delta, -math.expm1(k * self._log_hidden) * (1 + _ERROR))

    def loss(self) -> Any:
        """Loss of one group: of a large group, or of a group that appears or disappears."""
        log_p = np.array([0.0, -self._eps]) - self._log_total
        known = np.array([self._eps, -self._eps])
        large = listed.Listed(("laplace threshold", self._eps), log_p, log_p - known, np.inf, 0.0, known)
        return largest_loss.Largest([large, *partition_selection_loss.alone(self._log_hidden)])


_RULES: dict[str, Callable[[float, float, int, int], Rule | None]] = {
    # From 1/2 on a larger δ changes only how often a group of one person is shown.
    "truncated_geometric": lambda eps, delta, k, _: TruncatedGeometric(eps, delta, k, min(share(delta, k), 0.5)),
    OF_SIGMA: gaussian,
    "laplace": lambda eps, delta, k, _: LaplaceThreshold(eps, delta, k),
}


def _require_delta(delta: float, k: int) -> None:
    allowed = 0 < delta < 1 and share(delta, k) >= _LEAST_DELTA
    refuse("delta", delta, allowed, "less than 1, and at least 2**-128 for each partition")


@lru_cache(maxsize=16)
def rule_of(strategy: Strategy, eps: float, delta: float, k: int) -> Rule:
    """Return the rule of a strategy; the one with the smallest threshold for "best"."""
    refuse("eps", eps, _LEAST_EPS * k <= eps < math.inf, "finite and at least 2**-40 for each partition")
    _require_delta(delta, k)
    best: Rule | None = None
    # For one group per person the truncated geometric rule is the best of all, if it has all of δ.
    names = list(_RULES)[: 1 if k == 1 and delta <= 0.5 else None]
    for name in names if strategy == "best" else [strategy]:
        rule = _RULES[name](eps, delta, k, _MOST_THRESHOLD if best is None else best.threshold)
        if rule is not None and (best is None or rule.threshold < best.threshold):
            best = rule
    assert best is not None
    return best


@lru_cache(maxsize=16)
def rule_of_sigma(sigma: float, delta: float, k: int) -> GaussianThreshold:
    """Return the rule with the caller's Gaussian noise; δ is the probability that one of k groups of one person is shown."""
    _require_delta(delta, k)
    sigma2 = discrete_gaussian_mechanism.DiscreteGaussian(sigma=sigma).sigma2
    return GaussianThreshold(None, k, calibration.of_sigma2(sigma2, delta, k))
