"""A binomial count with noise: its tails, and the probability of success at which a tail has a given size.

X successes of n, with probability p, and noise N that is independent: ``P(X + N >= z) = sum over x of P(X = x) P(N >= z - x)``.
The last factor, as a function of x, is `noise` below.
All terms are positive. Those that count are the x with a probability above some e**least; their probabilities are Loader's.

References
----------
.. [1] Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000.
.. [2] Awan and Slavković, "Differentially Private Uniformly Most Powerful Tests for Binomial Data", NeurIPS 2018.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from stairnoise._types import Floats
from stairnoise.numerics.roots import Rising, bisection, least_integer

Tail = Callable[[Floats], Floats]

# Probabilities below e**-760 round to 0, and 2**32 of them to less than the least float64.
NOTHING = -760.0
# Terms this far below a tail, in logarithms, do not move it: there are fewer than e**22 of them.
_BELOW = 60.0
# Up to this many counts, summing all of them is faster than finding those that matter.
_FEW = 1000
# Stirling's series from here on; before it, a table.
_TABLE = 16
_HALF_LOG_2PI = math.log(2 * math.pi) / 2
_ERRORS = np.array([0.0, *(math.lgamma(n + 1) - ((n + 0.5) * math.log(n) - n + _HALF_LOG_2PI) for n in range(1, _TABLE))])
# Relative distance of x from np up to which a deviance is a series, and how many terms of it count.
_NEAR, _TERMS = 0.1, 12
# Logarithm of the least probability of success that an end of an interval may be, other than 0; and how near a root is found.
_LEAST_LOG, _APART, _RESOLUTION = -120.0, 1e-10, 1e-13
# Stands for the logarithm of 0.
_LOG_ZERO = -1e4


def log_pmf(x: Floats, n: int, p: float, q: float) -> Floats:
    """Return ln P(X = x) for integers x from 0 to n; q is 1 - p without its rounding."""
    if p == 0 or q == 0:
        return np.where(x == (0 if p == 0 else n), 0.0, -np.inf)
    y = n - x
    with np.errstate(all="ignore"):
        apart = x - n * p
        inside = (
            float(_stirling_error(np.array(float(n))))
            - _stirling_error(x)
            - _stirling_error(y)
            - _deviance(x, n * p, apart)
            - _deviance(y, n * q, -apart)
            - 0.5 * (np.log(x) + np.log(y) - math.log(n))
            - _HALF_LOG_2PI
        )
        ends = np.where(x == 0, n * _log(q, p), n * _log(p, q))
        return np.asarray(np.where((x == 0) | (y == 0), ends, inside))


def terms(n: int, p: float, q: float, least: float) -> tuple[Floats, Floats]:
    """Return the x with ln P(X = x) >= least, and their probabilities; all x if they are few."""
    if n <= _FEW:
        x = np.arange(n + 1.0)
        return x, np.exp(log_pmf(x, n, p, q))
    mode = min(int((n + 1) * p), n)

    def enough(x: int) -> bool:
        return float(log_pmf(np.array([float(x)]), n, p, q)[0]) >= least

    first = least_integer(enough, -1, mode)
    last = n - least_integer(lambda y: enough(n - y), -1, n - mode)
    x = np.arange(first, last + 1, dtype=np.float64)
    return x, np.exp(log_pmf(x, n, p, q))


def tail(n: int, p: float, noise: Tail, *, least: float = NOTHING, q: float | None = None) -> float:
    """Return the sum over x of P(X = x) noise(x)."""
    x, masses = terms(n, p, 1 - p if q is None else q, least)
    return float(np.sum(masses * noise(x)))


def root(n: int, noise: Tail, level: float) -> tuple[float, float]:
    """Return the p at which a tail that rises with p is `level`, rounded down, and 1 - p; p is 0 or 1 where there is none.

    The unknown is ln p below 1/2 and -ln(1 - p) above.
    """
    least = math.log(level) - _BELOW
    # The same at every p, where all counts are taken.
    known = noise(np.arange(n + 1.0)) if n <= _FEW else None

    def excess(p: float, q: float) -> float:
        found = tail(n, p, noise if known is None else lambda _: known, least=least, q=q)
        return max(math.log(found) - math.log(level), _LOG_ZERO) if found > 0 else _LOG_ZERO

    small = excess(0.5, 0.5) >= 0

    def place(x: float) -> tuple[float, float]:
        return (math.exp(x), -math.expm1(x)) if small else (-math.expm1(-x), math.exp(-x))

    low, high = (_LEAST_LOG, -math.log(2)) if small else (math.log(2), -_LEAST_LOG)
    if small and excess(*place(low)) >= 0:
        return 0.0, 1.0
    if not small and excess(*place(high)) < 0:
        return 1.0, 0.0
    # `Rising.close_in` takes positive ends.
    shift = 1 - low if small else 0.0
    rising = Rising(lambda x: excess(*place(x - shift)))
    rising.close_in(low + shift, high + shift, _APART)
    found = bisection(rising, low + shift, high + shift, relative=_RESOLUTION)
    return place(found * (1 - 2 * _RESOLUTION) - shift)


def _stirling_error(n: Floats) -> Floats:
    """Ln n! - ln(sqrt(2 pi n) (n/e)**n)."""
    large = np.maximum(n, _TABLE)
    s = 1 / (large * large)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - (1 / 1188 - 691 / 360360 * s) * s) * s) * s) * s) / large
    return np.where(n < _TABLE, _ERRORS[np.minimum(n, _TABLE - 1).astype(np.int64)], series)


def _deviance(x: Floats, mean: float, apart: Floats) -> Floats:
    """X ln(x/mean) + mean - x, where `apart` is x - mean."""
    v = apart / (x + mean)
    far = x * np.log(x / mean) - apart
    square, power = v * v, np.ones_like(v)
    total = np.zeros_like(v)
    for j in range(1, _TERMS):
        power = power * square
        total += power / (2 * j + 1)
    near = apart * v + 2 * x * v * total
    return np.where(np.abs(v) < _NEAR, near, far)


def _log(p: float, q: float) -> float:
    """Ln p, where q is 1 - p."""
    return math.log1p(-q) if q < 0.5 else math.log(p)
