r"""The strategies by name, with the names of PipelineDP and the exact probabilities of their noise.

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
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from stairnoise import _native
from stairnoise._parameters import refuse
from stairnoise._types import Floats
from stairnoise.accounting.losses import largest as largest_loss
from stairnoise.accounting.losses import listed
from stairnoise.mechanisms.discrete_gaussian import mechanism as discrete_gaussian
from stairnoise.mechanisms.partition_selection import calibration
from stairnoise.mechanisms.partition_selection import loss as partition_selection_loss
from stairnoise.mechanisms.partition_selection.rules import GaussianThreshold, Rule, Threshold, TruncatedGeometric, gaussian

Strategy = Literal["truncated_geometric", "laplace", "gaussian", "best"]
STRATEGIES = ("truncated_geometric", "laplace", "gaussian", "best")
# The strategy with the caller's noise.
OF_SIGMA = "gaussian"

_LEAST_EPS, _LEAST_DELTA = 2.0**-40, 2.0**-128
# Thresholds are smaller for these ε and δ.
_MOST_THRESHOLD = 2**50
# Above the relative errors of probabilities, and the absolute ones of their logarithms.
_MARGIN = 2.0**-40


def share(delta: float, k: int) -> float:
    """Return at most 1 - (1 - δ)^(1/k), which is δ for k = 1."""
    return delta if k == 1 else -math.expm1(math.log1p(-delta) / k) * (1 - _MARGIN)


class Geometric:
    """Two-sided geometric noise: P(Z = j) falls by e^-ε from 0 on."""

    def __init__(self, eps: float) -> None:
        self._eps, self.log_total = eps, math.log1p(math.exp(-eps))

    def logsf(self, x: Floats) -> Floats:
        """Logarithm of P(Z > x) for whole x."""
        below = np.log1p(-np.exp(np.minimum(x, -1.0) * self._eps - self.log_total))
        return np.asarray(np.where(x < 0, below, -self._eps * (x + 1) - self.log_total))

    def var(self) -> float:
        """Variance."""
        return 2 * math.exp(-self._eps) / math.expm1(-self._eps) ** 2

    def error_bound(self, alpha: Floats) -> Floats:
        """Least t with P(|Z| > t) <= alpha, or one more."""
        return np.asarray(
            np.maximum(np.ceil((math.log(2) - self.log_total - np.log(alpha)) / self._eps * (1 + _MARGIN)) - 1, 0.0)
        )


class LaplaceThreshold(Threshold):
    """The rule with two-sided geometric noise of ε/k, which is Laplace noise on the integers."""

    def __init__(self, eps: float, delta: float, k: int) -> None:
        self.pieces, self._eps = k, _native.largest_quotient(eps, k)
        self._mechanism = _native.discrete_laplace(self._eps, 1.0)
        self._noise = Geometric(self._eps)
        # The margin covers the rounding of the quotient.
        over = -self._noise.log_total - math.log(share(delta, k)) + _MARGIN
        self.threshold = 1 + max(math.ceil(over / self._eps), 0)
        # Logarithm of the probability that a group of one person is hidden.
        self._log_hidden = math.log1p(-math.exp(-self._eps * (self.threshold - 1) - self._noise.log_total))
        self.achieved_delta = min(delta, -math.expm1(k * self._log_hidden) * (1 + _MARGIN))

    def loss(self) -> Any:
        """Loss of one group: of a large group, or of a group that appears or disappears."""
        log_p = np.array([0.0, -self._eps]) - self._noise.log_total
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
    sigma2 = discrete_gaussian.DiscreteGaussian(sigma=sigma).sigma2
    return GaussianThreshold(None, k, calibration.of_sigma2(sigma2, delta, k))
