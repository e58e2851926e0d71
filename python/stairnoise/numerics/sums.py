"""The sum of k independent variables from a list of probabilities: how far it is from 0, at most.

A variable X on the integers, in bins, is tilted: its probabilities are multiplied by exp(tilt·x) and normalised. The sum's
mass is then where Chernoff's bound puts the quantile in question. One transform is raised to the power k, and its inverse
has the probabilities of the sum. The transform's rounding errors are bounded and added to the tail, so a bound stays a bound.

A variable on wide bins is spread evenly over its bin. The sum of k such spreads is replaced by one, V, and by a whole number
W with P(|W| > j) = 2 exp(-6 j²/(k - 1)), Hoeffding's bound of the other k - 1.

Where the sum would have too many integers, a list is replaced by one of wider bins, whose sum is larger:

* A symmetric distribution that falls from its mode is spread evenly over the bins. It is larger in the peakedness order,
  which passes to sums (see `staircase`).
* Any other distribution is larger outcome by outcome: every value is rounded up to the end of its bin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stairnoise._types import Complexes, Floats, Ints
from stairnoise.numerics.roots import least_integer

# Longest transform: 16 MB for each array of reals, half a second.
LONGEST = 2**21
# Tilted mass left out on either side: exp(-60).
NEGLIGIBLE = 60.0
# A tilt nearer to the largest one makes the tilted sum too long.
LARGEST_FRACTION = 0.97
ROUNDING = 2.0**-52
# Fractions of the largest exponent. Every exponent gives a valid bound, so a grid will do; 10**9 terms need 1e-5.
EXPONENTS: Floats = np.concatenate([np.geomspace(1e-7, 0.5, 400, endpoint=False), 1 - np.geomspace(0.5, 0.003, 100)])


# The tilted sum


class Extent(NamedTuple):
    """Where the tilted sum is, but for a negligible part."""

    tilt: float
    first: int
    last: int
    near: float
    """Chernoff's bound of the quantile."""
    length: int
    """How many places a transform needs."""


def transformed(places: Ints, weights: Floats, tilt: float, size: int) -> tuple[Complexes, float]:
    """Transform of the tilted distribution with these weights, and ln E exp(tilt X)."""
    used = weights > 0
    exponents = np.log(weights[used]) + tilt * places[used]
    largest = float(exponents.max())
    tilted = np.exp(exponents - largest)
    total = float(tilted.sum())
    return np.fft.rfft(np.bincount(places[used] % size, tilted / total, size)), largest + math.log(total)


def normalised(places: Ints, weights: Floats, tilt: float, size: int) -> tuple[Complexes, float]:
    """Transform of the tilted distribution, and ln E exp(tilt X), where the weights need not add up to 1."""
    transform, log_mass = transformed(places, weights, tilt, size)
    return transform, log_mass - math.log(float(weights.sum()))


def upper_tail(one: tuple[Complexes, float], k: int, extent: Extent, size: int, *, spread: bool) -> tuple[int, Floats]:
    """P(S >= n) at the places n from the one returned on, plus a bound of the rounding errors.

    `one` is the transform of one variable and ln E exp(tilt X). `spread`: each variable is spread over its bin.
    """
    transform, log_mass = one[0] ** k, one[1] * k
    if spread and k > 1:
        others, log_others = _others(k, extent.tilt, size)
        transform *= others
        log_mass += log_others
    # Relative error of the transform after k products; an inverse transform passes its mean on to every place.
    noise = 16 * ROUNDING * (k + math.log2(size)) * float(np.mean(np.abs(transform)))
    tilted = np.fft.irfft(transform, size)
    start, end = max(extent.first, 1), max(extent.last, 1)
    places = np.arange(start, end + 1)
    probabilities = np.maximum(tilted[places % size], 0) + noise
    near = min(max(round(extent.near), start - 1), end)
    with np.errstate(over="ignore", under="ignore"):
        weights = probabilities * np.exp(-extent.tilt * (places - near))
        return start, np.cumsum(weights[::-1])[::-1] * math.exp(min(log_mass - extent.tilt * near, 700.0))


