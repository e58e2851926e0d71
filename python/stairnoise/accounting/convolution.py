"""Convolution powers of distributions on a lattice, with small relative error far into the tails.

A distribution is an array: entry i is the probability of a loss i steps below the largest one. No
probabilities are subtracted, except in the Fourier transforms of `_by_tilting`, whose errors are compared with the
entries that they belong to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from stairnoise._types import Floats
from stairnoise.numerics.sums import fast_length

Value = TypeVar("Value")

# Multiplications up to which direct convolution is taken: about 5 ms.
_DIRECT_WORK = 2**24
# Losses of few atoms are convolved directly for up to this many times the work: about 90 ms, which their transforms take too.
_FOR_FEW = 4
# Multiplications that `np.convolve` makes in one call, during which Python sees no signal: about 10 ms.
_AT_ONCE = 2**24
# Entries beside the largest loss, which are always computed directly.
_DIRECT_TOP = 256
# A transform is read within this many standard deviations of its tilted mean: the distribution is some 0.01 of its peak there.
_READ = 3.0
# A tilt may leave a single loss.
_LEAST_VARIANCE = 1e-300
# Probability of what a transform of limited length folds back, as a natural logarithm.
_FOLDED = 60.0
_LEAST_LOG = math.log(2.0**-1074)
# Error of a transform's entries as a share of the largest, what each release adds to this share (at most half of it was
# measured), and what the errors may add up to as a share of the sum.
_TRANSFORM_ERROR, _ERROR_OF_ONE, _BELIEVED = 2.0**-48, 2.0**-54, 1e-9
# Nonzero entries of a distribution that is added entry by entry.
_FEW = 64
_SHIFT = 512


def trinomial(k: int, plus: float, zero: float, minus: float) -> Floats:
    """Probabilities of the sums k, k-1, ..., 0 of `k` independent signs +1, 0, -1.

    The coefficients of ``(plus + zero x + minus x²)**k`` satisfy ``n plus c[n] =
    (k-n+1) zero c[n-1] + (2k-n+2) minus c[n-2]``, whose terms are positive up to n = k.
    """
    mantissa, exponent = _scaled_power(plus, k)
    values, exponents = [mantissa], [exponent]
    before, now = 0.0, mantissa
    for n in range(1, k + 1):
        before, now = now, ((k - n + 1) * zero * now + (2 * k - n + 2) * minus * before) / (n * plus)
        if now > 2.0**_SHIFT:
            before, now, exponent = math.ldexp(before, -_SHIFT), math.ldexp(now, -_SHIFT), exponent + _SHIFT
        values.append(now)
        exponents.append(exponent)
    return np.asarray(np.ldexp(np.array(values), np.array(exponents)))


def _scaled_power(base: float, k: int) -> tuple[float, int]:
    """``base**k`` as a mantissa and a power of two."""

    def product(a: tuple[float, int], b: tuple[float, int]) -> tuple[float, int]:
        mantissa, shift = math.frexp(a[0] * b[0])
        return mantissa, a[1] + b[1] + shift

    return power((1.0, 0), math.frexp(base), k, product)


def power(one: Value, base: Value, k: int, product: Callable[[Value, Value], Value]) -> Value:
    """Return ``base**k`` by repeated squaring."""
    while k:
        if k & 1:
            one = product(one, base)
        k >>= 1
        if k:
            base = product(base, base)
    return one


def convolution(mechanisms: Sequence[tuple[Floats, int]], length: int) -> Floats:
    """First `length` entries, no more than there are, of the convolution of the distributions, each taken its number of times."""
    if not all(mechanism.any() for mechanism, _ in mechanisms):
        return np.zeros(length)
    # A distribution may begin or end with zeros, where no tilt can move its mean.
    ends = [np.flatnonzero(mechanism)[[0, -1]] for mechanism, _ in mechanisms]
    first = sum(k * int(begin) for (_, k), (begin, _) in zip(mechanisms, ends, strict=True))
    last = sum(k * int(end) for (_, k), (_, end) in zip(mechanisms, ends, strict=True))
    inside = min(length - 1, last) - first + 1
    if inside <= 0:
        return np.zeros(length)
    trimmed = [(mechanism[begin : end + 1], k) for (mechanism, k), (begin, end) in zip(mechanisms, ends, strict=True)]
    return np.pad(_convolution(trimmed, inside), (first, length - first - inside))


def _convolution(mechanisms: Sequence[tuple[Floats, int]], length: int) -> Floats:
    if _direct_work(mechanisms, length) <= _DIRECT_WORK:
        return _directly(mechanisms, length)
    found, error = _by_tilting(mechanisms, length)
    if (np.cumsum(error) <= _BELIEVED * np.cumsum(found)).all():
        return found
    # Losses with gaps between them, such as 30 and 0: under no tilt are the gap's probabilities near the largest one.
    few = [(mechanism, k) for mechanism, k in mechanisms if np.count_nonzero(mechanism) <= _FEW]
    many = [(mechanism, k) for mechanism, k in mechanisms if np.count_nonzero(mechanism) > _FEW]
    if not few or not many:
        return _directly(mechanisms, length)
    of_many = convolution(many, min(length, 1 + sum((mechanism.size - 1) * k for mechanism, k in many)))
    product = reduce(lambda a, b: _convolve(a, b, length), (_direct_power(mechanism, k, length) for mechanism, k in few), of_many)
    return np.pad(product, (0, length - product.size))


def _direct_work(mechanisms: Sequence[tuple[Floats, int]], length: int) -> int:
    sizes = [min(length, (mechanism.size - 1) * k + 1) for mechanism, k in mechanisms]
    powers = 0
    for size, (mechanism, k) in zip(sizes, mechanisms, strict=True):
        if k > 1:
            powers += size * (_multiplications(mechanism, k) // _FOR_FEW if _multiplications(mechanism, k) < size else 2 * size)
    return powers + sum(a * b for a, b in pairwise(sizes))


def _multiplications(mechanism: Floats, k: int) -> int:
    """Multiplications to an entry of a power that is a product of `k` distributions, not of squares."""
    return k * (int(np.count_nonzero(mechanism)) if _is_sparse(mechanism) else mechanism.size)


def _is_sparse(mechanism: Floats) -> bool:
    return bool(np.count_nonzero(mechanism) <= mechanism.size / 8)


def _directly(mechanisms: Sequence[tuple[Floats, int]], length: int) -> Floats:
    product = reduce(lambda a, b: _convolve(a, b, length), (_direct_power(mechanism, k, length) for mechanism, k in mechanisms))
    return np.pad(product, (0, length - product.size))


def _direct_power(mechanism: Floats, k: int, length: int) -> Floats:
    if _multiplications(mechanism, k) < min(length, (mechanism.size - 1) * k + 1):
        return _by_factors(mechanism[:length], k, length)
    return power(np.ones(1), mechanism[:length], k, lambda a, b: _convolve(a, b, length))


def _by_factors(mechanism: Floats, k: int, length: int) -> Floats:
    """Power of a distribution of few atoms, whose square has many: one factor after another.

    Of each product, what lies between zeros is kept: many rare losses together are too improbable for float64.
    """
    first, power = 0, np.ones(1)
    for _ in range(k):
        power = _convolve(power, mechanism, length - first)
        if power[0] and power[-1]:
            continue
        there = np.flatnonzero(power)
        if not there.size:
            return np.zeros(1)
        first, power = first + int(there[0]), power[there[0] : there[-1] + 1]
    return np.pad(power, (first, 0))


def _convolve(a: Floats, b: Floats, length: int) -> Floats:
    """First `length` entries of the convolution of two arrays."""
    few, other = sorted((a, b), key=np.count_nonzero)
    if not _is_sparse(few):
        return np.convolve(a, b)[:length] if a.size * b.size <= _AT_ONCE else _entry_by_entry(a, b, length)
    result, places = np.zeros(min(a.size + b.size - 1, length)), np.flatnonzero(few)
    for place in places[places < result.size]:
        part = result[place : place + other.size]
        part += few[place] * other[: part.size]
    return result


def _entry_by_entry(a: Floats, b: Floats, length: int) -> Floats:
    """First `length` entries of ``np.convolve(a, b)``, bit for bit, so that Ctrl-C is seen between two of them."""
    long, short = (a, b) if a.size >= b.size else (b, a)
    mirrored = short[::-1].copy()
    result = np.empty(min(a.size + b.size - 1, length))
    for i in range(result.size):
        # Entries first to last of `long` meet the mirrored array moved by this much.
        moved = i - short.size + 1
        first, end = max(moved, 0), min(i + 1, long.size)
        result[i] = long[first:end] @ mirrored[first - moved : end - moved]
    return result


class _Tilted:
    """The sum of all releases, each distribution multiplied by exp(-tilt i) and normalised."""

    def __init__(self, mechanisms: Sequence[tuple[Floats, int]], tilt: float) -> None:
        self.tilt, self._untilted = tilt, mechanisms
        self.logarithm = self.mean = self.variance = 0.0
        self._error = _TRANSFORM_ERROR + _ERROR_OF_ONE * sum(k for _, k in mechanisms)
        self.mechanisms = []
        for mechanism, k in mechanisms:
            index = np.arange(mechanism.size)
            exponent = -tilt * index
            shift = exponent[mechanism > 0].max()
            weighted = mechanism * np.exp(np.minimum(exponent - shift, 0.0))
            total = float(weighted.sum())
            weighted /= total
            mean = float(weighted @ index)
            self.mechanisms.append((weighted, k))
            self.logarithm += k * (math.log(total) + shift)
            self.mean += k * mean
            self.variance += k * float(weighted @ (index - mean) ** 2)

    def probabilities(self, low: int, high: int) -> tuple[Floats, Floats]:
        """Entries `low` to `high`, which lie within `_READ` deviations of the mean, without the tilt, and their errors."""
        size = self._length(low, high)
        transform: Any = np.ones(1)
        for mechanism, k in self.mechanisms:
            # Ten times as fast as ``**``, which takes logarithms.
            transform = transform * power(np.ones(1, np.complex128), np.fft.rfft(mechanism, size), k, np.multiply)
        index = np.arange(low, high + 1)
        sums = np.maximum(np.fft.irfft(transform, size), 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            without = np.exp(self.logarithm + self.tilt * index)
            return sums[index % size] * without, self._error * sums.max() * without

    def _length(self, low: int, high: int) -> int:
        """Length of a fast transform that folds at most exp(-60) of the sums to either side onto these entries."""
        widest = max(mechanism.size for mechanism, _ in self.mechanisms)
        last = sum((mechanism.size - 1) * k for mechanism, k in self.mechanisms)
        above, below = min(self._reach(-1), last), max(-self._reach(1), 0)
        return fast_length(max(math.ceil(max(above - low, high - below)) + 1, widest))

    def _reach(self, sign: int) -> float:
        """Chernoff's bound of the sum, times `-sign`, but for exp(-60) of its probability: every exponent gives one."""
        exponent, bound = math.sqrt(2 * _FOLDED / max(self.variance, 1 / _FOLDED)), math.inf
        while True:
            moved = _Tilted(self._untilted, self.tilt + sign * exponent)
            found = (moved.logarithm - self.logarithm + _FOLDED) / exponent
            if not found < bound:
                return bound
            exponent, bound = exponent / 2, found


