r"""The privacy loss of noise by its weights, for every shift up to the sensitivity, up and down.

Weights can rise and fall anywhere, so any shift may be the worst. The loss for changes of up to D steps is the worst, over the
shifts s = 1, …, D, of

    P(X = k)  against  P(X = k - s)     and     P(X = k)  against  P(X = k + s).

`loss` lists all of them in float64, for every measure. `pure_eps`, `delta` and `infinite` are upper bounds from integers: weights
are dyadic rationals, and the weights of a tail are enclosed by integers of `_BITS` more bits.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._types import Floats
from stairnoise.accounting.losses.largest import Largest
from stairnoise.accounting.losses.listed import Listed
from stairnoise.accounting.losses.loss import Model
from stairnoise.mechanisms.lattice_noise.distribution import Weights
from stairnoise.numerics.rounding import rounded_up

Integers = NDArray[np.object_]

_BITS, _DIGITS = 192, 60
# Losses this near to the largest float64 loss may be the largest.
_NEAR = 1e-9


def shifts(weights: Weights, D: int) -> Iterator[int]:
    """Yield every shift that matters: for symmetric weights only the positive ones."""
    symmetric = np.array_equal(weights.scaled, weights.scaled[::-1])
    for steps in range(1, D + 1):
        yield steps
        if not symmetric:
            yield -steps


def loss(weights: Weights, D: int) -> OneShift | Largest:
    """Return the loss of the worst shift up to D steps."""
    pairs = parts(weights, D)
    return pairs[0] if len(pairs) == 1 else Largest(pairs)


def parts(weights: Weights, D: int) -> list[OneShift]:
    """Return the loss of every shift that `shifts` returns."""
    digest = hashlib.sha256(weights.scaled.tobytes()).digest(), weights.ratio
    return [_one(weights, shift, digest) for shift in shifts(weights, D)]


def _one(weights: Weights, shift: int, digest: tuple[object, ...]) -> OneShift:
    pairs = _pairs(weights, shift)
    eps = pure_eps_of(weights, shift) if pairs.infinite == 0 else 0.0
    return OneShift(("given weights", *digest, shift), pairs.log_p, pairs.losses, eps, pairs.infinite)


class _Pairs(NamedTuple):
    """Outcomes that both centres can have, and the probability of those that only the true centre can have.

    Outcomes in the same tail of both centres have the same loss, so one outcome stands for each tail.
    """

    log_p: Floats
    here: Floats
    there: Floats
    """Weights under the true centre and under the other centre, without powers of ρ."""
    powers: Floats
    """Powers of ρ in the ratio of both probabilities."""
    losses: Floats
    infinite: float


def _pairs(weights: Weights, shift: int) -> _Pairs:
    scaled = weights.scaled if shift > 0 else weights.scaled[::-1]
    steps, m, ratio = abs(shift), weights.reach, weights.ratio
    log_total = math.log(weights.total)
    k = np.arange(-m, m + 1) if ratio is None else np.arange(1 - m, m + steps)
    here, there = (scaled[np.clip(place, -m, m) + m] for place in (k, k - steps))
    beyond, other_beyond = (np.maximum(np.abs(place) - m, 0) for place in (k, k - steps))
    if ratio is None:
        there = np.where(other_beyond > 0, 0.0, there)
        other_beyond = np.zeros_like(beyond)
    lost = here[there == 0] * (ratio or 0.0) ** beyond[there == 0]
    both = (here > 0) & (there > 0)
    log_ratio = 0.0 if ratio is None else weights.log_ratio
    log_p = np.log(here[both]) + beyond[both] * log_ratio - log_total
    here, there, powers = here[both], there[both], (beyond - other_beyond)[both]
    if ratio is not None:
        # The tail from -m down, and the tail from m + s up.
        ends = np.log(scaled[[0, -1]]) + np.array([0, steps]) * log_ratio - math.log1p(-ratio) - log_total
        log_p, powers = np.concatenate([log_p, ends]), np.append(powers, [-steps, steps])
        here, there = (np.append(weight, scaled[[0, -1]]) for weight in (here, there))
    losses = np.log(here / there) + powers * log_ratio
    return _Pairs(log_p, here, there, powers, losses, min(math.fsum(lost.tolist()) / weights.total, 1.0))


# Bounds from integers


class _Exact(NamedTuple):
    """Weights as integers in one unit: lower and upper bounds of those of the tails."""

    low: Integers
    high: Integers
    """Weights of -m - D … m + D; without a tail, 0 beyond m."""
    beyond: tuple[int, int]
    """Upper bounds of the sums of all weights up to -m, and from m on, with a tail."""
    total: int
    """Lower bound of the sum of all weights."""
    ratio: Fraction


@lru_cache(maxsize=4)
def _exact(key: bytes, ratio: float | None, D: int) -> _Exact:
    scaled = np.frombuffer(key)
    unit = min(math.frexp(weight)[1] for weight in scaled.tolist() if weight) - 53 - _BITS
    body = [int(math.ldexp(math.frexp(weight)[0], 53)) << (math.frexp(weight)[1] - 53 - unit) for weight in scaled.tolist()]
    p, q = (0, 1) if ratio is None else ratio.as_integer_ratio()
    lows, highs = [], []
    for end in (body[0], body[-1]):
        low, high = [end], [end]
        for _ in range(D):
            low.append(low[-1] * p // q)
            high.append(-(-high[-1] * p // q))
        lows.append(low[1:])
        highs.append(high[1:])
    left, right = (end * q // (q - p) for end in (body[0], body[-1]))
    total = sum(body) - body[0] - body[-1] + left + right
    low_all, high_all = (np.array([*ends[0][::-1], *body, *ends[1]], object) for ends in (lows, highs))
    return _Exact(low_all, high_all, (left + 1, right + 1), total, Fraction(p, q))


def _of(weights: Weights, D: int) -> _Exact:
    return _exact(weights.scaled.tobytes(), weights.ratio, D)


def infinite(weights: Weights, D: int) -> Fraction:
    """Upper bound of the probability of an infinite loss at the worst shift."""
    return max(_positive(weights, shift, D, None) for shift in shifts(weights, D))


def delta(weights: Weights, shift: int, D: int, eps: float) -> Fraction:
    """Upper bound of δ at ε >= 0 for one shift, too large by less than 1e-50."""
    return _positive(weights, shift, D, None if eps >= pure_eps_of(weights, shift) else _power_below(eps))


def _positive(weights: Weights, shift: int, D: int, power: Fraction | None) -> Fraction:
    """Upper bound of Σ (P(k) - power·P(k - s))₊; for None of the sum of the P(k) with P(k - s) = 0."""
    exact = _of(weights, D)
    low, high = (exact.low, exact.high) if shift > 0 else (exact.low[::-1], exact.high[::-1])
    steps = abs(shift)
    # These lists leave out the tails, up to -m and from m + s on.
    skip = 1 + D if weights.ratio is not None else D
    size = 2 * weights.reach + steps - (1 if weights.ratio is not None else -1)
    here = high[skip : skip + size]
    there = low[skip - steps : skip - steps + size]
    if power is None:
        return Fraction(int(here[there == 0].sum()), exact.total)
    terms = here * power.denominator - there * power.numerator
    inside = Fraction(int(np.maximum(terms, 0).sum()), power.denominator)
    if weights.ratio is not None:
        # Up to -m, P(k - s) is ρ**s times P(k).
        left = exact.beyond[0] if shift > 0 else exact.beyond[1]
        inside += left * max(Fraction(0), 1 - power * _rounded_down(exact.ratio**steps))
    return inside / exact.total


def _rounded_down(x: Fraction) -> Fraction:
    """Return a slightly smaller fraction with fewer digits: a power has very many."""
    return Fraction((x.numerator << 1100) // x.denominator, 1 << 1100)


def _power_below(eps: float) -> Fraction:
    """Return a rational a little below e**ε."""
    with localcontext() as context:
        context.prec = _DIGITS
        nearest = Decimal(eps).exp()
        return Fraction(nearest - nearest.scaleb(3 - _DIGITS)) if eps else Fraction(1)


def pure_eps(weights: Weights, D: int) -> float:
    """Largest finite loss over all shifts, rounded up; 0 if there is none."""
    return max(pure_eps_of(weights, shift) for shift in shifts(weights, D))


def pure_eps_of(weights: Weights, shift: int) -> float:
    """Largest finite loss under one shift, rounded up; 0 if there is none."""
    pairs = _pairs(weights, shift)
    if not pairs.losses.size:
        return 0.0
    largest = float(pairs.losses.max())
    near = pairs.losses >= largest - _NEAR * max(1.0, abs(largest))
    exact = Decimal(-1)
    with localcontext() as context:
        context.prec = _DIGITS
        log_ratio = Decimal(0) if weights.ratio is None else Decimal(weights.ratio).ln()
        for power in set(pairs.powers[near].tolist()):
            # Rounding keeps the order, so the largest quotient is among those that round to the largest.
            here, there = (weight[near & (pairs.powers == power)] for weight in (pairs.here, pairs.there))
            first = here / there == (here / there).max()
            both = set(zip(here[first].tolist(), there[first].tolist(), strict=True))
            quotient = max(Fraction(weight) / Fraction(other) for weight, other in both)
            exact = max(exact, (Decimal(quotient.numerator) / Decimal(quotient.denominator)).ln() + power * log_ratio)
        # The logarithm of a rational is irrational, except that of 1, so a small margin covers its rounding.
        raised = exact + exact.copy_abs().scaleb(6 - _DIGITS)
    return rounded_up(Fraction(raised)) if raised > 0 else 0.0


class OneShift(Listed):
    """The loss of outcomes that both centres can have, and an infinite loss with probability `infinite`.

    Parameters
    ----------
    key : tuple
        Equal for equal losses.
    log_p : ndarray of float64
        Logarithms of the probabilities under the true centre.
    losses : ndarray of float64
        Their losses.
    eps : float
        The largest finite loss.
    infinite : float
        Probability of the outcomes that are impossible under the other centre.
    """

    __slots__ = ()

    def __init__(self, key: tuple[Any, ...], log_p: Floats, losses: Floats, eps: float, infinite: float) -> None:
        if losses.size == 0:
            # An outcome of probability 0, so that the list is not empty.
            log_p, losses = np.array([-math.inf]), np.zeros(1)
        bounded = infinite == 0
        super().__init__(key, log_p, log_p - losses, eps if bounded else math.inf, infinite, losses)
        self.top = max(self.top, eps)
        # The list leaves out no outcomes.
        self.beyond = 0.0

    def _rdp(self, order: float) -> float:
        """Return the Rényi divergence. With an infinite loss the listed probabilities add up to less than 1."""
        if order > 1 or self.infinite == 0:
            return super()._rdp(order)
        log_terms = order * self._log_p + (1 - order) * self._log_q
        moment = float(np.sum(np.exp(log_terms)))
        return math.log(moment) / (order - 1) if moment > 0 else math.inf

    def lower_model(self, step: float) -> Model:
        """Merge outcomes; without common outcomes the loss is always infinite."""
        if np.isfinite(self._log_p).any():
            return super().lower_model(step)
        return Model(0.0, np.zeros(1), 1.0)
