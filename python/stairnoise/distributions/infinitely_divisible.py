"""Probabilities and exact ε of sums of differences of negative binomial variables.

X = Σ_j m_j (N_j − N_j'), N_j and N_j' independent, negative binomial of shape β_j and ratio e^(−a_j):

    P(N = k) = β(β+1)…(β+k−1)/k! · e^(−a k) (1 − e^(−a))^β.

One term with m = 1 is the generalized discrete Laplace distribution; with β = 1 it is the discrete Laplace distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stairnoise._types import Complexes, Floats
from stairnoise.distributions.tabulated import Mirrored
from stairnoise.numerics import sums as listed

# Probabilities are listed as long as float64 has them with all its digits.
_NEPERS = 680.0
# Where the whole list would take seconds.
_FEWER_NEPERS = 200.0
# e^(-_SHORT) has no part in a float64 sum.
_SHORT = 42.0
# Logarithms are added up in stretches of this length, and then the stretches: rounding errors grow less.
_STRETCH = 1024
# Of the largest tilt of a negative binomial distribution, for Chernoff bounds.
_FRACTIONS = np.append(np.arange(1, 64) / 64, 1 - 2.0 ** -np.arange(7, 20))
# Lists of more ratios are computed in blocks.
_LONG = 2**12
# Up to this rate `_ratios` cancels only where the ratios are near 1.
_SMALL_RATE = 1.0
# The transform is taken with tilts 1 − 2^(−i) of the largest, and with one that just keeps what wraps around below e^(−_SHORT).
_TILTS = (0, 1, 3)
# Relative errors of probabilities, many times what tests find, down to about e^(-50).
_ERROR, _ERROR_OF_TRANSFORM = 1e-12, 1e-9


class Term(NamedTuple):
    """scale · (N − N'), of a shape and a rate a, the ratio being e^(−a)."""

    scale: int
    shape: float
    rate: float


class Differences(Mirrored):
    """The distribution of such a sum, times a step, with its variance in closed form."""

    def __init__(self, terms: Sequence[Term], step: float = 1.0) -> None:
        super().__init__(log_pmf(terms), variance(terms), step)


class Spread(Differences):
    """The same as a density: the probability of a point of the lattice over the step around it."""

    @property
    def unit(self) -> float:
        """The lattice step times a power of two: near the standard deviation."""
        return math.ldexp(self._step, math.frexp(self._variance_in_steps)[1] // 2)

    def in_units(self) -> Spread:
        """Return the distribution of X/unit, which shares the list of probabilities."""
        made = copy(self)
        made._step = self._step / self.unit
        return made

    def pdf(self, x: Floats) -> Floats:
        """P(X = the point nearest to x)/step."""
        return self.pmf(np.floor(x / self._step + 0.5) * self._step) / self._step

    def logpdf(self, x: Floats) -> Floats:
        """Natural logarithm of `pdf`."""
        return self.logpmf(np.floor(x / self._step + 0.5) * self._step) - math.log(self._step)

    def entropy(self) -> float:
        """Differential entropy in nats."""
        return super().entropy() + math.log(self._step)


def variance(terms: Sequence[Term]) -> float:
    """Σ m²·β/(cosh a − 1)."""
    return math.fsum(m * m * shape * 2 * math.exp(-rate) / math.expm1(-rate) ** 2 for m, shape, rate in terms)


def reach(shape: float, rate: float, nepers: float) -> float:
    """Return a k beyond which N has a probability of about e^(-nepers): for β > 1 by the best of some Chernoff bounds."""
    if shape <= 1:
        return nepers / rate
    tilts = rate * _FRACTIONS
    cumulants = shape * (_log_gap(rate) - np.log1p(-np.exp(tilts - rate)))
    return float(np.min((nepers + cumulants) / tilts))


def log_pmf(terms: Sequence[Term], nepers: float = _NEPERS) -> Floats:
    """Logarithms of P(X = k) for k = 0, 1, … down to about e^(−nepers).

    For a single term, alone or with terms of shape 1, the relative error of the probabilities is near 1e-13. Only shares
    have several terms of other shapes. Their probabilities come from a Fourier transform at the best of four tilts: the error
    is below 1e-9 down to e^(−50), and grows to 1e-6 at the end of the list, near e^(−200).
    """
    size = _size(terms, nepers)
    fractional = [term for term in terms if term.shape != 1]
    if len(fractional) > 1:
        return _transformed(tuple(terms), _size(terms, min(nepers, _FEWER_NEPERS)))
    if len(terms) == 1 and terms[0].scale == 1:
        return single(terms[0].shape, terms[0].rate, size)
    # What lies beyond the list adds to its end, too.
    longer = size + math.ceil(_SHORT * max(m / rate for m, shape, rate in terms if shape == 1))
    above = np.zeros(longer)
    above[0] = 1.0
    for m, shape, rate in fractional:
        above[::m] = np.exp(single(shape, rate, (longer - 1) // m + 1))
    for m, _, rate in sorted(term for term in terms if term.shape == 1):
        above = _with_geometric(above, m, rate)
    return np.asarray(np.log(above[:size]))


def _size(terms: Sequence[Term], nepers: float) -> int:
    return 1 + math.ceil(max(m * reach(shape, rate, nepers) for m, shape, rate in terms))


# One term


def single(shape: float, rate: float, size: int) -> Floats:
    """Logarithms of P(N − N' = k), k = 0 … size − 1.

    P(k+1)/P(k) = q(1 − e_k), q = e^(−rate). From q(k+1−β)P(k+1) = (1+q²)kP(k) − q(k−1+β)P(k−1), a consequence of the generating
    function, e_(k−1) = n/(k − 1 + β + n) with n = (1−β)(1−q²) + q²(k+1−β)e_k: no cancellation, and backwards errors shrink by q².
    """
    if shape == 1:
        return math.log(math.tanh(rate / 2)) - rate * np.arange(size, dtype=np.float64)
    integers = np.arange(size, dtype=np.float64)
    logs = _log_ratios(shape, rate, size)
    return np.asarray(_log_zero(shape, rate) - rate * integers + np.append(0.0, _running_sum(logs)))


def _log_ratios(shape: float, rate: float, size: int) -> Floats:
    """Logarithms of P(k+1)/(q P(k)), k = 0 … size - 2."""
    extra = size + math.ceil(_SHORT / (2 * rate))
    if shape > 1 and rate > _SMALL_RATE:
        ratios: Floats = np.array(_ratios(shape, math.exp(-2 * rate), extra)[: size - 1])
        return np.asarray(np.log(ratios))
    shortfalls, n = (_short_list if shape > 1 or extra < _LONG else _long_list)(shape, rate, extra)
    logs: Floats = np.log1p(-shortfalls[: size - 1])
    # The last n gives 1 − e_0 without cancellation, for tiny shapes.
    logs[:1] = math.log(shape / (shape + n))
    return logs


def _short_list(shape: float, rate: float, size: int) -> tuple[Floats, float]:
    """e_0 … e_(size − 1), and the n of e_0."""
    ratio, constant = math.exp(-2 * rate), (1 - shape) * -math.expm1(-2 * rate)
    n, e = 0.0, (1 - shape) / (size + 1)
    found = [0.0] * size
    for k in range(size, 0, -1):
        n = constant + ratio * (k + 1 - shape) * e
        found[k - 1] = e = n / (k - 1 + shape + n)
    return np.array(found), n


def _long_list(shape: float, rate: float, size: int) -> tuple[Floats, float]:
    """Return the same for β < 1, in as many blocks as each has entries, all at once.

    With e_k = u/v, a step multiplies (u, v) by a matrix of positive numbers. So the product of a block's matrices, which says
    with which e_k the next block begins, has no cancellation either.
    """
    ratio, constant = math.exp(-2 * rate), (1 - shape) * -math.expm1(-2 * rate)
    width = math.isqrt(size - 1) + 1
    blocks = -(-size // width)
    # From the last entry of each block down.
    last = width * np.arange(1, blocks + 1, dtype=np.float64)
    u, v = np.array([[1.0], [0.0]]) * np.ones(blocks), np.array([[0.0], [1.0]]) * np.ones(blocks)
    for step in range(width):
        k = last - step
        u *= ratio * (k + 1 - shape)
        u += constant * v
        v *= k - 1 + shape
        v += u
        scale = 1 / v.max(axis=0)
        u *= scale
        v *= scale
    begin = np.empty(blocks)
    e = (1 - shape) / (width * blocks + 1)
    for block in range(blocks - 1, -1, -1):
        begin[block] = e
        e = float((u[0, block] * e + u[1, block]) / (v[0, block] * e + v[1, block]))
    found, here = np.empty((blocks, width)), begin
    for step in range(width):
        k = last - step
        n = constant + ratio * (k + 1 - shape) * here
        here = n / (k - 1 + shape + n)
        found[:, width - 1 - step] = here
    return found.ravel()[:size], float(n[0])


def _ratios(shape: float, ratio: float, size: int) -> list[float]:
    """1 - e_k by the same recurrence: a sum of positive terms where β is far above 1 and q² below, where e_k is near -β/k."""
    x = 1 + (shape - 1) / (size + 1)
    found = [0.0] * size
    for k in range(size, 0, -1):
        found[k - 1] = x = (k - 1 + shape) / (k + ratio * ((shape - 1) * x - k * (x - 1)))
    return found


def _log_zero(shape: float, rate: float) -> float:
    """Logarithm of P(N − N' = 0)."""
    size = math.ceil(reach(shape, rate, _SHORT)) + 2
    # P(N = k)/P(N = 0).
    weights = np.exp(_log_coefficients(shape, size) - rate * np.arange(size, dtype=np.float64))
    return math.log(float(np.sum(weights * weights))) + 2 * shape * _log_gap(rate)


def _log_gap(rate: float) -> float:
    """Logarithm of 1 - e^(-rate)."""
    return math.log1p(-math.exp(-rate)) if rate > 1 else math.log(-math.expm1(-rate))


def _log_coefficients(shape: float, size: int) -> Floats:
    """Logarithm of β(β+1)…(β+k−1)/k!, k = 0 … size − 1."""
    k = np.arange(size - 1, dtype=np.float64)
    with np.errstate(divide="ignore"):  # the first, for tiny shapes
        growth = np.log1p((shape - 1) / (k + 1))
    growth[:1] = math.log(shape)
    return np.append(0.0, _running_sum(growth))


def _running_sum(terms: Floats) -> Floats:
    rows = -(-terms.size // _STRETCH)
    padded = np.zeros(rows * _STRETCH)
    padded[: terms.size] = terms
    sums = np.cumsum(padded.reshape(rows, _STRETCH), axis=1)
    sums[1:] += np.cumsum(sums[:-1, -1])[:, None]
    return sums.ravel()[: terms.size]


# Sums of several


def _with_geometric(above: Floats, scale: int, rate: float) -> Floats:
    """Probabilities of k ≥ 0 after a two-sided geometric variable times `scale` is added; all terms are positive."""
    size = above.size
    both = np.concatenate([above[:0:-1], above])
    below = _decaying_sums(both, scale, rate)
    # What comes from above k is, by symmetry, what comes from below −k; k itself counts once.
    shifted = np.zeros(both.size)
    shifted[scale:] = below[:-scale]
    q = math.exp(-rate)
    return np.asarray((below + q * shifted[::-1])[size - 1 :] * (-math.expm1(-rate) / (1 + q)))


def _decaying_sums(h: Floats, stride: int, rate: float) -> Floats:
    """F(x) = Σ_{i ≥ 0} h(x − i·stride) e^(−rate·i)."""
    rows = -(-h.size // stride)
    table = np.zeros((rows, stride))
    table.ravel()[: h.size] = h
    # Within a stretch, a running sum of h(x)·e^(rate·row).
    stretch = max(1, int(300 / rate))
    carry = np.zeros(stride)
    for start in range(0, rows, stretch):
        part = table[start : start + stretch]
        growth = np.exp(rate * np.arange(len(part), dtype=np.float64))[:, None]
        sums = np.cumsum(part * growth, axis=0)
        part[:] = (sums + carry * math.exp(-rate)) / growth
        carry = part[-1].copy()
    return table.ravel()[: h.size]


# Distribution, least ε and loss of a distribution ask for the same list.
@lru_cache(maxsize=1)
def _transformed(terms: tuple[Term, ...], size: int) -> Floats:
    """By the generating function on circles: P(k)e^(τk) is the transform of E e^((τ+it)X) over t, for every τ below the
    least decay.

    Each circle answers where its rounding error, which is the same at every k, is the smallest part.
    """
    decay = min(rate / m for m, _, rate in terms)
    points = 1 << (4 * size - 1).bit_length()
    t: Floats = 2 * math.pi / points * np.arange(points // 2 + 1, dtype=np.float64)
    k = np.arange(size, dtype=np.float64)
    best = np.full(size, -math.inf)
    error = np.full(size, math.inf)
    for tilt in (*(decay * (1 - 2.0**-i) for i in _TILTS), decay - _SHORT / points):
        # NumPy's transform has e^(−ikt) under the sum.
        exponent = _log_generating(terms[0], tilt, t)
        for term in terms[1:]:
            exponent += _log_generating(term, tilt, t)
        tilted: Floats = np.fft.irfft(np.exp(exponent).conj(), points)[:size]
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(tilted > 0, np.abs(tilted).max() / tilted, math.inf)
            best = np.where(relative < error, np.log(tilted) - tilt * k, best)
        error = np.minimum(error, relative)
    best.flags.writeable = False
    return best


def _log_generating(term: Term, tilt: float, t: Floats) -> Complexes:
    """Logarithm of E e^((tilt + it)·scale·(N − N'))."""
    m, shape, rate = term
    up, down = math.exp(m * tilt - rate), math.exp(-m * tilt - rate)
    angle = np.remainder(m * t, 2 * math.pi)
    # (1 − up·e^(iθ))(1 − down·e^(−iθ)), without cancellation near θ = 0.
    real = math.expm1(m * tilt - rate) * math.expm1(-m * tilt - rate) + 2 * (up + down) * np.sin(angle / 2) ** 2
    product: Complexes = real + 1j * ((down - up) * np.sin(angle))
    logs: Complexes = np.log(product, dtype=np.complex128)
    return 2 * shape * math.log(-math.expm1(-rate)) - shape * logs


# Privacy


def pure_eps(shape: float, rate: float, sensitivity: int) -> float:
    """Least ε of N − N' under shifts up to `sensitivity`.

    ln P(0)/P(Δ) for β ≤ 1, and rate·Δ, which the tail approaches, for β ≥ 1.
    """
    if shape >= 1:
        return rate * sensitivity
    size = math.ceil(_SHORT / rate) + 2
    logs = _log_coefficients(shape, sensitivity + size)
    falling = -2 * rate * np.arange(size, dtype=np.float64)
    # Without the factor e^(−rate·Δ) of the second sum, which may be below all floats.
    here, there = (float(np.sum(np.exp(logs[:size] + logs[k : k + size] + falling))) for k in (0, sensitivity))
    return rate * sensitivity + math.log(here / there)


def pure_eps_of_two(one: Term, other: Term, sensitivity: int) -> float:
    """Least ε of the sum of two terms of scale 1 under shifts up to `sensitivity`, or a bound on it.

    The distribution is symmetric and unimodal, as are both terms, so the largest loss is max over x ≥ 0 of ln P(x)/P(x + Δ).
    With the term of the slower decay first, of shape β₁ and distribution h₁:

    * β₁ ≥ 1: rate₁·Δ, which h₁ alone guarantees and the tail approaches;
    * otherwise the largest over the list of probabilities. Beyond it, at x ≥ X, split P(x) = Σ h₁(y)h₂(x − y) at Y: the
      part y ≥ Y is at most h₁(Y)/h₁(Y + Δ)·P(x + Δ), for h₁(y)/h₁(y + Δ) falls, and the rest at most h₂(x − Y)
      against P(x) ≥ h₁(x)h₂(0). Neither distribution alone loses more, too. The least of these bounds counts where it is larger.
    """
    slow, fast = sorted((one, other), key=lambda term: term.rate)
    if slow.rate == fast.rate:
        return pure_eps(slow.shape + fast.shape, slow.rate, sensitivity)
    if slow.shape >= 1:
        return slow.rate * sensitivity
    logs = log_pmf((one, other), _FEWER_NEPERS)
    end = logs.size - 1 - sensitivity
    largest = float(np.max(logs[: end + 1] - logs[sensitivity : end + 1 + sensitivity]))
    bounds = [pure_eps(term.shape, term.rate, sensitivity) for term in (slow, fast)]
    first, second = (single(term.shape, term.rate, logs.size) for term in (slow, fast))
    for y in (end >> i for i in range(1, 8)):
        rest = math.exp(min(second[end - y] - first[end] - second[0], 0.0))
        if rest < 1:
            bounds.append(float(first[y] - first[y + sensitivity]) - math.log1p(-rest))
    return max(largest, min(bounds))


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