def spread_bound(tail: Callable[[int], float], n: int, alpha: float) -> float:
    """Smallest t with P(|S + V| > t) <= alpha, V uniform on a bin: linear between the ends of the bins.

    `tail` is n -> P(|S| > n), and `n` the least integer at which it is at most alpha.
    """
    here = tail(n)
    left, before = (n - 0.5, tail(n - 1)) if n else (0.0, 1.0)
    return float(left + (n + 0.5 - left) * min(max((before - alpha) / (before - here), 0.0), 1.0))


def spread_reach(k: int) -> int:
    """Largest |W|: half a bin for each of the others at most, and exp(-80) beyond by Hoeffding."""
    return math.ceil(min((k - 1) / 2, math.sqrt(80 * (k - 1) / 6)))


def _others(k: int, tilt: float, size: int) -> tuple[Complexes, float]:
    """Transform of the tilted W, and ln E exp(tilt W)."""
    reach = spread_reach(k)
    j = np.arange(reach + 1)
    beyond = np.minimum(1.0, 2 * np.exp(-6.0 * j**2 / (k - 1)))
    beyond[-1] = 0.0
    half = -np.diff(beyond, prepend=1.0) / 2
    weights = np.concatenate([half[:0:-1], 2 * half[:1], half[1:]])
    return normalised(np.arange(-reach, reach + 1), weights, tilt, size)


def fast_length(least: int) -> int:
    """Power of two, or three times one."""
    power = 1 << (least - 1).bit_length()
    return power // 4 * 3 if power >= 4 and power // 4 * 3 >= least else power


def chernoff_bounds(cumulants: Floats, exponents: Floats, alpha: float) -> Floats:
    """Return for each exponent u a t with P(|S| >= t) <= alpha, from the ln E exp(u S)."""
    return (cumulants + math.log(2 / alpha)) / exponents


def extent(
    variable: Any,
    cumulant: Callable[[Floats], Floats],
    fractions: Floats,
    largest: float,
    alpha: float,
    ends: tuple[float, float] = (-math.inf, math.inf),
    more: int = 3,
) -> Extent:
    """Return the tilt that proves the least of Chernoff's bounds, and where the tilted sum is.

    Parameters
    ----------
    variable : NamedTuple
        One variable: `k`, the number of them, and `spread`, whether it is spread over its bin.
    cumulant : callable
        tilt -> ln E exp(tilt X), of an array.
    fractions : ndarray of float64
        Exponents, on either side of 0, as fractions of the largest one.
    largest : float
        The largest exponent.
    alpha : float
        Error probability of both tails together.
    ends : tuple of float
        Where the sum of bounded variables ends.
    more : int
        How many places a transform needs beyond those of the tilted sum.
    """
    exponents = np.concatenate([-fractions[::-1], fractions])
    k = variable.k
    cumulants = k * cumulant(exponents * largest)
    bounds = chernoff_bounds(cumulants[fractions.size :], fractions * largest, alpha)
    best = int(np.argmin(bounds))
    u = min(float(fractions[best]), LARGEST_FRACTION)
    room = cumulants - k * float(cumulant(np.array([u * largest]))[0]) + NEGLIGIBLE
    above, below = exponents > u, exponents < u
    last = float(np.min(room[above] / (exponents[above] - u))) / largest
    first = -float(np.min(room[below] / (u - exponents[below]))) / largest
    reach = spread_reach(k) if variable.spread else 0
    low, high = int(max(math.floor(first), ends[0])) - reach, int(min(math.ceil(last), ends[1])) + reach
    return Extent(u * largest, low, high, float(bounds[best]), high - low + more)


# The bound of a list

# In nepers: where a list may end. 10**9 variables lack less than 1e-34 together.
LISTED = 100.0
# Bins of a list on either side of 0, where the distribution has more integers than that.
BINS = 2**16
# Fractions of the largest exponent; every exponent gives a valid bound.
_EXPONENTS: Floats = np.concatenate([np.geomspace(1e-7, 0.5, 56, endpoint=False), 1 - np.geomspace(0.5, 0.003, 8)])


