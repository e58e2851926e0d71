"""Each check raises AssertionError for a wrong sampler, and for a correct one with probability at most `alpha`.

Shares and privacy losses use the Chernoff bound in Hoeffding's form (1963, theorem 1), which holds for every count, so their
rates are guaranteed and a count of zero needs no special case. The chi-square and z checks rest on the central limit theorem.
"""

import math

import numpy as np
from mpmath import mp
from numpy.typing import ArrayLike, NDArray

LEAST_EXPECTED = 50  # expected count of a pooled bin; below about 5 the chi-square distribution is a poor approximation

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def check_distribution(counts: Counts, probabilities: Floats, alpha: float) -> None:
    """Pearson's chi-square; neighbouring bins are pooled until each expects enough."""
    total = int(counts.sum())
    first = _pool_starts(total * probabilities)
    expected = total * np.add.reduceat(probabilities, first)
    observed = np.add.reduceat(counts, first)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    _accept(_chi_square_tail(statistic, len(first) - 1), alpha, f"chi-square {statistic:.1f} in {len(first)} bins")


def check_symmetry(counts: Counts, alpha: float) -> None:
    """Mirrored bins, counts[k] and counts[-1-k], are equally likely."""
    half = len(counts) // 2
    left, right = counts[:half].astype(float), counts[: -half - 1 : -1].astype(float)
    enough = left + right >= LEAST_EXPECTED
    left, right = left[enough], right[enough]
    statistic = float(((left - right) ** 2 / (left + right)).sum())
    _accept(_chi_square_tail(statistic, len(left)), alpha, f"chi-square {statistic:.1f} of {len(left)} mirrored pairs")


def check_share(count: int, total: int, probability: float, alpha: float) -> None:
    """Check the share of an event of known probability, on both sides."""
    tail = 2 * float(chernoff(count, total, probability))
    _accept(tail, alpha, f"{count} of {total}, expected {total * probability:.1f}")


def check_loss_at_most(first: Counts, second: Counts, eps: float, alpha: float) -> None:
    """ln P(first)/P(second) <= eps in every pair: given the sum, the first count is at most binomial(e^eps/(1 + e^eps))."""
    total, limit = first + second, 1 / (1 + math.exp(-eps))
    tails = np.where(first > total * limit, chernoff(first, total, limit), 1.0)
    worst = int(np.argmin(tails))
    _accept(float(tails[worst]) * len(tails), alpha, f"{first[worst]} against {second[worst]} for eps {eps}")


def check_loss_equals(first: Counts, second: Counts, eps: float, alpha: float) -> None:
    """ln P(first)/P(second) = eps in every pair."""
    tails = 2 * chernoff(first, first + second, 1 / (1 + math.exp(-eps)))
    worst = int(np.argmin(tails))
    _accept(float(tails[worst]) * len(tails), alpha, f"{first[worst]} against {second[worst]} for eps {eps}")


def check_mean(mean: float, expectation: float, standard_error: float, alpha: float) -> None:
    """Check a mean by its standard error with a two-sided z test."""
    z = (mean - expectation) / standard_error
    _accept(math.erfc(abs(z) / math.sqrt(2)), alpha, f"z = {z:.2f}, mean {mean!r}, expected {expectation!r}")


def chernoff(count: ArrayLike, total: ArrayLike, probability: float) -> Floats:
    """Return exp(-n KL(k/n, p)), a bound of P(K >= k) for k above n p and of P(K <= k) below, for K binomial(n, p)."""
    k, n = np.asarray(count, float), np.asarray(total, float)
    divergence = _times_log_ratio(k, n * probability) + _times_log_ratio(n - k, n * (1 - probability))
    return np.asarray(np.exp(-divergence))


def _times_log_ratio(x: Floats, y: Floats) -> Floats:
    """Return x ln(x/y), or 0 at x = 0."""
    return x * np.log(np.where(x > 0, x, 1) / np.where(x > 0, y, 1))


def _pool_starts(expected: Floats) -> NDArray[np.intp]:
    """Return the first index of each pool of neighbouring bins; the last pool takes the remaining bins."""
    starts, gathered = [0], 0.0
    for index, more in enumerate(expected):
        if gathered >= LEAST_EXPECTED:
            starts.append(index)
            gathered = 0.0
        gathered += more
    if gathered < LEAST_EXPECTED and len(starts) > 1:
        starts.pop()
    return np.array(starts)


def _chi_square_tail(statistic: float, degrees: int) -> float:
    assert degrees > 0
    return float(mp.gammainc(degrees / 2, statistic / 2, regularized=True))


def _accept(tail: float, alpha: float, found: str) -> None:
    assert tail >= alpha, f"{found}: probability {tail:.2g} under the mechanism, below {alpha:.2g}"
