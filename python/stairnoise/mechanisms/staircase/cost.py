r"""Expected costs, and the best staircase, for a cost that is any function of \|x\|.

The cost is folded onto one stair. With ``b = exp(-eps)``, ``c = b/(1-b)`` and places x in units of
the sensitivity, let

    l(u) = (1-b) sum over m >= 0 of b**m cost(u + m),       L(u) = integral of l from 0 to u.

Integrating the density stair by stair gives, for the staircase with central stair gamma,

    E cost(X) = (c L(1) + L(gamma)) / (gamma + c),

and its derivative has the sign of the *balance* ``(gamma + c) l(gamma) - L(gamma) - c L(1)``. If the cost does not fall with
\|x\|, then l does not fall, and the balance does not fall either: its increase from u to v is at least
``(u + c) (l(v) - l(u))``. So the expected cost first falls and then rises, and bisection finds the only minimum. The lattice has
the same formulas, with sums instead of integrals and ``gamma = (r - 1/2)/D``.

References
----------
.. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186:
   optimality of staircases for every cost that does not fall with \|x\|.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._types import Bools, Floats
from stairnoise.distributions.moments import odds
from stairnoise.numerics.quadrature import lobatto

CostFunction = Callable[[Floats], Any]

LEAST_EPS = 2.0**-7
MOST_EPS = 700.0
MOST_STEPS = 2.0**20
"""Largest sensitivity/eps of a lattice whose every integer is summed."""

# exp(-_REACH) is near the smallest float64, so float64 has no probabilities farther out.
_REACH = 700.0
_GRID = 0.25
_NEGLIGIBLE = 1e-17
_TOLERANCE = 1e-14
# Panels are not split in the middle, where the symmetric rule and its two halves can agree on the same wrong integral of a
# jump. Split here, they differ by at least 0.0018 times height and width, wherever a single jump is.
_SPLIT = 0.44
_MOST_PANELS = 2**13
_BLOCK = 2**18
_SLACK = 1e-12
_ROUNDING = 16 * float(np.finfo(np.float64).eps)


class Cost:
    """A caller's cost function with checked values, minus the cost of 0, so that every value is at least 0."""

    def __init__(self, function: CostFunction) -> None:
        self._function = function
        self.at_zero = float(self._values(np.zeros(1))[0])

    def __call__(self, x: Floats) -> Floats:
        """Return the cost of the increasing magnitudes x, minus the cost of 0."""
        values = self._values(x) - self.at_zero
        with np.errstate(invalid="ignore"):  # inf - inf is no fall
            falls = np.flatnonzero(np.diff(values, prepend=0.0) < -_SLACK * np.abs(values))
        if falls.size:
            at = falls[0]
            raise ParameterError(f"cost must not fall as |x| grows, got {values[at] + self.at_zero} at |x| = {x[at]}")
        return np.maximum(values, 0.0)

    def _values(self, x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            answer = np.asarray(self._function(x.copy()))
        if answer.dtype.kind not in "biuf":
            raise ParameterTypeError(f"cost must return real numbers, got {received(answer)}")
        if answer.shape != x.shape:
            raise ParameterError(f"cost must return an array of the shape of its argument, {x.shape}, got shape {answer.shape}")
        values = answer.astype(np.float64)
        bad = np.flatnonzero(np.isnan(values) | (values == -np.inf))
        if bad.size:
            raise ParameterError(f"cost must be a number greater than -inf, got {values[bad[0]]} at |x| = {x[bad[0]]}")
        return values


def reach(cost: Cost, eps: float, stair: float) -> float:
    """Return how many stairs of the noise matter; raise if the expected cost is not finite.

    The cost does not fall, so its values on a grid bound the values between them, and the sum beyond each grid point. The grid
    ends where exp(-eps x) underflows.
    """
    y = np.arange(0.0, _REACH + _GRID, _GRID)
    values = cost(y / eps * stair)
    if not np.all(np.isfinite(values)):
        at = y[np.argmin(np.isfinite(values))] / eps * stair
        raise ParameterError(f"cost must be finite up to |x| = {_REACH:g} sensitivity/eps, got inf at |x| = {at}")
    above = np.exp(-y[:-1]) * values[1:]
    beyond = np.cumsum(above[::-1])[::-1]
    total = float(np.sum(np.exp(-y[1:]) * values[1:]))
    if total > 0 and above[-1] > _NEGLIGIBLE * total:
        raise ParameterError(
            "cost must have a finite expected value, got one that grows about as fast as exp(eps |x| / sensitivity), or faster"
        )
    enough = np.flatnonzero(beyond <= _NEGLIGIBLE * total)
    return float(y[enough[0]] if enough.size and total > 0 else _REACH) / eps


# The continuous distributions


class Folded:
    """The folded cost l(u) of a distribution, minus the cost of 0."""

    def __init__(self, function: CostFunction, eps: float, stair: float) -> None:
        self.cost = Cost(function)
        self.eps, self.stair = eps, stair
        far = max(reach(self.cost, eps, stair), min(_REACH / eps, 64.0))
        self.stairs = np.arange(math.ceil(far) + 2.0)
        self.weights = np.exp(-eps * self.stairs) * -math.expm1(-eps)

    def __call__(self, u: Floats) -> Floats:
        """Return l(u) for an increasing one-dimensional array in [0, 1]."""
        return self.sum(lambda m: (m + u) * self.stair, u.size)

    def sum(self, places: Callable[[Floats], Floats], size: int) -> Floats:
        """Return the sums over all stairs m of the costs at `size` places of a stair, which increase."""
        total = np.zeros(size)
        step = max(_BLOCK // max(size, 1), 1)
        for start in range(0, len(self.stairs), step):
            m = self.stairs[start : start + step]
            values = self.cost(places(m[:, None]).ravel()).reshape(len(m), size)
            total += self.weights[start : start + step] @ values
        return total


class Panels(NamedTuple):
    """The integral of a function over [0, 1], in panels for which 16 points are enough."""

    edges: Floats
    """n + 1 numbers from 0 to 1, for n panels."""
    integral: Floats
    """Integrals from 0 to each edge."""


def integrate(function: Callable[[Floats], Floats], eps: float, also: float = 1.0) -> Panels:
    """Integrate over [0, 1], with panels split until they agree; `also` will be an edge.

    The panels shrink towards 0 as powers of 2 down to ``exp(-eps)/16``, which is below the best gamma, so that the integral is
    relatively accurate there too. Splitting encloses the jumps of the function.
    """
    depth = math.ceil(eps / math.log(2)) + 4
    edges = np.unique(np.concatenate([[0.0, also], 2.0 ** -np.arange(depth + 1.0)]))
    left, right = edges[:-1], edges[1:]
    whole = _integral(function, left, right)
    done: list[tuple[Floats, Floats]] = []
    panels = 0
    while left.size:
        middle = left + _SPLIT * (right - left)
        halves = _integral(function, *_split(left, middle, right)).reshape(-1, 2)
        both = halves.sum(axis=1)
        before = np.concatenate([[0.0], np.cumsum(both)])[1:]
        wrong = np.abs(both - whole) > _TOLERANCE * np.maximum(before, np.abs(both))
        wrong &= (right - left > 2 * np.spacing(right)) & (panels + 2 * np.sum(wrong) < _MOST_PANELS)
        done.append((left[~wrong], both[~wrong]))
        panels += int(np.sum(~wrong))
        left, right = _split(left[wrong], middle[wrong], right[wrong])
        whole = halves[wrong].ravel()
    start = np.concatenate([part[0] for part in done])
    pieces = np.concatenate([part[1] for part in done])
    order = np.argsort(start)
    return Panels(np.append(start[order], 1.0), np.concatenate([[0.0], np.cumsum(pieces[order])]))


def best_gamma(folded: Folded) -> float:
    """Smallest gamma with the least expected cost; 1 instead of 0, which is the same distribution."""
    panels = integrate(folded, folded.eps)
    c, whole = float(odds(folded.eps)), panels.integral[-1]

    def enough(u: Floats, below: Floats) -> Bools:
        level = (u + c) * folded(u)
        return np.asarray(level - below - c * whole >= -_ROUNDING * level)

    inside = panels.edges[1:-1]
    at = int(np.argmax(np.append(enough(inside, panels.integral[1:-1]), True)))
    left, right = panels.edges[at], panels.edges[at + 1]
    base = panels.integral[at]
    while right - left > 2 * np.spacing(right):
        u = np.unique(np.linspace(left, right, 34)[1:-1])
        below = base + _integral(folded, np.full_like(u, panels.edges[at]), u)
        first = int(np.argmax(np.append(enough(u, below), True)))
        left, right = float(u[first - 1]) if first else left, float(u[first]) if first < len(u) else right
    # gamma = 0 and 1 are the same distribution, and the worst. If the best is no better, all are equally good.
    best = (c * whole + base + float(_integral(folded, panels.edges[at : at + 1], np.array([right]))[0])) / (right + c)
    return 1.0 if left == 0.0 or best >= whole * (1 - _SLACK) else float(right)


def staircase_cost(folded: Folded, gamma: float) -> float:
    """Return the expected cost of the continuous staircase."""
    panels = integrate(folded, folded.eps, also=gamma)
    c = float(odds(folded.eps))
    below = panels.integral[np.searchsorted(panels.edges, gamma)]
    return folded.cost.at_zero + float((c * panels.integral[-1] + below) / (gamma + c))


def laplace_cost(function: CostFunction, scale: float) -> float:
    """Return the expected cost of the Laplace distribution, folded at multiples of its scale."""
    folded = Folded(function, 1.0, scale)
    panels = integrate(lambda u: np.exp(-u) * folded(u), 1.0)
    return folded.cost.at_zero + float(panels.integral[-1]) / -math.expm1(-1.0)


# The discrete distributions


class DiscreteFold(NamedTuple):
    """The folded cost of a discrete distribution, minus the cost of 0."""

    values: Floats
    """``l(j)`` for j = 0 ... D - 1."""
    eps: float
    at_zero: float

    def costs(self) -> Floats:
        """Return the expected cost, minus the cost of 0, for r = 1 ... D."""
        below = np.cumsum(self.values)
        c = float(odds(self.eps))
        r = np.arange(1.0, len(below) + 1)
        return np.asarray((c * below[-1] + below) / (r - 0.5 + c * len(below)))

    def cost(self, r: int) -> float:
        """Return the expected cost for one r."""
        return self.at_zero + float(self.costs()[r - 1])


def discrete_fold(function: CostFunction, eps: float, D: int) -> DiscreteFold:
    """Fold a cost of integers onto one stair."""
    folded, j = Folded(function, eps, float(D)), np.arange(float(D))
    return DiscreteFold(folded.sum(lambda m: m * D + j, D), eps, folded.cost.at_zero)


def best_r(fold: DiscreteFold) -> int:
    """Smallest r with the least expected cost."""
    D = len(fold.values)
    total = np.arange(1.0, D) - 0.5 + D * float(odds(fold.eps))
    level, so_far = total * fold.values[1:], total * fold.costs()[:-1]
    # r = D if no smaller r is enough.
    return int(np.argmax(np.append(level - so_far >= -_ROUNDING * level, True))) + 1


def _split(left: Floats, middle: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return both parts of every panel, in order."""
    return np.stack([left, middle], axis=1).ravel(), np.stack([middle, right], axis=1).ravel()


def _integral(function: Callable[[Floats], Floats], left: Floats, right: Floats) -> Floats:
    """Integral over each panel by 16 Gauss-Lobatto points."""
    nodes, weights = lobatto()
    width = right - left
    x = np.minimum((left[:, None] + width[:, None] * nodes), right[:, None]).ravel()
    order = np.argsort(x, kind="stable")
    values = np.empty_like(x)
    values[order] = function(x[order])
    return np.asarray(values.reshape(-1, len(nodes)) @ weights * width)