class Summand(NamedTuple):
    """One variable: P(X = first + i) = weights[i], in bins."""

    first: int
    weights: Floats
    decay: float
    """Upper limit of useful tilts: at it a tail without end has no moment."""
    k: int
    spread: bool = False
    """Whether each variable is spread evenly over its bin."""

    @property
    def places(self) -> Ints:
        """The integers of the list."""
        return np.arange(self.first, self.first + self.weights.size)


# A variable on bins of h steps, h odd.
OnBins = Callable[[int], Summand]


def bound(upper: OnBins, lower: OnBins | None, alpha: float, least: int = 1) -> int:
    """Bound of |S| in steps, by the finest bins that fit, of `least` steps or more.

    `upper` is the variable, and `lower` the mirrored one unless the distribution is symmetric. On wider bins either is spread or
    rounded up.
    """
    h = least
    while True:
        variable = upper(h)
        needed = _extent(variable, alpha).length
        if needed <= LONGEST:
            break
        h *= max(2, math.ceil(needed / LONGEST))
        h += 1 - h % 2
    if variable.spread:
        tail = _Tail(variable, alpha)
        n = least_integer(lambda n: 2 * tail(n) <= alpha, -1, tail.end)
        return math.floor(h * spread_bound(lambda n: 2 * tail(n), n, alpha) * (1 + 4 * ROUNDING))
    above = _Tail(variable, alpha)
    below = above if lower is None else _Tail(lower(h), alpha)
    return h * least_integer(lambda n: above(n) + below(n) <= alpha, -1, max(above.end, below.end))


def widened(variable: Summand, h: int) -> Summand:
    """Join h bins, an odd number, symmetrically about 0, and spread them.

    For symmetric distributions that fall from their mode.
    """
    if h == 1:
        return variable
    m = -(-(-variable.first - h // 2) // h)
    weights = np.zeros((2 * m + 1) * h)
    start = m * h + h // 2 + variable.first
    weights[start : start + variable.weights.size] = variable.weights
    return Summand(-m, weights.reshape(-1, h).sum(axis=1), variable.decay * h, variable.k, spread=True)


def rounded_up(variable: Summand, h: int) -> Summand:
    """Join h bins: every value goes to the upper end of its bin, a multiple of h."""
    places = -(-variable.places // h)
    first = int(places[0])
    return Summand(first, np.asarray(np.bincount(places - first, variable.weights), np.float64), variable.decay * h, variable.k)


class _Tail:
    """P(S > n) at the integers n >= 0, in bins, plus a bound of the rounding errors."""

    def __init__(self, variable: Summand, alpha: float) -> None:
        where = _extent(variable, alpha)
        size = fast_length(where.length)
        one = transformed(variable.places, variable.weights, where.tilt, size)
        self._start, self._values = upper_tail(one, variable.k, where, size, spread=variable.spread)
        self.end = max(where.last, 1)

    def __call__(self, n: int) -> float:
        """P(S > n), or 1 below the first place, where the tail is not known."""
        place = n + 1 - self._start
        if place < 0:
            return 1.0
        return float(self._values[place]) if place < self._values.size else 0.0


def _extent(variable: Summand, alpha: float) -> Extent:
    ends = variable.k * variable.first, variable.k * (variable.first + variable.weights.size - 1)
    return extent(variable, lambda tilts: _cumulant(variable, tilts), _EXPONENTS, variable.decay, alpha, ends)


def _cumulant(variable: Summand, tilts: Floats) -> Floats:
    """Ln E exp(tilt X)."""
    used = variable.weights > 0
    places, logs = variable.places[used].astype(np.float64), np.log(variable.weights[used])
    found = np.empty(tilts.shape)
    for i, tilt in enumerate(tilts.tolist()):
        exponents = logs + tilt * places
        largest = float(exponents.max())
        found[i] = largest + math.log(float(np.exp(exponents - largest).sum()))
    return found
