"""From a half line to the whole line: the functions of a symmetric distribution, with SciPy's names.

Each maker takes the functions of a half line (`staircase`, `laplace`) and returns a formula for `elementwise.evaluate`.
No small probability is computed as ``1 - cdf``. `Lattice` is the same distribution rounded to the nearest integer: its
P(X <= i) is the distribution function at ``i + 1/2``. `Symmetric` has these formulas with constants, which may be arrays, and the
moments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from stairnoise._output import Shape
from stairnoise._parameters import Real
from stairnoise._types import Floats
from stairnoise.distributions import moments, real_moments
from stairnoise.numerics.elementwise import Formula, Scalars, evaluate

# Nearer than this, relatively, to a decision, a quantile is checked against the cdf itself.
_DOUBT = 2.0**-44
_LEAST = 5e-324
_LEAST_NORMAL = 2.0**-1022
_LARGEST = 2.0**1000
# Two units of u in the last place, and some.
_ROUNDING = 2.0**-51


class Line:
    """Formulas of a continuous symmetric distribution."""

    def __init__(self, half: ModuleType) -> None:
        self.logpdf = _even(half.log_density)
        self.pdf = _exp_of(self.logpdf)
        self.cdf, self.sf = (_one_sided(half.survival, upper=upper) for upper in (False, True))
        self.logcdf, self.logsf = (_log_one_sided(half.survival, half.log_survival, upper=upper) for upper in (False, True))
        self.ppf, self.isf = (_quantile(half.survival_inverse, upper=upper) for upper in (False, True))
        self.entropy = _of_no_argument(half.entropy)
        self.error_bound = _error_bound(self.isf)


class Lattice:
    """Formulas of the same distribution rounded to the nearest integer."""

    def __init__(self, half: ModuleType) -> None:
        line = Line(half)
        self.pmf, self.logpmf = _at_integers(line.pdf, 0.0), _at_integers(line.logpdf, -math.inf)
        self.cdf, self.sf, self.logcdf, self.logsf = map(_to_the_right, (line.cdf, line.sf, line.logcdf, line.logsf))
        self.ppf = _lattice_quantile(line.ppf, self.cdf, upper=False)
        self.isf = _lattice_quantile(line.isf, self.sf, upper=True)
        self.entropy = line.entropy
        self.error_bound = _error_bound(self.isf)


def _of_no_argument(f: Callable[[Any, Any], Any]) -> Formula:
    return lambda xp, _, k: f(xp, k)


def _even(f: Formula) -> Formula:
    return lambda xp, x, k: f(xp, xp.abs(x), k)


def _exp_of(f: Formula) -> Formula:
    return lambda xp, x, k: xp.exp(f(xp, x, k))


def _one_sided(survival: Formula, *, upper: bool) -> Formula:
    """Make P(X <= x), or P(X > x)."""

    def formula(xp: Any, x: Any, k: Any) -> Any:
        s = survival(xp, xp.abs(x), k)
        small = x > 0 if upper else x < 0
        return xp.where(small, s, 1 - s)

    return formula


def _log_one_sided(survival: Formula, log_survival: Formula, *, upper: bool) -> Formula:
    def formula(xp: Any, x: Any, k: Any) -> Any:
        y = xp.abs(x)
        small = x > 0 if upper else x < 0
        # Where all points of a block are on one side the other need not be computed.
        if xp.min(small):
            return log_survival(xp, y, k)
        # The last addition turns the -0.0 of log1p(-0.0) into 0.0.
        log_large = xp.log1p(-survival(xp, y, k)) + 0.0
        return xp.where(small, log_survival(xp, y, k), log_large) if xp.any(small) else log_large

    return formula


def _quantile(survival_inverse: Formula, *, upper: bool) -> Formula:
    """Make the x with P(X <= x) = u, or with P(X > x) = u; NaN outside [0, 1]."""

    def formula(xp: Any, u: Any, k: Any) -> Any:
        s = xp.minimum(u, 1 - u)
        y = survival_inverse(xp, s, k)
        x = xp.copysign(y, 0.5 - u if upper else u - 0.5)
        # The least of all is NaN where one is.
        return x if xp.min(s) >= 0 else xp.where(s >= 0, x, xp.nan)

    return formula


def _error_bound(isf: Formula) -> Formula:
    return lambda xp, alpha, k: isf(xp, xp.maximum(alpha / 2, _LEAST), k)


def _at_integers(f: Formula, elsewhere: float) -> Formula:
    # inf - inf is NaN and no difference: infinities are left to f.
    return lambda xp, x, k: xp.where(x - xp.floor(x) > 0, elsewhere, f(xp, x, k))


def _to_the_right(f: Formula) -> Formula:
    return lambda xp, x, k: f(xp, xp.floor(x) + 0.5, k)


def _lattice_quantile(quantile: Formula, function: Formula, *, upper: bool) -> Formula:
    """Make the least integer i with cdf(i) >= u, or with sf(i) <= u; `function` is cdf or sf.

    Rounding moves the inverse, and the u that a caller has from the function. Where either could matter, the function
    itself decides. So ``ppf(cdf(i)) == i`` for every i that the cdf distinguishes from its neighbours.
    """

    def formula(xp: Any, u: Any, k: Any) -> Any:
        x = quantile(xp, u, k) - 0.5
        size = xp.minimum(xp.abs(x), _LARGEST)
        # P(X = i) is at least drop/D of either tail's probability: so far, at most, u's rounding moves x. One bound
        # serves a whole block: it is seldom reached, and to compute one for each element would cost more than that saves.
        most = xp.max(u)
        tail = xp.maximum(xp.minimum(xp.min(u), 1 - most), _LEAST)
        moved = xp.maximum(most, _LEAST_NORMAL) * _ROUNDING * xp.max(k.D / (k.drop * k.scale)) / tail
        doubt = moved + _DOUBT * (xp.max(size) + 1)
        least = xp.ceil(x) + 0.0  # no -0.0
        return least if xp.min(xp.abs(size - xp.floor(size + 0.5))) > doubt else checked(xp, u, k, x, least)

    def checked(xp: Any, u: Any, k: Any, x: Any, least: Any) -> Any:
        finite = xp.abs(x) < xp.inf
        i = xp.floor(xp.where(finite, x, 0.0) + 0.5) - 1
        for _ in range(3):
            value = function(xp, i, k)
            enough = value <= u if upper else value >= u
            i = xp.where(enough, i, i + 1)
        return xp.where(finite, i + 0.0, least)

    return formula


# Up to this order the closed forms are quicker.
_MOST_CLOSED_POWER = 16


class Symmetric:
    """Distribution functions and moments; `_functions` of a symmetric mechanism returns one.

    Parameters
    ----------
    formulas : stairnoise.distributions.symmetric.Line or Lattice
    constants : callable
        Returns the constants of the formulas, from the parameters.
    shape : tuple of int
        Common shape of the parameters.
    moment : str
        Name of the function of absolute moments in `distributions.moments` and `distributions.real_moments`.
    parameters : tuple
        Its arguments after the order, and those of `constants`.
    """

    def __init__(
        self, formulas: Any, constants: Callable[..., Any], shape: Shape, moment: str, parameters: tuple[Any, ...]
    ) -> None:
        self._formulas: dict[str, Formula] = vars(formulas)
        self._make_constants, self._shape, self._scalar = constants, shape, shape == ()
        # Not a cached property, which takes 30 ns more at each access.
        self._constants: Any = None
        self._moment, self._parameters = moment, parameters

    def at(self, function: str, x: Real) -> Real:
        """Evaluate a formula by its name, for every x and all parameters."""
        constants = self._constants
        if constants is None:
            with np.errstate(all="ignore"):
                constants = self._constants = self._make_constants(*self._parameters)
        if type(x) is float and self._scalar:
            return self._formulas[function](Scalars, x, constants)  # type: ignore[no-any-return]
        return evaluate(self._formulas[function], x, constants)

    def closed_moment(self, p: int) -> Floats:
        """E|X|**p for an integer p from 0 on."""
        return np.asarray(getattr(moments, self._moment)(p, *self._parameters))

    def real_moment(self, p: Real) -> Floats:
        """E|X|**p for real p, which may be an array."""
        return np.asarray(getattr(real_moments, self._moment)(p, *self._parameters))

    def entropy(self) -> Real:
        """Entropy in nats."""
        return self.at("entropy", 0.0)

    def mean(self) -> Floats:
        """E X, which is 0 by symmetry."""
        return np.zeros(self._shape)

    def var(self) -> Floats:
        """E X²."""
        return self.closed_moment(2)

    def moment(self, order: int) -> Floats:
        """E X**order."""
        return self.mean() if order % 2 else self.abs_moment(order if order <= _MOST_CLOSED_POWER else float(order))

    def abs_moment(self, p: float) -> Floats:
        """E|X|**p; an int p uses the closed form."""
        return self.closed_moment(p) if isinstance(p, int) else self.real_moment(p)

    def support(self) -> tuple[Floats, Floats]:
        """Return -inf and inf."""
        infinite = np.full(self._shape, np.inf)
        return -infinite, infinite


class ByName:
    """A distribution of scalar parameters with formulas as methods. (A `__getattr__` of `Symmetric` would slow its methods.)"""

    def __init__(self, symmetric: Symmetric) -> None:
        self._symmetric = symmetric

    def __getattr__(self, name: str) -> Any:
        """Return the method for a moment, or for a function of x."""
        return getattr(self._symmetric, name, None) or partial(self._symmetric.at, name)