def _by_tilting(mechanisms: Sequence[tuple[Floats, int]], length: int) -> tuple[Floats, Floats]:
    """Convolution by Fourier transforms of tilted distributions, and the errors of its entries.

    A transform's error is the same everywhere: a share of the peak that grows with the number of distributions. So
    the distribution is tilted, which convolution commutes with, until its peak is where it is read (the
    saddle point), for one window after another from the last entry to the first.
    """
    result, error = np.zeros(length), np.zeros(length)
    top = min(_DIRECT_TOP, length)
    result[:top] = _directly(mechanisms, top)
    high, tilt = length - 1, 0.0
    while high >= top:
        at_edge = _tilt_to(mechanisms, float(high), tilt)
        middle = _tilt_to(mechanisms, max(high - _READ * math.sqrt(at_edge.variance), high / 2), at_edge.tilt)
        # Where the tilted sum is far from normal, its errors may hide the lower entries: the next window has them again. If they
        # hide all entries, the peak moves to the upper end.
        for window in (middle, at_edge):
            low = min(max(math.floor(window.mean - _READ * math.sqrt(window.variance)), top), high)
            # the largest and the smallest entry of the window are those of its ends
            if window.logarithm + window.tilt * (high if window.tilt > 0 else low) <= _LEAST_LOG:
                if window.tilt > 0:
                    return result, error
                found, off = np.zeros((2, high + 1 - low))
                break
            found, off = window.probabilities(low, high)
            hidden = np.flatnonzero(~(np.cumsum(off) <= _BELIEVED * np.cumsum(found)))
            if not hidden.size or hidden[-1] < high - low:
                shown = int(hidden[-1]) + 1 if hidden.size else 0
                low, found, off = low + shown, found[shown:], off[shown:]
                break
        result[low : high + 1], error[low : high + 1] = found, off
        high, tilt = low - 1, window.tilt
    return result, error


def _tilt_to(mechanisms: Sequence[tuple[Floats, int]], mean: float, tilt: float) -> _Tilted:
    """Tilt under which the sum has roughly this mean, which falls as the tilt grows: by Newton's steps or halves."""
    low, high = -math.inf, math.inf
    while True:
        tilted = _Tilted(mechanisms, tilt)
        excess = tilted.mean - mean
        if abs(excess) <= 0.05 * math.sqrt(tilted.variance) + 0.05:
            return tilted
        low, high = (tilt, high) if excess > 0 else (low, tilt)
        # Far from the root the mean may hardly depend on the tilt.
        most = 1 + abs(tilt)
        tilt += min(max(excess / max(tilted.variance, _LEAST_VARIANCE), -most), most)
        tilt = tilt if low < tilt < high else (low + high) / 2
        if not low < tilt < high:
            return tilted
